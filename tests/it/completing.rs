//! Completion in real shells: what is offered for the words so far.

use crate::common::{Live, Stage, finish, message, until};
use crate::recipes::with_mcpreel;
use serde_json::json;

/// Sources the registration script as a user does, and prints what a shell would offer: `offered WORD...`.
const BASH: &str = r#"
source <(mcpreel completions bash)
offered() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; COMP_LINE="$*"; COMPREPLY=()
    _clap_complete_mcpreel mcpreel "${@: -1}"
    printf '%s\n' "${COMPREPLY[@]}"
}
"#;

/// What readline replaces after it has split a word: `split LINE REPLACED WORD...`.
const SPLIT: &str = r#"
split() {
    COMP_LINE="$1"; local replaced="$2"; shift 2
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; COMPREPLY=()
    _clap_complete_mcpreel mcpreel "$replaced"
    printf '%s\n' "${COMPREPLY[@]}"
}
"#;

/// The same in zsh; `_describe` is what shows the values there. Within quotes, zsh says which, and leaves them out of
/// PREFIX.
const ZSH: &str = r#"
compdef() { :; }
compset() { PREFIX="${PREFIX#*/}"; }
_describe() { print -rl -- "${(@P)3}"; }
source <(mcpreel completions zsh)
typeset -A compstate
offered() { local words=("$@") CURRENT=$# PREFIX="${@: -1}"; _clap_dynamic_completer_mcpreel; }
quoted() { local words=("$@") CURRENT=$# PREFIX="${${@: -1}#[\"\']}"; compstate[quote]=x; _clap_dynamic_completer_mcpreel; }
"#;

/// What a shell offers for these words, of which the last one is not complete.
fn offered(stage: &Stage, shell: &str, words: &str) -> Vec<String> {
    let start = if shell == "bash" { BASH } else { ZSH };
    let script = format!("{start}\noffered {words}");
    let output = finish(with_mcpreel(stage, stage.command(&[shell, "-c", &script])), Vec::new());
    assert_eq!(output.err(), "", "{words}");
    // zsh gets descriptions, too.
    let value = |line: &str| line.replace("\\:", "\u{1}").split(':').next().unwrap_or_default().replace('\u{1}', ":");
    output.out().lines().map(|line| if shell == "zsh" { value(line) } else { line.to_owned() }).collect()
}

fn stage() -> Stage {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(crate::common::BINARY, stage.path("bin/mcpreel")).expect("a link");
    std::fs::create_dir(stage.path("work")).expect("a folder");
    stage.reel("work/monday.reel", &[message(0, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))]);
    stage.write("work/notes.txt", "");
    stage.write(
        ".mcp.json",
        json!({"mcpServers": {"files": {"command": "cat"}, "times": {"command": "cat"}}}).to_string(),
    );
    stage
}

/// A recorded session whose server has listed its tools.
fn live(stage: &Stage) -> Live {
    let mut live = stage.start(&["record", "--label", "everyday", "--", crate::common::BINARY, "serve"]);
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    live.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}));
    live.message(|message| message["id"] == 1);
    live.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    live.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    live.message(|message| message["id"] == 2);
    live
}

fn check(shell: &str) {
    let stage = stage();
    let has = |words: &str, wanted: &[&str]| {
        let found = offered(&stage, shell, words);
        for value in wanted {
            assert!(found.iter().any(|found| found == value), "{words}: {value} is not in {found:?}");
        }
        found
    };
    has("mcpreel va", &["validate"]);
    has("mcpreel show --format ''", &["list", "full", "json"]);
    let reels = has("mcpreel show work/", &["work/monday.reel"]);
    assert!(!reels.iter().any(|found| found.contains("notes")), "only recordings: {reels:?}");
    let reels = has("mcpreel show ''", &["method:", "kind:"]);
    assert!(!reels.iter().any(|found| found == "-" || found == "cat"), "no programs: {reels:?}");
    has("mcpreel diff work/monday.reel work/", &["work/monday.reel"]);
    has("mcpreel call tools/", &["tools/list", "tools/call"]);
    has("mcpreel call tools/list --server ''", &["files", "times"]);
    has("mcpreel wrap --config .mcp.json fi", &["files"]);
    has("mcpreel validate --only schema/params,pairing/id", &["schema/params,pairing/id-in-use"]);
    has("mcpreel explain pairing/id", &["pairing/id-in-use"]);
    has("mcpreel record -- mcpree", &["mcpreel"]);
    has("mcpreel call tools/list -- mcpree", &["mcpreel"]);
    let live = live(&stage);
    let name = until("the session is listed", || offered(&stage, shell, "mcpreel show --session ''").first().cloned());
    assert!(!name.is_empty(), "a session");
    until("its tools are recorded", || {
        let found = offered(&stage, shell, &format!("mcpreel call tools/call --session {name} name=add_"));
        found.iter().any(|found| found == "name=add_note").then_some(())
    });
    live.end();
}

