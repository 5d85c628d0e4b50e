use super::handler::Handler;
use super::input::{Input, expand};
use super::*;
use crate::proposals::server::handler_job::{HandlerJob, HandlerPolicy, JobKind, Script, Secret};

fn handler_policy() -> HandlerPolicy {
    let secret = |name: &str, host: &str| Secret { name: name.to_owned(), host: host.to_owned(), port: None };
    let local = Secret { port: Some(8443), ..secret("LOCAL", "127.0.0.1") };
    let secrets = vec![secret("TOKEN", "api.example.com"), local];
    HandlerPolicy { kinds: JobKind::ALL.into(), secrets, ..HandlerPolicy::default() }
}

fn read(given: Value) -> Result<Handler, String> {
    Handler::read(&given, &handler_policy(), None)
}

fn event(data: Value) -> Delivered {
    Delivered::Event(json!({"id": "e1", "type": "build.done", "data": data,
        "metadata": {"timestamp": "2026-01-01T00:00:00Z", "priority": "high", "tags": ["ci", "main"]}}))
}

fn script(handler: Value, data: Value) -> Result<Script, String> {
    let handler = read(handler).expect("a permitted handler");
    match handler.job(&Input::new("s1", event(data)), None)? {
        HandlerJob::Script(script) => Ok(script),
        other => panic!("{other:?}"),
    }
}

#[test]
fn e34_a_webhook_goes_by_https_and_its_secrets_to_their_hosts_only() {
    let to = |url: &str, headers: Value| read(json!({"type": "webhook", "url": url, "headers": headers}));
    for url in ["https://example.com/", "http://127.0.0.1:8080/x", "http://[::1]/", "http://localhost/"] {
        assert!(to(url, json!({})).is_ok(), "{url}");
    }
    for (url, why) in [
        ("http://example.com/", "must use https"),
        ("http://127.0.0.1.example.com/", "must use https"),
        ("http://localhost.example.com/", "must use https"),
        ("http://10.0.0.1/", "must use https"),
        ("https://10.0.0.1/", "not a public address"),
        ("https://[fe80::1]/", "not a public address"),
        ("https://169.254.169.254/latest/meta-data", "not a public address"),
        ("ftp://example.com/", "must use https"),
        ("file:///etc/passwd", "must use https"),
        ("https://me:word@example.com/", "user name or password"),
        ("nonsense", "url"),
    ] {
        assert!(to(url, json!({})).is_err_and(|reported| reported.contains(why)), "{url}");
    }
    let bearer = || json!({"Authorization": "Bearer ${TOKEN}"});
    assert!(to("https://api.example.com/", bearer()).is_ok());
    assert!(to("http://127.0.0.1:8443/", json!({"X-Key": "${LOCAL}"})).is_ok());
    for url in ["https://api.example.com:8443/", "http://127.0.0.1/", "http://127.0.0.1:8444/"] {
        for header in ["${TOKEN}", "${LOCAL}"] {
            assert!(
                to(url, json!({"X-Key": header})).is_err_and(|reported| reported.contains("must not be sent")),
                "{url}"
            );
        }
    }
    for url in ["https://example.com/", "https://api.example.com.evil.test/", "https://evil.test/?api.example.com"] {
        assert!(to(url, bearer()).is_err_and(|reported| reported.contains("must not be sent")), "{url}");
    }
    for header in ["${HOME}", "${TOKEN", "${TOKEN} ${", "${", "a ${TOKEN} ${HOME}"] {
        assert!(to("https://api.example.com/", json!({"X-Key": header})).is_err(), "{header}");
    }
    for (name, value) in [("Host", "x"), ("content-length", "1"), ("a b", "x"), ("X", "a\r\nY: b"), ("", "x")] {
        assert!(to("https://api.example.com/", json!({name: value})).is_err(), "{name}: {value}");
    }
}

