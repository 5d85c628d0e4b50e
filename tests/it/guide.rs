//! The examples in README.md and docs/guide/ print what the documents say.
//!
//! In a block marked `console`, a line `$ COMMAND` is run by bash, a line `> …` continues it, and the lines below are its
//! standard output and standard error. A block marked `LANGUAGE file=NAME` is written to that file. A comment
//! `<!-- run: COMMAND -->` is run without being shown. All commands of a document share one shell and one empty folder.
//! `...` on a line of its own stands for any number of lines, `[..]` for any text within a line. Times, durations,
//! sizes, process ids and random ids may differ. The ports in [`PORTS`] are replaced by free ones.
//!
//! `REGENERATE=1 cargo test guide` writes what the commands print now into the documents.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use regex::{Captures, Regex};

/// The binary that the documents call `mcpreel`.
const BINARY: &str = env!("CARGO_BIN_EXE_mcpreel");
/// The root of the project.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// How long all commands of one document may take.
const LIMIT: Duration = Duration::from_secs(100);
/// Ports that examples listen on.
const PORTS: [&str; 3] = ["8080", "9000", "7000"];
/// What separates the outputs of two commands.
const SEPARATOR: char = '\u{1e}';

/// What every script begins with. `await COMMAND` tries a command until it succeeds. README.md starts mcpreel by cargo.
const PRELUDE: &str = r#"exec 8>&1
mkdir -p "$TMPDIR"; mkdir -m 700 -p "$XDG_RUNTIME_DIR"
await() { for _ in $(seq 400); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done; echo "await: $*"; }
cargo() { shift 2; mcpreel "$@"; }
"#;

/// One test per document.
macro_rules! documents {
    ($($name:ident: $path:literal,)+) => {
        $(#[test]
        fn $name() {
            check($path);
        })+

        #[test]
        fn every_chapter_is_tested_and_in_the_list_of_chapters() {
            let tested = [$($path),+];
            let index = read(Path::new(ROOT).join("docs/guide/README.md").as_path());
            for entry in fs::read_dir(Path::new(ROOT).join("docs/guide")).expect("docs/guide") {
                let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
                let path = format!("docs/guide/{name}");
                assert!(tested.contains(&path.as_str()), "{path} is not among the documents of tests/guide.rs");
                assert!(name == "README.md" || index.contains(&format!("({name}")), "docs/guide/README.md does not link to {name}");
            }
        }
    };
}

documents! {
    guide_readme: "README.md",
    guide_index: "docs/guide/README.md",
    guide_agents: "docs/guide/agents.md",
    guide_calling: "docs/guide/calling.md",
    guide_ci: "docs/guide/ci.md",
    guide_comparing: "docs/guide/comparing.md",
    guide_configurations: "docs/guide/configurations.md",
    guide_events: "docs/guide/events.md",
    guide_fleet: "docs/guide/fleet.md",
    guide_firing: "docs/guide/firing.md",
    guide_hosts: "docs/guide/hosts.md",
    guide_http: "docs/guide/http.md",
    guide_installing: "docs/guide/installing.md",
    guide_limits: "docs/guide/limits.md",
    guide_live_sessions: "docs/guide/live-sessions.md",
    guide_oauth: "docs/guide/oauth.md",
    guide_opentelemetry: "docs/guide/opentelemetry.md",
    guide_outcomes: "docs/guide/outcomes.md",
    guide_overlays: "docs/guide/overlays.md",
    guide_packs: "docs/guide/packs.md",
    guide_reading: "docs/guide/reading.md",
    guide_tui: "docs/guide/tui.md",
    guide_recording: "docs/guide/recording.md",
    guide_reels: "docs/guide/reels.md",
    guide_safety: "docs/guide/safety.md",
    guide_scenarios: "docs/guide/scenarios.md",
    guide_scripting: "docs/guide/scripting.md",
    guide_sharing: "docs/guide/sharing.md",
    guide_server: "docs/guide/server.md",
    guide_survive: "docs/guide/survive.md",
    guide_testing: "docs/guide/testing.md",
    guide_validating: "docs/guide/validating.md",
}

