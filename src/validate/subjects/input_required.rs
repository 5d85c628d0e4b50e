//! Requests that take several rounds (2026-07-28): the server asks for input, and the client sends the request again.

use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::protocol::revision::meta;
use crate::protocol::{Revision, methods};
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::validate::subjects::capabilities::{declares_mode, is_declared};
use crate::wire::{IdKey, MessageKind};
use serde_json::Value;

rules! {
    METHOD = Error "input/method",
        "The server must answer only `prompts/get`, `resources/read` and `tools/call` with `resultType: \"input_required\"`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Supported Requests",
        fix "Answer other requests with a result or an error.";
    UNDECLARED = Error "input/undeclared",
        "The server must ask in `inputRequests` only for input of kinds that the client declared in the request's `_meta`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Server Requirements",
        fix "Send error -32021 if the request cannot do without the input.";
    EMPTY = Error "input/empty",
        "A server that answers with `resultType: \"input_required\"` must send `inputRequests` or a `requestState`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Server Requirements",
        fix "Add `inputRequests` or a `requestState`, or answer with `resultType: \"complete\"`.";
    STATE = Error "input/state",
        "When the client sends the request again, it must return `requestState` as it received it, and none if it received none.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements",
        fix "Return `requestState` as it is; do not parse it.";
    OTHER_REQUEST = Error "input/other-request",
        "The client must send `requestState` and `inputResponses` only with the request (same method and same tool, prompt or resource) for which the server sent or asked for them.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements",
        fix "Keep the original request, and send it again with the state and the responses.";
    SAME_ID = Error "input/same-id",
        "When the client sends the request again, it must give it another `id`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements",
        fix "Take a new `id` for each request, also when you send one again.";
    INCOMPLETE = Error "input/incomplete",
        "When the client sends the request again, `inputResponses` must contain an answer to each of the server's `inputRequests`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements",
        fix "Send an answer under each key of `inputRequests`; a user who declines is an answer, too.";
    WRONG_KIND = Error "input/wrong-kind",
        "The client must give each of the `inputResponses` the form of a result of the method in the server's `inputRequests`, such as `elicitation/create`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, InputResponses",
        fix "Read the `method` of each input request, and return its result.";
    UNASKED = Warning "input/unasked",
        "The client sends in `inputResponses` only what the server asked for in `inputRequests`.",
        "MCP 2026-07-28, Multi Round-Trip Requests, InputResponses",
        fix "Copy the names from the server's `inputRequests`, and send no others.";
    REPLAYED = Warning "input/state-reused",
        "The client returns a `requestState` only once.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Server Requirements",
        fix "Forget the `requestState` when you have sent it.";
    CHANGED = Warning "input/changed-request",
        "When the client sends the request again, it sends the same `arguments` as in the original request.",
        "MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements",
        fix "Keep the original `arguments`, and send them unchanged.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2026_07_28, Revision::V2026_07_28),
    begin: || Box::<Rounds>::default(),
};

/// Requests and rounds that are remembered.
const MAX: usize = 256;
/// Inputs of a round that are remembered.
const MAX_INPUTS: usize = 64;

/// What a request is about: its method, its subject, and the digest of its arguments.
#[derive(Clone, Debug, PartialEq)]
struct Original {
    method: String,
    subject: String,
    arguments: Digest,
}

/// A request that may be answered with `input_required`.
#[derive(Debug)]
struct Sent {
    original: Original,
    /// The client's capabilities in the request.
    capabilities: Value,
}

/// What a server asked for.
#[derive(Debug)]
struct Round {
    original: Original,
    id: IdKey,
    state: Option<Digest>,
    /// The keys of the inputs and the methods that ask for them.
    inputs: Vec<(String, String)>,
    is_over: bool,
}

/// The requests and rounds of one connection.
#[derive(Debug)]
struct Rounds {
    pending: Recent<IdKey, Sent>,
    /// By the event of the result.
    rounds: Recent<u64, Round>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { pending: Recent::new(MAX), rounds: Recent::new(MAX) }
    }
}

