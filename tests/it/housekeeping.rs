//! Listing and removing reels, and their names.

use crate::common::{Output, Stage, finish, message, until};
use crate::screen::{on_terminal, typing};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A reel in the usual folder: a handshake, and so many pings; last written so many days ago.
fn recorded(stage: &Stage, name: &str, server: &str, pings: u64, days: u64) -> PathBuf {
    let folder = stage.path("mcpreel/reels");
    std::fs::create_dir_all(&folder).expect("a folder");
    let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "my-agent", "version": "1"}}});
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": {"name": server, "version": "1"}}});
    let mut events = vec![message(0, "c2s", ask), message(1, "s2c", answer)];
    events.extend((1..=pings).map(|id| message(id + 1, "c2s", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))));
    let path = folder.join(name);
    stage.reel(&path.to_string_lossy(), &events);
    let time = SystemTime::now() - Duration::from_secs(days * 86_400 + 60);
    std::fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(time)).expect("a time");
    path
}

fn lines(output: &Output) -> Vec<Value> {
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The names of the reels that are left.
fn left(stage: &Stage) -> Vec<String> {
    let entries = std::fs::read_dir(stage.path("mcpreel/reels")).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn reels_are_listed_newest_first() {
    let stage = Stage::new();
    let empty = stage.ok(&["reel", "list"]);
    assert!(empty.out().is_empty() && empty.err().contains("no reels in "), "{empty:?}");
    recorded(&stage, "old.reel", "weather", 1, 40);
    recorded(&stage, "new.reel", "database", 3, 0);
    stage.write("mcpreel/reels/odd.reel", "no reel");
    stage.write("mcpreel/reels/notes.txt", "no reel");
    let listed = stage.ok(&["reel", "list"]);
    let rows: Vec<Vec<String>> =
        listed.out().lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect();
    assert_eq!(rows[0], ["time", "server", "client", "messages", "size", "reel"]);
    assert_eq!(rows[1][..5], ["2026-01-02", "03:04", "database", "my-agent", "5"]);
    assert_eq!(rows[2].last().map(String::as_str), Some("old.reel"));
    assert_eq!(rows[4][..2], ["2", "reels,"]);
    assert!(listed.err().contains("odd.reel"), "{listed:?}");
    let json = lines(&stage.ok(&["reel", "list", "--format", "json"]));
    assert_eq!(
        (&json[0]["server"], &json[0]["client"], &json[0]["messages"]),
        (&"database".into(), &"my-agent".into(), &5.into())
    );
    assert_eq!((&json[1]["label"], &json[1]["live"], &json[1]["errors"]), (&Value::Null, &false.into(), &0.into()));
    assert_eq!(json[0]["created"], "2026-01-02T03:04:05.000000000Z");
    let servers = |arguments: &[&str]| {
        let mut words = vec!["reel", "list", "--format", "json"];
        words.extend(arguments);
        let listed = lines(&stage.ok(&words));
        listed.iter().map(|reel| reel["server"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(servers(&["--server", "DATA"]), ["database"]);
    assert_eq!(servers(&["--older-than", "30d"]), ["weather"]);
    assert_eq!(servers(&["--newer-than", "30d"]), ["database"]);
    assert_eq!(servers(&["-n", "1"]), ["database"]);
    assert!(servers(&["--label", "x"]).is_empty() && servers(&["--client", "other"]).is_empty());
    assert_eq!(stage.run(&["reel", "list", "--folder", "nowhere"], "").code(), 3);
    let narrow = on_terminal(&stage, 60, &[("NO_COLOR", "1")], &["reel", "list"]).out();
    assert!(
        narrow.lines().filter(|line| !line.starts_with("mcpreel:")).all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
    assert!(narrow.contains("database") && narrow.contains("new.reel"), "{narrow}");
    // No column disappears silently: each is in the heading, or named below the table.
    let heading = narrow.lines().find(|line| line.contains("time")).expect("a heading");
    let missing = narrow.lines().find_map(|line| line.strip_prefix("no space for: ")).expect("what is missing");
    for column in ["time", "server", "client", "messages", "size", "reel"] {
        assert!(heading.contains(column) != missing.contains(column), "{column}: {narrow}");
    }
}

#[test]
fn pruning_keeps_the_newest_and_asks_first() {
    let stage = Stage::new();
    for (name, days) in [("a.reel", 50), ("b.reel", 20), ("c.reel", 10), ("d.reel", 1)] {
        recorded(&stage, name, "s", 1, days);
    }
    stage.write("mcpreel/reels/notes.txt", "old");
    let prune = |arguments: &[&str]| {
        let mut words = vec!["reel", "prune"];
        words.extend(arguments);
        stage.run(&words, "")
    };
    let without = prune(&[]);
    assert_eq!(without.code(), 2, "{without:?}");
    let shown = prune(&["--older-than", "30d", "--keep", "2", "--dry-run", "--format", "json"]);
    let why: Vec<_> = lines(&shown).iter().map(|reel| reel["limit"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!((shown.code(), why), (0, vec!["older-than".to_owned(), "keep".to_owned()]), "{shown:?}");
    assert!(shown.err().contains("would remove 2 of 4 reels"), "{shown:?}");
    let refused = prune(&["--keep", "0"]);
    assert!(refused.code() == 2 && refused.err().contains("no terminal to ask on"), "{refused:?}");
    let no = typing(&stage, "n\n", 80, &[], &["reel", "prune", "--keep", "0"]);
    assert!(no.out().contains("remove 4 of 4 reels, ") && no.out().contains("nothing was removed"), "{no:?}");
    assert_eq!(left(&stage), ["a.reel", "b.reel", "c.reel", "d.reel", "notes.txt"]);
    assert_eq!(prune(&["--older-than", "30d", "--yes"]).code(), 0);
    assert_eq!(left(&stage), ["b.reel", "c.reel", "d.reel", "notes.txt"]);
    let yes = typing(&stage, "y\n", 80, &[], &["reel", "prune", "--keep", "2"]);
    assert!(yes.out().contains("removed 1 reel\n"), "{yes:?}");
    let none = prune(&["--keep", "2", "--yes"]);
    assert!(none.err().contains("nothing to remove: 2 reels within the limits"), "{none:?}");
    let size = std::fs::metadata(stage.path("mcpreel/reels/d.reel")).expect("a file").len();
    assert_eq!(prune(&["--max-size", &size.to_string(), "--yes"]).code(), 0);
    assert_eq!(left(&stage), ["d.reel", "notes.txt"]);
}

#[test]
fn pruning_removes_no_file_that_is_no_reel() {
    let stage = Stage::new();
    recorded(&stage, "a.reel", "s", 1, 50);
    // The recorder of the second one was killed at once.
    for (name, text) in [("film.reel", "FILM of 1977"), ("z.reel", "")] {
        stage.write(&format!("mcpreel/reels/{name}"), text);
    }
    let said = stage.run(&["reel", "prune", "--keep", "0", "--yes"], "");
    assert!(said.code() == 0 && said.err().contains("1 file named .reel that cannot be read as a reel"), "{said:?}");
    assert!(said.err().contains("film.reel: not removed") && said.err().contains("removed 2 reels"), "{said:?}");
    assert_eq!(left(&stage), ["film.reel"]);
}

#[test]
fn pruning_stays_in_its_own_folder_and_names_it() {
    let stage = Stage::new();
    let others = ["other/reels", "state/mcpreel", "home/.local/state/mcpreel"];
    for folder in others {
        std::fs::create_dir_all(stage.path(folder)).expect("made");
        recorded(&stage, "a.reel", "s", 1, 1);
        std::fs::rename(stage.path("mcpreel/reels/a.reel"), stage.path(&format!("{folder}/a.reel"))).expect("moved");
    }
    let places = format!("reels {}\n", stage.path("other/reels").display());
    stage.write("home/.local/state/mcpreel/places", places);
    let kept = |folder: &str| stage.path(&format!("{folder}/a.reel")).exists();
    let prune = |home: Option<&str>, more: &[&str]| {
        let mut command = stage.mcpreel(&[&["reel", "prune", "--keep", "0", "--yes"], more].concat());
        command.env_remove("MCPREEL_HOME");
        if let Some(home) = home {
            command.env("MCPREEL_HOME", stage.path(home));
        }
        let output = finish(command, Vec::new());
        assert_eq!(output.code(), 0, "{output:?}");
        output.err()
    };
    for home in ["fresh", "mcpreel"] {
        let said = prune(Some(home), &[]);
        assert!(said.contains(&stage.path(home).join("reels").display().to_string()), "{said}");
        assert!(others.iter().all(|folder| kept(folder)), "{said}");
    }
    // Without MCPREEL_HOME, its own folder is the one where it records.
    let said = prune(None, &[]);
    assert!(said.contains(&stage.path("state/mcpreel").display().to_string()), "{said}");
    assert_eq!(others.map(kept), [true, false, true], "{said}");
    prune(Some("fresh"), &["--folder", "other/reels"]);
    assert_eq!(others.map(kept), [false, false, true]);
    // The folder is named before the question.
    recorded(&stage, "b.reel", "s", 1, 1);
    let asked = typing(&stage, "n\n", 80, &[], &["reel", "prune", "--keep", "0"]).out();
    let folder = asked.find("mcpreel/reels").expect("the folder");
    assert!(asked.find("remove 1 of 1 reel").is_some_and(|question| folder < question), "{asked}");
}

#[test]
fn a_live_reel_is_never_removed() {
    let stage = Stage::new();
    let live = stage.start(&["record", "--label", "busy", "--", "cat"]);
    let _ = until("the reel", || std::fs::read_dir(stage.path("mcpreel/reels")).ok()?.next());
    recorded(&stage, "old.reel", "s", 1, 1);
    let listed = lines(&stage.ok(&["reel", "list", "--format", "json"]));
    assert_eq!(listed.iter().map(|reel| &reel["live"]).collect::<Vec<_>>(), [true, false], "{listed:?}");
    assert_eq!(stage.run(&["reel", "prune", "--keep", "0", "--yes"], "").code(), 0);
    let names = left(&stage);
    assert!(names.len() == 1 && names[0].contains("busy"), "{names:?}");
    live.end();
}

#[test]
fn patterns_name_reels() {
    let stage = Stage::new();
    let record = |output: &str| stage.run(&["record", "--label", "night/ly", "-o", output, "--", "cat"], "");
    assert_eq!(record("out/{label}/{config-name}-{{x}}.reel").code(), 0);
    assert!(stage.path("out/night-ly/night-ly-{x}.reel").is_file());
    assert_eq!(record("{pid}.reel").code(), 0);
    let pid = std::fs::read_dir(stage.path("")).expect("a folder").flatten();
    let mut names = pid.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(names.any(|name| name.strip_suffix(".reel").is_some_and(|pid| pid.parse::<u32>().is_ok())));
    let wrong = record("{date}.reel");
    assert!(wrong.code() == 2 && wrong.err().contains("unknown pattern {date} in {date}.reel"), "{wrong:?}");
    let config = json!({"mcpServers": {"my server": {"command": "cat"}}});
    stage.write("servers.json", config.to_string());
    let configured = ["record", "--config", "servers.json", "--server", "my server", "-o", "{config-name}.reel"];
    assert_eq!(stage.run(&configured, "").code(), 0);
    assert!(stage.path("my-server.reel").is_file());
}

#[test]
fn on_a_terminal_record_says_once_where_the_reel_is() {
    let stage = Stage::new();
    let shown = on_terminal(&stage, 80, &[], &["record", "-o", "here.reel", "--", "true"]).out();
    assert_eq!(shown.matches("here.reel").count(), 1, "{shown}");
    let piped = stage.run(&["record", "-o", "there.reel", "--", "true"], "");
    assert_eq!((piped.code(), piped.err().as_str()), (0, ""));
}
