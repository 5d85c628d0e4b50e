//! Places in messages: JSON Pointers, in which `*` can stand for every item or member.

use crate::proposals::Observed;
use serde_json::Value;
use std::fmt;

/// The maximum number of values that one pointer with `*` looks at.
const MAX_PLACES: usize = 10_000;

/// A JSON Pointer into a message. `/request/params` leads to the params of the request that a response answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer.
    ///
    /// # Errors
    ///
    /// The text is not empty and does not begin with a slash.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let rest =
            text.strip_prefix('/').ok_or_else(|| format!("{text:?} is no JSON Pointer: it begins with a slash"))?;
        Ok(Self(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// Reads the place in a summary: a pointer without its first slash.
    pub(super) fn of_summary(text: &str) -> Self {
        Self::parse(&format!("/{}", text.trim_start_matches('/'))).unwrap_or_default()
    }

    /// Returns the names on the way.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// Returns the last name, or an empty text.
    pub(super) fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Returns whether it stands for several places.
    pub(super) fn is_wild(&self) -> bool {
        self.0.iter().any(|token| token == "*")
    }

    /// Returns the value at this place in another one.
    pub(super) fn within<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, token| child(value, token))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|token| write!(out, "/{}", escaped(token)))
    }
}

fn escaped(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn child<'a>(value: &'a Value, token: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
        _ => value.get(token),
    }
}

/// A message, or a part of one that a rule looks at by itself.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    message: &'a Observed<'a>,
    /// The part, and its place in the message; `None` is the whole.
    inner: Option<(&'a Value, String)>,
}

impl<'a> Part<'a> {
    /// Returns the parts of a message that a rule looks at: the whole, or each that the pointer stands for.
    pub(super) fn each(message: &'a Observed<'a>, each: Option<&Pointer>) -> Vec<Self> {
        let Some(each) = each else { return vec![Self { message, inner: None }] };
        let mut found = vec![(message.whole, String::new())];
        for token in &each.0 {
            found = found.into_iter().flat_map(|(value, path)| step(value, path, token)).take(MAX_PLACES).collect();
        }
        found.into_iter().map(|inner| Self { message, inner: Some(inner) }).collect()
    }

    /// Returns the value at a place.
    pub(super) fn get(&self, pointer: &Pointer) -> Option<&'a Value> {
        match (&self.inner, &pointer.0[..]) {
            (Some((value, _)), _) => pointer.within(value),
            (None, [first, second, rest @ ..]) if first == "request" && second == "params" => {
                let params = &self.message.request?.params;
                rest.iter().try_fold(params, |value, token| child(value, token))
            }
            (None, _) => pointer.within(self.message.whole),
        }
    }

    /// Returns the JSON Pointer to a place, from the root of the message.
    pub(super) fn path(&self, pointer: &Pointer) -> String {
        let base = self.inner.as_ref().map_or("", |(_, path)| path);
        format!("{base}{pointer}")
    }
}

fn step<'a>(value: &'a Value, path: String, token: &str) -> Vec<(&'a Value, String)> {
    match (value, token) {
        (Value::Array(items), "*") => {
            items.iter().enumerate().map(|(at, item)| (item, format!("{path}/{at}"))).collect()
        }
        (Value::Object(members), "*") => {
            members.iter().map(|(name, item)| (item, format!("{path}/{}", escaped(name)))).collect()
        }
        (_, token) => {
            child(value, token).map(|item| (item, format!("{path}/{}", escaped(token)))).into_iter().collect()
        }
    }
}
