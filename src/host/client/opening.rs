//! Opening a connection: probe, `initialize`, fallback.

use super::handshake::{self, Handshake, Probed};
use super::message::{self, Params};
use super::{ClientEngine, EraChoice, FailureReason, Held, Open, Output, Role, Stage, meta};
use crate::protocol::{Era, Revision};
use crate::wire::{Envelope, MessageKind, json as text};
use serde_json::{Value, json};
use std::time::Duration;

impl ClientEngine {
    pub(super) fn send_probe(&mut self, now: Duration, version: String, out: &mut Vec<Output>) {
        self.version = version;
        self.era = Era::Modern;
        let patient = self.config.era == EraChoice::Modern || self.probed_again;
        let timeout = if patient { self.config.request_timeout } else { self.config.probe_timeout };
        let open = self.prepare(now, Role::Probe, "server/discover", Params::Absent, timeout);
        self.send_request(open, &[], out);
    }

    /// Whether to probe for the modern era if the server refuses `initialize`.
    pub(super) fn may_probe(&self) -> bool {
        self.config.era == EraChoice::Handshake && self.stage == Stage::Opening && !self.probed_again
    }

    /// Probes after `initialize` failed for the reason `refused`, which is reported if the probe fails too.
    pub(super) fn probe_after(&mut self, now: Duration, refused: String, out: &mut Vec<Output>) {
        self.refused = Some(refused);
        self.send_probe(now, Revision::NEWEST.as_str().to_owned(), out);
    }

    pub(super) fn send_initialize(&mut self, now: Duration, out: &mut Vec<Output>) {
        self.version = handshake::legacy_version(self.config.era, self.config.protocol_version.as_deref());
        self.era = Era::Legacy;
        let params = json!({
            "protocolVersion": self.version,
            "capabilities": self.offer.capabilities,
            "clientInfo": self.client_info(),
        });
        let open = self.prepare(now, Role::Initialize, "initialize", params.into(), self.config.request_timeout);
        self.send_request(open, &[], out);
    }

    pub(super) fn client_info(&self) -> Value {
        json!({"name": self.config.name, "version": self.config.version})
    }

    pub(super) fn read_probe(&mut self, now: Duration, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        match handshake::read_probe(envelope, &self.version) {
            Probed::Modern { version, result, note } => {
                let refused = self.refused.take().map(|refused| format!("{refused}; continued in the modern era"));
                self.notes.extend(refused.into_iter().chain(note));
                self.enter(now, Era::Modern, version, &result, out);
            }
            Probed::Again { version } if !self.probed_again => {
                self.probed_again = true;
                self.send_probe(now, version, out);
            }
            Probed::Again { version } => {
                self.fail(format!("the server refused version {} but lists {version} as supported", self.version), out);
            }
            Probed::Legacy { why } => self.fall_back(now, why, out),
            Probed::Nothing { reason } => {
                let reason = self.refused.take().unwrap_or(reason);
                self.fail(reason, out);
            }
        }
    }

    /// No sign of the modern era: sends `initialize`, or, if the caller insists on the modern era, continues without
    /// knowing the server's capabilities (clients may skip `server/discover`: MCP 2026-07-28).
    pub(super) fn fall_back(&mut self, now: Duration, why: String, out: &mut Vec<Output>) {
        if let Some(refused) = self.refused.take() {
            return self.fail(refused, out);
        }
        if self.config.era == EraChoice::Modern {
            self.notes.push(format!("{why}; continued in the modern era, as requested"));
            return self.enter(now, Era::Modern, self.version.clone(), &Value::Null, out);
        }
        self.notes.push(format!("{why}; continued with initialize"));
        self.send_initialize(now, out);
    }

    pub(super) fn read_initialize(&mut self, now: Duration, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let content: Value = envelope.content().map(text::value_of).unwrap_or_default();
        if envelope.kind == MessageKind::Error {
            return self.initialize_refused(now, envelope, &content, out);
        }
        let Some(version) = content["protocolVersion"].as_str() else {
            return self.fail("the server answered initialize without a protocolVersion".to_owned(), out);
        };
        match Revision::parse(version) {
            None if version != self.version => {
                let reason = format!(
                    "the server answered initialize with protocol version {version}, which mcpreel does not know"
                );
                return self.fail(reason, out);
            }
            Some(revision) if revision.era() == Era::Modern => {
                self.notes
                    .push(format!("the server answered initialize with {version}, a revision that has no initialize"));
            }
            _ => {}
        }
        out.push(Output::Send(message::call(None, "notifications/initialized", None)));
        self.enter(now, Era::Legacy, version.to_owned(), &content, out);
    }

