//! When a cron expression fires, in a time zone with its changes of the clock (MCPE 2025-01-01, Cron-Based Batching).
//!
//! croner parses it: five fields, or six with seconds first, and names with `@`. A fixed time that the clock skips
//! fires at the first instant after the gap, and one that occurs twice fires the first time. An expression with steps,
//! ranges or `*` in its time skips the gap, and fires both times.
//!
//! The time zones are part of the program, so the same input gives the same instants on every machine.

use croner::Cron;
use croner::parser::{CronParser, Year};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// A cron expression in its time zone.
#[derive(Clone, Debug)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

impl Schedule {
    /// Parses an expression. The time zone is UTC by default.
    ///
    /// # Errors
    /// What is wrong, as a phrase.
    pub fn read(expression: &str, timezone: Option<&str>) -> Result<Self, String> {
        let invalid = |why: String| format!("invalid cron expression {expression:?}: {why}");
        // croner takes `,` as a second or minute that never comes, and looks for it in every minute until the year 5000.
        if expression.split_whitespace().any(|field| field.split(',').any(str::is_empty)) {
            return Err(invalid("a list has an empty item".to_owned()));
        }
        let known = if expression.trim() == "@midnight" { "@daily" } else { expression };
        let parser = CronParser::builder().year(Year::Disallowed).build();
        let cron = parser.parse(known).map_err(|error| invalid(error.to_string()))?;
        Ok(Self { cron, zone: zone(timezone)? })
    }

    /// The first instant after `after`, both in Unix nanoseconds; `None` if it never fires again.
    pub fn next(&self, after: i64) -> Option<i64> {
        let from = Timestamp::from_second(after.div_euclid(1_000_000_000)).ok()?.to_zoned(self.zone.clone());
        let next: Zoned = self.cron.find_next_occurrence(&from, false).ok()?;
        i64::try_from(next.timestamp().as_nanosecond()).ok()
    }

    /// Whether the zone's clock changes at most this long before or after an instant; both in Unix nanoseconds.
    pub fn changes_clock_near(&self, at: i64, within: i64) -> bool {
        let offset = |at: i64| {
            let at = Timestamp::from_nanosecond(at.into()).ok()?;
            Some(self.zone.to_offset(at))
        };
        offset(at.saturating_sub(within)) != offset(at.saturating_add(within))
    }
}

/// A time zone by its IANA name; UTC by default.
///
/// # Errors
/// A phrase that says that there is no such time zone.
pub(crate) fn zone(name: Option<&str>) -> Result<TimeZone, String> {
    let Some(name) = name else { return Ok(TimeZone::UTC) };
    TimeZoneDatabase::bundled().get(name).map_err(|_| format!("unknown time zone {name:?}: expected an IANA name"))
}

#[cfg(test)]
mod tests;
