//! A client's configuration file: reading it, and replacing it safely.

use super::entry::{Entry, entries};
use super::tree::{Format, parse};
use super::yaml::{self, Dialect};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::{self, Replacement};
use crate::files::text::{LARGE, read_text};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

const BOM: &str = "\u{feff}";

/// A configuration file that was read.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its format: `.toml` is TOML, everything else JSON with comments.
    pub format: Format,
    /// The client, if the file is YAML. It cannot be replaced; its text is then a translation to JSON.
    pub dialect: Option<Dialect>,
    /// Its text, without a byte order mark.
    pub text: String,
    /// The names of its members.
    pub members: Vec<String>,
    has_bom: bool,
    /// The servers in it.
    pub entries: Vec<Entry>,
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or parsed.
    pub(crate) fn read(path: &Path) -> Result<Self, CommandError> {
        let path = absolute(path);
        let whole = read_text(&path, LARGE).map_err(|error| CommandError::reading(&path, &error))?;
        let (has_bom, text) = match whole.strip_prefix(BOM) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, whole),
        };
        let wrong = |error: String| CommandError::new(ErrorKind::Input, format!("{}: {error}", path.display()));
        let (format, dialect, text) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => (Format::Toml, None, text),
            Some("yaml" | "yml") => {
                let (dialect, text) = yaml::to_json(&text).map_err(wrong)?;
                (Format::Json, Some(dialect), text)
            }
            _ => (Format::Json, None, text),
        };
        let root = parse(&text, format).map_err(wrong)?;
        let members = root.members().iter().map(|member| member.name.clone()).collect();
        let entries = entries(&root, format);
        Ok(Self { path, format, dialect, text, members, has_bom, entries })
    }

    /// Replaces the file's text in one step, following links and keeping owner and permissions. `backup` is the time
    /// for the name of a copy of the old file. Returns the path of that copy.
    ///
    /// # Errors
    ///
    /// The file has changed since it was read, or cannot be written.
    pub(crate) fn replace(&self, text: &str, backup: Option<&str>) -> Result<Option<PathBuf>, CommandError> {
        let failed = |error: io::Error| CommandError::writing(&self.path, &error);
        let mut replacement = Replacement::begin(&self.path, output::PRIVATE).map_err(failed)?;
        replacement.file().write_all(self.whole(text).as_bytes()).map_err(failed)?;
        let real = replacement.target().to_owned();
        if std::fs::read(&real).map_err(failed)? != self.whole(&self.text).as_bytes() {
            let reported = format!("{} has changed since it was read; nothing was written", self.path.display());
            return Err(
                CommandError::new(ErrorKind::Input, reported).hint("close the client that writes it, and try again")
            );
        }
        let copy = backup.map(|time| backup_of(&real, time)).transpose().map_err(failed)?;
        replacement.commit().map_err(failed)?;
        Ok(copy)
    }

    fn whole(&self, text: &str) -> String {
        format!("{}{text}", if self.has_bom { BOM } else { "" })
    }
}

/// The absolute path without `..`. Links are not resolved.
fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !whole.components().any(|part| part == Component::ParentDir) {
        return whole;
    }
    let folder = whole.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(whole.file_name()).map_or_else(|| whole.clone(), |(folder, name)| folder.join(name))
}

/// Copies the file to `FILE.bak-TIME` next to it, never over another file.
fn backup_of(path: &Path, time: &str) -> io::Result<PathBuf> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for ending in (0..100).map(|number| if number == 0 { String::new() } else { format!(".{number}") }) {
        let copy = beside(path, &format!(".bak-{time}{ending}"));
        match File::options().write(true).create_new(true).open(&copy) {
            Ok(_) => return std::fs::copy(path, &copy).map(|_| copy),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::output::tests::names;

    #[test]
    fn a_file_that_was_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.json");
        std::fs::write(&path, "\u{feff}{}").unwrap();
        let file = ConfigFile::read(&path).unwrap();
        std::fs::write(&path, "{}").unwrap();
        let error = file.replace("{\"a\": 1}", Some("now")).unwrap_err();
        assert!(error.message.contains("has changed since it was read"), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        assert_eq!(names(folder.path()), ["f.json"]);
    }

    #[test]
    fn each_copy_of_the_old_file_has_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.json");
        std::fs::write(&path, "\u{feff}{}").unwrap();
        for text in ["[1]", "[2]"] {
            let copy = ConfigFile::read(&path).unwrap().replace(text, Some("now")).unwrap();
            assert!(copy.is_some_and(|copy| copy.is_file()));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}[2]");
        assert_eq!(names(folder.path()), ["f.json", "f.json.bak-now", "f.json.bak-now.1"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("f.json.bak-now.1")).unwrap(), "\u{feff}[1]");
    }

    #[test]
    fn a_path_has_no_way_back_in_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let expected = folder.path().canonicalize().unwrap().join("f.json");
        assert_eq!(absolute(&folder.path().join("sub/../f.json")), expected);
    }
}
