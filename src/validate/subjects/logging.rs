//! Log messages: only those that the client asked for.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::Revision;
use crate::protocol::revision::meta;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::{IdKey, MessageKind};

rules! {
    UNREQUESTED = Error "logging/unrequested",
        "In revision 2026-07-28, the server must send `notifications/message` only while a request with a log level in its `_meta` is pending.",
        "MCP 2026-07-28, Logging, Per-request log level",
        fix "Send log messages only for a request with `io.modelcontextprotocol/logLevel` in its `_meta`.";
    TOO_LOW = Error "logging/too-low",
        "In revision 2026-07-28, the server must send no `notifications/message` below the log level that the request asks for in its `_meta`.",
        "MCP 2026-07-28, Logging, Per-request log level",
        fix "Compare each message's level with the one in the request's `_meta`.";
    BELOW_LEVEL = Warning "logging/below-level",
        "After the client sent `logging/setLevel`, the server sends no `notifications/message` below that level.",
        "MCP 2025-11-25, Logging, Setting Log Level",
        fix "Keep the level of the last `logging/setLevel`, and compare each message's level with it.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::<Logging>::default(),
};

/// Pending requests whose levels are remembered.
const PENDING: usize = 1024;
/// The levels, lowest first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|name| *name == level)
}

/// The levels that the client asked for.
#[derive(Debug)]
struct Logging {
    /// The pending requests of the modern era: the exchange of each, and the level that it asks for.
    pending: Recent<IdKey, (u32, Option<usize>)>,
    /// The level that `logging/setLevel` set.
    set: Option<usize>,
}

impl Default for Logging {
    fn default() -> Self {
        Self { pending: Recent::new(PENDING), set: None }
    }
}

impl Subject for Logging {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let id = message.observed.envelope.id;
        match message.observed.envelope.kind {
            MessageKind::Request if message.is_clients() && message.is_modern() => {
                let level = message.content()["_meta"][meta::LOG_LEVEL].as_str().and_then(rank);
                id.map(|id| self.pending.insert(id.key(), (message.header.exchange, level)));
            }
            MessageKind::Result | MessageKind::Error if !message.is_clients() => {
                id.map(|id| self.pending.remove(&id.key()));
                self.note_set(message);
            }
            MessageKind::Notification if message.method() == "notifications/message" => {
                let level = message.content()["level"].as_str().and_then(rank);
                match message.is_modern() {
                    true => self.check_modern(message, level, findings),
                    false => self.check_legacy(message, level, findings),
                }
            }
            _ => {}
        }
    }
}

impl Logging {
    fn note_set(&mut self, message: &Message<'_>) {
        if message.result_of() == "logging/setLevel" {
            let asked = message.observed.request.and_then(|request| request.params["level"].as_str());
            self.set = asked.and_then(rank);
        }
    }

    fn check_legacy(&self, message: &Message<'_>, level: Option<usize>, findings: &mut Findings) {
        let (Some(set), Some(level)) = (self.set, level) else { return };
        findings.check(&BELOW_LEVEL, message.seq(), level >= set, || {
            format!("the server sent level {}, but the client set {}", LEVELS[level], LEVELS[set])
        });
    }

    fn check_modern(&self, message: &Message<'_>, level: Option<usize>, findings: &mut Findings) {
        if !message.saw_all() || self.pending.has_forgotten() {
            return findings.give_up(&UNREQUESTED);
        }
        let exchange = message.header.exchange;
        // Over HTTP, the message belongs to the request of its exchange.
        let asked = self.pending.values().filter(|(other, _)| *other == exchange).filter_map(|(_, level)| *level).min();
        findings.check(&UNREQUESTED, message.seq(), asked.is_some(), || {
            "the server sent a log message, but no pending request has logLevel".to_owned()
        });
        if let (Some(asked), Some(level)) = (asked, level) {
            findings.check(&TOO_LOW, message.seq(), level >= asked, || {
                format!("the server sent level {}, but the request asks for {}", LEVELS[level], LEVELS[asked])
            });
        }
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A request of the modern era that asks for warnings.
    const WARNINGS: &str = r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"warning",
        "io.modelcontextprotocol/clientCapabilities":{}}}}
        s>c {"method":"notifications/message","params":{"level":"LEVEL","data":"x"}}"#;

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "logging/unrequested",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"method":"notifications/message","params":{"level":"error","data":"x"}}"#,
        ),
        (
            "logging/too-low",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"warning",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"method":"notifications/message","params":{"level":"notice","data":"x"}}"#,
        ),
        (
            "logging/below-level",
            r#"hello 2025-11-25 {} | {"logging":{}}
               c>s {"id":1,"method":"logging/setLevel","params":{"level":"error"}}
               s>c {"id":1,"result":{}}
               s>c {"method":"notifications/message","params":{"level":"warning","data":"x"}}"#,
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        r#"hello 2025-11-25 {} | {"logging":{}}
           s>c {"method":"notifications/message","params":{"level":"debug","data":"x"}}
           c>s {"id":1,"method":"logging/setLevel","params":{"level":"error"}}
           s>c {"method":"notifications/message","params":{"level":"warning","data":"x"}}
           s>c {"id":1,"result":{}}
           s>c {"method":"notifications/message","params":{"level":"error","data":"x"}}"#,
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"warning",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"method":"notifications/message","params":{"level":"warning","data":"x"}}"#,
    ];

    #[test]
    fn a_request_of_the_legacy_era_takes_no_level_from_another_with_its_id() {
        let initialize = r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let (asked, log) = WARNINGS.split_once("s>c").unwrap_or_default();
        let session = format!("{asked}{initialize}\ns>c{}", log.replace("LEVEL", "warning"));
        let found = crate::validate::tests::found(&session);
        assert!(found.contains("pairing/id-in-use") && !found.contains("logging/unrequested"), "{found:?}");
    }

    #[test]
    fn each_level_is_at_least_itself() {
        for (at, level) in super::LEVELS.iter().enumerate() {
            let found = crate::validate::tests::found(&WARNINGS.replace("LEVEL", level));
            assert_eq!(found.contains("logging/too-low"), at < 3, "{level}");
        }
    }
}
