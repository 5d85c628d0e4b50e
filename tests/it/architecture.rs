//! Checks the source against `ARCHITECTURE.md`: which module may use which, and what a folder must not contain.
//!
//! Reads the source as text, after removing comments, strings and `#[cfg(test)]` modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which module may use which: only modules above it. `ARCHITECTURE.md` contains the same table. `cli` may use
/// everything.
const MAY_USE: &[(&str, &[&str])] = &[
    ("platform", &[]),
    ("clock", &[]),
    ("wire", &[]),
    ("redact", &[]),
    ("oauth", &["wire"]),
    ("trace", &["wire"]),
    ("protocol", &["wire"]),
    ("proposals", &["wire", "protocol"]),
    ("session", &["wire", "trace", "protocol", "proposals"]),
    ("validate", &["wire", "trace", "protocol", "proposals", "session"]),
    ("formats", &["wire", "redact", "trace", "proposals", "session"]),
    ("check", &["wire", "trace", "protocol", "proposals", "validate", "formats"]),
    ("explain", &["wire", "protocol", "proposals", "validate"]),
    ("diff", &["wire", "trace", "protocol", "proposals", "session"]),
    ("replay", &["wire", "trace", "protocol", "proposals", "session", "diff"]),
    ("share", &["wire", "redact", "trace", "session"]),
    ("host", &["wire", "protocol", "proposals"]),
    ("server", &["wire", "protocol", "proposals"]),
    ("scenario", &["wire", "trace", "proposals", "session", "host", "server"]),
    ("pack", &["wire", "protocol", "proposals", "validate", "scenario"]),
    ("overlay", &["wire", "protocol", "proposals", "server", "scenario"]),
    ("probe", &["wire", "protocol", "proposals", "server"]),
    ("process", &["platform", "wire"]),
    ("transport", &["wire", "protocol", "oauth", "process"]),
    ("error", &["trace", "scenario", "process"]),
    ("files", &["platform", "wire", "oauth", "trace", "session", "error"]),
    ("config", &["redact", "process", "error", "files"]),
    (
        "sessions",
        &["platform", "wire", "trace", "protocol", "session", "host", "process", "transport", "error", "files"],
    ),
    (
        "record",
        &[
            "platform",
            "clock",
            "wire",
            "redact",
            "trace",
            "protocol",
            "share",
            "process",
            "transport",
            "error",
            "files",
            "sessions",
        ],
    ),
    (
        "runtime",
        &[
            "platform",
            "clock",
            "wire",
            "redact",
            "oauth",
            "trace",
            "protocol",
            "proposals",
            "validate",
            "replay",
            "host",
            "server",
            "scenario",
            "overlay",
            "probe",
            "process",
            "transport",
            "error",
            "files",
            "record",
            "sessions",
        ],
    ),
    ("page", &["wire", "trace", "proposals", "session", "check"]),
    (
        "render",
        &[
            "wire",
            "redact",
            "trace",
            "protocol",
            "proposals",
            "session",
            "validate",
            "formats",
            "check",
            "explain",
            "diff",
            "share",
            "host",
            "scenario",
            "probe",
            "page",
        ],
    ),
    ("tui", &["wire", "proposals", "session", "render"]),
    ("cli", &["*"]),
    ("testing", &["*"]),
];

/// The modules that may use tokio.
const TOKIO: &[&str] = &["transport", "process", "sessions", "record", "runtime", "cli"];
/// The modules that may read clocks. `files` names reels by time, and a fallback in `platform` looks now and then.
const CLOCKS: &[&str] = &["platform", "clock", "files", "record", "transport", "process", "sessions", "runtime", "cli"];

/// The files outside `proposals` that may name one proposal; everything else, including `server`, uses the registry.
const NAME_PROPOSALS: &[&str] = &[
    "host/fire_user_message",
    "overlay/conversation",
    "cli/commands/fire",
    "cli/commands/events",
    "cli/commands/demo",
    "runtime/event_routes",
];

