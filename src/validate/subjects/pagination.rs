//! Lists in pages: cursors come from the server and are returned unchanged.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::protocol::{Revision, errors};
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::wire::{Direction, MessageKind};
use serde_json::Value;

rules! {
    INVENTED = Error "pagination/invented-cursor",
        "In the `cursor` of a request, the client must send only a `nextCursor` that it received.",
        "MCP 2025-11-25, Pagination, Implementation Guidelines",
        fix "Return nextCursor as it is. Do not parse, change, or keep it for another session.";
    OTHER_LIST = Error "pagination/other-list",
        "The client must use a `nextCursor` only for the method from whose result it came.",
        "MCP 2025-11-25, Pagination, Implementation Guidelines",
        fix "Keep the cursor together with the method that it came from.";
    REPEATED = Warning "pagination/repeated-cursor",
        "The server does not return as `nextCursor` the `cursor` of the same request, because the client would then never reach the end.",
        "MCP 2025-11-25, Pagination, Response Format",
        fix "Compute the cursor from the last entry of the page, and leave it out on the last page.";
    REFUSAL = Warning "pagination/refusal-code",
        "A server that refuses a `cursor` answers with error -32602 (invalid params).",
        "MCP 2025-11-25, Pagination, Error Handling",
        fix "Answer cursors that you cannot read with error -32602.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::<Pagination>::default(),
};

/// Cursors that are remembered.
const CURSORS: usize = 1024;
/// The length of a cursor in bytes up to which it is remembered.
const MAX_CURSOR: usize = 1024;

/// The cursors that were sent, each with the method of its list.
#[derive(Debug)]
struct Pagination {
    cursors: Recent<(Direction, String), &'static str>,
    /// A cursor was too long to be remembered.
    skipped: bool,
}

impl Default for Pagination {
    fn default() -> Self {
        Self { cursors: Recent::new(CURSORS), skipped: false }
    }
}

/// The methods whose results come in pages.
const LISTS: [&str; 5] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"];

fn list(method: &str) -> Option<&'static str> {
    LISTS.into_iter().find(|list| *list == method)
}

impl Subject for Pagination {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        match message.observed.envelope.kind {
            MessageKind::Request => {
                if let Some(method) = list(message.method()) {
                    self.request(message, method, findings);
                }
            }
            MessageKind::Result => {
                if let Some(method) = list(message.result_of()) {
                    self.result(message, method, findings);
                }
            }
            MessageKind::Error => self.refused(message, findings),
            _ => {}
        }
    }
}

impl Pagination {
    /// Returns whether a cursor that is not in the table was never sent. In the modern era, the requests of one client
    /// may use several connections.
    fn knows_all(&self, message: &Message<'_>) -> bool {
        let is_shared = message.is_modern() && message.header.exchange != 0;
        message.saw_all() && !self.skipped && !self.cursors.has_forgotten() && !is_shared
    }

    fn request(&mut self, message: &Message<'_>, method: &'static str, findings: &mut Findings) {
        let Some(cursor) = message.content()["cursor"].as_str() else { return };
        let (seq, sender) = (message.seq(), message.sender());
        match self.cursors.get(&(message.observed.direction, cursor.to_owned())).copied() {
            Some(from) => {
                findings.hold(&INVENTED);
                findings.check(&OTHER_LIST, seq, from == method, || {
                    format!("the {sender} used a cursor of {from} for {method}")
                });
            }
            None if self.knows_all(message) => {
                findings.note(&INVENTED, seq, format!("the {sender} sent {method} with a cursor that it did not get"));
            }
            None => findings.give_up(&INVENTED),
        }
    }

    fn result(&mut self, message: &Message<'_>, method: &'static str, findings: &mut Findings) {
        let Some(next) = message.content()["nextCursor"].as_str() else { return };
        let Some(request) = message.observed.request else { return };
        findings.check(&REPEATED, message.seq(), request.params["cursor"].as_str() != Some(next), || {
            format!("the next page of {method} is the same one")
        });
        match next.len() <= MAX_CURSOR {
            true => drop(self.cursors.insert((request.direction, next.to_owned()), method)),
            false => self.skipped = true,
        }
    }

    fn refused(&self, message: &Message<'_>, findings: &mut Findings) {
        let Some(request) = message.observed.request.filter(|request| list(&request.method).is_some()) else { return };
        let Value::String(cursor) = &request.params["cursor"] else { return };
        if self.knows_all(message) && !self.cursors.contains(&(request.direction, cursor.clone())) {
            let code = message.content()["code"].as_i64().unwrap_or_default();
            findings.check(&REFUSAL, message.seq(), code == errors::INVALID_PARAMS, || {
                format!("the cursor was refused with error {code}")
            });
        }
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A first page of the list of tools, and what follows.
    macro_rules! page {
        ($rest:literal) => {
            concat!(
                r#"hello 2025-11-25 {} | {"tools":{},"prompts":{}}
                   c>s {"id":1,"method":"tools/list"}
                   s>c {"id":1,"result":{"tools":[],"nextCursor":"a"}}"#,
                "\n",
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        ("pagination/invented-cursor", page!(r#"c>s {"id":2,"method":"tools/list","params":{"cursor":"b"}}"#)),
        ("pagination/other-list", page!(r#"c>s {"id":2,"method":"prompts/list","params":{"cursor":"a"}}"#)),
        (
            "pagination/repeated-cursor",
            page!(
                r#"c>s {"id":2,"method":"tools/list","params":{"cursor":"a"}}
                   s>c {"id":2,"result":{"tools":[],"nextCursor":"a"}}"#
            ),
        ),
        (
            "pagination/refusal-code",
            page!(
                r#"c>s {"id":2,"method":"tools/list","params":{"cursor":"b"}}
                   s>c {"id":2,"error":{"code":-32603,"message":"?"}}"#
            ),
        ),
        (
            "pagination/invented-cursor",
            page!(
                r#"c>s {"id":2,"method":"tools/list","params":{"cursor":"b"}}
                   s>c {"id":2,"error":{"code":-32602,"message":"invalid cursor"}}"#
            ),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[page!(
        r#"c>s {"id":2,"method":"tools/list","params":{"cursor":"a"}}
           s>c {"id":2,"result":{"tools":[],"nextCursor":"b"}}
           c>s {"id":3,"method":"tools/list","params":{"cursor":"b"}}
           s>c {"id":3,"result":{"tools":[]}}"#
    )];

    #[test]
    fn a_cursor_of_a_missing_part_is_not_invented() {
        let found = crate::validate::tests::found(
            r#"hello 2025-11-25 {} | {"tools":{}}
               gap
               c>s {"id":2,"method":"tools/list","params":{"cursor":"b"}}"#,
        );
        assert!(!found.contains("pagination/invented-cursor"), "{found:?}");
    }
}
