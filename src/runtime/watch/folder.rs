//! A watched folder: which files belong to it, and how to list and read them.
//!
//! Never: reading anything outside. Parent paths lead nowhere, and links are not followed.

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustix::fs::OFlags;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use url::Url;

/// Names that are ignored everywhere.
const IGNORED: [&str; 3] = [".git", "target", "node_modules"];
/// Maximum number of files to list.
const MAX_FILES: usize = 1000;
/// Maximum number of entries to visit for that.
const MAX_ENTRIES: usize = 50_000;
/// Size of the largest file to serve, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// How much of a file's beginning decides whether it is text, in bytes.
const LOOKED_AT: u64 = 1024;

/// A watched folder; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Absolute, without links.
    root: PathBuf,
    ignored: GlobSet,
}

/// Why a folder cannot be watched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// It does not exist, or cannot be opened.
    #[error("cannot watch {}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
    /// A pattern to ignore is not a valid glob.
    #[error("invalid pattern of files to ignore: {0}")]
    Glob(#[from] globset::Error),
}

impl Folder {
    /// Opens the folder at this path. Globs in `ignored` match a file or folder by its name, or by its path relative to
    /// the folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be opened, or a glob is invalid.
    pub(crate) fn open(path: &Path, ignored: &[String]) -> Result<Self, FolderError> {
        let failed = |error| FolderError::System(path.to_owned(), error);
        let root = path.canonicalize().map_err(failed)?;
        std::fs::read_dir(&root).map_err(failed)?;
        let mut globs = GlobSetBuilder::new();
        for glob in IGNORED.into_iter().chain(ignored.iter().map(String::as_str)) {
            globs.add(Glob::new(glob.trim_end_matches('/'))?);
        }
        Ok(Self { root, ignored: globs.build()? })
    }

    /// The folder's path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's URI, with a slash at its end.
    pub(crate) fn uri(&self) -> String {
        Url::from_directory_path(&self.root).map(String::from).unwrap_or_default()
    }

    /// A file's URI.
    pub(crate) fn uri_of(&self, path: &Path) -> Option<String> {
        Url::from_file_path(path).ok().map(String::from)
    }

    /// The name of a path below the folder; `None` if it is outside or ignored.
    pub(crate) fn name(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.root).ok().filter(|below| !below.as_os_str().is_empty())?;
        let mut ways = below.ancestors().filter(|way| !way.as_os_str().is_empty());
        let is_ignored = |way: &Path| {
            self.ignored.is_match(way) || way.file_name().is_some_and(|name| self.ignored.is_match(Path::new(name)))
        };
        (!ways.any(is_ignored)).then(|| below.to_string_lossy().into_owned())
    }

    /// The files at or below a path, in order, up to the limit, without links.
    pub(crate) fn files(&self, from: &Path) -> Vec<PathBuf> {
        let (mut found, mut looked_at, mut ahead) = (Vec::new(), 0, vec![from.to_owned()]);
        while let Some(folder) = ahead.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let mut entries: Vec<_> = entries.flatten().take(MAX_ENTRIES).collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            let mut folders = Vec::new();
            for entry in entries {
                looked_at += 1;
                if found.len() >= MAX_FILES || looked_at >= MAX_ENTRIES {
                    return found;
                }
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                if self.name(&path).is_none() {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    found.push(path);
                }
            }
            ahead.extend(folders.into_iter().rev());
        }
        found
    }

    /// The folder's text files as MCP resources.
    pub(crate) fn list(&self) -> Vec<Value> {
        let files = self.files(&self.root);
        let texts = files.iter().filter(|path| open(path).and_then(|file| read(file, LOOKED_AT)).is_ok_and(is_text));
        texts.filter_map(|path| Some(described(&self.uri_of(path)?, &self.name(path)?))).collect()
    }

    /// The contents of a text file, by its URI, as the contents of an MCP resource.
    pub(crate) fn read(&self, uri: &str) -> Option<Value> {
        let path = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()?;
        self.name(&path)?;
        // With a link anywhere on the way, the real path differs.
        let file = path.canonicalize().ok().filter(|real| *real == path).and_then(|path| open(&path).ok())?;
        let text = String::from_utf8(read(file, MAX_FILE_BYTES).ok()?).ok()?;
        Some(json!({"uri": uri, "mimeType": "text/plain", "text": text}))
    }
}

fn described(uri: &str, name: &str) -> Value {
    json!({"uri": uri, "name": name, "mimeType": "text/plain"})
}

/// Opens a regular file that is not a link, without blocking on anything else.
fn open(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    match about.is_file() && about.len() <= MAX_FILE_BYTES {
        true => Ok(file),
        false => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether this is the beginning of a text; the last character may be incomplete.
fn is_text(bytes: Vec<u8>) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}