fn may_take_rounds(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

impl Subject for Rounds {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if !message.is_modern() {
            return;
        }
        match message.observed.envelope.kind {
            MessageKind::Request if message.is_clients() => self.request(message, findings),
            MessageKind::Result => self.result(message, findings),
            MessageKind::Error => {
                message.observed.envelope.id.map(|id| self.pending.remove(&id.key()));
            }
            _ => {}
        }
    }
}

impl Original {
    fn of(message: &Message<'_>) -> Self {
        let params = message.content();
        let subject = params["name"].as_str().or_else(|| params["uri"].as_str()).unwrap_or_default();
        Self {
            method: message.method().to_owned(),
            subject: subject.to_owned(),
            arguments: digest(&params["arguments"]),
        }
    }

    fn is_about_same(&self, other: &Self) -> bool {
        self.method == other.method && self.subject == other.subject
    }
}

impl Rounds {
    fn request(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let (method, params) = (message.method(), message.content());
        let continues = params.get("requestState").is_some() || params.get("inputResponses").is_some();
        if !may_take_rounds(method) {
            // An extension may define params of these names for its own methods, as that of tasks does.
            if !methods::lookup(method).is_some_and(|spec| spec.is_in(Revision::V2026_07_28)) {
                return;
            }
            return findings.check(&OTHER_REQUEST, message.seq(), !continues, || {
                format!("the client sent {method} with requestState or inputResponses")
            });
        }
        let original = Original::of(message);
        if continues {
            self.continued(message, &original, findings);
        }
        if let Some(id) = message.observed.envelope.id {
            let capabilities = params["_meta"][meta::CLIENT_CAPABILITIES].clone();
            self.pending.insert(id.key(), Sent { original, capabilities });
        }
    }

    /// Finds the round that a request continues: by its state, else the latest about the same.
    fn round(&mut self, original: &Original, state: Option<Digest>) -> Option<&mut Round> {
        let of_state = |round: &Round| state.is_some() && round.state == state;
        let all =
            || self.rounds.keys().copied().filter_map(|seq| self.rounds.get(&seq).map(|round| (seq, round))).rev();
        let seq = all()
            .find(|(_, round)| of_state(round) && round.original.is_about_same(original))
            .or_else(|| all().find(|(_, round)| of_state(round)))
            .or_else(|| all().find(|(_, round)| !round.is_over && round.original.is_about_same(original)))
            .map(|(seq, _)| seq)?;
        self.rounds.get_mut(&seq)
    }

    fn continued(&mut self, message: &Message<'_>, original: &Original, findings: &mut Findings) {
        let params = message.content();
        let state = params.get("requestState").map(digest);
        // In the modern era, the requests of one client may use several connections.
        let may_be_elsewhere = !message.saw_all() || message.header.exchange != 0 || self.rounds.has_forgotten();
        match self.round(original, state) {
            Some(round) => round.check(message, original, state, findings),
            None if may_be_elsewhere => findings.give_up(&UNASKED),
            None => findings.note(&UNASKED, message.seq(), "the server did not ask for input for this request"),
        }
    }

    fn result(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(request) = message.observed.request else { return };
        let sent = message.observed.envelope.id.and_then(|id| self.pending.remove(&id.key()));
        let (seq, content) = (message.seq(), message.content());
        if content["resultType"] != "input_required" {
            return;
        }
        let fits = may_take_rounds(&request.method);
        findings.check(&METHOD, seq, fits, || format!("the server answered {} with input_required", request.method));
        let asks = content["inputRequests"].as_object();
        let state = content.get("requestState").filter(|state| state.is_string());
        findings.check(&EMPTY, seq, asks.is_some() || state.is_some(), || "the result has neither".to_owned());
        let Some(sent) = sent else { return };
        let Some(id) = message.observed.envelope.id else { return };
        for (key, asked) in asks.into_iter().flatten() {
            check_declared(seq, key, asked, &sent.capabilities, findings);
        }
        let inputs = asks.into_iter().flatten().take(MAX_INPUTS);
        let inputs = inputs.map(|(key, asked)| (key.clone(), asked["method"].as_str().unwrap_or_default().to_owned()));
        let round = Round {
            original: sent.original,
            id: id.key(),
            state: state.map(digest),
            inputs: inputs.collect(),
            is_over: false,
        };
        self.rounds.insert(seq, round);
    }
}

