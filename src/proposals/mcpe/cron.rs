//! When a cron expression fires, in a time zone with its changes of the clock (§2, behaviour E24).
//!
//! Read by croner: five fields, or six with seconds first, and `@` names. A fixed time that the clock jumps over fires
//! at the first instant behind the gap, and one that comes twice fires the first time; an expression with steps, ranges
//! or `*` in its time skips a gap and fires in both halves of what comes twice.
//!
//! Time zones come with the program, so the same input gives the same instants on every machine.

use croner::Cron;
use croner::parser::{CronParser, Year};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// An expression in its time zone.
#[derive(Clone, Debug)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

impl Schedule {
    /// Reads an expression; UTC where no zone is named.
    ///
    /// # Errors
    /// What is wrong, as a sentence fragment.
    pub fn read(expression: &str, timezone: Option<&str>) -> Result<Self, String> {
        let known = if expression.trim() == "@midnight" { "@daily" } else { expression };
        let parser = CronParser::builder().year(Year::Disallowed).build();
        let cron = parser.parse(known).map_err(|error| format!("cron expression {expression:?}: {error}"))?;
        Ok(Self { cron, zone: zone(timezone)? })
    }

    /// The first instant after another, both in Unix nanoseconds; `None` where it never fires again.
    pub fn next(&self, after: i64) -> Option<i64> {
        let from = Timestamp::from_second(after.div_euclid(1_000_000_000)).ok()?.to_zoned(self.zone.clone());
        let next: Zoned = self.cron.find_next_occurrence(&from, false).ok()?;
        i64::try_from(next.timestamp().as_nanosecond()).ok()
    }
}

/// A time zone by its IANA name; UTC where none is named.
///
/// # Errors
/// That there is none of this name, as a sentence fragment.
pub fn zone(name: Option<&str>) -> Result<TimeZone, String> {
    let Some(name) = name else { return Ok(TimeZone::UTC) };
    TimeZoneDatabase::bundled().get(name).map_err(|_| format!("there is no time zone {name:?}: take an IANA name"))
}

#[cfg(test)]
mod tests;
