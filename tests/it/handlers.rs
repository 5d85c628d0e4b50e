//! Tests the limits of handlers, with the real server and real processes: what may run, what it gets, what it cannot
//! access, and that nothing of it is left (MCPE 2025-01-01, Security Considerations).

use crate::common::web::{Reply, Step, Web};
use crate::common::{BINARY, Live, Stage, lives, until};
use mcpreel::testing::platform::confinement::can_confine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::Command;
use std::time::{Duration, Instant};

const SECRET: &str = "hunter2-0451";

/// A server that runs handlers, and the host that the test plays.
struct Server<'a> {
    stage: &'a Stage,
    process: Live,
    asked: i64,
}

impl<'a> Server<'a> {
    fn start(stage: &'a Stage, words: &[&str]) -> Self {
        Self::start_for(stage, words, &json!({}))
    }

    /// With this `PATH`.
    fn start_in(stage: &'a Stage, words: &[&str], path: &str) -> Self {
        let mut command = Self::command(stage, words);
        command.env("PATH", path);
        Self::connected(stage, command, &json!({}))
    }

    /// For a client with these capabilities.
    fn start_for(stage: &'a Stage, words: &[&str], capabilities: &Value) -> Self {
        Self::connected(stage, Self::command(stage, words), capabilities)
    }

    fn command(stage: &Stage, words: &[&str]) -> Command {
        let mut command = stage.mcpreel(&[&["serve", "--report", "facts", "--record", "s.reel"], words].concat());
        // A proxy that does not exist: requests to this machine do not use a proxy.
        command.env("API_TOKEN", SECRET).env("http_proxy", "http://127.0.0.1:9").env_remove("no_proxy");
        command
    }

    fn connected(stage: &'a Stage, command: Command, capabilities: &Value) -> Self {
        let mut server = Self { stage, process: Live::start(command), asked: 0 };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        server.ask("initialize", params);
        server.process.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.process.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.process.message(|message| message["id"] == id)["result"].clone()
    }

    fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
    }

    fn subscribe(&mut self, handler: Value) {
        let made = self.tool("events_subscribe", json!({"handler": handler}));
        assert_eq!(made["structuredContent"]["status"], "active", "{made}");
    }

    /// Runs a script that creates the file `begun`, and waits for that.
    fn begin(&mut self, stage: &Stage, script: &str) {
        self.subscribe(json!({"type": "bash", "command": script}));
        self.publish(json!({}));
        until("it to begin", || stage.path("begun").exists().then_some(()));
    }

    fn publish(&mut self, data: Value) {
        self.tool("emit", json!({"kind": "event", "type": "build.done", "priority": "high", "data": data}));
    }

    fn runs(&self) -> Vec<Value> {
        let reports = String::from_utf8(self.stage.read("facts")).expect("text");
        let reports = reports.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        reports.filter(|report| report["report"] == "handler" && report["state"] == "ended").collect()
    }

    /// The next run that ended.
    fn ended(&self, at: usize) -> Value {
        until("the handler to end", || self.runs().get(at).cloned())
    }

    /// The result of a bash handler with this script.
    fn bash(&mut self, script: &str, more: Value) -> Value {
        let mut handler = json!({"type": "bash", "command": script});
        handler.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        self.subscribe(handler);
        self.publish(json!({"n": 1}));
        self.ended(0)
    }

    /// Ends the server; returns the handlers' notes in the reel.
    fn end(self) -> Vec<Value> {
        let output = self.process.end();
        assert_eq!(output.code(), 0, "{output:?}");
        let events = self.stage.events("s.reel");
        events.into_iter().filter(|event| event["event"] == "note").collect()
    }
}

