//! What the user has answered when a host asked for consent: `consent.json` in the folder of reels, as
//! `{"consents": [{"proposal": …, "server": …, "granted": …}]}`.
//!
//! A server is known by its command or URL, without secrets: if a configuration names another server under the same
//! name, the host asks again.

use super::output::{PRIVATE, Replacement};
use super::private;
use super::reels;
use crate::error::CommandError;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The maximum size of the file.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The maximum number of answers. The oldest is forgotten first.
const MAX_CONSENTS: usize = 1024;

/// The remembered answers.
pub(crate) struct Consents {
    path: PathBuf,
}

impl Consents {
    /// The answers of this user.
    ///
    /// # Errors
    ///
    /// Nothing determines the folder.
    pub(crate) fn here() -> Result<Self, CommandError> {
        reels::folder().map(|folder| Self { path: folder.join("consent.json") })
    }

    /// Where the answers are kept.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The last answer about a proposal and a server; `None` if the user was never asked.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not ours.
    pub(crate) fn find(&self, proposal: &str, server: &str) -> Result<Option<bool>, CommandError> {
        let consents = self.read().map_err(|error| CommandError::reading(&self.path, &error))?;
        let found = consents.iter().rev().find(|consent| is_about(consent, proposal, server));
        Ok(found.and_then(|consent| consent["granted"].as_bool()))
    }

    /// Remembers an answer in place of an earlier one.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written, or is not ours.
    pub(crate) fn remember(&self, proposal: &str, server: &str, granted: bool) -> io::Result<()> {
        let mut consents = self.read()?;
        consents.retain(|consent| !is_about(consent, proposal, server));
        consents.push(json!({"proposal": proposal, "server": server, "granted": granted}));
        let kept = consents.len().saturating_sub(MAX_CONSENTS);
        if let Some(folder) = self.path.parent() {
            private::create_folder(folder)?;
        }
        let mut file = Replacement::begin(&self.path, PRIVATE)?;
        file.write_all(format!("{:#}\n", json!({"consents": consents[kept..]})).as_bytes())?;
        file.commit()
    }

    fn read(&self) -> io::Result<Vec<Value>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut text = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut text)?;
        let mut file: Value = serde_json::from_slice(&text)?;
        match file.get_mut("consents").map(Value::take) {
            Some(Value::Array(consents)) => Ok(consents),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it contains no list `consents`")),
        }
    }
}

fn is_about(consent: &Value, proposal: &str, server: &str) -> bool {
    consent["proposal"] == proposal && consent["server"] == server
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_last_answer_about_a_server_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let consents = Consents { path: folder.path().join("new/consent.json") };
        let find = |server: &str| consents.find("conversation", server).expect("readable");
        assert_eq!(find("a"), None);
        for (server, granted) in [("a", true), ("b", false), ("a", false), ("a", true)] {
            consents.remember("conversation", server, granted).expect("written");
        }
        assert_eq!((find("a"), find("b"), find("c")), (Some(true), Some(false), None));
        assert_eq!(consents.find("mcpl", "a").expect("readable"), None);
        let text = std::fs::read_to_string(&consents.path).expect("there");
        assert_eq!(text.matches("granted").count(), 2, "an answer replaces the earlier one: {text}");
        assert_eq!(std::fs::metadata(&consents.path).expect("there").mode() & 0o777, 0o600);
    }

    #[test]
    fn the_file_is_bounded_and_a_damaged_one_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let consents = Consents { path: folder.path().join("consent.json") };
        let many: Vec<Value> =
            (0..MAX_CONSENTS).map(|n| json!({"proposal": "p", "server": n.to_string(), "granted": true})).collect();
        std::fs::write(&consents.path, json!({"consents": many}).to_string()).expect("written");
        consents.remember("p", "new", true).expect("written");
        let find = |server: &str| consents.find("p", server).expect("readable");
        assert_eq!((find("0"), find("1"), find("new")), (None, Some(true), Some(true)));
        for damaged in ["{", "[]", "{\"consents\": 7}"] {
            std::fs::write(&consents.path, damaged).expect("written");
            assert!(consents.find("p", "1").is_err() && consents.remember("p", "1", true).is_err(), "{damaged}");
            assert_eq!(std::fs::read_to_string(&consents.path).expect("there"), damaged);
        }
    }
}
