//! Scopes: whether the host keeps to the lists that it sent, for requested scopes, tool calls and channels.
//!
//! MCPL leaves the form of patterns to the host. What a list forbids or permits is therefore reported only if no other
//! reading of its patterns is likely.

use super::channels::Channels;
use super::sets::Sets;
use super::*;
use crate::proposals::ON_ITS_WAY_NS;
use crate::proposals::Rule;
use crate::proposals::mcpl::scope_lists::{ScopeLists, Standing};
use crate::proposals::recent::Recent;

/// How many lists, tools and approved labels are remembered.
const MAX_ENTRIES: usize = 4096;

/// The scopes of one connection.
#[derive(Debug)]
pub(super) struct Scopes {
    /// The host's lists by feature set, and when it sent them, in nanoseconds.
    lists: Recent<String, (ScopeLists, i64)>,
    /// Feature sets and labels that the host approved.
    approved: Recent<(String, String)>,
    /// The feature sets that the definitions of tools name (AMB-C4).
    tools: Recent<String, String>,
    lost: bool,
}

impl Default for Scopes {
    fn default() -> Self {
        let (lists, approved, tools) = (Recent::new(MAX_ENTRIES), Recent::new(MAX_ENTRIES), Recent::new(MAX_ENTRIES));
        Self { lists, approved, tools, lost: false }
    }
}

