//! Replays of sessions between other people's clients and servers, and mocks in place of those servers.

use super::differences::{self, Case};
use super::http::{Server, Verdicts, conformance, inspect};
use super::{ClientKind, Finished, Scenario, Stage, assert_same_lines, describe};
use crate::common::socket::Tap;
use crate::common::{self, BINARY};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Records a client's session with a server. Returns the reel and what the client printed.
fn record(stage: &Stage, client: ClientKind, scenario: Scenario) -> (PathBuf, String) {
    let reel = stage.path("recorded.reel");
    let tap = [&words(&[BINARY, "record", "-o"])[..], &[reel.clone().into(), "--".into()]].concat();
    let printed = stage.converse(client, scenario, &[&tap[..], &stage.peers.server(scenario)].concat());
    (reel, printed)
}

fn replay(stage: &Stage, reel: &Path, options: &[&str], server: &[OsString]) -> Finished {
    let head = [&words(&[BINARY, "replay"])[..], &[reel.into()], &words(options), &["--".into()]].concat();
    stage.run(&[&head[..], server].concat())
}

fn assert_replays_alike(client: ClientKind, scenario: Scenario, times: usize) {
    let stage = Stage::new();
    let (reel, _) = record(&stage, client, scenario);
    for _ in 0..times {
        let replayed = replay(&stage, &reel, &[], &stage.peers.server(scenario));
        let report = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert_eq!(replayed.code(), 0, "{report}\n{}", replayed.errors());
        assert!(report.contains("0 changed, 0 only in A, 0 only in B"), "{report}");
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn server_everything_answers_alike_ten_times() {
    // One resource has the time of day inside of base64.
    assert_replays_alike(ClientKind::TypeScript, Scenario::Everything, 10);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn mcp_server_time_answers_alike_ten_times() {
    assert_replays_alike(ClientKind::PythonTwo, Scenario::Time, 10);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn another_server_differs_where_it_does() {
    let stage = Stage::new();
    let (reel, _) = record(&stage, ClientKind::PythonTwo, Scenario::Time);
    let other =
        [&stage.peers.server(Scenario::Time)[..2], &words(&["mcp_server_time", "--local-timezone", "Asia/Tokyo"])]
            .concat();
    let replayed = replay(&stage, &reel, &["--format", "json"], &other);
    assert_eq!(replayed.code(), 1, "{}", replayed.errors());
    let report: Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    let units = report["diff"]["units"].as_array().expect("a list");
    assert!(
        units.iter().all(|unit| unit["method"] == "tools/list"),
        "only the description of the tools changes: {report}"
    );
}

/// Records a script of calls once and replays it ten times, each in a folder made anew. Then each change of the server is
/// found, and nothing else.
fn assert_script_replays_alike(case: impl Fn(&Stage) -> Case) {
    let stage = Stage::new();
    let Case { server, script, .. } = case(&stage);
    let folder = stage.path("work");
    let renew = || {
        let _ = std::fs::remove_dir_all(&folder);
        differences::prepare(&stage, &folder);
    };
    renew();
    differences::record(&stage, &server(&folder), &script, &folder, "t.reel");
    let reel = stage.path("t.reel");
    let run = |server: &[OsString]| {
        renew();
        replay(&stage, &reel, &["--allow-destructive", "--format", "json"], server)
    };
    for _ in 0..10 {
        let replayed = run(&server(&folder));
        let report = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert_eq!(replayed.code(), 0, "{report}\n{}", replayed.errors());
    }
    for (change, places) in [
        ("description", &["/result/tools/0/description"][..]),
        ("schema", &["/result/tools/0/inputSchema"]),
        ("name", &["/result/tools/0"]),
        ("answer", &["/result/content/0", "/result/structuredContent"]),
    ] {
        let changed = [
            &words(&["python3"]),
            &[stage.peers.scripts.join("changed.py").into(), change.into()][..],
            &server(&folder),
        ]
        .concat();
        let replayed = run(&changed);
        assert_eq!(replayed.code(), 1, "{change}: {}", replayed.errors());
        let report: Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
        let units = report["diff"]["units"].as_array().expect("a list");
        let changes: Vec<&Value> = units.iter().filter_map(|unit| unit["changes"].as_array()).flatten().collect();
        let is_it = |change: &&Value| {
            places.iter().any(|place| change["pointer"].as_str().is_some_and(|at| at.starts_with(place)))
        };
        assert!(!changes.is_empty() && changes.iter().all(is_it), "{change}: {report:#}");
        assert!(change == "name" || units.len() == 1, "{change}: {report:#}");
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_server_everything_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_server_filesystem_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::filesystem);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_server_memory_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::memory);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_mcp_server_time_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::time);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_mcp_server_git_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::git);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_script_with_a_fastmcp_server_ten_times_and_with_changes() {
    assert_script_replays_alike(differences::fastmcp);
}

/// A client prints the same with the mock as with the server, on stdio, Streamable HTTP and HTTP+SSE.
fn assert_mocked(client: ClientKind, scenario: Scenario) {
    let stage = Stage::new();
    let (reel, with_server) = record(&stage, client, scenario);
    // The TypeScript SDK drops progress that arrives in one piece with the answer.
    let mock = [&words(&[BINARY, "mock", "--strict", "--pace", "recorded"])[..], &[reel.clone().into()]].concat();
    let with_mock = stage.converse(client, scenario, &mock);
    assert_same_lines("the mock on stdio", &with_mock, &with_server);
    let mock = Listening::start(&stage, &reel);
    for url in [mock.url.clone(), mock.url.replace("/mcp", "/sse")] {
        // Unlike most servers, the mock keeps what comes before a client listens.
        let with_mock = stage.converse_with(client, scenario, &[url.clone().into()], &[("MCPREEL_REAL_KEPT", "1")]);
        assert_same_lines(&url, &with_mock, &with_server);
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_typescript_sdk_with_a_mock_of_server_everything() {
    assert_mocked(ClientKind::TypeScript, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_1_sdk_with_a_mock_of_server_everything() {
    assert_mocked(ClientKind::PythonOne, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_2_sdk_with_a_mock_of_server_everything() {
    assert_mocked(ClientKind::PythonTwo, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn langchain_with_a_mock_of_server_everything() {
    assert_mocked(ClientKind::LangChain, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_sdks_with_a_mock_of_mcp_server_time() {
    for client in [ClientKind::TypeScript, ClientKind::PythonOne, ClientKind::PythonTwo] {
        assert_mocked(client, Scenario::Time);
    }
}

/// The Inspector begins a session for each request.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_inspector_prints_the_same_with_a_mock() {
    let stage = Stage::new();
    let (with_server, reel) =
        record_over_http(&stage, Server::Everything("streamableHttp"), |url| inspect(&stage, &[url]));
    let words: Vec<String> = ["mock".to_owned(), reel.display().to_string()].into();
    let config = json!({"mcpServers": {"it": {"command": BINARY, "args": words}}});
    std::fs::write(stage.path("mock.json"), config.to_string()).expect("a file is written");
    let on_stdio = ["--config".into(), stage.path("mock.json").into(), "--server".into(), "it".into()];
    assert_eq!(inspect(&stage, &on_stdio), with_server, "stdio");
    let mock = Listening::start(&stage, &reel);
    for url in [mock.url.clone(), mock.url.replace("/mcp", "/sse")] {
        assert_eq!(inspect(&stage, &[url.clone().into()]), with_server, "{url}");
    }
}

/// The checks of a suite with another verdict for a mock than for its server, each with the scenario, and the reason. The
/// guide lists them, too.
type Exceptions<'a> = &'a [(&'a str, &'a str, &'a str)];

/// The official conformance suite reaches the same verdicts with a mock as with the server that was recorded, check for
/// check, except for these.
fn assert_conforms_alike(server: Server, suite: &str, options: &[&str], exceptions: Exceptions<'_>) {
    let stage = Stage::new();
    let run = |url: &OsString, name: &str| {
        let found = conformance(&stage, suite, &url.to_string_lossy(), options, name);
        assert!(found.len() > 25, "{} scenarios", found.len());
        found
    };
    let (with_server, reel) = record_over_http(&stage, server, |url| run(&url, "recorded"));
    let mock = Listening::start(&stage, &reel);
    let with_mock = run(&mock.url.clone().into(), "mocked");
    let left = |all: &Verdicts| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(left(&with_mock), left(&with_server), "the scenarios");
    let mut differ = BTreeSet::new();
    for (scenario, checks) in &with_mock {
        let both = checks.iter().zip(&with_server[scenario]);
        differ.extend(
            both.filter(|(mock, server)| mock != server).map(|(mock, _)| (scenario.as_str(), mock[0].as_str())),
        );
        assert_eq!(checks.len(), with_server[scenario].len(), "{scenario}: {checks:?}");
    }
    let expected: BTreeSet<_> = exceptions.iter().map(|(scenario, check, _)| (*scenario, *check)).collect();
    assert_eq!(differ, expected, "the checks with another verdict for the mock");
    let guide = include_str!("../../../docs/guide/testing.md");
    assert!(exceptions.iter().all(|(_, check, reason)| guide.contains(check) && guide.contains(reason)));
}

const SUITE: &str = "@modelcontextprotocol/conformance";
const NEXT_SUITE: &str = "conformance-next";

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_a_mock_of_the_everything_server() {
    let server = Server::Everything("streamableHttp");
    assert_conforms_alike(server, SUITE, &["--suite", "all"], &[]);
    let exceptions = [(
        "server-server-session-lifecycle",
        "server-session-terminated-returns-404",
        "the mock's listener ends sessions itself",
    )];
    assert_conforms_alike(server, NEXT_SUITE, &["--requirements", "2025-11-25"], &exceptions);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_a_mock_of_a_python_server() {
    let server = Server::Python("streamable-http");
    assert_conforms_alike(server, SUITE, &["--suite", "all"], &[]);
    for revision in ["2025-11-25", "2026-07-28"] {
        assert_conforms_alike(server, NEXT_SUITE, &["--requirements", revision], &[]);
    }
}

/// It has the tools that the suites ask for, and closes a stream of events before the answer.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn conformance_of_a_mock_of_a_server_with_the_tools_of_the_suites() {
    assert_conforms_alike(Server::Conformance, SUITE, &["--suite", "all"], &[]);
    for revision in ["2025-11-25", "2026-07-28"] {
        assert_conforms_alike(Server::Conformance, NEXT_SUITE, &["--requirements", revision], &[]);
    }
}

/// Records what `talk` does with a server's URL. Returns its result and the reel.
fn record_over_http<T>(stage: &Stage, server: Server, talk: impl FnOnce(OsString) -> T) -> (T, PathBuf) {
    let (_server, port) = server.start(stage);
    let reels = common::Stage::new();
    let tap = Tap::in_front_of(&reels, &server.url(port).to_string_lossy(), &[]);
    let result = talk(server.url(tap.address.port()));
    tap.end();
    let reel = stage.path("recorded.reel");
    std::fs::copy(reels.path("t.reel"), &reel).expect("the reel is copied");
    (result, reel)
}

/// A mock that listens, killed when dropped.
struct Listening {
    process: Child,
    url: String,
}

impl Listening {
    fn start(stage: &Stage, reel: &Path) -> Self {
        let command = [&words(&[BINARY, "mock", "--pace", "recorded", "--listen", "0"])[..], &[reel.into()]].concat();
        let mut mock = stage.command(&command);
        let child = mock.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = child.unwrap_or_else(|error| panic!("{}: {error}", describe(&command)));
        let mut line = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        Self { process, url: ready["url"].as_str().expect("a URL").to_owned() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
