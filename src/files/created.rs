//! A file that this process created, and whether it is still there.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file and the path at which it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreatedFile {
    /// The absolute path.
    pub path: PathBuf,
    device: u64,
    inode: u64,
}

impl CreatedFile {
    /// The file at this path, with this metadata.
    pub(crate) fn of(path: &Path, about: &Metadata) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { path, device: about.dev(), inode: about.ino() }
    }

    /// Truncates the file if it still exists.
    pub(crate) fn cut(&self, end: u64) {
        if self.holds() {
            let _ = File::options().write(true).open(&self.path).and_then(|file| file.set_len(end));
        }
    }

    /// Whether the file still exists, as far as can be determined.
    pub(crate) fn holds(&self) -> bool {
        match std::fs::metadata(&self.path) {
            Ok(about) => about.dev() == self.device && about.ino() == self.inode,
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }
}