/// Writes a program.
fn program(stage: &Stage, name: &str, text: &str) {
    let path = stage.write(name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

/// The process ids that a script has written down.
fn pids(stage: &Stage, name: &str) -> Vec<i32> {
    let text = String::from_utf8(stage.read(name)).expect("text");
    text.split_whitespace().map(|pid| pid.parse().expect("a process id")).collect()
}

#[test]
fn e33_a_handler_that_is_not_allowed_is_refused_and_nothing_runs() {
    let stage = Stage::new();
    for words in [&[][..], &["--allow-handlers", "webhook,agent"]] {
        let mut server = Server::start(&stage, words);
        let handler = json!({"handler": {"type": "bash", "command": "touch ran"}});
        let refused = server.tool("events_subscribe", handler);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused["content"][0]["text"].to_string().contains("bash handlers are not allowed"), "{refused}");
        server.publish(json!({}));
        server.process.end();
        assert!(!stage.path("ran").exists());
        let _ = std::fs::remove_file(stage.path("s.reel"));
    }
}

#[test]
fn e35_a_handler_gets_its_event_and_its_run_stands_in_the_reel() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let data = json!({"x": "'; touch pwned; $(touch pwned) `touch pwned`"});
    for (at, handler) in [
        json!({"type": "bash", "command": "cat > stdin"}),
        json!({"type": "bash", "command": "printf %s \"$1\" > args; :", "input": "args"}),
        json!({"type": "bash", "command": "printf '%s|' \"$@\" > env", "input": "env",
            "args": ["$MCPE_EVENT_TYPE", "$MCPE_EVENT_DATA", "$PATH"]}),
        json!({"type": "bash", "command": "echo $MCPE_EVENT_DATA $MCPE_EVENT_PRIORITY; exit 3", "input": "env"}),
    ]
    .into_iter()
    .enumerate()
    {
        server.subscribe(handler);
        server.publish(data.clone());
        until("all to end", || (server.runs().len() == (at + 1) * (at + 2) / 2).then_some(()));
    }
    let read = |name: &str| serde_json::from_slice::<Value>(&stage.read(name)).expect("JSON");
    assert_eq!((&read("stdin")["data"], &read("args")["data"]), (&data, &data));
    let words = String::from_utf8(stage.read("env")).expect("text");
    assert_eq!(words, format!("build.done|{data}|$PATH|"));
    assert!(!stage.path("pwned").exists(), "what stands in an event is data");
    let last = server.runs().into_iter().find(|run| run["exit_code"] == 3).expect("the last one");
    assert_eq!((&last["outcome"], &last["kind"]), (&json!("failed"), &json!("bash")));
    assert!(last["output"].to_string().contains("touch pwned") && last["output"].to_string().contains("high"));
    let runs = server.runs().len();
    let notes = server.end();
    assert_eq!(notes.len(), 2 * runs, "each begins and ends: {notes:?}");
    let note = notes.iter().find(|note| note.to_string().contains(r#""exit_code":3"#)).expect("kept").to_string();
    for member in ["subscription", "event_ids", "outcome", "duration_ms", "bytes", "attempt"] {
        assert!(note.contains(&format!("\"{member}\":")), "{member}: {note}");
    }
    stage.ok(&["validate", "s.reel"]);
}

#[test]
fn e33_a_handler_that_forks_leaves_no_child_behind() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let script = r#"sleep 600 & echo $! >> pids
        setsid sleep 601 & echo $! >> pids
        (setsid bash -c 'trap "" TERM HUP; setsid sleep 602 & echo $! $$ >> pids; echo done > deep; exec sleep 603' &)
        while [ ! -e deep ]; do sleep 0.01; done; echo out"#;
    let run = server.bash(script, json!({}));
    assert_eq!((&run["outcome"], &run["output"]), (&json!("done"), &json!("out\n")), "{run}");
    assert!(run["left_behind"].as_u64() >= Some(4), "{run}");
    let pids = pids(&stage, "pids");
    assert_eq!((pids.len(), pids.iter().filter(|pid| lives(**pid)).count()), (4, 0), "{pids:?}");
    assert!(server.process.is_running());
    server.end();
}

#[test]
fn e33_a_handler_that_floods_is_cut_and_ended() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash", "--handler-timeout", "300ms"]);
    let run = server.bash("yes flooding", json!({"timeout": 3_600_000}));
    assert_eq!((&run["outcome"], &run["truncated"]), (&json!("timed_out"), &json!(true)));
    let kept = run["output"].as_str().expect("its beginning");
    assert!(kept.len() <= 16 << 10 && kept.starts_with("flooding\nflooding"), "{}", kept.len());
    assert!(run["bytes"].as_u64() > Some(16 << 10), "{}", run["bytes"]);
    server.end();
}

#[test]
fn e33_a_handler_that_ignores_term_is_killed_with_all_its_children() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let script =
        "trap '' TERM; echo $$ >> pids; bash -c 'echo $$ >> pids; exec sleep 600' & while :; do sleep 600; done";
    let began = Instant::now();
    let run = server.bash(script, json!({"timeout": 200}));
    assert_eq!(run["outcome"], "timed_out", "{run}");
    assert!(began.elapsed() >= Duration::from_secs(1), "it had a moment to end by itself");
    let pids = pids(&stage, "pids");
    assert_eq!((pids.len(), pids.iter().filter(|pid| lives(**pid)).count()), (2, 0), "{pids:?}");
    server.end();
}

#[test]
fn e33_a_handler_learns_no_secret_and_has_no_privileges() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash", "--handler-secret", "API_TOKEN@127.0.0.1"]);
    let script = r#"env | cut -d= -f1 | sort | tr '\n' ' ' > names
        env > all; tr '\0' '\n' < /proc/self/environ >> all
        for of in /proc/[0-9]*; do tr '\0' '\n' < $of/environ >> all; cat $of/cmdline >> all; ls -l $of/fd >> all; done 2>/dev/null
        guard=$(cut -d' ' -f4 /proc/$PPID/stat); server=$(cut -d' ' -f4 /proc/$guard/stat); echo $server > server
        (tr '\0' '\n' < /proc/$server/environ) > parent 2>&1 && echo readable >> parent
        grep -E 'CapEff|NoNewPrivs' /proc/self/status > status"#;
    let run = server.bash(script, json!({"env": {"MINE": "1"}}));
    assert_eq!(run["outcome"], "done", "{run}");
    let text = |name: &str| String::from_utf8_lossy(&stage.read(name)).into_owned();
    assert_eq!(pids(&stage, "server"), [server.process.pid()], "it looked where the secret is");
    assert!(!text("all").contains(SECRET), "nowhere");
    assert!(!text("parent").contains(SECRET) && !text("parent").contains("readable"), "{}", text("parent"));
    let names = text("names");
    let allowed = ["HOME", "LANG", "MINE", "OLDPWD", "PATH", "PWD", "SHLVL", "TZ", "_"];
    assert!(names.split_whitespace().all(|name| allowed.contains(&name)), "{names}");
    assert!(text("status").contains("CapEff:\t0000000000000000"), "{}", text("status"));
    assert!(text("status").contains("NoNewPrivs:\t1"), "{}", text("status"));
    let notes = server.end();
    assert!(!format!("{notes:?}").contains(SECRET));
}