#[test]
fn bash_offers_what_there_is() {
    check("bash");
}

#[test]
fn bash_completes_words_that_it_splits() {
    let stage = stage();
    let live = live(&stage);
    let session =
        until("the session is listed", || offered(&stage, "bash", "mcpreel show --session ''").first().cloned());
    let has = |line: &str, replaced: &str, words: &str, wanted: &str| {
        let script = format!("{BASH}{SPLIT}\nsplit '{line}' '{replaced}' {words}");
        let output = finish(with_mcpreel(&stage, stage.command(&["bash", "-c", &script])), Vec::new());
        let found = output.out();
        assert!(found.lines().any(|found| found == wanted), "{line}: {wanted} is not in {found:?}, {}", output.err());
    };
    has("mcpreel show --format=j", "j", "mcpreel show --format = j", "json");
    has("mcpreel show --format=", "", "mcpreel show --format =", "json");
    has("mcpreel show work/monday.reel kind:n", "n", "mcpreel show work/monday.reel kind : n", "notification");
    has(
        "mcpreel validate --only=tools/str",
        "tools/str",
        "mcpreel validate --only = tools/str",
        "tools/structured-text",
    );
    has("mcpreel call tools/call @wo", "@wo", "mcpreel call tools/call @ wo", "@work/");
    let call = format!("mcpreel call --session {session} tools/call");
    has(&format!("{call} name=add_"), "add_", &format!("{call} name = add_"), "add_note");
    let named = format!("{call} name=add arguments.");
    has(&named, "arguments.", &format!("{call} name = add arguments."), "arguments.a:=");
    live.end();
}

/// Checks what is offered for paths and filters as users type them. `quoted` calls the shell's function for WORD after a
/// quotation mark; `space` is what completes a name that contains a space.
fn check_paths(shell: &str, quoted: &str, space: &str) {
    let stage = stage();
    std::fs::copy(stage.path("work/monday.reel"), stage.path("work/my week.reel")).expect("a copy");
    let start = if shell == "bash" { BASH } else { ZSH };
    let has = |call: &str, wanted: &str| {
        let script = format!("HOME=$PWD\n{start}{SPLIT}\n{call}");
        let output = finish(with_mcpreel(&stage, stage.command(&[shell, "-c", &script])), Vec::new());
        let found = output.out();
        let value = |line: &str| line.replace("\\:", ":");
        let all: Vec<String> = found.lines().map(value).collect();
        assert!(all.iter().any(|found| found == wanted), "{call}: {wanted} is not in {all:?}, {}", output.err());
    };
    // zsh does not replace the part that `compset` takes away.
    let kept = |start: &str| if shell == "bash" { start.to_owned() } else { String::new() };
    has("offered mcpreel show '~/work/mon'", &(kept("~/") + "work/monday.reel"));
    has("offered mcpreel show '$HOME/work/mon'", &(kept("$HOME/") + "work/monday.reel"));
    has("offered mcpreel show 'work/my'", space);
    has("offered mcpreel show 'work/my\\ w'", space);
    has(&quoted.replace("WORD", "work/my w"), "work/my week.reel");
    has(&quoted.replace("WORD", "method:tools/l"), "method:tools/list");
}

#[test]
fn bash_completes_home_folders_spaces_and_quotes() {
    check_paths(
        "bash",
        "COMP_POINT=99 split \"mcpreel show 'WORD\" 'WORD' mcpreel show \"'WORD\"",
        "work/my\\ week.reel",
    );
}

#[test]
#[ignore = "needs zsh; run tests/full.sh"]
fn zsh_completes_home_folders_spaces_and_quotes() {
    check_paths("zsh", "quoted mcpreel show \"'WORD\"", "work/my week.reel");
}

#[test]
fn only_the_first_word_of_a_server_is_a_program() {
    let stage = stage();
    for words in
        ["mcpreel record -- python3 work/", "mcpreel call tools/list -- python3 wo", "mcpreel record python3 wo"]
    {
        let found = offered(&stage, "bash", words);
        assert!(found.iter().all(|found| found.starts_with("work/")) && !found.is_empty(), "{words}: {found:?}");
    }
    let found = offered(&stage, "bash", "mcpreel show --session x ''");
    assert!(
        found.iter().any(|found| found == "kind:") && !found.iter().any(|found| found.contains("reel")),
        "{found:?}"
    );
}

#[test]
#[ignore = "needs zsh; run tests/full.sh"]
fn zsh_offers_what_there_is() {
    check("zsh");
}
