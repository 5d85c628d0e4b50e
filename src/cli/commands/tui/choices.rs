//! The sessions and reels that can be opened, as `sessions` and `reel list` show them.

use crate::cli::commands::reel::list::{Folders, listing};
use crate::cli::commands::sessions::listing as sessions_listing;
use crate::error::CommandError;
use crate::tui::effect::{Choice, Target};

/// At most this many reels are listed, the newest.
const MAX_REELS: usize = 200;

/// Lists sessions and reels, at most `width` columns wide.
///
/// # Errors
///
/// The folder of the sessions cannot be used.
pub(super) fn choices(width: usize) -> Result<Vec<Choice>, CommandError> {
    let title = |text: &str| Choice { line: text.to_owned(), target: None };
    let mut choices = Vec::new();
    let sessions = sessions_listing(width)?;
    if !sessions.is_empty() {
        choices.push(title("Live sessions"));
        let choice = |(line, name): (String, Option<String>)| Choice { line, target: name.map(Target::Session) };
        choices.extend(sessions.into_iter().map(choice));
        choices.push(title(""));
    }
    let reels = listing(&Folders::default(), MAX_REELS, width)?;
    if !reels.is_empty() {
        choices.push(title("Reels"));
        choices.extend(reels.into_iter().map(|(line, path)| Choice { line, target: path.map(Target::Reel) }));
    }
    Ok(choices)
}