fn check_declared(seq: u64, key: &str, asked: &Value, capabilities: &Value, findings: &mut Findings) {
    let method = asked["method"].as_str().unwrap_or_default();
    let params = &asked["params"];
    let has = match method {
        "roots/list" => is_declared(capabilities, &["roots"]),
        "sampling/createMessage" if params.get("tools").is_some() => is_declared(capabilities, &["sampling", "tools"]),
        "sampling/createMessage" => is_declared(capabilities, &["sampling"]),
        "elicitation/create" => declares_mode(capabilities, params["mode"].as_str().unwrap_or("form")),
        // The schema says which methods there are.
        _ => return,
    };
    findings.check(&UNDECLARED, seq, has, || {
        format!("the server asks for {method} as {key:?}, which the client did not declare")
    });
}

impl Round {
    fn check(&mut self, message: &Message<'_>, original: &Original, state: Option<Digest>, findings: &mut Findings) {
        let seq = message.seq();
        let same = self.original.is_about_same(original);
        findings.check(&OTHER_REQUEST, seq, same, || {
            format!("the state is for {} of {:?}", self.original.method, self.original.subject)
        });
        if !same {
            return;
        }
        findings.check(&STATE, seq, state == self.state, || match (state, self.state) {
            (None, _) => "the client left out requestState".to_owned(),
            (Some(_), None) => "the client sent a requestState, but the server had sent none".to_owned(),
            _ => "the client changed requestState".to_owned(),
        });
        let again = message.observed.envelope.id.is_some_and(|id| id.key() == self.id);
        findings.check(&SAME_ID, seq, !again, || format!("the client used id {} again", self.id));
        findings.check(&REPLAYED, seq, !self.is_over, || "the client returned the same requestState before".to_owned());
        findings.check(&CHANGED, seq, self.original.arguments == original.arguments, || {
            "the arguments differ from those of the original request".to_owned()
        });
        self.check_inputs(message, findings);
        self.is_over = true;
    }

    fn check_inputs(&self, message: &Message<'_>, findings: &mut Findings) {
        let (seq, given) = (message.seq(), &message.content()["inputResponses"]);
        for (key, method) in &self.inputs {
            let input = given.get(key);
            findings.check(&INCOMPLETE, seq, input.is_some(), || format!("the client left out the input {key:?}"));
            if let Some(input) = input {
                let fits = fits_method(method, input);
                findings.check(&WRONG_KIND, seq, fits, || format!("the input {key:?} is no result of {method}"));
            }
        }
        if self.inputs.len() == MAX_INPUTS {
            // There may have been more.
            findings.give_up(&UNASKED);
        } else {
            for key in given.as_object().into_iter().flatten().map(|(key, _)| key) {
                let asked = self.inputs.iter().any(|(asked, _)| asked == key);
                findings.check(&UNASKED, seq, asked, || format!("the server did not ask for the input {key:?}"));
            }
        }
    }
}