#[test]
fn e33_what_runs_ends_with_its_session_and_with_its_server() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let script = "echo $$ > pid; setsid sleep 600 & echo $! >> pid; touch begun; wait";
    server.begin(&stage, script);
    let notes = server.end();
    assert!(notes.last().expect("kept").to_string().contains(r#""outcome":"stopped""#), "{notes:?}");
    assert!(pids(&stage, "pid").iter().all(|pid| !lives(*pid)));

    let _ = (std::fs::remove_file(stage.path("begun")), std::fs::remove_file(stage.path("s.reel")));
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    server.begin(&stage, script);
    server.process.signal("KILL");
    until("all to end", || pids(&stage, "pid").iter().all(|pid| !lives(*pid)).then_some(()));
}

/// Tests that need a kernel which can keep a handler from other processes.
mod needs_landlock {
    use super::*;

    #[test]
    #[ignore = "needs Landlock scopes (Linux 6.12); run tests/run.sh"]
    fn e33_a_handler_reaches_neither_its_supervisor_nor_its_server() {
        assert!(can_confine(), "this kernel has no Landlock scopes (Linux 6.12)");
        let stage = Stage::new();
        let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
        let script = r#"setsid sleep 600 & echo $! > pid
            guard=$(cut -d' ' -f4 /proc/$PPID/stat); server=$(cut -d' ' -f4 /proc/$guard/stat); echo $server > server
            for victim in -$PPID -$guard $(ls /proc/$PPID/task /proc/$guard/task /proc/$server/task | grep -v :); do
                echo $victim >> tried; kill -KILL -- $victim && echo $victim >> ended
            done 2> /dev/null
            sleep 601 & kill -KILL $!; wait $!; echo $? > own
            exit 7"#;
        let run = server.bash(script, json!({}));
        assert_eq!((&run["outcome"], &run["exit_code"]), (&json!("failed"), &json!(7)), "{run}");
        assert_eq!(pids(&stage, "server"), [server.process.pid()], "it tried the right one");
        assert!(pids(&stage, "tried").len() > 5, "with threads: {:?}", pids(&stage, "tried"));
        assert!(!stage.path("ended").exists(), "{:?}", pids(&stage, "ended"));
        assert_eq!(pids(&stage, "own"), [128 + 9], "what it starts itself it can end");
        assert_eq!(run["left_behind"], 1, "{run}");
        assert!(pids(&stage, "pid").iter().all(|pid| !lives(*pid)));
        assert!(server.process.is_running());
        server.end();
    }

    #[test]
    #[ignore = "needs Landlock scopes (Linux 6.12); run tests/run.sh"]
    fn e33_a_handler_reaches_files_and_network_but_no_other_process() {
        assert!(can_confine(), "this kernel has no Landlock scopes (Linux 6.12)");
        let stage = Stage::new();
        let web = Web::start(|_| Reply::empty(200));
        let name = format!("mcpreel-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let _listener = UnixListener::bind_addr(&address).expect("bound");
        let mut other = Command::new("sleep").arg("600").env("OTHERS", SECRET).spawn().expect("started");
        let port = web.url("").rsplit(':').next().expect("a port").to_owned();
        let script = format!(
            r#"exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -1 <&3 | cut -d' ' -f2
            mkfifo fifo; (echo through > fifo &); cat fifo; rm fifo
            perl -e 'socket(S,1,1,0); print connect(S, pack("S a*", 1, "\0{name}")) ? "connected\n" : "out of reach\n"'
            kill -0 {other} 2> /dev/null && echo can signal; grep -cz OTHERS /proc/{other}/environ 2> /dev/null; :"#,
            other = other.id(),
        );
        let look = Command::new("bash").args(["-c", &script]).current_dir(stage.path("")).output().expect("bash runs");
        let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
        let run = server.bash(&script, json!({}));
        other.kill().and_then(|()| other.wait()).expect("it was still there");
        assert_eq!(String::from_utf8_lossy(&look.stdout), "200\nthrough\nconnected\ncan signal\n1\n", "as any other");
        assert_eq!(run["output"], "200\nthrough\nout of reach\n", "{run}");
        server.end();
    }
}

#[test]
fn e33_a_handler_cannot_use_the_control_socket_of_any_session() {
    let stage = Stage::new();
    let mut other = stage.start(&["record", "-o", "other.reel", "--label", "other", "--", BINARY, "serve"]);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "victim", "version": "1"}});
    other.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    other.message(|message| message["id"] == 0);
    other.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = ["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=3", "--session", "other"];
    until("the user's shell to reach it", || (stage.run(&call, "").code() == 0).then_some(()));
    let calls = || stage.ok(&["show", "other.reel", "injected", "--format", "json"]).out().lines().count();
    let _listens = stage.start(&["serve", "--listen", "unix:mcp.sock"]);
    until("the listener", || stage.path("mcp.sock").exists().then_some(()));
    // Outside of any handler: where callers talk to the session.
    let door = stage.path("mcpreel/run/other.sock");
    let mut greeting = String::new();
    let stream = UnixStream::connect(&door).expect("it listens");
    BufReader::new(stream).read_line(&mut greeting).expect("a greeting");
    let greeting: Value = serde_json::from_str(&greeting).expect("JSON");
    let name = greeting["abstract"].as_str().expect("an address");
    stage.write(
        "attack.pl",
        format!(
            r#"
        my ($kind, $path) = @ARGV;
        $SIG{{PIPE}} = "IGNORE";
        socket(S, 1, 1, 0);
        connect(S, pack("S a*", 1, $kind eq "abstract" ? "\0{name}" : $path)) or print("$kind: out of reach\n"), exit;
        syswrite(S, qq({{"op":"info","tag":1}}\n));
        my $line = <S>;
        print "$kind: ", $line =~ /"info":/ ? "a way in" : $line =~ /"abstract":/ ? "an address" : "refused", "\n";
    "#
        ),
    );
    let attack = format!(
        "perl attack.pl path '{door}'; perl attack.pl abstract
        {BINARY} call tools/list --url unix:{listens} > /dev/null && echo listed
        {BINARY} {call} && echo called; {BINARY} sessions --format json | grep -c '\"role\":\"record\"'",
        door = door.display(),
        call = call.join(" "),
        listens = stage.path("mcp.sock").display(),
    );
    stage.write("attack.sh", &attack);
    let home = json!({"env": {"MCPREEL_HOME": stage.path("mcpreel"), "NO_COLOR": "1"}});
    // The same from a child that has left its session and lost its parent.
    let script = "sh attack.sh 2>&1; (setsid sh -c '(sh attack.sh > deep 2>&1; touch done) &' &); \
        while [ ! -e done ]; do sleep 0.01; done; echo; cat deep";
    let look = stage.command(&["sh", "attack.sh"]).output().expect("it runs");
    let look = String::from_utf8_lossy(&look.stdout).into_owned();
    for reported in ["path: an address", "abstract: a way in", "listed", "called", "\n1\n"] {
        assert!(look.contains(reported), "the user's own program can: {reported} in {look}");
    }
    let by_user = calls();
    assert!(!other.stderr_so_far().contains("control socket"), "{}", other.stderr_so_far());

    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let run = server.bash(script, home);
    let reported = run["output"].as_str().expect("what it said").to_owned();
    // With Landlock ABI 9 and later, it cannot even connect to the socket in the folder.
    let is_at_the_door = !reported.contains("path: out of reach");
    let refused = if is_at_the_door { "path: refused" } else { "path: out of reach" };
    assert_eq!(reported.matches(refused).count(), 2, "{reported}");
    let kept_off = if can_confine() { "abstract: out of reach" } else { "abstract: refused" };
    assert_eq!(reported.matches(kept_off).count(), 2, "{reported}");
    for gained in ["a way in", "an address", "listed", "called", "victim", "\n1\n"] {
        assert!(!reported.contains(gained), "{gained}: {reported}");
    }
    assert!(!is_at_the_door || reported.contains("a handler of a subscription may not connect here"), "{reported}");
    assert_eq!(calls(), by_user, "nothing was put in");
    let warned = other.stderr_so_far();
    let warning = "tried to use this session's control socket and was refused";
    assert_eq!(warned.contains(warning), is_at_the_door, "{warned}");
    server.end();
    stage.ok(&call);
    other.end();
}