#[test]
fn e35_a_command_gets_its_event_in_the_way_it_asked_for() {
    let by = |input: Value| json!({"type": "bash", "command": "tool", "input": input});
    let stdin = script(json!({"type": "bash", "command": "a | b"}), json!({"n": 1})).expect("a script");
    assert_eq!((stdin.text.as_str(), stdin.arguments.len(), stdin.environment.len()), ("a | b", 0, 0));
    assert!(stdin.input.starts_with(r#"{"id":"e1""#) && stdin.input.ends_with('\n'), "{}", stdin.input);
    let args = script(by(json!("args")), json!({"n": 1})).expect("a script");
    assert_eq!((args.text.as_str(), args.arguments.len(), args.input.as_str()), ("exec \"$@\"", 2, ""));
    assert_eq!(args.arguments[0], "tool");
    assert!(args.arguments[1].starts_with(r#"{"id":"e1""#));
    let env = script(by(json!("env")), json!({"n": 1})).expect("a script").environment;
    for (name, value) in [
        ("MCPE_EVENT_ID", "e1"),
        ("MCPE_EVENT_TYPE", "build.done"),
        ("MCPE_EVENT_PRIORITY", "high"),
        ("MCPE_EVENT_TIMESTAMP", "2026-01-01T00:00:00Z"),
        ("MCPE_EVENT_TAGS", "ci,main"),
        ("MCPE_EVENT_DATA", r#"{"n":1}"#),
        ("MCPE_EVENT_COUNT", "1"),
        ("MCPE_SUBSCRIPTION_ID", "s1"),
    ] {
        assert!(env.contains(&(name.to_owned(), value.to_owned())), "{name}: {env:?}");
    }
    let given = json!({"type": "bash", "command": "notify-send", "input": "env", "env": {"MCPE_EVENT_ID": "forged"},
        "args": ["Alert", "$MCPE_EVENT_TYPE and ${MCPE_EVENT_PRIORITY}", "$HOME"]});
    let example = script(given, json!({})).expect("a script");
    assert_eq!(example.text, "exec \"$@\"");
    assert_eq!(example.arguments, ["notify-send", "Alert", "build.done and high", "$HOME"]);
    assert_eq!(
        example.environment.iter().rfind(|(name, _)| name == "MCPE_EVENT_ID").map(|(_, id)| id.as_str()),
        Some("e1")
    );
}

#[test]
fn e35_a_script_is_run_as_it_was_given_and_receives_its_arguments_as_positions() {
    for ending in ["\n", ";", " &", " &&", " |", " <<EOF\n", " #", " \\", "\nif true; then", "; for x in a; do", " $("]
    {
        let command = format!("tool{ending}");
        let given = json!({"type": "bash", "command": command, "input": "env", "args": ["$MCPE_EVENT_TYPE", "x"]});
        let script = script(given, json!({})).expect("a script");
        assert_eq!((script.text, script.arguments), (command, vec!["build.done".to_owned(), "x".to_owned()]));
    }
    // Without arguments, the text alone decides.
    let plain = script(json!({"type": "bash", "command": "tool -x", "input": "env"}), json!({})).expect("a script");
    assert_eq!((plain.text.as_str(), plain.arguments.len()), ("tool -x", 0));
    let given = json!({"type": "bash", "command": "tool", "env": {"A": "it's"}, "args": ["x"]});
    let own = script(given, json!({})).expect("a script");
    assert_eq!((own.text.as_str(), own.arguments.len()), ("export A='it'\\''s'; exec \"$@\"", 2));
}

#[test]
fn e35_no_part_of_an_event_becomes_code_or_an_option() {
    let by = |command: &str, args: &[&str]| json!({"type": "bash", "command": command, "input": "env", "args": args});
    for (command, args) in [
        ("bash", &["-c", "notify \"$MCPE_EVENT_TYPE\""][..]),
        ("bash -c", &["echo \"$MCPE_EVENT_TYPE\""]),
        ("python3 -c", &["print($MCPE_EVENT_JSON)"]),
        ("perl -e", &["$MCPE_EVENT_TYPE"]),
    ] {
        let script = script(by(command, args), json!({})).expect("a script");
        assert_eq!(script.arguments.last().map(String::as_str), args.last().copied(), "the shell expands it");
    }
    for (command, args) in [
        ("bash -c", &["$MCPE_EVENT_TYPE"][..]),
        ("bash", &["-c", "true; \"$MCPE_EVENT_DATA\""]),
        ("npx -c", &["${MCPE_EVENT_TYPE}"]),
        ("timeout 5", &["$MCPE_EVENT_TYPE"]),
        ("dd", &["$MCPE_EVENT_TYPE"]),
        ("$MCPE_EVENT_TYPE", &[]),
        ("cd /tmp && eval \"$MCPE_EVENT_DATA\"", &[]),
    ] {
        let why = read(by(command, args)).expect_err("an event runs");
        assert!(why.contains("names a command"), "{command} {args:?}: {why}");
    }
    // What follows the code is data.
    let after = script(by("bash -c", &["echo $0", "$MCPE_EVENT_TYPE"]), json!({})).expect("a script");
    assert_eq!(after.arguments.last().map(String::as_str), Some("build.done"));
    let number = |args: &[&str]| script(by("tool", args), json!(-5)).map(|script| script.arguments);
    assert!(number(&["$MCPE_EVENT_DATA"]).is_err_and(|why| why.contains("put -- before it")));
    for named in ["-$MCPE_EVENT_DATA", "--${MCPE_EVENT_ID}=1", "--x$MCPE_EVENT_ID=1"] {
        let why = read(by("tool", &[named])).expect_err("it names an option");
        assert!(why.contains("name an option"), "{named}: {why}");
    }
    for (command, args) in [
        ("curl", &["-d", "$MCPE_EVENT_TYPE", "url"][..]),
        ("curl -sd", &["$MCPE_EVENT_TYPE"]),
        ("curl", &["-d$MCPE_EVENT_TYPE"]),
        ("curl", &["-F", "text=$MCPE_EVENT_TYPE"]),
        ("curl --data \"$MCPE_EVENT_TYPE\" url", &[]),
        ("true; curl --form \"x=$MCPE_EVENT_TYPE\" url", &[]),
    ] {
        let run = |kind: &str| {
            let event = Delivered::Event(json!({"id": "e1", "type": kind, "data": {}}));
            read(by(command, args)).expect("permitted").job(&Input::new("s1", event), None)
        };
        assert!(run("@/etc/passwd").is_err_and(|why| why.contains("name a file")), "{command} {args:?}");
        assert!(run("a@b").is_ok(), "{command} {args:?}");
    }
    for args in [
        &["--", "$MCPE_EVENT_DATA"][..],
        &["at $MCPE_EVENT_DATA"],
        &["-n$MCPE_EVENT_DATA"],
        &["--", "-$MCPE_EVENT_DATA"],
        &["--n=${MCPE_EVENT_DATA}"],
    ] {
        assert!(
            number(args).is_ok_and(|arguments| arguments.last().is_some_and(|last| last.ends_with("-5"))),
            "{args:?}"
        );
    }
    for (command, input, is_permitted) in [
        ("bash -c", "args", false),
        ("ssh host", "args", false),
        ("ssh host", "stdin", false),
        ("cat | bash", "stdin", false),
        ("cat >> events.log", "stdin", true),
        ("bash", "stdin", false),
        ("sh -s", "stdin", false),
        ("logger -t bash", "stdin", true),
        ("bash tool.sh", "stdin", true),
        ("bash tool.sh", "args", true),
        ("tool", "stdin", true),
    ] {
        let read = read(json!({"type": "bash", "command": command, "input": input}));
        assert_eq!(read.is_ok(), is_permitted, "{command} {input}: {read:?}");
    }
}

#[test]
fn e33_a_handlers_own_variables_are_set_by_its_shell_alone() {
    let given = json!({"type": "bash", "command": "run", "env": {"LD_PRELOAD": "it's $(x)", "B": ""}});
    let script = script(given, json!({})).expect("a script");
    assert_eq!(script.text, r"export LD_PRELOAD='it'\''s $(x)'; export B=''; run");
    assert!(script.environment.is_empty());
}

#[test]
fn e34_a_webhooks_url_is_sent_to_as_it_was_read() {
    let given = json!({"type": "webhook", "url": "HTTP://LOCALHOST\\@example.com"});
    let handler = read(given.clone()).expect("it is on this machine");
    assert_eq!((handler.url(), handler.given()), (Some("http://localhost/@example.com"), &given));
}

#[test]
fn e35_what_stands_in_an_event_is_never_looked_at_again() {
    let variables = [("MCPE_A".to_owned(), "$MCPE_B".to_owned()), ("MCPE_B".to_owned(), "secret".to_owned())];
    for (text, expanded) in [
        ("$MCPE_A", "$MCPE_B"),
        ("${MCPE_A}${MCPE_B}", "$MCPE_Bsecret"),
        ("$MCPE_BX $ ${", "$MCPE_BX $ ${"),
        ("100$", "100$"),
        ("ä$MCPE_Bä", "äsecretä"),
    ] {
        let value = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.into());
        assert_eq!(expand(text, value, 99).as_deref(), Some(expanded));
        let fits = |most| expand(text, value, most).is_some();
        assert!(fits(expanded.len()) && !fits(expanded.len() - 1), "{text}");
    }
    for args in [vec!["$MCPE_EVENT_JSON".repeat(1 << 16)], vec!["$MCPE_EVENT_JSON".to_owned(); 1 << 16]] {
        let given = json!({"type": "bash", "command": "x", "input": "env", "args": args});
        let much = script(given, json!({"x": "y".repeat(90_000)}));
        assert!(much.is_err_and(|why| why.contains("use stdin")), "6 GB, if they were made");
    }
    let much = script(json!({"type": "bash", "command": "x", "input": "env"}), json!({"x": "y".repeat(200_000)}));
    assert!(much.is_err_and(|why| why.contains("use stdin")));
    let nul = script(json!({"type": "bash", "command": "x", "input": "env"}), json!({})).expect("a script");
    assert!(nul.environment.iter().all(|(_, value)| !value.contains('\0')));
}

#[test]
fn e6_e33_handlers_that_cannot_be_run_are_refused_beforehand() {
    for (given, why) in [
        (json!({"type": "pigeon"}), "pigeon"),
        (json!({"type": "bash"}), "command"),
        (json!({"type": "bash", "command": " "}), "empty"),
        (json!({"type": "bash", "command": "x", "env": {"A=B": "x"}}), "A=B"),
        (json!({"type": "bash", "command": "x\u{0}"}), "NUL"),
        (json!({"type": "bash", "command": "x", "timeout": 0}), "timeout"),
        (json!({"type": "bash", "command": "x", "timeout": -1}), "timeout"),
    ] {
        let reported = read(given.clone()).expect_err("refused");
        assert!(reported.contains(why), "{given}: {reported}");
    }
    let limit = |timeout: Value| script(json!({"type": "bash", "command": "x", "timeout": timeout}), json!({}));
    assert_eq!(limit(json!(1500)).expect("a script").limit, Duration::from_millis(1500));
    assert_eq!(limit(json!(1e12)).expect("a script").limit, HandlerPolicy::default().limit, "never more than allowed");
}

#[test]
fn e6_agents_need_a_model_and_may_name_tools() {
    let example = json!({"type": "agent", "systemPrompt": "Summarize this Slack message and determine if it requires action.",
        "model": "claude-sonnet-4-5-20250929", "tools": ["slack_reply", "create_task"]});
    let with = |has_program: bool, has_model: bool| {
        let no_model = (!has_model).then_some("the host disabled it");
        Handler::read(&example, &HandlerPolicy { has_program, ..handler_policy() }, no_model)
    };
    assert!(with(false, false).is_err_and(|why| why.contains("need a model: the host disabled it;")));
    for granted in [with(false, true), with(true, false)] {
        assert_eq!(granted.expect("granted").tools().map(<[String]>::len), Some(2));
    }
}
