//! What is in other homes while `MCPREEL_HOME` names one: readers stay in theirs, and say what they leave out.

use super::printer::note;
use crate::files::reels;
use crate::render::line::visible_text;
use crate::sessions::live;
use crate::wire::text::counted;
use std::path::Path;

/// Reports a reel in another home that is newer than ours, and live sessions there.
pub(super) fn report() {
    let reel = reels::newer_elsewhere().map(|path| format!("a newer reel: {}, name it to read it", path.display()));
    say(reel.into_iter().chain(sessions()));
}

/// Reports live sessions in other homes.
pub(super) fn report_sessions() {
    say(sessions());
}

/// Reports a folder of another home with a reel that is newer than ours.
pub(super) fn report_folder() {
    let path = reels::newer_elsewhere();
    let folder = path.as_deref().and_then(Path::parent);
    say(folder.map(|folder| format!("a newer reel: --folder {} lists it", folder.display())));
}

/// The live sessions, with the option that selects the first.
fn sessions() -> Option<String> {
    let sockets = live::elsewhere();
    let first = sockets.first()?.display();
    Some(match sockets.len() {
        1 => format!("a live session: use --session {first}"),
        count => format!("{}: use for example --session {first}", counted(count as u64, "live session")),
    })
}

/// One line for all.
fn say(parts: impl IntoIterator<Item = String>) {
    let parts: Vec<String> = parts.into_iter().collect();
    if !parts.is_empty() {
        note(&format!("other homes than MCPREEL_HOME have {}", visible_text(&parts.join("; and "))));
    }
}
