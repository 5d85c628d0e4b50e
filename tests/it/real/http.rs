//! Tests recording over HTTP with other people's programs.
//!
//! Three real clients talk to real servers over Streamable HTTP and HTTP+SSE, in both eras, with and without `mcpreel
//! record --listen` between them. The client must see the same results, and the reel must contain exactly the messages
//! that an independent relay, `tests/real/relay.py`, saw on either side of mcpreel.

use super::{ClientKind, Scenario, Stage, assert_reel_is_sound, assert_same_lines, free_port, listens};
use crate::common::socket::{Tap, messages_of, said};
use crate::common::{self, BINARY, Live, until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn typescript_client_over_sse() {
    meet(ClientKind::TypeScript, Server::Everything("sse"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn typescript_client_with_a_python_server() {
    meet(ClientKind::TypeScript, Server::Python("streamable-http"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client_over_streamable_http() {
    meet(ClientKind::PythonOne, Server::Everything("streamableHttp"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client_over_sse() {
    meet(ClientKind::PythonOne, Server::Everything("sse"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client_with_a_python_server_over_sse() {
    meet(ClientKind::PythonOne, Server::Python("sse"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client_over_streamable_http() {
    meet_with(ClientKind::PythonTwo, Server::Everything("streamableHttp"), &["envelope/error-id"]);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client_over_sse() {
    meet(ClientKind::PythonTwo, Server::Everything("sse"));
}

/// Both support 2026-07-28: no session, every request independent.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client_with_a_python_server() {
    meet(ClientKind::PythonTwo, Server::Python("streamable-http"));
}

/// What is known to be wrong in these sessions, with the sentence that it violates.
const KNOWN: [(&str, &str); 2] = [
    // The server of the TypeScript SDK answers `server/discover` without a session with status 400 and a null id.
    (
        "envelope/error-id",
        "Error responses MUST include the same ID as the request they correspond to (except in error cases where the \
         ID could not be read due a malformed request) (MCP 2025-11-25, Overview, Responses)",
    ),
    // The conformance suite tries features that the server did not declare.
    (
        "capability/undeclared",
        "Both parties MUST only use capabilities that were successfully negotiated (MCP 2025-11-25, Lifecycle, Operation)",
    ),
];

/// Asserts that a report has no errors but those of these rules, each of which has its sentence in [`KNOWN`].
fn assert_errors(report: &Value, rules: &[&str]) {
    let errors = report["findings"].as_array().expect("findings").iter().filter(|it| it["severity"] == "error");
    let found: BTreeSet<&str> = errors.map(|finding| finding["rule"].as_str().expect("a rule")).collect();
    assert_eq!(found, rules.iter().copied().collect(), "{report:#}");
    assert!(rules.iter().all(|rule| KNOWN.iter().any(|(known, _)| known == rule)));
}

/// The official conformance suite reaches the same verdicts with mcpreel and without it, check for check.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_the_everything_server() {
    let report =
        conform("@modelcontextprotocol/conformance", Server::Everything("streamableHttp"), &["--suite", "all"]);
    assert_errors(&report, &[]);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_a_python_server() {
    let report = conform("@modelcontextprotocol/conformance", Server::Python("streamable-http"), &["--suite", "all"]);
    assert_errors(&report, &["capability/undeclared"]);
}

/// The suite for 2026-07-28 intentionally sends a lot that is wrong.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_a_python_server_to_2026_07_28() {
    let _ = conform("conformance-next", Server::Python("streamable-http"), &["--requirements", "2026-07-28"]);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_inspector_prints_the_same_over_stdio() {
    let stage = Stage::new();
    let server = stage.peers.server(Scenario::Everything);
    let reel = stage.path("inspected.reel");
    let tap = [BINARY, "record", "--force", "-o"].map(OsString::from);
    let tap = [&tap[..], &[reel.clone().into(), "--".into()], &server].concat();
    // Uses a configuration, because its command line would remove mcpreel's own `--`.
    let target = |name: &str, command: &[OsString]| -> [OsString; 4] {
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let config = json!({"mcpServers": {"it": {"command": words[0], "args": words[1..]}}});
        std::fs::write(stage.path(name), config.to_string()).expect("a file is written");
        ["--config".into(), stage.path(name).into(), "--server".into(), "it".into()]
    };
    assert_eq!(inspect(&stage, &target("tap.json", &tap)), inspect(&stage, &target("direct.json", &server)));
    assert_reel_is_sound(&stage, &reel);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_inspector_prints_the_same_over_http() {
    for transport in ["streamableHttp", "sse"] {
        let stage = Stage::new();
        let server = Server::Everything(transport);
        let (_server, port) = server.start(&stage);
        let direct = server.url(port);
        let reels = common::Stage::new();
        let tap = Tap::in_front_of(&reels, &direct.to_string_lossy(), &[]);
        let tapped = server.url(tap.address.port());
        assert_eq!(inspect(&stage, &[tapped]), inspect(&stage, &[direct]), "{transport}");
        let methods: BTreeSet<String> = messages(&tap.end()).map(|event| text(&event["message"]["method"])).collect();
        assert!(methods.contains("tools/list") && methods.contains("tools/call"), "{transport}: {methods:?}");
    }
}

/// What the MCP Inspector prints for two requests to this server.
pub(super) fn inspect(stage: &Stage, server: &[OsString]) -> String {
    let call = ["tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "--tool-arg", "b=40"];
    let mut printed = String::new();
    for method in [&["tools/list"][..], &call] {
        let mut words = stage.peers.on_node_24("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        words.push("--cli".into());
        words.extend_from_slice(server);
        words.push("--method".into());
        words.extend(method.iter().map(OsString::from));
        let finished = stage.run(&words);
        assert_eq!(finished.code(), 0, "{}", finished.errors());
        printed.push_str(&String::from_utf8(finished.stdout).expect("UTF-8"));
    }
    assert!(printed.contains("is 42"), "{printed}");
    printed
}

/// A server over HTTP, named after its transport.
#[derive(Clone, Copy)]
pub(super) enum Server {
    Everything(&'static str),
    Python(&'static str),
    /// Over Streamable HTTP.
    Conformance,
}

impl Server {
    fn scenario(self) -> Scenario {
        match self {
            Self::Everything(_) => Scenario::Everything,
            Self::Python(_) | Self::Conformance => Scenario::Time,
        }
    }

    /// Its URL when it listens on this port.
    pub(super) fn url(self, port: u16) -> OsString {
        let path = match self {
            Self::Everything("sse") | Self::Python("sse") => "sse",
            _ => "mcp",
        };
        format!("http://127.0.0.1:{port}/{path}").into()
    }

    fn words(self, stage: &Stage) -> Vec<OsString> {
        let python = |script: &str| [stage.peers.python("py2").into(), stage.peers.scripts.join(script).into()];
        match self {
            Self::Conformance => python("server_conformance.py").into(),
            Self::Everything(transport) => {
                vec!["node".into(), stage.peers.everything().into(), transport.into()]
            }
            Self::Python(transport) => [&python("server_http.py")[..], &[transport.into()]].concat(),
        }
    }

    /// Starts it and waits until it listens; also returns its port.
    pub(super) fn start(self, stage: &Stage) -> (Live, u16) {
        let port = free_port();
        let mut command = stage.command(&self.words(stage));
        command.env("PORT", port.to_string());
        let mut server = Live::start(command);
        until("the server listens", || {
            assert!(server.is_running(), "the server ended");
            listens(port).then_some(())
        });
        (server, port)
    }
}

/// A relay in front of this port that stores what passes; also returns its own port.
fn relay(stage: &Stage, out: &Path, port: u16) -> (Live, u16) {
    let script = stage.peers.scripts.join("relay.py").into_os_string();
    let to = ["127.0.0.1".into(), port.to_string().into()];
    let mut relay = Live::start(stage.command(&[&["python3".into(), script, out.into()], &to[..]].concat()));
    let port = relay.line().parse().expect("a port");
    (relay, port)
}

/// One pair: directly, then through relay, mcpreel, relay.
pub(super) fn meet(client: ClientKind, server: Server) {
    meet_with(client, server, &[]);
}

/// The same for a pair whose session violates these rules.
fn meet_with(client: ClientKind, server: Server, known: &[&str]) {
    let stage = Stage::new();
    let (_server, port) = server.start(&stage);
    let direct = stage.converse(client, server.scenario(), &[server.url(port)]);

    let (before, behind) = (stage.path("before"), stage.path("behind"));
    let (_behind, port) = relay(&stage, &behind, port);
    let reels = common::Stage::new();
    let tap = Tap::in_front_of(&reels, &server.url(port).to_string_lossy(), &[]);
    let (_before, port) = relay(&stage, &before, tap.address.port());
    let tapped = stage.converse(client, server.scenario(), &[server.url(port)]);
    assert_same_lines("results through the tap", &tapped, &direct);
    let events = tap.end();

    for (direction, reported) in [("c2s", "what the client said"), ("s2c", "what the server said")] {
        let kept = recorded(&events, direction);
        assert!(kept.len() > 5, "{reported}: {} messages", kept.len());
        assert_same_messages(&format!("{reported}, seen by the client"), &kept, &replayed(&before, direction));
        assert_same_messages(&format!("{reported}, seen by the server"), &kept, &replayed(&behind, direction));
    }
    let report = reels.run(&["validate", "t.reel", "--format", "json"], "").json();
    assert_errors(&report, known);
    let streams: BTreeSet<Option<u64>> = messages(&events).map(|event| event["stream"].as_u64()).collect();
    assert_eq!(streams.len(), 1, "one session, or one connection, is one stream");
}

/// A suite's results by scenario: each check's name, verdict and reason.
pub(super) type Verdicts = BTreeMap<String, Vec<[String; 3]>>;

/// Scenarios that mcpreel answers itself: it refuses foreign origins before the server sees them.
const OF_THE_TAP: [&str; 1] = ["server-dns-rebinding-protection"];

/// Runs one suite directly and through mcpreel; returns the report of `validate`.
fn conform(suite: &str, server: Server, options: &[&str]) -> Value {
    let stage = Stage::new();
    let (_server, port) = server.start(&stage);
    let run =
        |port: u16, name: &str| conformance(&stage, suite, &format!("http://127.0.0.1:{port}/mcp"), options, name);
    let direct = run(port, "direct");
    let reels = common::Stage::new();
    let tap = Tap::in_front_of(&reels, &format!("http://127.0.0.1:{port}/mcp"), &[]);
    let tapped = run(tap.address.port(), "tapped");
    tap.end();
    assert!(direct.len() > 25, "{} scenarios", direct.len());
    assert_eq!(tapped.keys().collect::<Vec<_>>(), direct.keys().collect::<Vec<_>>(), "the scenarios");
    for (scenario, checks) in &tapped {
        if OF_THE_TAP.contains(&&**scenario) {
            assert!(checks.iter().all(|[_, verdict, _]| verdict == "SUCCESS"), "{scenario}: {checks:?}");
        } else {
            assert_eq!(checks, &direct[scenario], "{scenario}");
        }
    }
    let report = reels.run(&["validate", "t.reel", "--format", "json"], "").json();
    let findings = report["findings"].as_array().expect("findings");
    let of_server = findings.iter().filter(|finding| finding["direction"] == "s2c");
    assert_eq!(of_server.count(), 0, "what the server says passes through whole: {report:#}");
    report
}

/// Runs a suite against a URL; the results go to a folder of this name.
pub(super) fn conformance(stage: &Stage, suite: &str, url: &str, options: &[&str], name: &str) -> Verdicts {
    let mut words = stage.peers.on_node_24(&format!("{suite}/dist/index.js"));
    words.extend(["server", "--url", url, "-o", name].iter().chain(options).map(OsString::from));
    let said = stage.run(&words);
    verdicts(&stage.path(name)).unwrap_or_else(|error| panic!("{error}\n{}", said.errors()))
}

fn verdicts(out: &Path) -> std::io::Result<Verdicts> {
    let mut found = Verdicts::new();
    for entry in std::fs::read_dir(out)? {
        let path = entry?.path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // SCENARIO-2026-11-22T03-19-37-166Z
        let scenario = name.get(..name.len().saturating_sub(25)).expect("a name with a time");
        let checks: Vec<Value> = serde_json::from_slice(&std::fs::read(path.join("checks.json"))?)?;
        let reported = |check: &Value| ["id", "status", "errorMessage"].map(|name| text(&check[name]));
        found.insert(scenario.to_owned(), checks.iter().map(reported).collect());
    }
    Ok(found)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn messages(events: &[Value]) -> impl Iterator<Item = &Value> {
    events.iter().filter(|event| event["event"] == "message")
}

/// The messages of one direction in a reel, in a comparable form, sorted.
fn recorded(events: &[Value], direction: &str) -> Vec<String> {
    let of_direction = messages(events).filter(|event| event["dir"] == direction);
    let texts = of_direction.map(|event| match event["text"].as_str() {
        Some(block) => plain(&messages_of(block).concat()),
        None => event["message"].to_string(),
    });
    sorted(texts.collect())
}

/// The same for the messages that a relay stored.
fn replayed(out: &Path, direction: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(out).expect("the relay's folder") {
        let path = entry.expect("a file").path();
        if !path.to_string_lossy().ends_with(&format!("{direction}.bin")) {
            continue;
        }
        for (head, body) in said(&std::fs::read(&path).expect("a file"), direction == "c2s") {
            let body = String::from_utf8(body).expect("UTF-8");
            let kind = head.header("content-type").unwrap_or_default();
            if kind.starts_with("text/event-stream") {
                texts.extend(messages_of(&body).iter().map(|text| plain(text)));
            } else if kind.contains("json") && !body.is_empty() {
                texts.push(plain(&body));
            }
        }
    }
    sorted(texts)
}

fn plain(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    value.to_string()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts
}

fn assert_same_messages(what: &str, got: &[String], want: &[String]) {
    if let Some((got, want)) = got.iter().zip(want).find(|(got, want)| got != want) {
        panic!("{what}: the reel holds {got:.300}\nand the relay {want:.300}");
    }
    assert_eq!(got.len(), want.len(), "{what}: the number of messages");
}
