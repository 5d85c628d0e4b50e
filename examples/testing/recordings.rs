//! A recording as a test of both sides. Copy it to `tests/recordings.rs` of your crate; it needs nothing but mcpreel.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

/// The recording. Cargo runs tests in the folder of the package.
const REEL: &str = "session.jsonl";

/// A recording in place of a server. Call [`Mock::stop`] at the end of the test.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start(reel: &str) -> Self {
        let mut command = Command::new("mcpreel");
        command.args(["mock", reel, "--strict", "--listen", "0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("mcpreel is installed");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        let url = line.split('"').find(|part| part.starts_with("http")).map(str::to_owned);
        let Some(url) = url else { panic!("the mock did not start: {}", report(&mut child)) };
        Self { child, url }
    }

    /// Ends the mock. Fails the test if the client did not do what was recorded.
    fn stop(mut self) {
        let id = self.child.id().to_string();
        Command::new("kill").arg(&id).status().expect("kill is there");
        let report = report(&mut self.child);
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "the client did not do what was recorded:\n{report}");
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut text).expect("text");
    text
}

fn mcpreel(words: &[&str]) -> Output {
    Command::new("mcpreel").args(words).output().expect("mcpreel is installed")
}

#[test]
fn the_client_does_what_was_recorded() {
    let mock = Mock::start(REEL);
    // The client under test:
    let words = ["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=40", "--format", "json", "--url"];
    let output = mcpreel(&[&words[..], &[&mock.url]].concat());
    mock.stop();
    let result = String::from_utf8_lossy(&output.stdout);
    assert!(result.contains(r#""sum":42"#), "{result}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_server_answers_as_recorded() {
    // The server under test; in your crate, its command is `env!("CARGO_BIN_EXE_my-server")`.
    let server = ["mcpreel", "serve", "--era", "legacy"];
    let output = mcpreel(&[&["replay", REEL, "--"][..], &server].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}
