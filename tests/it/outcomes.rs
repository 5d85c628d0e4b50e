//! One exchange, one answer: what became of each request is the same in every command and format. The corpus says for each
//! request what is expected; docs/guide/outcomes.md lists the words.

use crate::common::{Stage, time};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is expected of a request.
#[derive(Clone, Debug)]
struct Expected {
    method: &'static str,
    outcome: &'static str,
    /// The number of its event.
    seq: u64,
    is_in_batch: bool,
    is_answered: bool,
    /// The milliseconds until its response.
    latency: Option<u64>,
}

/// How a request goes on.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// A result, or with `isError` or an error code, another response; and its outcome.
    Answered(&'static str, &'static str),
    /// An HTTP status, an error with this id (`None`: that of the request), and the outcome.
    Status(u16, Option<Option<&'static str>>, &'static str),
    BrokenOff,
    /// The response comes in another exchange.
    BrokenOffAndResumed,
    /// HTTP brings something that is no message.
    NoMessage,
    SentAgain,
    Cancelled,
    CancelledTooLate,
    Silence,
    /// Traffic is missing after the request.
    Lost,
}

const ANYWHERE: &[Ending] = &[
    Ending::Answered(r#""result":{"content":[]}"#, "ok"),
    Ending::Answered(r#""result":{"content":[],"isError":true}"#, "tool error"),
    Ending::Answered(r#""error":{"code":-32602,"message":"no"}"#, "error"),
    Ending::Answered(r#""result":{"resultType":"input_required","inputRequests":{}}"#, "input required"),
    Ending::Answered(r#""result":{"resultType":"task","taskId":"t","status":"working"}"#, "task"),
    Ending::Answered(r#""result":{"task":{"taskId":"t","status":"working"}}"#, "task"),
    Ending::Answered(r#""result":{"taskId":"t","status":"completed"}"#, "ok"),
    Ending::Cancelled,
    Ending::CancelledTooLate,
    Ending::Silence,
];

const OVER_HTTP: &[Ending] = &[
    Ending::Status(400, Some(Some("null")), "error"),
    Ending::Status(404, Some(None), "error"),
    Ending::Status(400, Some(Some("\"other\"")), "error"),
    Ending::Status(503, None, "refused"),
    Ending::Status(401, None, "refused"),
    Ending::Status(307, None, "redirected"),
    Ending::BrokenOff,
    Ending::BrokenOffAndResumed,
    Ending::NoMessage,
    Ending::SentAgain,
];

/// What the user is asked.
const OF_SERVER: &[(&str, Ending)] = &[
    ("elicitation/create", Ending::Answered(r#""result":{"action":"decline"}"#, "declined")),
    ("elicitation/create", Ending::Answered(r#""result":{"action":"cancel"}"#, "declined")),
    ("elicitation/create", Ending::Answered(r#""result":{"action":"accept","content":{}}"#, "ok")),
    ("sampling/createMessage", Ending::Answered(r#""error":{"code":-1,"message":"no"}"#, "error")),
    ("push/event", Ending::Answered(r#""result":{"accepted":true}"#, "ok")),
    ("roots/list", Ending::Silence),
];

const METHODS: [&str; 7] = [
    "tools/call",
    "resources/read",
    "conversation/userMessage",
    "context/beforeInference",
    "hooks/preToolUse",
    "events/subscribe",
    "tasks/get",
];

#[derive(Default)]
struct Corpus {
    events: Vec<Value>,
    expected: BTreeMap<String, Expected>,
    sessions: u32,
    exchange: u32,
}

impl Corpus {
    /// All sessions. `says` changes the text of each response.
    fn new(says: impl Fn(&str) -> String) -> Self {
        let mut corpus = Self::default();
        // What is lost concerns all pending requests.
        corpus.session("tools/call", Ending::Lost, (true, false), &says);
        let mut methods = METHODS.into_iter().cycle();
        for is_batch in [false, true] {
            for (endings, http) in [(ANYWHERE, false), (ANYWHERE, true), (OVER_HTTP, true)] {
                for ending in endings {
                    // With another id, or none, nobody knows which message of a batch an error is about.
                    let is_clear = !is_batch || !matches!(ending, Ending::Status(_, Some(_), _));
                    if is_clear {
                        let method = methods.next().expect("a cycle");
                        corpus.session(method, *ending, (http, is_batch), &says);
                    }
                }
            }
        }
        for (method, ending) in OF_SERVER {
            for http in [false, true] {
                corpus.asked_by_server(method, *ending, http, &says);
            }
        }
        corpus
    }

    fn event(&mut self, direction: &str, exchange: u32, event: Value) -> u64 {
        let seq = self.events.len() as u64;
        let mut whole = json!({"time": time(seq * 10), "stream": self.sessions, "dir": direction});
        if exchange > 0 {
            whole["exchange"] = exchange.into();
        }
        whole.as_object_mut().expect("an object").extend(event.as_object().expect("an object").clone());
        self.events.push(whole);
        seq
    }

    fn says(&mut self, direction: &str, exchange: u32, text: &str) -> u64 {
        self.event(direction, exchange, json!({"event": "message", "text": text}))
    }

    fn transport(&mut self, direction: &str, exchange: u32, is_failure: bool, about: Value) {
        let mut cbor = Vec::new();
        ciborium::into_writer(&about, &mut cbor).expect("CBOR");
        let mut event = json!({"event": "transport", "framing": "whole", "base64": STANDARD.encode(cbor)});
        let marks: &[&str] = match about["what"].as_str() {
            Some("sent again") => &["injected"],
            _ if is_failure => &["failed"],
            _ => &[],
        };
        marks.iter().for_each(|mark| event[*mark] = true.into());
        self.event(direction, exchange, event);
    }

    fn begin_exchange(&mut self, http: bool) -> u32 {
        if !http {
            return 0;
        }
        self.exchange += 1;
        let head = json!({"what": "request", "method": "POST", "target": "/mcp", "headers": []});
        self.transport("c2s", self.exchange, false, head);
        self.exchange
    }

    fn status(&mut self, exchange: u32, status: u16) {
        if exchange > 0 {
            let head = json!({"what": "response", "status": status, "headers": []});
            self.transport("s2c", exchange, status >= 400, head);
        }
    }

    /// A session in which the client sends one request, or two in a batch.
    fn session(
        &mut self,
        method: &'static str,
        ending: Ending,
        (http, is_batch): (bool, bool),
        says: &impl Fn(&str) -> String,
    ) {
        self.sessions += 1;
        let ids: Vec<String> = (0..if is_batch { 2 } else { 1 }).map(|at| format!("{}-{at}", self.sessions)).collect();
        let request =
            |id: &String| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{"name":"a"}}}}"#);
        let exchange = self.begin_exchange(http);
        let mut asked = self.says("c2s", exchange, &joined(&ids, is_batch, request));
        let seq = asked;
        let response =
            |text: &str| joined(&ids, is_batch, |id| format!(r#"{{"jsonrpc":"2.0","id":"{id}",{}}}"#, says(text)));
        let ok = r#""result":{"content":[]}"#;
        let cancel = |id: &String| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}"#)
        };
        let (outcome, answered) = match ending {
            Ending::Answered(text, outcome) => {
                self.status(exchange, 200);
                (outcome, Some(self.says("s2c", exchange, &response(text))))
            }
            Ending::Status(status, error, outcome) => {
                self.status(exchange, status);
                let error = error.map(|id| {
                    let id = id.map_or_else(|| format!("\"{}\"", ids[0]), str::to_owned);
                    let text = says(r#""error":{"code":-32600,"message":"no"}"#);
                    self.says("s2c", exchange, &format!(r#"{{"jsonrpc":"2.0","id":{id},{text}}}"#))
                });
                (outcome, error)
            }
            Ending::BrokenOff | Ending::BrokenOffAndResumed => {
                self.status(exchange, 200);
                self.transport("s2c", exchange, true, json!({"what": "broken off", "reason": "gone"}));
                if matches!(ending, Ending::BrokenOff) {
                    ("broken off", None)
                } else {
                    let other = self.begin_exchange(true);
                    self.status(other, 200);
                    ("ok", Some(self.says("s2c", other, &response(ok))))
                }
            }
            Ending::NoMessage => {
                self.status(exchange, 200);
                self.transport("s2c", exchange, false, json!({"what": "body", "bytes": 3, "text": "hm?"}));
                ("malformed", None)
            }
            Ending::SentAgain => {
                self.status(exchange, 401);
                asked = self.events.len() as u64;
                self.transport("c2s", exchange, false, json!({"what": "sent again", "status": 401}));
                self.status(exchange, 200);
                ("ok", Some(self.says("s2c", exchange, &response(ok))))
            }
            Ending::Cancelled | Ending::CancelledTooLate => {
                for id in &ids {
                    self.says("c2s", 0, &cancel(id));
                }
                match ending {
                    Ending::Cancelled => ("cancelled", None),
                    _ => ("ok", Some(self.says("s2c", exchange, &response(ok)))),
                }
            }
            Ending::Silence => ("unanswered", None),
            Ending::Lost => {
                let mut cbor = Vec::new();
                ciborium::into_writer(&json!({"reason": "x"}), &mut cbor).expect("CBOR");
                self.event("c2s", 0, json!({"event": "gap", "framing": "whole", "base64": STANDARD.encode(cbor)}));
                ("unknown", None)
            }
        };
        let (is_answered, latency) = (answered.is_some(), answered.map(|at| (at - asked) * 10));
        for id in ids {
            let expected = Expected { method, outcome, seq, is_in_batch: is_batch, is_answered, latency };
            self.expected.insert(id, expected);
        }
    }

    /// A session in which the server asks the client, over HTTP in the exchange of a call.
    fn asked_by_server(&mut self, method: &'static str, ending: Ending, http: bool, says: &impl Fn(&str) -> String) {
        self.sessions += 1;
        let id = format!("{}-s", self.sessions);
        let exchange = self.begin_exchange(http);
        let call = format!("{}-0", self.sessions);
        let called = self.says("c2s", exchange, &format!(r#"{{"jsonrpc":"2.0","id":"{call}","method":"tools/call"}}"#));
        self.status(exchange, 200);
        let seq = self.says("s2c", exchange, &format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}"}}"#));
        let (outcome, answered) = match ending {
            Ending::Answered(text, outcome) => {
                let other = self.begin_exchange(http);
                let answered = self.says("c2s", other, &format!(r#"{{"jsonrpc":"2.0","id":"{id}",{}}}"#, says(text)));
                self.status(other, 202);
                (outcome, Some(answered))
            }
            _ => ("unanswered", None),
        };
        let (is_answered, latency) = (answered.is_some(), answered.map(|at| (at - seq) * 10));
        self.expected.insert(id, Expected { method, outcome, seq, is_in_batch: false, is_answered, latency });
        let text = says(r#""result":{"content":[]}"#);
        let answered = self.says("s2c", exchange, &format!(r#"{{"jsonrpc":"2.0","id":"{call}",{text}}}"#));
        let (latency, method) = (Some((answered - called) * 10), "tools/call");
        let expected = Expected { method, outcome: "ok", seq: called, is_in_batch: false, is_answered: true, latency };
        self.expected.insert(call, expected);
    }

    /// The requests of an event.
    fn ids_at(&self, seq: u64) -> Vec<&String> {
        self.expected.iter().filter(|(_, expected)| expected.seq == seq).map(|(id, _)| id).collect()
    }

    fn stage(&self) -> Stage {
        let stage = Stage::new();
        stage.reel("s.reel", &self.events);
        stage
    }
}

fn joined(ids: &[String], is_batch: bool, text: impl Fn(&String) -> String) -> String {
    let texts: Vec<String> = ids.iter().map(text).collect();
    if is_batch { format!("[{}]", texts.join(",")) } else { texts.concat() }
}

/// What a consumer says about a request: the outcome, and where it says so, method and latency.
type Said = (String, Option<String>, Option<u64>);

/// Compares what a consumer says with what is expected of these requests.
fn compare(who: &str, corpus: &Corpus, said: &BTreeMap<String, Said>, is_meant: impl Fn(&Expected) -> bool) {
    let wanted: Vec<_> = corpus.expected.iter().filter(|(_, expected)| is_meant(expected)).collect();
    assert!(wanted.len() > 20, "{who} says enough");
    for (id, expected) in wanted {
        let Some((outcome, method, latency)) = said.get(id) else {
            panic!("{who} says nothing about {id}: {expected:?}")
        };
        assert_eq!(outcome, expected.outcome, "{who} about {id}: {expected:?}");
        if let Some(method) = method {
            assert_eq!(method, expected.method, "{who} about {id}");
        }
        if expected.is_answered {
            assert_eq!(*latency, expected.latency, "{who} about {id}: {expected:?}");
        }
    }
}

fn millis(latency: &Value) -> Option<u64> {
    latency.as_f64().map(|latency| latency.round() as u64)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn same(text: &str) -> String {
    text.to_owned()
}

#[test]
fn the_corpus_has_every_outcome_and_the_guide_lists_them() {
    let corpus = Corpus::new(same);
    assert!(corpus.sessions >= 60, "{}", corpus.sessions);
    let mut seen: BTreeSet<&str> = corpus.expected.values().map(|expected| expected.outcome).collect();
    // Of a session that goes on; `reading/tests.rs` has it.
    seen.insert("pending");
    let guide = include_str!("../../docs/guide/outcomes.md");
    let table = guide.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let listed = table.filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    assert_eq!(listed.map(|(word, _)| word).collect::<BTreeSet<_>>(), seen);
}

#[test]
fn show_says_it_as_json() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for line in stage.ok(&["show", "s.reel", "--format", "json"]).out().lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        for response in event["responses"].as_array().into_iter().flatten() {
            let item = response["item"].as_u64().expect("a place") as usize;
            let id = text(&event["message"][item]["id"]).expect("an id");
            let outcome = text(&response["outcome"]).expect("an outcome");
            said.insert(id, (outcome, text(&response["method"]), millis(&response["latency_ms"])));
        }
        let (Some(outcome), Some(asked)) = (text(&event["outcome"]), event["request_seq"].as_u64()) else { continue };
        if outcome == "task" {
            assert_eq!(event["task"], json!({"id": "t", "status": "working"}), "{event}");
        }
        let is_response = matches!(event["kind"].as_str(), Some("result" | "error"));
        let cancelled = text(&event["message"]["params"]["requestId"]);
        for id in corpus.ids_at(asked).into_iter().filter(|id| cancelled.as_ref().is_none_or(|it| it == *id)) {
            let method = text(&event["method"]).filter(|_| is_response);
            said.insert(id.clone(), (outcome.clone(), method, millis(&event["latency_ms"])));
        }
    }
    // What never comes is no event.
    compare("show", &corpus, &said, |expected| !["unanswered", "unknown"].contains(&expected.outcome));
    assert!(said.values().all(|(outcome, ..)| outcome != "unanswered"));
}

#[test]
fn the_sequence_diagram_says_it() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    let shown = stage.ok(&["show", "s.reel", "--view", "sequence", "--format", "json"]).out();
    let steps: Vec<Value> =
        serde_json::Deserializer::from_str(&shown).into_iter().map(|it| it.expect("JSON")).collect();
    let steps: Vec<Value> = match &steps[..] {
        [Value::Array(steps)] => steps.clone(),
        _ => steps,
    };
    let latencies: BTreeMap<u64, Option<u64>> =
        steps.iter().filter_map(|step| Some((step["request_seq"].as_u64()?, millis(&step["latency_ms"])))).collect();
    for step in steps.iter().filter(|step| step["step"] == "request") {
        let seq = step["seq"].as_u64().expect("a number");
        for id in corpus.ids_at(seq) {
            let outcome = text(&step["outcome"]).unwrap_or_default();
            said.insert(id.clone(), (outcome, text(&step["method"]), latencies.get(&seq).copied().flatten()));
        }
    }
    // A batch is one step.
    compare("sequence", &corpus, &said, |expected| !expected.is_in_batch);
}

/// What tables say: a request without a response has the outcome itself, any other one in the row of its response.
fn of_tables(who: &str, corpus: &Corpus, rows: &[BTreeMap<String, Value>]) {
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for row in rows {
        let Some(outcome) = text(&row["outcome"]).filter(|outcome| !outcome.is_empty()) else { continue };
        let (method, latency) = (text(&row["method"]), millis(&row["latency_ms"]));
        let own = text(&row["id"]).unwrap_or_default().trim_matches('"').to_owned();
        let asked = row["request_seq"].as_u64().map(|seq| corpus.ids_at(seq)).unwrap_or_default();
        let id = if let [only] = &asked[..] { (*only).clone() } else { own };
        assert!(said.insert(id, (outcome, method, latency)).is_none(), "{who}: {row:?}");
    }
    compare(who, corpus, &said, |_| true);
}

#[test]
fn tables_say_it() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let table = stage.ok(&["export", "s.reel", "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(&table[..]);
    let heads = reader.headers().expect("headings").clone();
    let cell = |(name, cell): (&str, &str)| {
        let is_number = ["request_seq", "latency_ms"].contains(&name);
        let number = if is_number { cell.parse::<f64>().ok().map(Value::from) } else { None };
        let number = number
            .map(|number| if name == "request_seq" { json!(number.as_f64().unwrap_or(0.0) as u64) } else { number });
        (name.to_owned(), number.unwrap_or_else(|| cell.into()))
    };
    let rows = reader.records().map(|row| heads.iter().zip(&row.expect("a row")).map(cell).collect());
    of_tables("csv", &corpus, &rows.collect::<Vec<_>>());
    #[cfg(feature = "parquet")]
    {
        stage.ok(&["export", "s.reel", "--format", "parquet", "-o", "s.parquet"]);
        of_tables("parquet", &corpus, &crate::parquet::rows(&stage.path("s.parquet")));
    }
}

#[test]
fn markdown_and_mermaid_say_it() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    let document = stage.ok(&["export", "s.reel", "--format", "markdown"]).out();
    let events: BTreeMap<u64, &str> =
        (0..).zip(corpus.events.iter().map(|event| event["text"].as_str().unwrap_or_default())).collect();
    for line in document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Event")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let Some(seq) = cells[0].trim_start_matches("| ").parse::<u64>().ok().filter(|_| cells.len() > 6) else {
            continue;
        };
        let outcome = cells[5].trim();
        // Only the numbers of single messages say which request it is.
        if outcome.is_empty() || events[&seq].starts_with('[') {
            continue;
        }
        let answered: Value = serde_json::from_str(events[&seq]).expect("JSON");
        let known = text(&answered["id"]).filter(|id| corpus.expected.contains_key(id));
        // An error without the id of its request comes right after it and the head.
        let id = known.unwrap_or_else(|| corpus.ids_at(seq - 2)[0].clone());
        said.insert(id, (outcome.to_owned(), None, cells[6].trim().parse().ok()));
    }
    compare("markdown", &corpus, &said, |expected| !expected.is_in_batch);
    let diagram = stage.ok(&["export", "s.reel", "--format", "mermaid"]).out();
    assert!(!diagram.contains("unknown request"), "{diagram}");
    for word in ["tool error", "error", "input required", "task", "declined"] {
        let expected = corpus.expected.values().filter(|it| it.outcome == word).count();
        assert_eq!(diagram.matches(&format!(": {word} of ")).count(), expected, "{word}");
    }
}

#[test]
fn spans_say_it() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let exported = stage.ok(&["export", "s.reel", "--format", "otlp"]).out();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for line in exported.lines() {
        let batch: Value = serde_json::from_str(line).expect("JSON");
        let spans = batch.pointer("/resourceSpans/0/scopeSpans/0/spans").and_then(Value::as_array);
        for span in spans.into_iter().flatten() {
            let attribute = |name: &str| {
                let all = span["attributes"].as_array().into_iter().flatten();
                all.filter(|it| it["key"] == name).find_map(|it| text(&it["value"]["stringValue"]))
            };
            let (Some(id), Some(outcome)) = (attribute("jsonrpc.request.id"), attribute("mcpreel.outcome")) else {
                continue;
            };
            let nanos = |name: &str| span[name].as_str().and_then(|time| time.parse::<u64>().ok()).unwrap_or(0);
            let latency = (nanos("endTimeUnixNano") - nanos("startTimeUnixNano")) / 1_000_000;
            said.insert(id, (outcome, attribute("mcp.method.name"), Some(latency)));
        }
    }
    // A span ends when it is cancelled, and begins when the request was first sent.
    let is_meant = |expected: &Expected| !(expected.is_answered && expected.outcome == "ok");
    compare("otlp", &corpus, &said, is_meant);
    assert_eq!(said.len(), corpus.expected.len());
}

#[test]
fn statistics_count_it() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let report: Value = serde_json::from_str(&stage.ok(&["stats", "s.reel", "--format", "json"]).out()).expect("JSON");
    let count =
        |is_meant: &dyn Fn(&Expected) -> bool| corpus.expected.values().filter(|it| is_meant(it)).count() as u64;
    let sum = |name: &str| {
        let rows = report["methods"].as_object().into_iter().flatten();
        rows.filter_map(|(_, row)| row[name].as_u64()).sum::<u64>()
    };
    let failed = ["error", "refused", "broken off", "malformed"];
    assert_eq!(sum("answers"), count(&|it| it.is_answered), "{report}");
    assert_eq!(sum("errors"), count(&|it| failed.contains(&it.outcome)), "{report}");
    assert_eq!(sum("tool_errors"), count(&|it| it.outcome == "tool error"), "{report}");
    let open = ["cancelled", "unanswered", "unknown"];
    assert_eq!(report["unanswered"], count(&|it| open.contains(&it.outcome)), "{report}");
    assert_eq!(report["orphan_answers"], 0, "{report}");
}

#[test]
fn statistics_read_what_only_a_body_or_a_status_says() {
    let mut corpus = Corpus::default();
    corpus.session("tools/call", Ending::NoMessage, (true, false), &same);
    corpus.session("tools/call", Ending::Status(307, None, "redirected"), (true, false), &same);
    let report = corpus.stage().ok(&["stats", "s.reel", "--format", "json"]).json();
    let row = &report["methods"]["tools/call"];
    assert_eq!((&row["errors"], &row["unanswered"]), (&json!(1), &json!(0)), "{report}");
}

#[test]
fn no_check_and_no_comparison_takes_a_response_for_one_without_a_request() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    let found = stage.run(&["validate", "s.reel", "--format", "json"], "").out();
    for rule in ["pairing/orphan", "pairing/unattributed"] {
        assert!(!found.contains(&format!("\"rule\":\"{rule}\"")), "{rule}: {found}");
    }
    let changed = |text: &str| text.replacen('{', "{\"changed\":true,", 1);
    stage.reel("other.reel", &Corpus::new(changed).events);
    let compared = stage.run(&["diff", "s.reel", "other.reel", "--format", "json"], "");
    let report: Value = serde_json::from_str(&compared.out()).unwrap_or_else(|error| panic!("{error}: {compared:?}"));
    let units = report["units"].as_array().expect("units");
    assert!(units.iter().all(|unit| unit["kind"] == "request"), "{report}");
    let answered = corpus.expected.values().filter(|expected| expected.is_answered).count();
    assert_eq!(units.iter().filter(|unit| unit["status"] == "changed").count(), answered, "{report}");
}

#[test]
fn a_part_of_a_reel_has_the_request_of_each_response() {
    let corpus = Corpus::new(same);
    let stage = corpus.stage();
    stage.ok(&["reel", "cut", "s.reel", "kind:response", "-o", "part.reel"]);
    let kept: BTreeSet<String> = stage
        .events("part.reel")
        .iter()
        .flat_map(|event| match &event["message"] {
            Value::Array(items) => items.clone(),
            single => vec![single.clone()],
        })
        .filter(|message| message["method"].is_string())
        .filter_map(|message| text(&message["id"]))
        .collect();
    for (id, expected) in corpus.expected.iter().filter(|(_, expected)| expected.is_answered) {
        assert!(kept.contains(id), "{id}: {expected:?}");
    }
}

#[test]
fn every_export_format_takes_part() {
    let help = Stage::new().ok(&["export", "--help"]).out();
    let elsewhere = ["jsonl", "har", "html", "commands"];
    let here = ["csv", "parquet", "markdown", "mermaid", "otlp", "otlp-proto", "otlp-proto-metrics"];
    let listed = help.lines().map(str::trim).skip_while(|line| !line.starts_with("- jsonl:"));
    let listed = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("- ")?.split_once(':'));
    let formats: BTreeSet<&str> = listed.map(|(name, _)| name).collect();
    let known: BTreeSet<&str> = elsewhere.into_iter().chain(here).collect();
    assert!(
        formats.len() > 5 && formats.is_subset(&known),
        "does a new format say what became of a request? {formats:?}"
    );
}
