//! Compares the limits and patterns of two schemas: keywords that each constrain a value on their own.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// What happened to the set of values that a keyword allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// Fewer values are allowed.
    Narrower,
    /// More values are allowed.
    Wider,
    /// It could not be decided.
    Unknown,
}

/// A limit of numbers: its keyword, and the one that excludes the limit itself.
const RANGES: [(&str, &str); 2] = [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")];

/// Limits below which nothing is allowed.
const LOWER: &[&str] = &["minLength", "minItems", "minProperties", "minContains"];

/// Limits above which nothing is allowed.
const UPPER: &[&str] = &["maxLength", "maxItems", "maxProperties", "maxContains"];

/// Limits of other kinds.
const OTHER: &[&str] = &["uniqueItems", "multipleOf"];

/// Keywords whose value is a notation.
pub(super) const PATTERNS: &[&str] = &["pattern", "format", "contentEncoding", "contentMediaType"];

/// Returns whether a keyword is a limit.
pub(super) fn is_bound(keyword: &str) -> bool {
    let is_range = RANGES.iter().any(|(closed, open)| [*closed, *open].contains(&keyword));
    is_range || [LOWER, UPPER, OTHER].iter().any(|group| group.contains(&keyword))
}

/// A limit that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// The keyword before; `None` if there was no limit.
    pub before: Option<&'static str>,
    /// The keyword after.
    pub after: Option<&'static str>,
    /// What happened.
    pub shift: Shift,
}

/// Returns the limits that differ. Of integers, `exclusiveMinimum: 0` and `minimum: 1` are the same limit.
pub(super) fn bounds(old: &Map<String, Value>, new: &Map<String, Value>, are_integers: bool) -> Vec<Moved> {
    let ranges = RANGES.iter().filter_map(|keywords| range(*keywords, old, new, are_integers));
    let others = LOWER.iter().chain(UPPER).chain(OTHER).filter_map(|keyword| {
        let has = |members: &Map<String, Value>| members.contains_key(*keyword).then_some(*keyword);
        let shift = bound(keyword, old.get(*keyword), new.get(*keyword), are_integers)?;
        Some(Moved { before: has(old), after: has(new), shift })
    });
    ranges.chain(others).collect()
}

/// A number, compared exactly where floating point is not exact.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    fn of(value: &Value) -> Option<Self> {
        let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        whole.map(Self::Whole).or_else(|| value.as_f64().map(Self::Float))
    }

    fn float(self) -> f64 {
        match self {
            // It is only compared with a number that is not exact, either.
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(&other),
            (Self::Whole(one), Self::Float(other)) => whole_and_float(one, other),
            (Self::Float(one), Self::Whole(other)) => whole_and_float(other, one).reverse(),
            // JSON has no NaN.
            (Self::Float(_), Self::Float(_)) => self.float().partial_cmp(&other.float()).unwrap_or(Ordering::Equal),
        }
    }
}

/// Beyond this, floating-point numbers are no `i128`.
const HUGE: f64 = 1e38;