/// One source file.
struct Source {
    /// The path below `src`.
    path: PathBuf,
    /// The original text.
    text: String,
    /// The text without comments, strings and test modules.
    code: String,
    /// The module's path: `["trace", "reader"]`; empty for `lib.rs` and `main.rs`.
    module: Vec<String>,
}

impl Source {
    fn top(&self) -> &str {
        self.module.first().map_or("", String::as_str)
    }

    /// The numbers of the lines of code that contain `word` as a whole word.
    fn lines_with(&self, word: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for (number, line) in self.code.lines().enumerate() {
            let whole = line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + word.len()..].chars().next();
                let inside = |found: Option<char>| found.is_some_and(|found| found.is_alphanumeric() || found == '_');
                !inside(before) && (word.ends_with('!') || !inside(after))
            });
            if whole {
                found.push(number + 1);
            }
        }
        found
    }
}

/// All source files except those of tests.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter_map(|full| {
            let path = full.strip_prefix(&root).expect("below src").to_owned();
            let mut module: Vec<String> = path
                .with_extension("")
                .components()
                .map(|part| part.as_os_str().to_str().expect("plain names").to_owned())
                .collect();
            if module.iter().any(|part| part == "tests") {
                return None;
            }
            if ["lib", "main"].contains(&module[0].as_str()) {
                module.clear();
            }
            let text = std::fs::read_to_string(&full).expect("readable");
            let code = without_tests(&bare_code(&text));
            Some(Source { path, text, code, module })
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// The text with comments and the contents of strings and characters replaced by spaces; line ends stay.
fn bare_code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'/', ..] => at + text[at..].find('\n').unwrap_or(text.len() - at),
            [b'/', b'*', ..] => block_comment_end(bytes, at),
            [b'"', ..] => string_end(bytes, at + 1),
            [b'r', b'"' | b'#', ..] if !follows_word(bytes, at) => match raw_string_end(text, at) {
                Some(end) => end,
                None => at + 1,
            },
            [b'\'', b'\\', ..] => {
                bytes[at + 2..].iter().skip(1).position(|byte| *byte == b'\'').map_or(at, |n| at + n + 4)
            }
            [b'\'', _, b'\'', ..] => at + 3,
            _ => at,
        };
        if end <= at + 1 {
            at += 1;
            continue;
        }
        for byte in &mut out[at..end.min(bytes.len())] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    // `br"` is a string, too; with any other letter before it, the `r` belongs to a name.
    let before = at.checked_sub(1).map(|before| bytes[before]);
    match before {
        Some(b'b') => at.checked_sub(2).is_some_and(|two| bytes[two].is_ascii_alphanumeric() || bytes[two] == b'_'),
        Some(byte) => byte.is_ascii_alphanumeric() || byte == b'_',
        None => false,
    }
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn raw_string_end(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start + 1..];
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    let inside = rest[hashes..].strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(hashes));
    Some(start + 1 + hashes + 1 + inside.find(&closing)? + closing.len())
}

/// The code without `#[cfg(test)]` items.
fn without_tests(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = item.find([';', '{']).unwrap_or(item.len());
        let end = if item[end..].starts_with('{') { end + brace_end(&item[end..]) } else { end + 1 };
        let (gone, after) = item.split_at(end.min(item.len()));
        out.extend(gone.chars().filter(|found| *found == '\n'));
        rest = after;
    }
    out + rest
}

/// The position after the brace that closes the one at the beginning.
fn brace_end(code: &str) -> usize {
    let mut depth = 0;
    for (at, found) in code.char_indices() {
        match found {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// The absolute module paths that a file refers to by `crate::…` and `super::…`, with groups expanded.
fn references(source: &Source) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let code = &source.code;
    for (word, is_crate) in [("crate::", true), ("super::", false)] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|before| before.is_alphanumeric() || before == '_' || before == ':') {
                continue;
            }
            let mut rest = &code[at + word.len()..];
            let mut base = Vec::new();
            if !is_crate {
                base.clone_from(&source.module);
                base.pop();
                while let Some(after) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = after;
                }
            }
            open_tree(rest, &base, &mut found);
        }
    }
    found
}