#[test]
fn e33_where_the_kernel_cannot_hold_a_handler_off_others_that_is_said() {
    let stage = Stage::new();
    let output = Server::start(&stage, &["--allow-handlers", "bash"]).process.end();
    assert_eq!(output.err().contains("lets handlers signal"), !can_confine(), "{output:?}");
}

#[test]
fn e33_a_supervisor_that_is_lost_leaves_nothing_of_its_command() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let script = "setsid sleep 600 & echo $! $$ > pids; echo $PPID > supervisor; touch begun; wait";
    server.begin(&stage, script);
    // As the system does when memory runs out.
    let supervisor = pids(&stage, "supervisor")[0].to_string();
    assert!(Command::new("kill").args(["-KILL", &supervisor]).status().expect("it runs").success());
    let run = server.ended(0);
    assert!(run["outcome"] == "failed" && run["why"].to_string().contains("supervisor"), "{run}");
    let pids = pids(&stage, "pids");
    assert_eq!((pids.len(), pids.iter().filter(|pid| lives(**pid)).count()), (2, 0), "{pids:?}");
    server.end();
}

#[test]
fn e33_a_handler_that_sets_limits_to_its_supervisor_is_ended_as_any_other() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let script = r#"setsid sleep 600 & echo $! $$ > pids
        for of in $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do
            prlimit --pid $of --nofile=0 --as=4096 --data=4096 --stack=4096 --fsize=0 --nproc=0 --cpu=1 && echo $of >> set
        done; trap '' TERM; while :; do sleep 600; done"#;
    let run = server.bash(script, json!({"timeout": 300}));
    assert_eq!(pids(&stage, "set").len(), 2, "it may");
    assert_eq!((&run["outcome"], &run["left_behind"]), (&json!("timed_out"), &json!(2)), "{run}");
    let pids = pids(&stage, "pids");
    assert_eq!((pids.len(), pids.iter().filter(|pid| lives(**pid)).count()), (2, 0), "{pids:?}");
    server.end();
}