fn fits_method(method: &str, input: &Value) -> bool {
    let has = |name: &str| input.get(name).is_some();
    match method {
        "elicitation/create" => has("action"),
        "sampling/createMessage" => has("role") && has("content") && has("model"),
        "roots/list" => input["roots"].is_array(),
        _ => true,
    }
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    /// A call with this id and other params, of a client that can ask the user for a form.
    macro_rules! call {
        ($id:literal, $params:literal) => {
            concat!(
                r#"c>s {"id":"#,
                $id,
                r#","method":"tools/call","params":{"#,
                $params,
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#,
                "\n"
            )
        };
    }
    /// A call of the tool `t`, and the question whether to go on.
    macro_rules! asked {
        ($rest:expr) => {
            concat!(
                call!(1, r#""name":"t","arguments":{"a":1}"#),
                r#"s>c {"id":1,"result":{"resultType":"input_required","requestState":"x","inputRequests":{"k":{
                    "method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object",
                    "properties":{}}}}}}}"#,
                "\n",
                $rest
            )
        };
    }

    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "input/method",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"id":1,"result":{"resultType":"input_required","requestState":"x"}}"#,
        ),
        (
            "input/undeclared",
            concat!(
                call!(1, r#""name":"t""#),
                r#"s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}}"#
            ),
        ),
        (
            "input/undeclared",
            concat!(
                call!(1, r#""name":"t""#),
                r#"s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"k":{
                    "method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://h/"}}}}}"#
            ),
        ),
        ("input/empty", concat!(call!(1, r#""name":"t""#), r#"s>c {"id":1,"result":{"resultType":"input_required"}}"#)),
        (
            "input/state",
            asked!(call!(
                2,
                r#""name":"t","arguments":{"a":1},"requestState":"y","inputResponses":{"k":{"action":"cancel"}}"#
            )),
        ),
        (
            "input/state",
            asked!(call!(2, r#""name":"t","arguments":{"a":1},"inputResponses":{"k":{"action":"cancel"}}"#)),
        ),
        (
            "input/other-request",
            asked!(call!(2, r#""name":"u","requestState":"x","inputResponses":{"k":{"action":"cancel"}}"#)),
        ),
        (
            "input/same-id",
            asked!(call!(
                1,
                r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"action":"cancel"}}"#
            )),
        ),
        ("input/incomplete", asked!(call!(2, r#""name":"t","arguments":{"a":1},"requestState":"x""#))),
        (
            "input/wrong-kind",
            asked!(call!(
                2,
                r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"roots":[]}}"#
            )),
        ),
        (
            "input/unasked",
            asked!(call!(
                2,
                r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"action":"cancel"},
                    "l":{"action":"cancel"}}"#
            )),
        ),
        ("input/unasked", call!(2, r#""name":"t","inputResponses":{"l":{"action":"cancel"}}"#)),
        (
            "input/state-reused",
            asked!(concat!(
                call!(
                    2,
                    r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"action":"cancel"}}"#
                ),
                call!(
                    3,
                    r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"action":"cancel"}}"#
                )
            )),
        ),
        (
            "input/changed-request",
            asked!(call!(
                2,
                r#""name":"t","arguments":{"a":2},"requestState":"x","inputResponses":{"k":{"action":"cancel"}}"#
            )),
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        // A round, another call of the same tool beside it, and a second round without a state.
        asked!(concat!(
            call!(2, r#""name":"t","arguments":{"a":3}"#),
            call!(
                3,
                r#""name":"t","arguments":{"a":1},"requestState":"x","inputResponses":{"k":{"action":"decline"}}"#
            ),
            r#"s>c {"id":3,"result":{"resultType":"input_required","inputRequests":{"m":{"method":"elicitation/create",
                "params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}}"#,
            "\n",
            call!(4, r#""name":"t","arguments":{"a":1},"inputResponses":{"m":{"action":"accept","content":{}}}"#),
            r#"s>c {"id":4,"result":{"resultType":"complete","content":[]}}"#
        )),
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ];

    /// The extension for tasks answers the questions of a task with `inputResponses`.
    #[test]
    fn extensions_may_give_inputs_to_their_own_methods() {
        let found = crate::validate::tests::found(
            r#"c>s {"id":1,"method":"tasks/update","params":{"taskId":"t","inputResponses":{"k":{"action":"cancel"}},
                "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        );
        assert!(found.iter().all(|id| !id.starts_with("input/")), "{found:?}");
    }
}
