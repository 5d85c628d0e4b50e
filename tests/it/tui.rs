//! The terminal interface in a real terminal. Most of it is tested without one, in `src/tui` and `src/cli/commands/tui`.

use crate::common::{LIMIT, Stage, binary, message, until};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A terminal of its own, with a shell.
struct Tmux {
    socket: String,
}

impl Tmux {
    /// Opens a terminal of this size, in which the shell says `$` when it is ready.
    fn new(stage: &Stage, (columns, rows): (u16, u16)) -> Self {
        let tmux = Self { socket: stage.path("tmux").display().to_string() };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut command = stage.command(&["tmux", "-S", &tmux.socket, "-f", "/dev/null", "new-session", "-d"]);
        command.args(["-x", &columns, "-y", &rows, "env PS1='$ ' sh"]);
        let mcpreel = binary();
        let folder = std::path::Path::new(&mcpreel).parent().expect("a folder").display().to_string();
        let path = std::env::var("PATH").expect("a path");
        command.env("PATH", format!("{folder}:{path}")).env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
        assert!(command.status().expect("tmux runs").success());
        tmux.wait(|screen| screen.contains('$'));
        tmux
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket]).args(arguments).stderr(Stdio::null());
        String::from_utf8_lossy(&command.output().expect("tmux runs").stdout).into_owned()
    }

    /// Types a text, then Enter.
    fn line(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
        self.keys(&["Enter"]);
    }

    fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        self.run(&arguments);
    }

    /// Waits until the screen is as it should be, and returns it.
    #[track_caller]
    fn wait(&self, is_right: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.run(&["capture-pane", "-p"]);
            if is_right(&screen) {
                return screen;
            }
            assert!(began.elapsed() < LIMIT, "not within {LIMIT:?}; the screen is:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        self.wait(|screen| screen.contains(text))
    }

    /// Waits until the shell is ready for a command, and returns the screen.
    #[track_caller]
    fn wait_for_shell(&self) -> String {
        self.wait(|screen| screen.trim_end().ends_with('$') && self.modes() == (false, true))
    }

    /// Whether a program uses the whole screen, and whether the cursor is visible.
    fn modes(&self) -> (bool, bool) {
        let modes = self.run(&["display-message", "-p", "#{alternate_on}#{cursor_flag}"]);
        (modes.starts_with('1'), modes.trim_end().ends_with('1'))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn echoes(calls: u64) -> Vec<Value> {
    let call = |number: u64| {
        let params = json!({"name": "echo", "arguments": {"message": format!("hello {number}")}});
        let result = json!({"content": [{"type": "text", "text": format!("Echo: hello {number}")}]});
        [
            message(
                number * 10,
                "c2s",
                json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}),
            ),
            message(number * 10 + 5, "s2c", json!({"jsonrpc": "2.0", "id": number, "result": result})),
        ]
    };
    (0..calls).flat_map(call).collect()
}

#[test]
#[ignore = "needs tmux"]
fn the_terminal_is_used_and_given_back() {
    let stage = Stage::new();
    stage.reel("echo.reel", &echoes(50));
    let tmux = Tmux::new(&stage, (80, 24));
    tmux.line("mcpreel tui echo.reel");
    let screen = tmux.wait(|screen| screen.starts_with("echo.reel 100 events") && screen.contains("tools/call echo"));
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert_eq!(tmux.modes(), (true, false));
    tmux.keys(&["G", "Enter"]);
    tmux.wait(|screen| screen.contains("event 99, response to 98") && screen.contains("\"text\": \"Echo: hello 49\""));
    for (columns, rows) in [("40", "10"), ("10", "3"), ("120", "40")] {
        tmux.run(&["resize-window", "-x", columns, "-y", rows]);
        tmux.wait(|screen| {
            screen.lines().count() == rows.parse::<usize>().expect("a number") && screen.contains("event")
        });
    }
    tmux.wait_for("event 99, response to 98");
    tmux.keys(&["Escape"]);
    tmux.wait(|screen| !screen.contains("response to 98"));
    tmux.keys(&["q"]);
    tmux.wait_for_shell();
    // The shell's terminal is as before: it echoes, and ends lines with CR. In the background, the interface stops.
    tmux.line("clear; stty -a | grep -o -w -e '-*echo' -e '-*icanon'; mcpreel tui echo.reel & echo $! >pid");
    let pid =
        until("the process", || std::fs::read_to_string(stage.path("pid")).ok().filter(|pid| pid.ends_with('\n')));
    let pid = pid.trim();
    let status = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    until("the process to stop", || status().contains(") T ").then_some(()));
    tmux.line("fg");
    tmux.wait_for("tools/call echo");
    assert!(Command::new("kill").args(["-TERM", pid]).status().expect("kill runs").success());
    let screen = tmux.wait_for_shell();
    assert!(screen.contains("echo\nicanon") || screen.contains("icanon\necho"), "{screen}");
}