#[test]
fn e33_a_handlers_variables_steer_neither_its_supervisor_nor_its_sandbox() {
    let stage = Stage::new();
    // The first variable would make every program in the chain print the loader's list and exit at once.
    let env = json!({"env": {"LD_TRACE_LOADED_OBJECTS": "1", "PATH": "/nowhere", "IT": "it's $(x)"}});
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let run = server.bash("echo $LD_TRACE_LOADED_OBJECTS $PATH \"$IT\"", env);
    assert_eq!((&run["outcome"], &run["output"]), (&json!("done"), &json!("1 /nowhere it's $(x)\n")), "{run}");
    server.end();
}

#[test]
fn e35_no_ending_of_a_command_lets_an_event_run() {
    let stage = Stage::new();
    program(&stage, "ran-by-data", "#!/bin/sh\ntouch pwned\n");
    let path = format!("{}:/usr/bin:/bin", stage.path("").display());
    let endings = [
        "\n",
        "\n\n",
        "\r\n",
        ";",
        "; ",
        "&",
        " &&",
        "||",
        "|",
        " |&",
        " #",
        " # comment",
        "\\",
        " <<EOF\n",
        " <<EOF\nEOF\n",
        "\nif",
        "; then",
        "; while",
        "; { ",
        "; (",
        "; !",
        "; eval",
        "; exec",
        "; command",
        "; A=1",
        "; time",
        "; $EMPTY",
    ];
    let plain = ["", " ", "eval", "exec", "command", "builtin", "time", "A=1", "$EMPTY", "!", "if", "while", "."];
    let commands = endings.iter().map(|ending| format!("true{ending}")).chain(plain.map(str::to_owned));
    let mut server = Server::start_in(&stage, &["--allow-handlers", "bash"], &path);
    let mut runs = 0;
    for command in commands.filter(|command| !command.trim().is_empty()) {
        let handler = json!({"type": "bash", "command": command, "args": ["$MCPE_EVENT_TAGS", "x"], "input": "env"});
        let subscribed = server.tool("events_subscribe", json!({"handler": handler}));
        let id = subscribed["structuredContent"]["subscriptionId"].clone();
        server.tool("emit", json!({"kind": "event", "type": "t", "data": {}, "tags": ["ran-by-data"]}));
        runs += 1;
        let run = server.ended(runs - 1);
        assert!(!stage.path("pwned").exists(), "{command:?}: {run}");
        assert_ne!(server.tool("events_unsubscribe", json!({"subscriptionId": id}))["isError"], true);
    }
    server.end();
}

#[test]
fn e35_a_plain_command_receives_arguments_and_a_script_positions() {
    for (command, args, written) in [
        ("tee -a", &["out"][..], "{"),
        ("sh -c 'printf %s \"$1\" > out' x", &["a b"], "a b"),
        ("for each in \"$@\"; do\n  printf '%s,' \"$each\" >> out\ndone", &["a b", "c"], "a b,c,"),
        ("if [ $# = 2 ]; then printf %s \"$2\" > out; fi # done", &["1", "two"], "two"),
        ("# first a comment\ncat > out <<EOF\n$1\nEOF", &["x;y"], "x;y\n"),
    ] {
        let stage = Stage::new();
        let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
        let run = server.bash(command, json!({"args": args}));
        assert_eq!(run["outcome"], "done", "{command:?}: {run}");
        let out = String::from_utf8(stage.read("out")).expect("text");
        assert!(out == written || (written == "{" && out.starts_with('{')), "{command:?}: {out}");
        server.end();
    }
}

#[test]
fn e33_the_shell_is_never_taken_from_the_folder_of_a_handler() {
    for (shell, path) in
        [("./tools/shell -c", "/usr/bin:/bin"), ("shell -c", "tools:/usr/bin:/bin"), ("bash -c", ".:/usr/bin:/bin")]
    {
        let stage = Stage::new();
        for folder in ["tools", "theirs/tools", "theirs"] {
            std::fs::create_dir_all(stage.path(folder)).expect("made");
        }
        program(&stage, "tools/shell", "#!/bin/sh\nexec /bin/bash \"$@\"\n");
        for name in ["theirs/tools/shell", "theirs/shell", "theirs/bash"] {
            program(&stage, name, "#!/bin/sh\necho taken\n");
        }
        let mut server = Server::start_in(&stage, &["--allow-handlers", "bash", "--handler-shell", shell], path);
        let run = server.bash("echo ours", json!({"cwd": "theirs", "env": {"PATH": "."}}));
        assert_eq!((&run["outcome"], &run["output"]), (&json!("done"), &json!("ours\n")), "{shell}: {run}");
        server.end();
    }
    // A shell that does not exist is not found in the handler's folder later.
    let stage = Stage::new();
    std::fs::create_dir_all(stage.path("theirs/tools")).expect("made");
    program(&stage, "theirs/tools/shell", "#!/bin/sh\necho taken\n");
    let mut server = Server::start(&stage, &["--allow-handlers", "bash", "--handler-shell", "tools/shell -c"]);
    let run = server.bash("echo", json!({"cwd": "theirs"}));
    assert_eq!(run["outcome"], "not_started", "{run}");
    server.end();
}

