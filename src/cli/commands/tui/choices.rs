//! The sessions and reels that can be opened, as `sessions` and `reel list` show them.

use crate::cli::commands::reel::list::{Folders, listing};
use crate::cli::commands::sessions::listing as sessions_listing;
use crate::error::CommandError;
use crate::files::places::{Places, listed};
use crate::tui::effect::{Choice, Target};
use std::path::PathBuf;

/// At most this many reels of a folder are listed, the newest.
const MAX_REELS: usize = 200;

/// Lists live sessions, the reels in this folder, and those that were recorded without -o, at most `width` columns wide.
///
/// # Errors
///
/// The folder of the sessions cannot be used.
pub(super) fn choices(width: usize) -> Result<Vec<Choice>, CommandError> {
    let mut choices = Vec::new();
    let sessions = sessions_listing(width)?;
    let sessions = sessions.into_iter().map(|(line, name)| (line, name.map(Target::Session)));
    part("live sessions", sessions.collect(), &mut choices);
    let usual = Places::here().all_reels();
    let here = std::env::current_dir().ok().filter(|here| !usual.iter().any(|folder| is_same(folder, here)));
    if let Some(here) = here {
        part("reels in this folder", reels(vec![here], width), &mut choices);
    }
    part(&format!("reels in {}", listed(&usual)), reels(usual, width), &mut choices);
    Ok(choices)
}

/// The lines of a table of reels. Folders that cannot be read have none.
fn reels(folders: Vec<PathBuf>, width: usize) -> Vec<(String, Option<Target>)> {
    let folders = folders.into_iter().filter(|folder| folder.read_dir().is_ok()).collect::<Vec<_>>();
    // Without folders, it would list the usual ones.
    if folders.is_empty() {
        return Vec::new();
    }
    let lines = listing(&Folders::of(folders), MAX_REELS, width).unwrap_or_default();
    lines.into_iter().map(|(line, path)| (line, path.map(Target::Reel))).collect()
}

/// Appends a table below what it contains, or says that there is none; after an empty line if it is not the first.
fn part(what: &str, lines: Vec<(String, Option<Target>)>, choices: &mut Vec<Choice>) {
    let is_empty = lines.is_empty();
    let heading = |line: String| Choice { line, target: None };
    if !choices.is_empty() {
        choices.push(heading(String::new()));
    }
    let (first, rest) = what.split_at(1);
    choices.push(heading(if is_empty { format!("No {what}") } else { first.to_uppercase() + rest }));
    choices.extend(lines.into_iter().map(|(line, target)| Choice { line, target }));
}

fn is_same(one: &std::path::Path, other: &std::path::Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
