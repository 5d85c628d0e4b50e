//! Tests of the messages about changed files, and of what is served, in a temporary folder.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

fn folder(ignored: &[&str]) -> (TempDir, Arc<IoRunner>) {
    let place = tempfile::tempdir().expect("a folder");
    for name in ["src/deep", "target", ".git"] {
        std::fs::create_dir_all(place.path().join(name)).expect("a folder");
    }
    for name in ["src/lib.rs", "src/deep/a b.rs", "target/out", ".git/config", "notes.txt"] {
        std::fs::write(place.path().join(name), "text\n").expect("a file");
    }
    let ignored: Vec<String> = ignored.iter().map(|glob| (*glob).to_owned()).collect();
    let folders = vec![Folder::open(place.path(), &ignored).expect("watched")];
    let second = Duration::from_secs(1);
    let options = Options { folders, commands: Vec::new(), quiet: second, every: None, limit: second };
    let attendant = PreparedWatchers::new(options).attendant();
    (place, attendant)
}

fn names(attendant: &IoRunner) -> Vec<String> {
    let listed = attendant.folders[0].list();
    listed.iter().map(|resource| resource["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn texts_are_listed_and_what_is_ignored_is_not() {
    let (place, attendant) = folder(&[]);
    std::fs::write(place.path().join("image.png"), b"\x89PNG\0\0").expect("a file");
    symlink("/etc/passwd", place.path().join("link")).expect("a link");
    assert_eq!(names(&attendant), ["notes.txt", "src/lib.rs", "src/deep/a b.rs"]);
    let (_place, attendant) = folder(&["*.txt", "src/deep/"]);
    assert_eq!(names(&attendant), ["src/lib.rs"]);
}

#[test]
fn only_what_lies_in_the_folder_is_read() {
    let (place, attendant) = folder(&[]);
    let watched = &attendant.folders[0];
    let root = watched.uri();
    let read = |name: &str| watched.read(&format!("{root}{name}"));
    assert_eq!(read("src/deep/a%20b.rs").map(|file| file["text"].clone()), Some(json!("text\n")));
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "secret").expect("a file");
    symlink(outside.path(), place.path().join("way")).expect("a link");
    symlink(outside.path().join("secret"), place.path().join("link")).expect("a link");
    let name = outside.path().file_name().expect("a name").to_string_lossy().into_owned();
    std::fs::write(place.path().join("large"), vec![b'a'; (1 << 20) + 1]).expect("a file");
    std::fs::write(place.path().join("binary"), b"\xff\xfe\0").expect("a file");
    let up = [format!("../{name}/secret"), format!("%2e%2e/{name}/secret"), format!("src/../../{name}/secret")];
    let none = ["way/secret", "link", ".git/config", "target/out", "large", "binary", "src", "gone", ""];
    for way in up.iter().map(String::as_str).chain(none) {
        assert_eq!(read(way), None, "{way}");
    }
    assert_eq!(watched.read(&format!("file://{}/secret", outside.path().display())), None);
    assert_eq!(watched.read("https://example.org/src/lib.rs"), None);
}

#[test]
fn each_changed_file_is_reported_to_who_watches_it_and_as_a_reminder() {
    let (place, attendant) = folder(&[]);
    let at = |name: &str| attendant.folders[0].root().join(name);
    let changes = vec![
        (at("src/lib.rs"), Change::Other),
        (at("gone.rs"), Change::Other),
        (at("came-and-went.tmp"), Change::Made),
        (at("target/out"), Change::Other),
    ];
    let reported: Vec<Value> =
        attendant.reported(changes).iter().map(|fired| serde_json::to_value(fired).expect("JSON")).collect();
    let uri = format!("{}src/lib.rs", attendant.folders[0].uri());
    assert_eq!(reported[0], json!({"kind": "changed", "uri": uri}));
    let reminder = json!({
        "kind": "reminder", "body": "src/lib.rs changed; read it again before you edit it",
        "tags": ["workspace", "file_changed"], "dedupeKey": "file_changed:src/lib.rs", "ttlTurns": 2,
    });
    assert_eq!(reported[1], reminder);
    assert_eq!((&reported[3]["body"], reported.len()), (&json!("gone.rs was removed"), 4));
    attendant.reported(vec![(at("src/lib.rs"), Change::Other)]).iter().for_each(|fired| fired.check().expect("fits"));
    drop(place);
}

#[test]
fn of_very_many_changes_few_are_reported_one_by_one() {
    let (_place, attendant) = folder(&[]);
    let root = attendant.folders[0].root().to_owned();
    let reported = attendant.reported((0..50).map(|number| (root.join(number.to_string()), Change::Other)).collect());
    assert_eq!(reported.iter().filter(|fired| fired.kind() == "changed").count(), 50);
    assert_eq!(reported.iter().filter(|fired| fired.kind() == "reminder").count(), MAX_AT_ONCE + 1);
    let last = serde_json::to_value(reported.last()).expect("JSON");
    assert!(last["body"].as_str().is_some_and(|body| body.starts_with("30 more files")), "{last}");
}

#[test]
fn events_of_a_file_count_and_looking_at_it_does_not() {
    use notify::Event;
    use notify::event::{AccessKind, CreateKind, DataChange, MetadataKind};
    let (_place, attendant) = folder(&[]);
    let root = attendant.folders[0].root().to_owned();
    let changed = |kind, name: &str| attendant.changed(&Event::new(kind).add_path(root.join(name))).len();
    let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    assert_eq!((changed(written, "notes.txt"), changed(written, "target/out"), changed(written, "src")), (1, 0, 0));
    assert_eq!(changed(EventKind::Access(AccessKind::Any), "notes.txt"), 0);
    assert_eq!(changed(EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), "notes.txt"), 0);
    assert_eq!(changed(EventKind::Create(CreateKind::Folder), "src"), 2, "its contents arrived with it");
}