#[test]
fn e33_what_cannot_be_started_is_reported() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "bash", "--handler-shell", "no-such-sandbox -c"]);
    let run = server.bash("echo", json!({}));
    assert_eq!(run["outcome"], "not_started", "{run}");
    server.end();
    let _ = std::fs::remove_file(stage.path("s.reel"));
    let mut server = Server::start(&stage, &["--allow-handlers", "bash"]);
    let run = server.bash("echo", json!({"cwd": "no/such/folder"}));
    assert!(run["outcome"] == "not_started" && run["why"].to_string().contains("no/such/folder"), "{run}");
    server.end();
    for (words, hint) in [
        (&["--handler-secret", "API_TOKEN@127.0.0.1"][..], "--allow-handlers"),
        (&["--allow-handlers", "webhook", "--handler-secret", "API_TOKEN"], "NAME@HOST"),
        (&["--allow-handlers", "webhook", "--handler-secret", "UNSET_TOKEN@h"], "UNSET_TOKEN"),
        (&["--allow-handlers", "webhook", "--handler-secret", "API_TOKEN@h:99999"], "HOST:PORT"),
        (&["--allow-handlers", "bash", "--handler-dir", "nowhere"], "nowhere"),
        (&["--allow-handlers", "pigeon"], "pigeon"),
    ] {
        let output = stage.run(&[&["serve"], words].concat(), "");
        assert!(output.code() == 2 && output.err().contains(hint), "{words:?}: {output:?}");
    }
}

#[test]
fn e34_a_webhook_is_posted_with_its_secret_and_tried_again() {
    let stage = Stage::new();
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let web = Web::start(move |asked| {
        match (asked.target.as_str(), tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
            ("/in", 0) => Reply::text(503, "text/plain", "busy").with("Retry-After", "0"),
            ("/in", _) => Reply::empty(307).with("Location", "/moved"),
            // It repeats what it received.
            _ => Reply::json(200, &json!({"taken": true, "by": asked.header("authorization")})),
        }
    });
    let secret = format!("API_TOKEN@127.0.0.1:{}", web.port);
    let mut server = Server::start(&stage, &["--allow-handlers", "webhook", "--handler-secret", &secret]);
    let headers = json!({"Authorization": "Bearer ${API_TOKEN}"});
    server.subscribe(json!({"type": "webhook", "url": web.url("/in"), "headers": headers}));
    server.publish(json!({"n": 7}));
    let outcomes: Vec<Value> = (0..3).map(|at| server.ended(at)["outcome"].clone()).collect();
    assert_eq!(outcomes, ["retried", "redirected", "done"]);
    let asked = web.asked();
    assert_eq!(asked.iter().map(|asked| asked.target.as_str()).collect::<Vec<_>>(), ["/in", "/in", "/moved"]);
    for asked in &asked {
        assert_eq!((asked.verb.as_str(), asked.header("content-type")), ("POST", Some("application/json")));
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        assert_eq!(asked.body["event"]["data"], json!({"n": 7}));
    }
    let refused = server.tool(
        "events_subscribe",
        json!({"handler": {"type": "webhook", "headers": headers,
        "url": web.url("/in").replace("127.0.0.1", "localhost")}}),
    );
    assert_eq!(refused["isError"], true, "another name, another host: {refused}");
    let notes = format!("{:?}", server.end());
    assert!(!notes.contains(SECRET) && notes.contains("Bearer ${API_TOKEN}"), "{notes}");
    let reel = stage.ok(&["export", "s.reel"]).out();
    assert!(!reel.contains(SECRET) && reel.contains("${API_TOKEN}"));
}

#[test]
fn e34_a_secret_goes_to_its_port_only_and_a_name_must_be_closed() {
    let stage = Stage::new();
    let (mine, other) = (Web::start(|_| Reply::empty(200)), Web::start(|_| Reply::empty(200)));
    let attempt = |secret: &str, url: &str, header: &str| {
        let _ = std::fs::remove_file(stage.path("s.reel"));
        let mut server = Server::start(&stage, &["--allow-handlers", "webhook", "--handler-secret", secret]);
        let handler = json!({"type": "webhook", "headers": {"X-Key": header}, "url": url});
        let reported = server.tool("events_subscribe", json!({"handler": handler}));
        let is_refused = reported["isError"] == true;
        if !is_refused {
            server.publish(json!({}));
            server.ended(0);
        }
        server.end();
        is_refused.then(|| reported.to_string())
    };
    let to_mine = format!("API_TOKEN@127.0.0.1:{}", mine.port);
    for header in ["${API_TOKEN", "Bearer ${API_TOKEN", "${API_TOKEN} ${"] {
        let refused = attempt(&to_mine, &mine.url("/"), header).expect("refused");
        assert!(refused.contains("no closing brace"), "{refused}");
    }
    for (secret, url) in [(&to_mine[..], other.url("/")), ("API_TOKEN@127.0.0.1", mine.url("/"))] {
        let refused = attempt(secret, &url, "${API_TOKEN}").expect("refused");
        assert!(refused.contains("must not be sent"), "{refused}");
    }
    assert_eq!((mine.asked().len(), other.asked().len()), (0, 0), "nothing was sent");
    assert_eq!(attempt(&to_mine, &mine.url("/"), "${API_TOKEN}"), None);
    assert_eq!(mine.asked()[0].header("x-key"), Some(SECRET));
}