fn whole_and_float(whole: i128, float: f64) -> Ordering {
    if float.abs() > HUGE {
        return 0.0_f64.total_cmp(&float);
    }
    // It is within the limits.
    let near = float.floor() as i128;
    whole.cmp(&near).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

/// The values at one end of a range.
#[derive(Clone, Copy, Debug)]
struct Limit {
    keyword: &'static str,
    number: Number,
    /// The number itself is excluded.
    is_open: bool,
}

impl Limit {
    /// Reads the tighter one of both keywords. In draft 4, the second one is a flag of the first one.
    ///
    /// # Errors
    /// They are no limits.
    fn read(
        (closed, open): (&'static str, &'static str),
        members: &Map<String, Value>,
        are_integers: bool,
    ) -> Result<Option<Self>, ()> {
        let is_lower = closed == RANGES[0].0;
        let number = |value: &Value| Number::of(value).ok_or(());
        let first = members.get(closed).map(number).transpose()?;
        let limit = |keyword, number, is_open| {
            let limit = Self { keyword, number, is_open };
            if are_integers { limit.whole(is_lower) } else { limit }
        };
        let (first, second) = match members.get(open) {
            Some(Value::Bool(is_open)) => (first.map(|number| limit(closed, number, *is_open)), None),
            Some(value) => (first.map(|number| limit(closed, number, false)), Some(limit(open, number(value)?, true))),
            None => (first.map(|number| limit(closed, number, false)), None),
        };
        Ok(match (first, second) {
            (Some(first), Some(second)) if second.shift(first, is_lower) == Some(Shift::Wider) => Some(second),
            (first, second) => first.or(second),
        })
    }

    /// The same limit of integers, which includes its number.
    fn whole(self, is_lower: bool) -> Self {
        let step = i128::from(self.is_open) * if is_lower { 1 } else { -1 };
        let number = match self.number {
            Number::Whole(number) => number.saturating_add(step),
            Number::Float(number) => {
                let near = if is_lower { number.ceil() } else { number.floor() };
                if near.abs() > HUGE {
                    return self;
                }
                // It is within the limits.
                (near as i128).saturating_add(if number.fract() == 0.0 { step } else { 0 })
            }
        };
        Self { number: Number::Whole(number), is_open: false, ..self }
    }

    /// What it means if this limit becomes that one.
    fn shift(self, new: Self, is_lower: bool) -> Option<Shift> {
        let order = self.number.order(new.number);
        match (moved(is_lower, order), self.is_open, new.is_open) {
            (None, true, false) => Some(Shift::Wider),
            (None, false, true) => Some(Shift::Narrower),
            (shift, ..) => shift,
        }
    }
}

fn range(
    keywords: (&'static str, &'static str),
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    are_integers: bool,
) -> Option<Moved> {
    let read = |members: &Map<String, Value>| Limit::read(keywords, members, are_integers);
    let (before, after, shift) = match (read(old), read(new)) {
        (Ok(None), Ok(None)) => return None,
        (Ok(None), Ok(Some(after))) => (None, Some(after.keyword), Shift::Narrower),
        (Ok(Some(before)), Ok(None)) => (Some(before.keyword), None, Shift::Wider),
        (Ok(Some(before)), Ok(Some(after))) => {
            let shift = before.shift(after, keywords == RANGES[0])?;
            (Some(before.keyword), Some(after.keyword), shift)
        }
        _ => {
            let differs = |keyword: &&str| old.get(*keyword) != new.get(*keyword);
            let keyword = [keywords.0, keywords.1].into_iter().find(differs)?;
            (Some(keyword), Some(keyword), Shift::Unknown)
        }
    };
    Some(Moved { before, after, shift })
}

fn bound(keyword: &str, old: Option<&Value>, new: Option<&Value>, are_integers: bool) -> Option<Shift> {
    if keyword == "minContains" {
        let number = |value: Option<&Value>| value.map_or(Some(Number::Whole(1)), Number::of);
        return match (number(old), number(new)) {
            (Some(old), Some(new)) => moved(true, old.order(new)),
            _ => (old != new).then_some(Shift::Unknown),
        };
    }
    let is_limit = |value: &&Value| !is_no_limit(keyword, value, are_integers);
    match (old.filter(is_limit), new.filter(is_limit)) {
        (None, None) => None,
        (None, Some(_)) => Some(Shift::Narrower),
        (Some(_), None) => Some(Shift::Wider),
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => match (Number::of(old), Number::of(new)) {
            (Some(old), Some(new)) if old.order(new) == Ordering::Equal => None,
            (Some(old), Some(new)) if keyword == "multipleOf" => Some(multiple(old, new)),
            (Some(old), Some(new)) => moved(LOWER.contains(&keyword), old.order(new)),
            _ => Some(Shift::Unknown),
        },
    }
}

fn moved(is_lower: bool, order: Ordering) -> Option<Shift> {
    match (order, is_lower) {
        (Ordering::Equal, _) => None,
        (Ordering::Less, true) | (Ordering::Greater, false) => Some(Shift::Narrower),
        (Ordering::Less, false) | (Ordering::Greater, true) => Some(Shift::Wider),
    }
}

fn multiple(old: Number, new: Number) -> Shift {
    let is_multiple = |one: Number, other: Number| match (one, other) {
        (Number::Whole(one), Number::Whole(other)) => other != 0 && one % other == 0,
        _ => one.float() % other.float() == 0.0,
    };
    if is_multiple(new, old) {
        Shift::Narrower
    } else if is_multiple(old, new) {
        Shift::Wider
    } else {
        Shift::Unknown
    }
}

/// Returns whether a limit excludes nothing.
fn is_no_limit(keyword: &str, value: &Value, are_integers: bool) -> bool {
    let nothing = match keyword {
        "minLength" | "minItems" | "minProperties" => Some(0.0),
        "multipleOf" if are_integers => Some(1.0),
        _ => None,
    };
    value == &Value::Bool(false) || nothing.is_some() && value.as_f64() == nothing
}

/// Returns what happened to a keyword whose value is a notation.
pub(super) fn pattern(old: Option<&Value>, new: Option<&Value>) -> Option<Shift> {
    match (old, new) {
        (None, Some(_)) => Some(Shift::Narrower),
        (Some(_), None) => Some(Shift::Wider),
        (old, new) => (old != new).then_some(Shift::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_moves_inwards_or_outwards() {
        for (old, new, expected) in [
            (json!({"minimum": 1}), json!({"minimum": 2}), Some(Shift::Narrower)),
            (json!({"minimum": 2}), json!({"minimum": 1}), Some(Shift::Wider)),
            (json!({"maximum": 2}), json!({"maximum": 1}), Some(Shift::Narrower)),
            (json!({"maxLength": 1}), json!({"maxLength": 2}), Some(Shift::Wider)),
            (json!({}), json!({"maxItems": 2}), Some(Shift::Narrower)),
            (json!({"minItems": 2}), json!({}), Some(Shift::Wider)),
            (json!({}), json!({"minItems": 0}), None),
            (json!({"uniqueItems": false}), json!({}), None),
            (json!({}), json!({"uniqueItems": true}), Some(Shift::Narrower)),
            (json!({"minimum": 1}), json!({"minimum": 1.0}), None),
            (json!({"multipleOf": 2}), json!({"multipleOf": 4}), Some(Shift::Narrower)),
            (json!({"multipleOf": 4}), json!({"multipleOf": 2}), Some(Shift::Wider)),
            (json!({"multipleOf": 2}), json!({"multipleOf": 3}), Some(Shift::Unknown)),
            (
                json!({"minimum": 1, "exclusiveMinimum": true}),
                json!({"minimum": 1, "exclusiveMinimum": 2}),
                Some(Shift::Narrower),
            ),
            (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1}), None),
            (json!({"minimum": 1, "exclusiveMinimum": false}), json!({"minimum": 1.0}), None),
            (json!({"minimum": 1, "exclusiveMinimum": 0}), json!({"minimum": 1}), None),
            (json!({"minimum": 1}), json!({"minimum": "1"}), Some(Shift::Unknown)),
            (
                json!({"minimum": 9_007_199_254_740_992_u64}),
                json!({"minimum": 9_007_199_254_740_993_u64}),
                Some(Shift::Narrower),
            ),
            (json!({"multipleOf": 2}), json!({"multipleOf": 2.0}), None),
            (json!({"minContains": 1}), json!({}), None),
            (json!({"minContains": 0}), json!({}), Some(Shift::Narrower)),
            (json!({}), json!({"minContains": 2}), Some(Shift::Narrower)),
            (json!({"minimum": 1e39}), json!({"minimum": 1e40}), Some(Shift::Narrower)),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 0}), Some(Shift::Wider)),
            (json!({"maximum": 9}), json!({"exclusiveMaximum": 9}), Some(Shift::Narrower)),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 1}), Some(Shift::Narrower)),
        ] {
            let found = bounds(old.as_object().expect("object"), new.as_object().expect("object"), false);
            assert_eq!(
                found.iter().map(|found| found.shift).collect::<Vec<_>>(),
                Vec::from_iter(expected),
                "{old} {new}"
            );
        }
    }

    #[test]
    fn limits_of_integers_are_compared_by_the_integers_that_they_allow() {
        for (old, new, expected) in [
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 1}), None),
            (json!({"exclusiveMinimum": 0.0}), json!({"minimum": 1.0}), None),
            (json!({"exclusiveMinimum": 0.5}), json!({"minimum": 1}), None),
            (json!({"minimum": 0.5}), json!({"minimum": 1}), None),
            (json!({"exclusiveMaximum": 10}), json!({"maximum": 9}), None),
            (json!({"exclusiveMaximum": 9.5}), json!({"maximum": 9}), None),
            (json!({"minimum": 0, "exclusiveMinimum": true}), json!({"minimum": 1}), None),
            (json!({"minimum": 3, "exclusiveMinimum": 2}), json!({"minimum": 3}), None),
            (json!({"multipleOf": 1}), json!({}), None),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 0}), Some(Shift::Wider)),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": 2}), Some(Shift::Narrower)),
            (json!({"exclusiveMinimum": -1}), json!({}), Some(Shift::Wider)),
            (json!({"minimum": 0.5}), json!({"minimum": 1.5}), Some(Shift::Narrower)),
        ] {
            let found = bounds(old.as_object().expect("object"), new.as_object().expect("object"), true);
            assert_eq!(
                found.iter().map(|found| found.shift).collect::<Vec<_>>(),
                Vec::from_iter(expected),
                "{old} {new}"
            );
        }
    }
}
