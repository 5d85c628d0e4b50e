//! A whole login, calls and a recorded session: no code, verifier, token or client secret is anywhere but in the store.

use super::{call, nothing_leaks, stage, succeeded, visits};
use crate::common::auth::{Faults, Protected};
use crate::common::socket::Tap;
use crate::common::{BINARY, Live, until};
use serde_json::Value;

#[test]
fn no_secret_is_in_files_outputs_command_lines_or_environments() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { auth_method: Some("client_secret_post"), ..Faults::default() });
    protected.watch_processes();
    let url = protected.url();
    let mut outputs = vec![stage.run(&["login", &url, &browser, "-v"], "")];
    let tap = Tap::in_front_of(&stage, &url, &["--login", &browser, "-v", "--label", "door"]);
    let open = format!("http://{}/mcp", tap.address);
    outputs.push(call(&stage, "tools/call", &open, &["-v", "--record", "client.reel", "name=x"]));
    // The tap gets a new token, and adds it to a request of its own.
    protected.revoke(false);
    outputs.push(call(&stage, "tools/list", &open, &["-v"]));
    outputs.push(call(&stage, "tools/list", &url, &["-v", "--login", &browser, "--record", "call.reel"]));
    outputs.push(stage.run(&["sessions", "--format", "json"], ""));
    outputs.push(stage.run(&["logins", "--format", "json"], ""));
    // Meanwhile the login is repeated: the tap takes the other token.
    protected.revoke(true);
    outputs.push(call(&stage, "tools/list", &url, &["-v", "--login", &browser]));
    outputs.push(call(&stage, "tools/list", &open, &["-v"]));
    protected.seen();
    let recorded: String = tap.end().iter().map(Value::to_string).collect();
    assert!(recorded.contains("tools/call"), "{recorded}");
    outputs.push(stage.run(&["show", "t.reel", "--full"], ""));
    outputs.push(stage.run(&["logout", &url, "-v"], ""));
    outputs.iter().for_each(succeeded);
    assert_eq!(visits(&stage), 2);

    let secrets = protected.secrets();
    for kind in ["code-", "access-", "refresh-", "client-"] {
        assert!(secrets.iter().any(|secret| secret.starts_with(kind)), "no {kind} in {secrets:?}");
    }
    assert!(protected.parameters("/token").iter().any(|request| secrets.contains(&request["code_verifier"])));
    nothing_leaks(&stage, &protected, &outputs.iter().collect::<Vec<_>>());
    let seen = protected.seen();
    assert_eq!(seen.leaks, [""; 0]);
    for program in [BINARY, &stage.path("browser.py").display().to_string()] {
        assert!(seen.programs.contains(program), "{program} was not seen: {:?}", seen.programs);
    }
    // A secret in a command line or an environment would have been found.
    let secret = &secrets[0];
    for (words, variable) in [(&["sh", "-c", "read line", secret][..], "x"), (&["sh", "-c", "read line"], secret)] {
        let mut command = stage.command(words);
        command.env("SECRET", variable);
        let _process = Live::start(command);
        let before = protected.seen().leaks.len();
        until("it is found", || (protected.seen().leaks.len() > before).then_some(()));
    }
}