#[test]
fn links_between_documents_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)|(?:src|srcset)=.([^'\x22]+)").expect("a pattern");
    let mut broken = Vec::new();
    for path in markdown_files() {
        let text = read(&path);
        for found in link.captures_iter(&without_code(&text)) {
            let target = found.get(1).or_else(|| found.get(2)).map_or("", |target| target.as_str());
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            let leads = file.exists() && (anchor.is_empty() || anchors(&read(&file)).iter().any(|name| name == anchor));
            if !leads {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn differences_are_found_and_volatile_text_is_not_compared() {
    let matches = |expected: &str, actual: &str| fits(&lines_of(expected), &lines_of(actual));
    assert!(matches("took 1.5 ms", "took   20 µs"));
    assert!(matches("a\n...\nz", "a\nb\nc\nz") && matches("a\n...\nz", "a\nz") && matches("...", ""));
    assert!(matches("id [..] ok", "id 7 ok"));
    assert!(
        !matches("a\n...\nz", "a\nb") && !matches("a", "a\nb") && !matches("a\nb", "a") && !matches("id 7", "id 8")
    );
    let document = "```console\n$ one \\\n> two\nout\n$ three\n```\n";
    let steps = parse(document);
    assert_eq!(steps.iter().map(|step| step.command.as_str()).collect::<Vec<_>>(), ["one \\\ntwo", "three"]);
    assert_eq!(updated(document, &steps, &["new\n".into(), String::new()]), document.replace("out", "new"));
}

#[test]
fn the_picture_in_the_readme_is_what_its_script_makes() {
    let made = Command::new("python3").arg(Path::new(ROOT).join("docs/picture.py")).args([BINARY, "-"]).output();
    let made = made.expect("python3 starts");
    assert!(made.status.success(), "docs/picture.py: {}", String::from_utf8_lossy(&made.stderr));
    let committed = fs::read(Path::new(ROOT).join("docs/show.svg")).expect("docs/show.svg");
    assert!(made.stdout == committed, "docs/show.svg is not what docs/picture.py makes; run: docs/picture.py");
}

/// A command of a document, with the lines of the document that hold what it should print.
#[derive(Debug)]
struct Step {
    /// What bash runs.
    command: String,
    /// The number of the command's line, from 1.
    line: usize,
    /// The output that the document shows; nothing is compared where it is `None`.
    expected: Option<Vec<String>>,
    /// The first of those lines, from 0.
    start: usize,
}

/// Runs a document's commands and compares, or updates the document.
fn check(path: &str) {
    let file = Path::new(ROOT).join(path);
    let document = read(&file);
    let steps = parse(&document);
    let outputs = run(&steps);
    let mut failures = String::new();
    for (index, step) in steps.iter().enumerate() {
        let Some(actual) = outputs.get(index) else {
            failures.push_str(&format!("\n{path}:{}: not run: {}\n", step.line, step.command));
            break;
        };
        let Some(expected) = &step.expected else { continue };
        if !fits(expected, &lines_of(actual)) {
            failures.push_str(&format!(
                "\n{path}:{}: {}\n--- the document says\n{}\n--- the command prints\n{actual}",
                step.line,
                step.command,
                expected.join("\n"),
            ));
        }
    }
    if failures.is_empty() {
        return;
    }
    if std::env::var_os("REGENERATE").is_some() && outputs.len() == steps.len() {
        fs::write(&file, updated(&document, &steps, &outputs)).expect("the document is written");
        return;
    }
    panic!("{failures}\nIf the commands are right, run: REGENERATE=1 cargo test guide");
}

/// The commands of a document, in order.
fn parse(document: &str) -> Vec<Step> {
    let hidden = Regex::new(r"^<!-- run: (.*) -->$").expect("a pattern");
    let written = Regex::new(r"^```\w+ file=(\S+)$").expect("a pattern");
    let lines: Vec<&str> = document.lines().collect();
    let mut steps: Vec<Step> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let silent = |command: String| Step { command, line: at, expected: None, start: 0 };
        if let Some(found) = hidden.captures(line) {
            steps.push(silent(found[1].to_owned()));
        } else if let Some(found) = written.captures(line) {
            let content: Vec<&str> = lines[at..].iter().copied().take_while(|line| *line != "```").collect();
            steps.push(silent(format!("cat >'{}' <<'END_OF_FILE'\n{}\nEND_OF_FILE", &found[1], content.join("\n"))));
            at += content.len() + 1;
        } else if *line == "```console" {
            while let Some(line) = lines.get(at).filter(|line| **line != "```") {
                at += 1;
                if let Some(command) = line.strip_prefix("$ ") {
                    steps.push(Step { command: command.to_owned(), line: at, expected: Some(Vec::new()), start: at });
                } else if let Some(step) = steps.last_mut() {
                    let expected = step.expected.get_or_insert_default();
                    match line.strip_prefix("> ").filter(|_| expected.is_empty() && step.command.ends_with(['\\', '|']))
                    {
                        Some(more) => {
                            step.command.push('\n');
                            step.command.push_str(more);
                            step.start = at;
                        }
                        None => expected.push((*line).to_owned()),
                    }
                }
            }
            at += 1;
        } else if line.starts_with("```") {
            at += lines[at..].iter().take_while(|line| **line != "```").count() + 1;
        }
    }
    steps
}

/// The document with what the commands print. The lines before the first `...` and after the last keep their number.
fn updated(document: &str, steps: &[Step], outputs: &[String]) -> String {
    let mut lines: Vec<String> = document.lines().map(str::to_owned).collect();
    for (step, output) in steps.iter().zip(outputs).rev() {
        let Some(expected) = &step.expected else { continue };
        let mut actual = lines_of(output);
        if fits(expected, &actual) {
            continue;
        }
        let is_gap = |line: &String| line.trim() == "...";
        if let (Some(head), Some(last)) = (expected.iter().position(is_gap), expected.iter().rposition(is_gap)) {
            let tail = expected.len() - last - 1;
            if head + tail < actual.len() {
                actual.splice(head..actual.len() - tail, ["...".to_owned()]);
            }
        }
        lines.splice(step.start..step.start + expected.len(), actual);
    }
    lines.join("\n") + "\n"
}

/// Runs the commands in one shell and an empty folder, and returns what each printed.
fn run(steps: &[Step]) -> Vec<String> {
    if steps.is_empty() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let root = fs::canonicalize(folder.path()).expect("its path");
    let (bin, project) = (root.join("bin"), root.join("home/you/project"));
    for path in [&bin, &project] {
        fs::create_dir_all(path).expect("a folder");
    }
    std::os::unix::fs::symlink(BINARY, bin.join("mcpreel")).expect("a link");
    std::os::unix::fs::symlink(Path::new(ROOT).join("examples"), project.join("examples")).expect("a link");
    let ports: BTreeMap<&str, String> = PORTS.iter().map(|port| (*port, free_port())).collect();

    let script = script(steps, &ports);
    let (file, log) = (root.join("script"), root.join("log"));
    fs::write(&file, script).expect("the script is written");
    let output = fs::File::create(&log).expect("the log");
    let mut shell = Command::new("bash")
        .arg(&file)
        .current_dir(&project)
        .env_clear()
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH is set")))
        .envs([("HOME", root.join("home/you")), ("TMPDIR", root.join("tmp")), ("XDG_RUNTIME_DIR", root.join("run"))])
        .envs([("NO_COLOR", "1"), ("TZ", "UTC"), ("LC_ALL", "C.UTF-8"), ("USER", "you")])
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("the log"))
        .stderr(output)
        .process_group(0)
        .spawn()
        .expect("bash starts");
    let deadline = Instant::now() + LIMIT;
    let ended = loop {
        match shell.try_wait().expect("the shell's state") {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => break None,
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    // What the commands left running is in the shell's process group.
    let kill = format!("kill -KILL -- -{}", shell.id());
    let _ = Command::new("bash").args(["-c", &kill]).stderr(Stdio::null()).status();
    let text = String::from_utf8_lossy(&fs::read(&log).expect("the log")).into_owned();
    let text = public(&text, &root, &ports);
    assert!(ended.is_some(), "the commands take longer than {LIMIT:?}; so far:\n{text}");
    let mut outputs: Vec<String> = text.split(SEPARATOR).map(str::to_owned).collect();
    outputs.truncate(steps.len());
    outputs
}

/// One script of all commands, with a separator after each.
fn script(steps: &[Step], ports: &BTreeMap<&str, String>) -> String {
    let mut script = PRELUDE.to_owned();
    for step in steps {
        let command = PORT.replace_all(&step.command, |found: &Captures<'_>| ports[&found[0]].clone());
        script.push_str(&format!("{command}\n__code=$?; printf '\\036' >&8; (exit $__code)\n"));
    }
    script.push_str("kill $(jobs -p) 2>/dev/null; wait\n");
    script
}

/// What was printed, without the paths and ports of this run.
fn public(text: &str, root: &Path, ports: &BTreeMap<&str, String>) -> String {
    let mut text = text.replace(BINARY, "/usr/local/bin/mcpreel");
    for (shown, port) in ports {
        text = text.replace(&format!(":{port}"), &format!(":{shown}"));
    }
    text.replace(&root.to_string_lossy().into_owned(), "")
}

/// Whether these lines are what the document says.
fn fits(expected: &[String], actual: &[String]) -> bool {
    let Some((line, rest)) = expected.split_first() else { return actual.is_empty() };
    if line.trim() == "..." {
        return (0..=actual.len()).any(|skipped| fits(rest, &actual[skipped..]));
    }
    let Some((found, others)) = actual.split_first() else { return false };
    line_fits(line, found) && fits(rest, others)
}

fn line_fits(expected: &str, actual: &str) -> bool {
    if !expected.contains("[..]") {
        return masked(expected) == masked(actual);
    }
    let parts: Vec<String> = expected.split("[..]").map(|part| regex::escape(&masked(part))).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).expect("a pattern").is_match(&masked(actual))
}

/// A line without what differs from run to run.
fn masked(line: &str) -> String {
    let mut line = line.to_owned();
    for (pattern, replacement) in MASKS.iter() {
        line = pattern.replace_all(&line, *replacement).into_owned();
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

static PORT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"\b(?:{})\b", PORTS.join("|"))).expect("a pattern"));

/// Patterns of what differs from run to run, in the order in which they are replaced.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "TIME"),
        (r"\b\d{8}-\d{6}\b", "TIME"),
        (r"-\d+\.reel\b", "-PID.reel"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|…)", "UUID"),
        (r"\bmcpreel-[0-9a-f]{8,}\b", "mcpreel-ID"),
        (r"\b(inf|msg|evt|chk)_[0-9a-f-]{8,}", "$1_ID"),
        (r"\b[0-9a-f]{4}…[0-9a-f]{2}-(\d+)", "ID-$1"),
        (r"\b(pid|process) \d+", "$1 PID"),
        (r#""(pid|seed)":\s?\d+"#, "\"$1\":N"),
        (r#""(latency_ms|latency_us|started|at|time)":\s?("[^"]*"|[\d.]+)"#, "\"$1\":T"),
        (r"\b\d+\.\d{6}\b", "TIME"),
        (r"\b\d+(\.\d+)? ?(ns|µs|us|ms|s|m|h)\b", "DURATION"),
        (r"\b\d+(\.\d+)? ?(B|kB|MB|%)", "SIZE"),
    ]
    .map(|(pattern, replacement)| (Regex::new(pattern).expect("a pattern"), replacement))
    .into()
});

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// A port that nothing listens on.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port().to_string()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All documents of the project.
fn markdown_files() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/guide", "docs/design", "benches", "fuzz"];
    let entries =
        folders.iter().filter_map(|folder| fs::read_dir(Path::new(ROOT).join(folder)).ok()).flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// A document without its blocks of code.
fn without_code(text: &str) -> String {
    text.split("\n```").step_by(2).collect()
}

/// The names that links within a document can have: its headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let text = without_code(text);
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().to_lowercase().replace(' ', "-")
        })
        .collect()
}
