//! Channels: whether they are registered before use, used in their direction, and observed in order.

use super::*;
use crate::proposals::mcpl::scope_lists::channel_names;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::timestamp;
use std::collections::BTreeMap;

/// The progress of the output of one inference to one channel.
#[derive(Debug, Default)]
struct Outgoing {
    next: u64,
    text: Digest,
    complete: bool,
    /// The session is incomplete, so the first chunks may be missing.
    partial: bool,
}

/// A channel as its server described it.
#[derive(Debug)]
struct Channel {
    direction: String,
    kind: Option<Digest>,
    address: Option<Digest>,
    /// The names by which a pattern may mean it; `None` if they are too long to keep.
    names: Option<Vec<String>>,
    /// The server closed it. It stays registered until `channels/changed` removes it.
    is_closed: bool,
}

/// How many bytes the names of a channel may have.
const MAX_NAMES: usize = 1024;

/// The channels of one connection.
#[derive(Debug)]
pub(super) struct Channels {
    known: Recent<String, Channel>,
    outgoing: Recent<(String, String), Outgoing>,
    lost: bool,
}

impl Default for Channels {
    fn default() -> Self {
        Self { known: Recent::new(4096), outgoing: Recent::new(1024), lost: false }
    }
}

impl Channels {
    pub(super) fn lose_track(&mut self) {
        *self = Self { lost: true, ..Self::default() };
    }

    /// The names by which a pattern may mean a channel, if they are known.
    pub(super) fn names(&self, id: &str) -> Option<&[String]> {
        self.known.get(&id.to_owned())?.names.as_deref()
    }

