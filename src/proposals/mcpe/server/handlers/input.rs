//! What a handler receives of a delivery: the event as JSON, or the events of a batch as an array; and the same as
//! variables.

use super::Delivered;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// How the names of all variables of an event begin.
pub(super) const PREFIX: &str = "MCPE_";

/// How a command receives its event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Way {
    #[default]
    Stdin,
    Env,
    Args,
}

/// A delivery in the forms that handlers need.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    subscription: String,
    delivered: Delivered,
}

impl Input {
    /// The delivery to a subscription.
    pub(crate) fn new(subscription: &str, delivered: Delivered) -> Self {
        Self { subscription: subscription.to_owned(), delivered }
    }

    fn events(&self) -> &[Value] {
        match &self.delivered {
            Delivered::Event(event) => std::slice::from_ref(event),
            Delivered::Batch(events) => events,
        }
    }

    /// The ids of the events.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.events().iter().filter_map(|event| event["id"].as_str()).collect()
    }

    /// The event, or the events of a batch as an array, as JSON.
    pub(crate) fn json(&self) -> String {
        match &self.delivered {
            Delivered::Event(event) => event.to_string(),
            Delivered::Batch(events) => Value::from(events.clone()).to_string(),
        }
    }

    /// The params of the notification: the subscription with the event or events.
    pub(crate) fn params(&self) -> Value {
        match &self.delivered {
            Delivered::Event(event) => serde_json::json!({"subscriptionId": self.subscription, "event": event}),
            Delivered::Batch(events) => serde_json::json!({"subscriptionId": self.subscription, "events": events}),
        }
    }

    /// The variables. Those of a single event are missing for a batch.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: String| (format!("{PREFIX}{name}"), value);
        let mut all = vec![
            named("SUBSCRIPTION_ID", self.subscription.clone()),
            named("EVENT_COUNT", self.events().len().to_string()),
            named("EVENT_JSON", self.json()),
        ];
        if let Delivered::Event(event) = &self.delivered {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let tags: Vec<String> = event["metadata"]["tags"].as_array().into_iter().flatten().map(text).collect();
            all.extend([
                named("EVENT_ID", text(&event["id"])),
                named("EVENT_TYPE", text(&event["type"])),
                named("EVENT_PRIORITY", text(&event["metadata"]["priority"])),
                named("EVENT_TIMESTAMP", text(&event["metadata"]["timestamp"])),
                named("EVENT_TAGS", tags.join(",")),
                named("EVENT_DATA", event["data"].to_string()),
            ]);
        }
        // Operating systems accept no NUL in variables; without it, a text could be one that a handler trusts.
        all.iter_mut().for_each(|(_, value)| *value = value.replace('\0', "\u{fffd}"));
        all
    }
}

/// Expands `$NAME` and `${NAME}` in a text; the inserted values are not expanded again. Names without a value stay as
/// they are. `None` if the result would have more than `most` bytes.
pub(super) fn expand<'a>(text: &str, value: impl Fn(&str) -> Option<Cow<'a, str>>, most: usize) -> Option<String> {
    let mut out = String::new();
    let mut push = |piece: &str| (out.len() + piece.len() <= most).then(|| out.push_str(piece));
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        push(&rest[..at])?;
        let after = &rest[at + 1..];
        let (name, end) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, _)) => (name, name.len() + 2),
            None => {
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let end = after.find(|letter| !is_name(letter)).unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        match value(name) {
            Some(value) => push(&value)?,
            None => push(&rest[at..at + 1 + end])?,
        }
        rest = &after[end..];
    }
    push(rest)?;
    Some(out)
}