/// Reads `a::{b, c::d}` at the beginning of `text`.
fn open_tree(text: &str, base: &[String], found: &mut BTreeSet<Vec<String>>) {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let group = &group[..brace_end(text).saturating_sub(2)];
        let (mut depth, mut start) = (0, 0);
        for (at, byte) in group.bytes().enumerate().chain([(group.len(), b',')]) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b',' if depth == 0 => {
                    open_tree(&group[start..at], base, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let end = text.find(|found: char| !found.is_alphanumeric() && found != '_').unwrap_or(text.len());
    if end == 0 {
        return;
    }
    let mut path = base.to_vec();
    path.push(text[..end].to_owned());
    if let Some(rest) = text[end..].trim_start().strip_prefix("::") {
        open_tree(rest, &path, found);
    }
    found.insert(path);
}

fn complain(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn proposal_folders() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proposals");
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        // Modules beside the proposals, such as the framework of their server sides, have no schema.
        .filter(|path| path.join("schema.json").is_file())
        .map(|path| path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned())
        .collect()
}

/// Words of single proposals that the built-in server must not contain: methods, tools, places of capabilities.
fn words_of_proposals() -> BTreeSet<&'static str> {
    let proposals = mcpreel::testing::proposals::REGISTRY.iter().map(|proposal| proposal.descriptor());
    proposals
        .flat_map(|proposal| {
            let methods = proposal.methods.iter().map(|spec| spec.name);
            let places = proposal.places.iter().flat_map(|place| place.path).copied();
            methods.chain(proposal.tools.iter().copied()).chain(places).chain([proposal.name])
        })
        .filter(|word| *word != "experimental" && *word != "_meta")
        .collect()
}

/// The table under the heading in `ARCHITECTURE.md`: each module and what it may use.
fn table_in_the_document() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md is readable");
    let (_, section) = text.split_once("\n## Allowed dependencies\n").expect("the heading is there");
    let words = |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    section
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            let module = words(cells[1]).pop_first().expect("a module in the first cell");
            let may = if cells[2].trim() == "everything" { BTreeSet::from(["*".to_owned()]) } else { words(cells[2]) };
            (module, may)
        })
        .collect()
}

#[test]
fn the_table_here_is_the_one_in_the_document() {
    let here: BTreeMap<String, BTreeSet<String>> = MAY_USE
        .iter()
        .map(|(module, may)| ((*module).to_owned(), may.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    assert_eq!(here, table_in_the_document(), "the test's table and the one in ARCHITECTURE.md differ");
}

#[test]
fn modules_use_only_modules_above_them() {
    let mut faults = Vec::new();
    for (at, (module, may)) in MAY_USE.iter().enumerate() {
        let above = |name: &str| MAY_USE[..at].iter().any(|row| row.0 == name);
        faults.extend(
            may.iter()
                .filter(|name| **name != "*" && !above(name))
                .map(|name| format!("the table lets `{module}` use `{name}`, which is not above it")),
        );
    }
    complain(&faults);
}

#[test]
fn modules_use_only_what_they_may() {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut faults = Vec::new();
    for source in sources() {
        let top = source.top();
        if top.is_empty() {
            continue;
        }
        let Some(may) = table.get(top) else {
            faults.push(format!("src/{}: the module `{top}` is not in the table", source.path.display()));
            continue;
        };
        for path in references(&source) {
            let used = path[0].as_str();
            if used != top && table.contains_key(used) && !may.contains(&used) && !may.contains(&"*") {
                faults.push(format!("src/{}: `{top}` may not use `{}`", source.path.display(), path.join("::")));
            }
        }
    }
    complain(&faults);
}

#[test]
fn proposals_do_not_use_each_other() {
    let proposals = proposal_folders();
    assert!(proposals.len() >= 5, "{proposals:?}");
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.top() == "proposals" && source.module.len() > 1) {
        let own = &source.module[1];
        if !proposals.contains(own) {
            continue;
        }
        for other in proposals.iter().filter(|proposal| *proposal != own) {
            let named = references(source).iter().any(|path| path[0] == "proposals" && path.get(1) == Some(other));
            if named || !source.lines_with(&format!("{other}::")).is_empty() {
                faults
                    .push(format!("src/{}: the proposal `{own}` names the proposal `{other}`", source.path.display()));
            }
        }
    }
    complain(&faults);
}

#[test]
fn few_places_name_a_proposal() {
    let proposals = proposal_folders();
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| !["proposals", "testing"].contains(&source.top())) {
        let module = source.module.join("/");
        let may = NAME_PROPOSALS.iter().any(|place| module == *place || module.starts_with(&format!("{place}/")));
        let named = references(source)
            .into_iter()
            .find(|path| path[0] == "proposals" && path.get(1).is_some_and(|name| proposals.contains(name)));
        if let (Some(path), false) = (named, may) {
            faults.push(format!("src/{}: names `{}`; ask the registry", source.path.display(), path.join("::")));
        }
    }
    complain(&faults);
}