    /// Whether a channel may exist although it is not known.
    fn may_be_hidden(&self) -> bool {
        self.lost || self.known.has_forgotten()
    }

    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        use MessageKind::{Error, Notification, Request, Result};
        let content = message.content;
        match (method, message.envelope.kind) {
            ("channels/register", Request | Notification) => self.add(&content["channels"], message.seq, findings),
            ("channels/changed", Request | Notification) => self.changed(message, findings),
            ("channels/list", Result) => {
                content["channels"].as_array().into_iter().flatten().for_each(|channel| self.note(channel));
            }
            ("channels/open", Result) => {
                check_opened(message, findings);
                self.note(&content["channel"]);
            }
            ("channels/close", Result) if content["closed"] == true => {
                let id = message.request.and_then(|asked| asked.params["channelId"].as_str());
                let known = self.known.get_mut(&id.unwrap_or_default().to_owned());
                let is_known = known.map(|channel| channel.is_closed = true).is_some() || self.may_be_hidden();
                findings.check(&CLOSED_UNKNOWN, message.seq, id.is_none() || is_known, || {
                    format!("the server closed {:?}, which is not registered", id.unwrap_or_default())
                });
            }
            ("channels/close" | "channels/publish", Error) => self.refused(method, message, findings),
            ("channels/publish", Request | Notification) => self.publish(message, findings),
            ("channels/outgoing/chunk", Request | Notification) => self.chunk(message, findings),
            ("channels/outgoing/complete", Request | Notification) => self.complete(message, findings),
            ("channels/incoming", Request | Notification) => self.incoming(message, findings),
            ("channels/incoming", Result) => check_results(message, findings),
            _ => {}
        }
    }

    fn refused(&self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let Some(id) = message.request.and_then(|asked| asked.params["channelId"].as_str()) else { return };
        if self.known.contains(&id.to_owned()) || self.may_be_hidden() {
            return;
        }
        let is_wrong = message.content["code"] == errors::INVALID_PARAMS && asked_correctly(method, message);
        findings.check(&CHANNEL_CODE, message.seq, !is_wrong, || {
            format!("{id:?} is not registered, but {method} was refused with error {}", message.content["code"])
        });
    }

    fn note(&mut self, channel: &Value) {
        let direction = channel["direction"].as_str().unwrap_or("bidirectional").to_owned();
        if let Some(id) = channel["id"].as_str() {
            let part = |name: &str| channel.get(name).filter(|value| !value.is_null()).map(digest);
            let names =
                Some(channel_names(channel)).filter(|all| all.iter().map(String::len).sum::<usize>() <= MAX_NAMES);
            let reported = Channel { direction, kind: part("type"), address: part("address"), names, is_closed: false };
            self.known.insert(id.to_owned(), reported);
        }
    }

    fn add(&mut self, channels: &Value, seq: u64, findings: &mut Findings) {
        for channel in channels.as_array().into_iter().flatten() {
            let Some(id) = channel["id"].as_str() else { continue };
            let differs = |reported: Option<Digest>, name: &str| {
                let says = channel.get(name).filter(|value| !value.is_null()).map(digest);
                reported.is_some() && says.is_some() && reported != says
            };
            let other = self.known.get(&id.to_owned()).and_then(|reported| match () {
                () if differs(reported.kind, "type") => Some("type"),
                () if differs(reported.address, "address") => Some("address"),
                () => None,
            });
            findings.check(&CHANNEL_REUSED, seq, other.is_none(), || {
                format!("{id:?} is already registered, with another {}", other.unwrap_or_default())
            });
            self.note(channel);
        }
    }

    fn changed(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let content = message.content;
        let removed = content["removed"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let updated = content["updated"].as_array().into_iter().flatten().filter_map(|channel| channel["id"].as_str());
        for id in removed.clone().chain(updated) {
            let known = self.known.contains(&id.to_owned()) || self.may_be_hidden();
            findings.check(&CHANNEL_CHANGE, message.seq, known, || {
                format!("the server named {id:?}, which is not registered")
            });
        }
        for id in removed {
            self.known.remove(&id.to_owned());
        }
        content["updated"].as_array().into_iter().flatten().for_each(|channel| self.note(channel));
        self.add(&content["added"], message.seq, findings);
    }

    /// Checks that a channel is registered, and returns its direction if it is known.
    fn registered(&self, id: &str, seq: u64, findings: &mut Findings) -> Option<&str> {
        let direction = self.known.get(&id.to_owned()).map(|reported| reported.direction.as_str());
        let known = direction.is_some() || self.may_be_hidden();
        findings.check(&UNREGISTERED, seq, known, || format!("channel {id:?} is not registered"));
        direction
    }

    fn publish(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(id) = message.content["channelId"].as_str() else { return };
        findings.hold(&CONTENT_STRING);
        let thinking = matches!(id, "thinking" | "channels.thinking");
        findings.check(&PUBLISH_THINKING, message.seq, !thinking, || format!("the host published to {id:?}"));
        if thinking {
            return;
        }
        if let Some(direction) = self.registered(id, message.seq, findings) {
            findings.check(&CHANNEL_DIRECTION, message.seq, direction != "inbound", || {
                format!("the host published to {id:?}, which is inbound")
            });
            let is_open = self.known.get(&id.to_owned()).is_some_and(|channel| !channel.is_closed);
            findings.check(&PUBLISH_CLOSED, message.seq, is_open, || {
                format!("the host published to {id:?}, which the server had closed")
            });
        }
    }

    fn incoming(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&CONTENT_STRING);
        for incoming in message.content["messages"].as_array().into_iter().flatten() {
            let at = &incoming["timestamp"];
            timestamp::check(at, &TIMESTAMP, &TIMESTAMP_UNREADABLE, message.seq, findings);
            let Some(id) = incoming["channelId"].as_str() else { continue };
            if let Some(direction) = self.registered(id, message.seq, findings) {
                findings.check(&CHANNEL_DIRECTION, message.seq, direction != "outbound", || {
                    format!("the server sent a message from {id:?}, which is outbound")
                });
            }
        }
    }

    /// The output that a message belongs to.
    fn output(&mut self, message: &Observed<'_>, findings: &mut Findings) -> Option<&mut Outgoing> {
        let inference = message.content["inferenceId"].as_str()?;
        let channel = message.content["channelId"].as_str()?;
        if !matches!(channel, "thinking" | "channels.thinking") {
            self.registered(channel, message.seq, findings);
        }
        let key = (inference.to_owned(), channel.to_owned());
        if !self.outgoing.contains(&key) {
            self.outgoing.insert(key.clone(), Outgoing { partial: self.lost, ..Outgoing::default() });
        }
        let output = self.outgoing.get_mut(&key)?;
        findings.check(&OUTGOING_COMPLETED, message.seq, !output.complete, || {
            format!("the output of {inference} to {channel:?} was already complete")
        });
        Some(output)
    }

    fn chunk(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let params = message.content;
        let Some(output) = self.output(message, findings) else { return };
        let index = params["index"].as_u64();
        let begins = output.next == 0;
        output.partial &= index != Some(0);
        findings.check(&OUTGOING_ORDER, message.seq, index == Some(output.next) || (begins && output.partial), || {
            format!("chunk {} came, but {} was expected", params["index"], output.next)
        });
        output.next = index.unwrap_or(output.next).saturating_add(1);
        output.text.append(params["delta"].as_str().unwrap_or_default());
    }

    fn complete(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(output) = self.output(message, findings) else { return };
        output.complete = true;
        if output.next == 0 || output.partial {
            return;
        }
        let mut text = Digest::default();
        for block in message.content["content"].as_array().into_iter().flatten() {
            text.append(block["text"].as_str().unwrap_or_default());
        }
        findings.check(&OUTGOING_TEXT, message.seq, text == output.text, || {
            format!("the chunks ({} received) make up another text", output.next)
        });
    }
}

fn check_opened(message: &Observed<'_>, findings: &mut Findings) {
    let Some(asked) = message.request else { return };
    let (asked, opened) = (&asked.params, &message.content["channel"]);
    if !opened.is_object() {
        return;
    }
    let differs = |asked: &Value, opened: &Value| !asked.is_null() && !opened.is_null() && asked != opened;
    let mut address = asked["address"].as_object().into_iter().flatten();
    let other = match () {
        () if differs(&asked["type"], &opened["type"]) => Some("type"),
        () if address.any(|(name, part)| differs(part, &opened["address"][name])) => Some("address"),
        () => None,
    };
    findings.check(&OPENED_OTHER, message.seq, other.is_none(), || {
        format!("the server opened a channel with another {}", other.unwrap_or_default())
    });
}

fn check_results(message: &Observed<'_>, findings: &mut Findings) {
    let Some(asked) = message.request.filter(|asked| asked.params["messages"].is_array()) else { return };
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for (list, step) in [(&asked.params["messages"], 1), (&message.content["results"], -1)] {
        for id in list.as_array().into_iter().flatten().filter_map(|entry| entry["messageId"].as_str()) {
            *counts.entry(id).or_default() += step;
        }
    }
    let wrong = counts.iter().find(|(_, count)| **count != 0);
    findings.check(&INCOMING_RESULTS, message.seq, wrong.is_none(), || match wrong {
        Some((id, 1..)) => format!("{id:?} has no result"),
        Some((id, _)) => format!("{id:?} has too many results"),
        None => String::new(),
    });
}