#[test]
#[ignore = "needs tmux"]
fn what_can_be_opened_is_listed_by_its_place() {
    let stage = Stage::new();
    let tmux = Tmux::new(&stage, (80, 24));
    tmux.line("mcpreel tui");
    let screen = tmux.wait_for("press o to look again");
    let titles = |screen: &str| {
        ["No live sessions", "No reels in this folder", "Reels in this folder", "No reels in /"]
            .map(|part| screen.contains(part))
    };
    assert_eq!(titles(&screen), [true, true, false, true], "{screen}");
    stage.reel("echo.reel", &echoes(1));
    tmux.keys(&["o"]);
    let screen = tmux.wait_for("echo.reel");
    assert_eq!(titles(&screen), [true, false, true, true], "{screen}");
    tmux.keys(&["Enter"]);
    tmux.wait(|screen| screen.starts_with("echo.reel 2 events") && screen.contains("tools/call echo"));
    tmux.keys(&["q"]);
    tmux.wait_for_shell();
}

#[test]
#[ignore = "needs tmux"]
fn damage_is_reported_and_the_rest_is_shown() {
    let stage = Stage::new();
    stage.reel("echo.reel", &echoes(50));
    let bytes = stage.read("echo.reel");
    stage.write("cut.reel", &bytes[..bytes.len() * 2 / 3]);
    let tmux = Tmux::new(&stage, (80, 24));
    tmux.line("mcpreel tui cut.reel");
    tmux.wait(|screen| screen.contains(" damaged") && screen.contains("the reel is damaged: "));
    tmux.keys(&["q"]);
    tmux.wait_for_shell();
}

#[test]
#[ignore = "needs tmux"]
fn record_shows_the_session_beside_the_tap() {
    let stage = Stage::new();
    let tmux = Tmux::new(&stage, (80, 24));
    tmux.line("mcpreel record --ui -- mcpreel serve");
    tmux.wait_for("stdin is the terminal, too");
    let ping = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    tmux.line("clear; mkfifo more");
    tmux.wait_for_shell();
    tmux.line(&format!("(echo '{}'; cat more) | mcpreel record --ui -o t.reel -- mcpreel serve >out", ping(1)));
    tmux.wait(|screen| screen.contains("method, arguments") && screen.contains("└ ping"));
    tmux.keys(&["q"]);
    tmux.wait(|_| tmux.modes() == (false, true));
    // The recording goes on without the interface.
    stage.write("more", ping(2) + "\n");
    let answers = |out: &str| out.contains("\"id\":1") && out.contains("\"id\":2");
    until("the responses", || std::fs::read_to_string(stage.path("out")).ok().filter(|out| answers(out)));
    tmux.wait_for_shell();
}

/// Panics while the interface shows: run by the next test in a terminal.
#[test]
#[ignore = "run by the_terminal_is_given_back_after_a_panic"]
fn panics_in_the_terminal() {
    if std::env::var_os("MCPREEL_TEST_PANIC").is_some() {
        mcpreel::testing::cli::with_screen(|| panic!("this is the panic"));
    }
}

#[test]
#[ignore = "needs tmux"]
fn the_terminal_is_given_back_after_a_panic() {
    let stage = Stage::new();
    let tmux = Tmux::new(&stage, (80, 24));
    let this = std::env::current_exe().expect("a path");
    let test = "tui::panics_in_the_terminal";
    tmux.line(&format!("MCPREEL_TEST_PANIC=1 {} {test} --exact --ignored --nocapture; stty -a", this.display()));
    let screen = tmux.wait(|screen| screen.contains("cs8") && screen.trim_end().ends_with('$'));
    assert!(screen.contains("this is the panic"), "{screen}");
    assert!(screen.contains(" icanon") && screen.contains(" echo "), "{screen}");
    assert_eq!(tmux.modes(), (false, true));
}

#[test]
fn without_a_terminal_there_is_an_error() {
    let stage = Stage::new();
    stage.reel("echo.reel", &echoes(1));
    let detached = |arguments: &[&str], term: &str| {
        let binary = binary();
        let mut words = vec!["setsid", "--wait", binary.as_str()];
        words.extend(arguments);
        let mut command = stage.command(&words);
        command.env("TERM", term).stdin(Stdio::null());
        let output = command.output().expect("setsid runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = detached(&["tui", "echo.reel"], "xterm");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("there is no terminal for the interface: /dev/tty cannot be used"), "{error}");
    assert!(error.contains("hint: `mcpreel show` prints a reel without a terminal"), "{error}");
    let (code, error) = detached(&["tui", "echo.reel"], "dumb");
    assert!(code == Some(2) && error.contains("TERM is dumb or missing"), "{error}");
    let (code, error) = detached(&["record", "--ui", "--", "cat"], "xterm");
    assert!(code == Some(2) && error.contains("--ui needs a terminal, but /dev/tty cannot be used"), "{error}");
    let (code, error) = detached(&["tui", "none.reel"], "xterm");
    assert!(code == Some(3) && error.contains("none.reel"), "{error}");
    let (code, error) = detached(&["tui", "echo.reel", "nothing:x"], "xterm");
    assert!(code == Some(2) && error.contains("nothing"), "{error}");
    let (code, error) = detached(&["tui", "error"], "xterm");
    assert!(code == Some(2) && error.contains("a filter needs a reel or --session"), "{error}");
}
