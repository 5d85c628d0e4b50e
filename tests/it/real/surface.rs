//! `diff --surface` with real servers: their lock files hold, run after run.

use super::{Scenario, Stage};
use crate::common::BINARY;
use std::ffi::OsString;

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_lock_files_of_real_servers_hold() {
    let stage = Stage::new();
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let folder = stage.path("");
    let peers = &stage.peers;
    let servers: [Vec<OsString>; 4] = [
        vec!["node".into(), peers.everything().into(), "stdio".into()],
        vec!["node".into(), peers.memory().into()],
        vec!["node".into(), peers.filesystem().into(), folder.into()],
        peers.server(Scenario::Time),
    ];
    for (at, server) in servers.iter().enumerate() {
        let lock = stage.path(&format!("{at}.lock.json"));
        let run = |options: &[&str]| {
            let before =
                [words(&[BINARY, "diff", "--surface"]), words(options), vec![lock.clone().into(), "--".into()]];
            stage.run(&[before.concat(), server.clone()].concat())
        };
        let written = run(&["--update"]);
        assert_eq!(written.code(), 0, "{}", written.errors());
        let bytes = std::fs::read(&lock).expect("a lock file");
        let checked = run(&["--fail-on", "any"]);
        assert_eq!(checked.code(), 0, "{}", checked.errors());
        assert_eq!(run(&["--update"]).code(), 0);
        assert_eq!(std::fs::read(&lock).expect("a lock file"), bytes);
    }
}
