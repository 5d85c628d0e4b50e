//! Packs for all commands that know extensions: `--pack`, and `packs` in `.mcpreel.toml`.

use super::project;
use crate::error::CommandError;
use crate::files::text::{SMALL, read_text};
use crate::pack::{Pack, SHIPPED};
use crate::proposals::Registry;
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};

/// Packs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PackOptions {
    /// Know this extension of MCP, too: a pack file, or claude-channels or mcp-events (repeatable; `packs` in
    /// .mcpreel.toml has the same effect).
    #[arg(long = "pack", value_name = "FILE|NAME")]
    packs: Vec<PathBuf>,
}

impl PackOptions {
    /// Returns the five proposals and the packs of the command line and of the project.
    ///
    /// # Errors
    ///
    /// A pack cannot be read or is invalid, or two of them define the same.
    pub(crate) fn registry(&self) -> Result<&'static Registry, CommandError> {
        let packs = self.read()?;
        check_apart(&packs)?;
        Ok(Registry::with(packs.into_iter().map(|(pack, _)| pack.into_proposal())))
    }

    /// Reads the packs, each once.
    fn read(&self) -> Result<Vec<(Pack, PathBuf)>, CommandError> {
        let mut packs: Vec<(Pack, PathBuf)> = Vec::new();
        let of_project = project::packs()?.into_iter().map(|path| (path, " (`packs` in .mcpreel.toml names it)"));
        let given = self.packs.iter().cloned().map(|path| (path, ""));
        for (path, origin) in of_project.chain(given) {
            if packs.iter().all(|(_, known)| *known != path) {
                packs.push((read(&path, origin)?, path));
            }
        }
        Ok(packs)
    }
}

/// Two packs must not have the same name, or the same method.
fn check_apart(packs: &[(Pack, PathBuf)]) -> Result<(), CommandError> {
    for (at, (pack, path)) in packs.iter().enumerate() {
        for (other, elsewhere) in &packs[..at] {
            let shared = other.methods().find(|method| pack.methods().any(|own| own == *method));
            let both = || format!("both {} and {}", elsewhere.display(), path.display());
            if other.name() == pack.name() {
                return Err(CommandError::usage(format!("{} define the pack {}", both(), pack.name())));
            }
            if let Some(method) = shared {
                return Err(CommandError::usage(format!("{} define the method {method}", both())));
            }
        }
    }
    Ok(())
}

/// Reads a pack. `origin` says in parentheses what named it, or nothing for the command line.
fn read(path: &Path, origin: &str) -> Result<Pack, CommandError> {
    let unreadable = |error: &io::Error| {
        let hint = format!("a pack is a file, or one that mcpreel ships: {}{origin}", names());
        CommandError::reading(path, error).hint(hint)
    };
    let text = match shipped(path) {
        Some(text) => text.to_owned(),
        None => read_text(path, SMALL).map_err(|error| unreadable(&error))?,
    };
    Pack::read(&text).map_err(|error| CommandError::document(path, &error))
}

/// The text of the pack that mcpreel ships under a name.
pub(crate) fn shipped(path: &Path) -> Option<&'static str> {
    SHIPPED.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| *text)
}

fn names() -> String {
    SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