    /// Handles a refused `initialize`. A modern server may have been slow to answer the probe, so a late response
    /// counts.
    fn initialize_refused(&mut self, now: Duration, envelope: &Envelope<'_>, error: &Value, out: &mut Vec<Output>) {
        if self.config.era == EraChoice::Auto && !self.probed_again {
            let newest = Revision::NEWEST.as_str();
            if let Some(late) = self.late_probe.take()
                && let Probed::Modern { version, result, note } = handshake::read_probe(&Envelope::scan(&late), newest)
            {
                self.notes.extend(note);
                return self.enter(now, Era::Modern, version, &result, out);
            }
            if let Probed::Again { version } | Probed::Modern { version, .. } = handshake::read_probe(envelope, newest)
            {
                self.probed_again = true;
                return self.send_probe(now, version, out);
            }
        }
        let reason = format!("the server answered initialize with {}", handshake::describe_error(error));
        match self.may_probe() {
            true => self.probe_after(now, reason, out),
            false => self.fail(reason, out),
        }
    }

    /// Enters the connection once the server has answered.
    fn enter(&mut self, now: Duration, era: Era, version: String, result: &Value, out: &mut Vec<Output>) {
        let handshake = Handshake::read(era, version, result, std::mem::take(&mut self.notes));
        self.open_as(now, handshake, out);
    }

    /// Marks the connection as open, reports it, and sends what was held back.
    pub(super) fn open_as(&mut self, now: Duration, handshake: Handshake, out: &mut Vec<Output>) {
        self.era = handshake.era;
        self.version = handshake.version_text.clone();
        out.push(match std::mem::replace(&mut self.stage, Stage::Ready) {
            Stage::Renewing => Output::Renewed(Box::new(handshake)),
            _ => Output::Ready(handshake),
        });
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Request(mut open) => {
                    open.since = now;
                    self.send_request(open, &[], out);
                }
                Held::Notification(method, params) => out.extend(self.notify(now, &method, params)),
            }
        }
    }

    pub(super) fn fail(&mut self, reason: impl Into<FailureReason>, out: &mut Vec<Output>) {
        let reason = reason.into();
        self.stage = Stage::Failed(reason.clone());
        for held in std::mem::take(&mut self.held) {
            if let Held::Request(open) = held {
                out.push(Output::Failed { handle: Some(open.handle), reason: reason.clone() });
            }
        }
        out.push(Output::Failed { handle: None, reason });
    }

    /// Gives the probe more time if the server has sent nothing yet. Returns whether it did.
    pub(super) fn waits_for_the_start(&mut self, now: Duration, id: i64) -> bool {
        let at_most = self.config.start_timeout.min(self.config.request_timeout);
        let may_wait = self.config.era == EraChoice::Auto && !self.has_spoken;
        let is_early = |open: &Open| open.timeout < at_most && now < open.since.saturating_add(at_most);
        let probe = self.open.get_mut(&id).filter(|open| open.role == Role::Probe && may_wait && is_early(open));
        let Some(open) = probe else { return false };
        open.timeout = at_most;
        let waiting = Output::Waiting { method: open.method.clone(), at_most };
        self.notice = Some((now.saturating_add(self.config.quiet_for), waiting));
        true
    }

    /// Returns what is to be said about a probe that is still waited for.
    pub(super) fn take_notice(&mut self, now: Duration) -> Option<Output> {
        let (_, notice) = self.notice.take_if(|(at, _)| *at <= now)?;
        let is_waiting = self.open.values().any(|open| open.role == Role::Probe && !open.expired);
        (is_waiting && !self.has_spoken).then_some(notice)
    }

    /// The server has sent something for the first time, so a probe that is still open needs no more than its usual time.
    pub(super) fn has_started(&mut self, now: Duration) {
        self.has_spoken = true;
        if self.config.era != EraChoice::Auto || self.probed_again {
            return;
        }
        for open in self.open.values_mut().filter(|open| open.role == Role::Probe) {
            let usual = now.saturating_sub(open.since).saturating_add(self.config.probe_timeout);
            open.timeout = open.timeout.min(usual);
        }
    }

    /// Handles a request that timed out.
    pub(super) fn give_up(&mut self, now: Duration, id: i64, open: Open, out: &mut Vec<Output>) {
        match open.role {
            Role::Probe if self.refused.is_some() || self.config.era == EraChoice::Auto && !self.probed_again => {
                self.fall_back(now, format!("no response to server/discover within {:?}", open.timeout), out);
            }
            Role::Probe | Role::Initialize => {
                let (handle, method, after) = (open.handle, open.method.clone(), open.timeout);
                out.push(Output::TimedOut { handle, method, after });
                self.fail(format!("the server did not respond to {} within {:?}", open.method, open.timeout), out);
            }
            Role::Call => {
                let params =
                    json!({"requestId": self.id(id), "reason": format!("no response within {:?}", open.timeout)});
                out.extend(self.notify(now, "notifications/cancelled", params));
                out.push(Output::TimedOut { handle: open.handle, method: open.method, after: open.timeout });
            }
        }
    }

    /// The `_meta` members of every modern request.
    pub(super) fn meta(&self) -> [(&'static str, Value); 3] {
        [
            (meta::PROTOCOL_VERSION, self.version.clone().into()),
            (meta::CLIENT_INFO, self.client_info()),
            (meta::CLIENT_CAPABILITIES, self.offer.capabilities.clone()),
        ]
    }
}