#[test]
fn the_built_in_server_speaks_no_proposals_words() {
    let words = words_of_proposals();
    assert!(words.contains("push/event") && words.contains("conversationEvents") && words.contains("mcpe"));
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.top() == "server") {
        let text = without_tests(&source.text);
        for word in words.iter().filter(|word| text.contains(&format!("\"{word}\""))) {
            faults.push(format!("src/{}: says {word:?}, which belongs to a proposal", source.path.display()));
        }
    }
    complain(&faults);
}

#[test]
fn only_the_outer_layers_know_the_runtime_and_the_clock() {
    let mut faults = Vec::new();
    for source in sources() {
        let top = source.top();
        let mut never = |words: &[&str], homes: &[&str]| {
            if top.is_empty() || homes.contains(&top) {
                return;
            }
            for word in words {
                for line in source.lines_with(word) {
                    faults
                        .push(format!("src/{}:{line}: `{word}` may stand only under {homes:?}", source.path.display()));
                }
            }
        };
        never(&["tokio"], TOKIO);
        never(&["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now", "thread::sleep"], CLOCKS);
    }
    complain(&faults);
}

/// These panic if the system refuses a thread; `process/threads.rs` has what returns an error instead. Nobody waits for a
/// terminal interface that cannot start.
#[test]
fn a_thread_that_is_refused_is_an_error() {
    const WORDS: [&str; 5] = ["thread::spawn", "spawn_blocking", "lookup_host", "GaiResolver", "tokio::fs"];
    let mut faults = Vec::new();
    for source in sources().into_iter().filter(|source| !source.path.starts_with("cli/commands/tui")) {
        for word in WORDS {
            for line in source.lines_with(word) {
                faults.push(format!("src/{}:{line}: `{word}` panics without a thread", source.path.display()));
            }
        }
    }
    complain(&faults);
}

/// What events describe is a type in `trace/described.rs`. Only who shows, copies or redacts whatever a map has reads it
/// without.
#[test]
fn events_are_read_as_their_types() {
    const SHOWERS: [&str; 4] = ["formats/har.rs", "formats/jsonl.rs", "session/view.rs", "share/event.rs"];
    let mut faults = Vec::new();
    let sources = sources();
    let is_reader =
        |source: &&Source| source.top() != "trace" && !SHOWERS.iter().any(|path| source.path.ends_with(path));
    for source in sources.iter().filter(is_reader) {
        for word in ["description(event", "description(payload", "description_as"] {
            let lines = source.lines_with(word);
            let fault = |line| format!("src/{}:{line}: `{word}` passes by trace/described.rs", source.path.display());
            faults.extend(lines.iter().map(fault));
        }
    }
    complain(&faults);
}