#[test]
fn e34_a_webhook_has_limits_and_follows_nobody_elsewhere() {
    let stage = Stage::new();
    let elsewhere = Web::start(|_| Reply::empty(200));
    let there = elsewhere.url("/");
    let web = Web::start(move |asked| match asked.target.as_str() {
        "/away" => Reply::empty(307).with("Location", &there),
        "/flood" => Reply { steps: vec![Step::Flood("flood".repeat(1000).into())], ..Reply::empty(200) },
        _ => Reply::silent(),
    });
    let mut server = Server::start(&stage, &["--allow-handlers", "webhook", "--handler-timeout", "2s"]);
    for path in ["/away", "/flood", "/silent"] {
        server.subscribe(json!({"type": "webhook", "url": web.url(path), "timeout": 2000}));
    }
    server.publish(json!({}));
    until("all to end", || (server.runs().len() == 3).then_some(()));
    let runs = server.runs();
    let of = |outcome: &str| runs.iter().find(|run| run["outcome"] == outcome).unwrap_or_else(|| panic!("{runs:?}"));
    assert_eq!(of("failed")["status"], 307);
    assert!(elsewhere.asked().is_empty());
    assert_eq!((&of("done")["status"], &of("done")["truncated"]), (&json!(200), &json!(true)));
    assert!(of("done")["bytes"].as_u64() < Some(2 << 20), "{}", of("done")["bytes"]);
    of("timed_out");
    server.end();
}

#[test]
fn e6_an_agent_can_be_a_program_of_the_users() {
    let stage = Stage::new();
    let program = "bash -c 'cat > asked; echo looks fine'";
    let mut server = Server::start(&stage, &["--allow-handlers", "agent", "--agent-command", program]);
    server.subscribe(json!({"type": "agent", "systemPrompt": "Judge.", "tools": ["t"], "maxTokens": 9}));
    server.publish(json!({"n": 5}));
    let run = server.ended(0);
    assert_eq!((&run["outcome"], &run["output"]), (&json!("done"), &json!("looks fine\n")), "{run}");
    let asked: Value = serde_json::from_slice(&stage.read("asked")).expect("JSON");
    assert_eq!(
        (&asked["systemPrompt"], &asked["tools"], &asked["maxTokens"]),
        (&json!("Judge."), &json!(["t"]), &json!(9))
    );
    assert!(asked["prompt"].to_string().contains(r#"\"n\":5"#), "{asked}");
    server.end();
}

#[test]
fn e33_an_agents_program_holds_no_secret_where_a_command_could_look_into_it() {
    let stage = Stage::new();
    for (kinds, holds) in [("agent", true), ("agent,bash", false)] {
        let words = ["--allow-handlers", kinds, "--agent-command", "bash -c 'env > names'"];
        let mut server = Server::start(&stage, &words);
        server.subscribe(json!({"type": "agent"}));
        server.publish(json!({}));
        assert_eq!(server.ended(0)["outcome"], "done");
        assert_eq!(String::from_utf8_lossy(&stage.read("names")).contains(SECRET), holds, "{kinds}");
        server.end();
        let _ = std::fs::remove_file(stage.path("s.reel"));
    }
}

#[test]
fn e6_an_agent_can_be_the_hosts_model() {
    let stage = Stage::new();
    let server = format!("srv={BINARY} serve --era legacy --allow-handlers agent --report facts --record s.reel");
    let subscribe = r#"/tool srv:events_subscribe handler:='{"type":"agent","instructions":"Say what it is."}'"#;
    let fire = "/tool srv:emit kind=event type=build.done";
    let words = ["host", "-s", &server, "--do", subscribe, "--do", fire, "--do", "/wait 500ms"];
    let output = stage.run(&words, "");
    let reports = String::from_utf8(stage.read("facts")).expect("text");
    assert!(reports.contains(r#""outcome":"done""#) && reports.contains("echo: "), "{output:?}\n{reports}");
}

#[test]
fn e33_each_session_of_a_listener_has_its_own_runs() {
    let stage = Stage::new();
    let listen = format!("unix:{}", stage.path("mcp.sock").display());
    let plan = r#"{"after_ms":300,"fire":{"kind":"event","type":"build.done"}}"#;
    let words = ["serve", "--listen", &listen, "--allow-handlers", "bash", "--plan", plan, "--record", "s.reel"];
    let process = stage.start(&words);
    until("the server to listen", || stage.path("mcp.sock").exists().then_some(()));
    let client = |name: &str| {
        let reel = format!("{name}.reel");
        let mut client = stage.start(&["record", "-o", &reel, "--url", &listen]);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": name, "version": "1"}});
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        client.message(|message| message["id"] == 1);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let handler = json!({"type": "bash", "command": format!("echo $$ > {name}; touch {name}.begun; sleep 600")});
        let params = json!({"name": "events_subscribe", "arguments": {"handler": handler}});
        client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        client
    };
    let (one, two) = (client("one"), client("two"));
    let begun = |name: &str| {
        until(name, || stage.path(&format!("{name}.begun")).exists().then_some(()));
        pids(&stage, name)[0]
    };
    let (first, second) = (begun("one"), begun("two"));
    one.end();
    until("the first one's to end", || (!lives(first)).then_some(()));
    assert!(lives(second), "the other session goes on");
    drop(two);
    until("the second one's to end", || (!lives(second)).then_some(()));
    process.signal("INT");
    let output = process.end();
    assert_eq!(output.code(), 0, "{output:?}");
    let events = stage.events("s.reel");
    let stopped = |event: &&Value| event.to_string().contains(r#""outcome":"stopped""#);
    let streams: Vec<&Value> = events.iter().filter(stopped).map(|event| &event["stream"]).collect();
    assert!(streams.len() == 2 && streams[0] != streams[1], "{events:?}");
}

/// The address at which a server accepts posts.
fn webhook_of(server: &Server<'_>) -> std::net::SocketAddr {
    until("the webhook to listen", || {
        let said = server.process.stderr_so_far();
        said.split("posts to http://").nth(1)?.split('/').next()?.parse().ok()
    })
}

#[test]
fn e6_the_proposals_agent_is_granted_and_one_that_nobody_can_run_is_refused() {
    let stage = Stage::new();
    let example = json!({"filter": {"eventTypes": ["slack.message"]}, "delivery": {"channels": ["realtime"]},
        "handler": {"type": "agent", "model": "claude-sonnet-4-5-20250929", "tools": ["slack_reply", "create_task"],
            "systemPrompt": "Summarize this Slack message and determine if it requires action."}});
    let allowed = ["--allow-handlers", "agent"];
    let mut server = Server::start(&stage, &allowed);
    let refused = server.tool("events_subscribe", example.clone());
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused["content"][0]["text"].to_string().contains("agent handlers need a model"), "{refused}");
    server.end();
    let _ = std::fs::remove_file(stage.path("s.reel"));
    let mut server = Server::start_for(&stage, &allowed, &json!({"sampling": {}}));
    let granted = server.tool("events_subscribe", example);
    assert_eq!(granted["structuredContent"]["status"], "active", "{granted}");
    let reports = String::from_utf8(stage.read("facts")).expect("text");
    assert!(reports.contains("agent_without_tools") && reports.contains("slack_reply"), "{reports}");
    server.tool("emit", json!({"kind": "event", "type": "slack.message", "data": {"text": "hi"}}));
    let asked = server.process.message(|message| message["method"] == "sampling/createMessage");
    assert!(asked["params"]["systemPrompt"].to_string().contains("Slack"), "{asked}");
}

#[test]
fn e26_a_subscription_may_last_for_ever_and_an_impossible_offset_is_refused() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &[]);
    for never in ["9999-12-31T23:59:59Z", "2300-01-01T00:00:00Z"] {
        let made = server.tool("events_subscribe", json!({"expiresAt": never}));
        assert_eq!(made["structuredContent"]["expiresAt"], never, "{made}");
    }
    let refused = server.tool("events_subscribe", json!({"expiresAt": "2030-01-01T00:00:00+25:00"}));
    assert_eq!(refused["isError"], true, "{refused}");
    server.end();
}

#[test]
fn e5_misspelt_members_do_not_subscribe_to_everything() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &[]);
    for odd in [json!({"filters": {"eventTypes": ["a"]}}), json!({"filter": {"types": ["a"]}})] {
        let refused = server.tool("events_subscribe", odd);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused["content"][0]["text"].to_string().contains("unknown member"), "{refused}");
    }
    assert_eq!(server.tool("events_list", json!({}))["structuredContent"]["subscriptions"], json!([]));
    server.end();
}

