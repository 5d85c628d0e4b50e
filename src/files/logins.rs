//! The tokens of the user's logins: `logins.json`, one entry for each server, readable only by the user.
//!
//! Several processes use the file at the same time, so whoever changes it holds a lock. A refresh token may count only
//! once; whoever refreshes holds the lock, too. Only one process at a time asks the user to log in to a server: it holds
//! a lock for that server.

use super::output::{PRIVATE, Replacement};
use super::places::Places;
use super::private;
use super::reels::no_folder;
use crate::error::CommandError;
use crate::oauth::Grant;
use ring::digest::{SHA256, digest};
use rustix::process::getuid;
use serde::{Deserialize, Serialize};
use std::fs::{File, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The name of the file.
const NAME: &str = "logins.json";
/// The maximum size of the file.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// The maximum number of logins. The oldest is forgotten first.
const MAX_LOGINS: usize = 256;
/// How much of the hash of a server's URL is part of the name of its lock.
const HASH_BYTES: usize = 8;

/// The user's logins.
#[derive(Clone, Debug)]
pub(crate) struct Logins {
    path: PathBuf,
}

/// While this exists, no other process changes the logins.
#[derive(Debug)]
pub(crate) struct LoginsLock(#[expect(dead_code, reason = "dropping it unlocks the file")] File);

/// While this exists, no other process lets the user log in to the same server.
#[derive(Debug)]
pub(crate) struct LoginClaim(#[expect(dead_code, reason = "dropping it unlocks the file")] File);

#[derive(Default, Serialize, Deserialize)]
struct Content {
    logins: Vec<Grant>,
}

impl Logins {
    /// The logins of this user. A client may start mcpreel with another environment than the user's shell, so an
    /// existing file in any of the user's folders is used.
    ///
    /// # Errors
    ///
    /// Nothing determines the folder.
    pub(crate) fn here() -> Result<Self, CommandError> {
        let path = Places::here().private_file(NAME).ok_or_else(no_folder)?;
        Ok(Self { path })
    }

    /// Where the logins are kept.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All logins, oldest first.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or others can read it.
    pub(crate) fn all(&self) -> io::Result<Vec<Grant>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let about = file.metadata()?;
        let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why));
        if !about.is_file() || about.uid() != getuid().as_raw() {
            return refused("it is not a file of yours");
        }
        if about.mode() & 0o077 != 0 {
            return refused("other users can access this file, which contains tokens; make it yours alone (chmod 600)");
        }
        let mut text = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return refused("it is too long");
        }
        // The error names a place, but repeats nothing.
        let damaged = |error: serde_json::Error| {
            format!("it is damaged (line {}, column {}); remove it and log in again", error.line(), error.column())
        };
        let content: Result<Content, _> = serde_json::from_slice(&text).map_err(damaged);
        content.map(|content| content.logins).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// The login at the server with this URL.
    ///
    /// # Errors
    ///
    /// As for [`Self::all`].
    pub(crate) fn find(&self, server: &str) -> io::Result<Option<Grant>> {
        Ok(self.all()?.into_iter().rev().find(|grant| grant.server == server))
    }

    /// Waits until no other process changes the logins.
    ///
    /// # Errors
    ///
    /// The lock cannot be created.
    pub(crate) fn lock(&self) -> io::Result<LoginsLock> {
        let file = self.lock_file("logins.lock")?;
        file.lock()?;
        Ok(LoginsLock(file))
    }

    /// Claims the login at a server; `None` while another process lets the user log in there.
    ///
    /// # Errors
    ///
    /// The lock cannot be created.
    pub(crate) fn claim(&self, server: &str) -> io::Result<Option<LoginClaim>> {
        let hash = digest(&SHA256, server.as_bytes());
        let hash: String = hash.as_ref().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let file = self.lock_file(&format!("login-{hash}.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(LoginClaim(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// An empty file beside the logins.
    fn lock_file(&self, name: &str) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            private::create_folder(folder)?;
        }
        let path = self.path.with_file_name(name);
        private::make_usable(File::options().write(true).create(true).truncate(false).mode(PRIVATE).open(path)?)
    }

    /// Keeps a login in place of an earlier one at the same server.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub(crate) fn put(&self, lock: &LoginsLock, grant: Grant) -> io::Result<()> {
        let mut logins = self.all()?;
        logins.retain(|known| known.server != grant.server);
        logins.push(grant);
        let forgotten = logins.len().saturating_sub(MAX_LOGINS);
        self.write(lock, logins.split_off(forgotten))
    }

    /// Forgets the login at a server, or all logins. Returns what is forgotten.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub(crate) fn remove(&self, lock: &LoginsLock, server: Option<&str>) -> io::Result<Vec<Grant>> {
        let is_wanted = |known: &Grant| server.is_none_or(|server| known.server == server);
        let (removed, kept): (Vec<Grant>, Vec<Grant>) = self.all()?.into_iter().partition(is_wanted);
        if !removed.is_empty() {
            self.write(lock, kept)?;
        }
        Ok(removed)
    }

    fn write(&self, _lock: &LoginsLock, logins: Vec<Grant>) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&Content { logins })?;
        let mut file = Replacement::begin(&self.path, PRIVATE)?;
        file.file().set_permissions(Permissions::from_mode(PRIVATE))?;
        file.file().write_all(text.as_bytes())?;
        file.file().write_all(b"\n")?;
        file.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn grant(server: &str, token: &str) -> Grant {
        serde_json::from_value(json!({
            "server": server, "resource": server, "issuer": "https://auth", "token_endpoint": "https://auth/token",
            "client": {"id": "c", "registration": "dynamic", "redirect_uri": "http://127.0.0.1:1/callback"},
            "access_token": token,
        }))
        .expect("a grant")
    }

    fn token(logins: &Logins, server: &str) -> Option<String> {
        let grant = logins.find(server).expect("readable")?;
        Some(grant.header().expect("a header").to_str().expect("text").to_owned())
    }

    #[test]
    fn a_server_has_one_login_in_a_file_of_the_users_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let logins = Logins { path: folder.path().join("new/logins.json") };
        assert!(logins.all().expect("none").is_empty());
        let lock = logins.lock().expect("locked");
        for (server, token) in [("https://a", "1"), ("https://b", "2"), ("https://a", "3")] {
            logins.put(&lock, grant(server, token)).expect("written");
        }
        assert_eq!(token(&logins, "https://a").as_deref(), Some("Bearer 3"));
        assert_eq!(token(&logins, "https://b").as_deref(), Some("Bearer 2"));
        assert_eq!(token(&logins, "https://c"), None);
        for file in ["new/logins.json", "new/logins.lock"] {
            let about = std::fs::metadata(folder.path().join(file)).expect("there");
            assert_eq!(about.mode() & 0o777, 0o600, "{file}");
        }
        let removed = logins.remove(&lock, Some("https://a")).expect("written");
        assert_eq!(removed.iter().map(|grant| &*grant.server).collect::<Vec<_>>(), ["https://a"]);
        assert!(logins.remove(&lock, Some("https://a")).expect("nothing to do").is_empty());
        let servers: Vec<String> = logins.all().expect("readable").into_iter().map(|grant| grant.server).collect();
        assert_eq!(servers, ["https://b"]);
    }

    #[test]
    fn only_one_process_changes_the_file_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let logins = Logins { path: folder.path().join("logins.json") };
        let lock = logins.lock().expect("locked");
        let other = File::options().write(true).open(folder.path().join("logins.lock")).expect("open");
        assert!(other.try_lock().is_err());
        drop(lock);
        other.try_lock().expect("free");
    }

    #[test]
    fn only_one_process_at_a_time_claims_the_login_at_a_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let logins = Logins { path: folder.path().join("new/logins.json") };
        let claim = logins.claim("https://a").expect("a file").expect("free");
        assert!(logins.claim("https://a").expect("a file").is_none());
        assert!(logins.claim("https://b").expect("a file").is_some(), "another server");
        logins.lock().expect("logins can be changed meanwhile");
        drop(claim);
        assert!(logins.claim("https://a").expect("a file").is_some());
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_damaged_is_neither_used_nor_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let logins = Logins { path: folder.path().join("logins.json") };
        let lock = logins.lock().expect("locked");
        logins.put(&lock, grant("https://a", "s3cret")).expect("written");
        let mode = |mode| std::fs::set_permissions(&logins.path, Permissions::from_mode(mode)).expect("set");
        for open in [0o640, 0o604, 0o666] {
            mode(open);
            assert!(logins.all().expect_err("refused").to_string().contains("chmod 600"), "{open:o}");
            assert!(logins.put(&lock, grant("https://b", "x")).is_err());
        }
        mode(0o600);
        assert_eq!(token(&logins, "https://a").as_deref(), Some("Bearer s3cret"));
        for damaged in ["{", "[]", "{\"logins\": [{\"access_token\": \"s3cret\"}]}"] {
            std::fs::write(&logins.path, damaged).expect("written");
            let error = logins.all().expect_err("damaged").to_string();
            assert!(error.contains("damaged") && !error.contains("s3cret"), "{error}");
            assert!(logins.put(&lock, grant("https://b", "x")).is_err());
            assert_eq!(std::fs::read_to_string(&logins.path).expect("there"), damaged);
        }
    }

    #[test]
    fn the_number_of_logins_is_limited() {
        let folder = tempfile::tempdir().expect("a folder");
        let logins = Logins { path: folder.path().join("logins.json") };
        let lock = logins.lock().expect("locked");
        let many = (0..MAX_LOGINS).map(|number| grant(&format!("https://h/{number}"), "t")).collect();
        logins.write(&lock, many).expect("written");
        logins.put(&lock, grant("https://new", "t")).expect("written");
        assert_eq!(logins.all().expect("readable").len(), MAX_LOGINS);
        assert_eq!((token(&logins, "https://h/0"), token(&logins, "https://h/1").is_some()), (None, true));
    }
}