impl Scopes {
    pub(super) fn lose_track(&mut self) {
        self.lists = Recent::new(MAX_ENTRIES);
        self.lost = true;
    }

    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        use MessageKind::{Notification, Request, Result};
        match (method, message.envelope.kind) {
            ("featureSets/update", Notification | Request) => {
                for (set, lists) in message.content["scopes"].as_object().into_iter().flatten() {
                    self.lists.insert(set.clone(), (ScopeLists::read(lists), message.time));
                }
            }
            ("scope/elevate", Result) => self.decided(message, findings),
            _ => {}
        }
    }

    fn decided(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(asked) = message.request else { return };
        let names = (asked.params["featureSet"].as_str(), asked.params["scope"]["label"].as_str());
        let ((Some(set), Some(label)), Some(is_approved)) = (names, message.content["approved"].as_bool()) else {
            return;
        };
        if is_approved {
            self.approved.insert((set.to_owned(), label.to_owned()), ());
        }
        let Some((lists, _)) = self.lists.get(&set.to_owned()) else { return };
        let (is_black, is_white) = (lists.names_black(&[label]), lists.names_white(&[label]));
        findings.check(&SCOPE_BLACKLISTED, message.seq, !is_approved || !is_black, || {
            format!("the host approved {label:?} for {set:?}, although it is on its blacklist")
        });
        let may_be_black = lists.may_be_black(&[label]);
        findings.check(&SCOPE_WHITELISTED, message.seq, is_approved || !is_white || may_be_black, || {
            format!("the host denied {label:?} for {set:?}, although it is on its whitelist")
        });
        let (does, list) = match lists.judge(&[label]) {
            Standing::Forbidden if !is_black => (is_approved, "approved it, although its blacklist"),
            Standing::Allowed if !is_white && !may_be_black => (!is_approved, "denied it, although its whitelist"),
            _ => return,
        };
        findings
            .check(&SCOPE_PATTERN, message.seq, !does, || format!("{label:?} for {set:?}: the host {list} matches it"));
    }

    /// Handles a list of tools.
    pub(super) fn listed(&mut self, message: &Observed<'_>) {
        for tool in message.content["tools"].as_array().into_iter().flatten() {
            let set = tool["featureSet"].as_str().or(tool["_meta"]["featureSet"].as_str());
            if let (Some(name), Some(set)) = (tool["name"].as_str(), set) {
                self.tools.insert(name.to_owned(), set.to_owned());
            }
        }
    }

    /// The feature set of a tool: the one in its definition, or, if no definition names one, the only set that uses
    /// tools (AMB-C4).
    pub(super) fn set_of<'a>(&'a self, tool: &str, sets: &'a Sets) -> Option<&'a str> {
        if !self.tools.is_empty() {
            return self.tools.get(&tool.to_owned()).map(String::as_str);
        }
        let mut using = sets.using("tools");
        using.next().filter(|_| using.next().is_none())
    }

    /// Checks a tool call of a host that declared MCPL.
    pub(super) fn called(&self, message: &Observed<'_>, sets: &Sets, findings: &mut Findings) {
        let (seq, tool) = (message.seq, message.content["name"].as_str().unwrap_or_default());
        let Some(set) = self.set_of(tool, sets) else {
            let may_be_any = self.tools.is_empty() && !self.lost;
            return sets.check_used(sets.using("tools").filter(|_| may_be_any), message, findings);
        };
        sets.check_used(std::iter::once(set), message, findings);
        if sets.get(set).is_none_or(|declared| declared["scoped"] != true) {
            return;
        }
        findings.check(&CALL_UNSCOPED, seq, message.content.get("scope").is_some(), || {
            format!("the host called {tool:?} of the scoped feature set {set:?} without a scope")
        });
        let Some(label) = message.content["scope"]["label"].as_str() else { return };
        let Some((lists, _)) = self.lists.get(&set.to_owned()).filter(|_| !self.lost) else { return };
        let is_approved = self.approved.contains(&(set.to_owned(), label.to_owned()));
        let is_black = lists.names_black(&[label]);
        findings.check(&CALL_BLACKLISTED, seq, is_approved || !is_black, || {
            format!("the host called {tool:?} with {label:?}, which is on the blacklist of {set:?}")
        });
        let is_matched = !is_black && lists.judge(&[label]) == Standing::Forbidden;
        findings.check(&SCOPE_PATTERN, seq, is_approved || !is_matched, || {
            format!("the host called {tool:?} with {label:?}, which the blacklist of {set:?} matches")
        });
    }

    /// Checks a `channels/publish` against the lists of the feature sets for it.
    pub(super) fn published(&self, message: &Observed<'_>, known: (&Channels, &Sets), findings: &mut Findings) {
        known.1.check_used(known.1.using("channels.publish"), message, findings);
        if let Some(id) = message.content["channelId"].as_str() {
            self.check_channel(&PUBLISH_SCOPE, (id, "channels.publish"), message, known, findings);
        }
    }

    /// Checks the channels of which a message says what happens in them.
    pub(super) fn observed(&self, message: &Observed<'_>, known: (&Channels, &Sets), findings: &mut Findings) {
        use MessageKind::{Notification, Request};
        if !matches!(message.envelope.kind, Notification | Request) {
            return;
        }
        let one = std::slice::from_ref(message.content);
        let messages = match message.method {
            Some("channels/outgoing/chunk" | "channels/outgoing/complete") => one,
            Some("channels/incoming") => message.content["messages"].as_array().map_or(&[][..], Vec::as_slice),
            _ => return,
        };
        for id in messages.iter().filter_map(|message| message["channelId"].as_str()) {
            self.check_channel(&OBSERVE_SCOPE, (id, "channels.observe"), message, known, findings);
        }
    }

    /// Checks a channel against the lists of the feature sets that use it.
    fn check_channel(
        &self,
        rule: &'static Rule,
        (id, used): (&str, &str),
        message: &Observed<'_>,
        (channels, sets): (&Channels, &Sets),
        findings: &mut Findings,
    ) {
        let Some(names) = channels.names(id).filter(|_| !self.lost) else { return };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (sender, grace) = match message.direction {
            Direction::ClientToServer => ("host", 0),
            Direction::ServerToClient => ("server", ON_ITS_WAY_NS),
        };
        let method = message.method.unwrap_or_default();
        for set in sets.using(used) {
            let Some((lists, time)) = self.lists.get(&set.to_owned()) else { continue };
            let is_approved = names.iter().any(|name| self.approved.contains(&(set.to_owned(), (*name).to_owned())));
            if message.time.saturating_sub(*time) < grace {
                continue;
            }
            let is_black = lists.names_black(&names);
            let is_left_out = lists.has_whitelist() && !lists.may_be_white(&names);
            findings.check(rule, message.seq, is_approved || !is_black && !is_left_out, || {
                let list = if is_black { "it is on the blacklist" } else { "the whitelist does not match it" };
                format!("the {sender} sent {method} for {id:?}, but for {set:?}, {list}")
            });
            let is_matched = !is_black && lists.judge(&names) == Standing::Forbidden;
            findings.check(&SCOPE_PATTERN, message.seq, is_approved || !is_matched, || {
                format!("the {sender} sent {method} for {id:?}, which the blacklist of {set:?} matches")
            });
        }
    }
}