#[test]
fn e34_a_webhook_to_an_address_that_is_not_public_is_refused_unless_it_is_allowed() {
    let stage = Stage::new();
    let to = |url: &str| json!({"handler": {"type": "webhook", "url": url}});
    let mut server = Server::start(&stage, &["--allow-handlers", "webhook"]);
    for url in ["https://169.254.169.254/latest/meta-data", "https://10.0.0.1/", "https://[fd00::1]/"] {
        let refused = server.tool("events_subscribe", to(url));
        assert!(refused["isError"] == true && refused.to_string().contains("not a public address"), "{refused}");
    }
    server.end();
    let _ = std::fs::remove_file(stage.path("s.reel"));
    let allowed =
        ["--allow-handlers", "webhook", "--allow-private-host", "fd00::1", "--allow-private-host", "10.0.0.1"];
    let mut server = Server::start(&stage, &allowed);
    for url in ["https://10.0.0.1/", "https://[fd00::1]/"] {
        let made = server.tool("events_subscribe", to(url));
        assert_eq!(made["structuredContent"]["status"], "active", "{made}");
    }
    server.end();
}

#[test]
fn e34_a_webhook_that_leads_back_to_the_server_ends_there() {
    let stage = Stage::new();
    let mut server = Server::start(&stage, &["--allow-handlers", "webhook", "--webhook", "0"]);
    let address = webhook_of(&server);
    server.subscribe(json!({"type": "webhook", "url": format!("http://{address}/events/build.again")}));
    server.publish(json!({"n": 1}));
    let run = server.ended(0);
    assert_eq!((&run["outcome"], &run["status"]), (&json!("loop"), &json!(508)), "{run}");
    // Nothing was published again.
    assert_eq!(server.tool("events_list", json!({}))["isError"], Value::Null);
    let reports = String::from_utf8(stage.read("facts")).expect("text");
    assert_eq!(reports.matches(r#""report":"published""#).count(), 1, "{reports}");
    // Others may post: with a priority that exists.
    let post = |body: &str| {
        let mut stream = std::net::TcpStream::connect(address).expect("the webhook");
        let head =
            "POST /events/build.x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close";
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("sent");
        let answer = std::io::read_to_string(stream).expect("an answer");
        answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).expect("a status")
    };
    assert_eq!(post(r#"{"n":1,"priority":"urgent"}"#), 422);
    assert_eq!(post(r#"{"data":{},"priority":7}"#), 422);
    server.end();
}