#[test]
fn only_the_platform_knows_what_only_linux_has() {
    const WORDS: [&str; 11] = [
        "landlock",
        "pidfd_open",
        "pidfd_send_signal",
        "set_parent_process_death_signal",
        "set_child_subreaper",
        "set_dumpable_behavior",
        "set_capabilities",
        "set_no_new_privs",
        "setpriority_process",
        "from_abstract_name",
        "on_linux",
    ];
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.top() != "platform") {
        let path = source.path.display();
        for word in WORDS {
            faults.extend(source.lines_with(word).iter().map(|line| format!("src/{path}:{line}: `{word}`")));
        }
        // Strings are not part of the code.
        let text = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains("\"/proc/"));
        faults.extend(lines.map(|(at, _)| format!("src/{path}:{}: `/proc`", at + 1)));
    }
    faults.iter_mut().for_each(|fault| fault.push_str(" belongs to platform"));
    complain(&faults);
}

#[test]
fn only_the_command_line_prints_and_ends_the_process() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.top() != "cli") {
        for word in ["println!", "print!", "eprintln!", "eprint!", "dbg!", "process::exit"] {
            for line in source.lines_with(word) {
                faults.push(format!("src/{}:{line}: `{word}` belongs to cli", source.path.display()));
            }
        }
    }
    complain(&faults);
}

#[test]
fn every_module_opens_with_its_duty() {
    let mut faults = Vec::new();
    for source in sources() {
        let duty = source.text.strip_prefix("//! ").and_then(|text| text.lines().next());
        if duty.is_none_or(|duty| duty.trim().len() < 10) {
            faults
                .push(format!("src/{}: does not begin with a line of `//!` that says its duty", source.path.display()));
        }
    }
    complain(&faults);
}

#[test]
fn every_fuzz_target_is_built_and_described() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let text = |name: &str| std::fs::read_to_string(root.join(name)).expect("readable");
    let (manifest, described) = (text("Cargo.toml"), text("README.md"));
    let built: BTreeSet<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
        .filter(|name| manifest.contains(&format!("name = \"{name}\"")))
        .collect();
    let mut paths = Vec::new();
    collect(&root.join("fuzz_targets"), &mut paths);
    let there: Vec<&str> = paths.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    assert_eq!(built, there.iter().copied().collect());
    let rows: String = described.lines().filter(|line| line.starts_with("| `")).collect();
    for name in there {
        assert!(rows.contains(&format!("`{name}`")), "fuzz/README.md does not describe {name}");
    }
}

/// The crates that a manifest names in its tables of dependencies.
fn manifest_dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        match line.split_once(" = ") {
            _ if line.starts_with('[') => section = line,
            Some((name, _)) if section.ends_with("dependencies]") => {
                found.insert(name.to_owned());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_dependency_is_described() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |name: &str| std::fs::read_to_string(root.join(name)).expect("readable");
    let page = text("docs/design/dependencies.md");
    let first_cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let described: BTreeSet<String> =
        first_cells.flat_map(|cell| cell.split(", ")).map(|name| name.replace('`', "")).collect();
    assert_eq!(described, manifest_dependencies(&text("Cargo.toml")));
}

#[test]
fn the_reading_of_source_is_right() {
    let text = "use crate::a::{b, c::{d, e}};\n// crate::f::g\nlet x = \"crate::h::\"; crate::i::j();\nlet q = '\"';\n\
        use super::super::k::l;\nlet r = r#\"crate::m \" \"#;\n#[cfg(test)]\nmod tests {\n use crate::n; }\nuse $crate::o;";
    let code = without_tests(&bare_code(text));
    let module = vec!["top".to_owned(), "inner".to_owned()];
    let source = Source { path: PathBuf::new(), text: text.to_owned(), code, module };
    let found: Vec<String> = references(&source).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "a::b", "a::c", "a::c::d", "a::c::e", "i", "i::j", "k", "k::l", "o"]);
    assert!(source.lines_with("let").len() == 3);
    assert!(source.code.contains("let r"), "a quote in a character must not begin a string");
}
