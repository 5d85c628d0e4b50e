//! Finds the project's settings, `.mcpreel.toml`.

use super::packs::shipped;
use crate::config::project::{FILE_NAME, ProjectFile, ProjectFileError};
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{SMALL, read_text};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The settings in the table `name` of the nearest `.mcpreel.toml`: in the current folder, or in one of its parents up
/// to the root of the repository (the first folder with `.git`) or the home folder. Without a file, the defaults.
///
/// # Errors
///
/// If the file cannot be read, or is invalid.
pub(super) fn settings<T: DeserializeOwned + Default>(name: &str) -> Result<T, CommandError> {
    let Some((path, text)) = found()? else { return Ok(T::default()) };
    ProjectFile::parse(&text).and_then(|file| file.table(name)).map_err(|error| invalid(&path, &error))
}

/// The packs of the project: files, which are named from the folder of `.mcpreel.toml`, or names.
///
/// # Errors
///
/// If the file cannot be read, or is invalid.
pub(super) fn packs() -> Result<Vec<PathBuf>, CommandError> {
    let Some((path, text)) = found()? else { return Ok(Vec::new()) };
    let packs = ProjectFile::parse(&text).and_then(|file| file.packs()).map_err(|error| invalid(&path, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let from_here = |name: String| if shipped(Path::new(&name)).is_some() { name.into() } else { folder.join(name) };
    Ok(packs.into_iter().map(from_here).collect())
}

/// The file and its text, if there is one.
fn found() -> Result<Option<(PathBuf, String)>, CommandError> {
    let Some(path) = find() else { return Ok(None) };
    let text = read_text(&path, SMALL).map_err(|error| CommandError::reading(&path, &error))?;
    Ok(Some((path, text)))
}

fn invalid(path: &Path, error: &ProjectFileError) -> CommandError {
    CommandError::new(ErrorKind::Usage, format!("{}:{error}", path.display()))
}

fn find() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let current = std::env::current_dir().ok()?;
    for folder in current.ancestors() {
        let file = folder.join(FILE_NAME);
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() || home.as_deref() == Some(folder) {
            return None;
        }
    }
    None
}
