//! The notifications of a live session's server. They go to the session's client, so they are read from the reel.

use super::live::Live;
use crate::error::CommandError;
use crate::sessions::injection::is_ours;
use crate::trace::{Item, ReelReader};
use crate::wire::{Direction, MessageKind};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long to wait before the reel is read again.
const PAUSE: Duration = Duration::from_millis(40);

/// The notifications from now on, until the receiver is dropped, without those about injected requests.
///
/// # Errors
///
/// The session has no reel, or it cannot be read.
pub(crate) fn notifications(live: &Live) -> Result<mpsc::UnboundedReceiver<Vec<u8>>, CommandError> {
    let path = live.reel()?;
    let opened = ReelReader::open(&path).map_err(|error| CommandError::reel(&path, &error))?;
    let mut reader = opened.following().with_payloads();
    // Events that are already in the reel are skipped.
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        if let Item::Block(block) = item {
            reader.recycle(block);
        }
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = live.stream;
    let follow = move || {
        while !sender.is_closed() {
            // A reel that cannot be read any more has no more events; the connection itself shows that the session
            // has ended.
            let Ok(next) = reader.next() else { return };
            let Some(item) = next else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let Item::Block(block) = item else { continue };
            for event in block.events().filter(|event| stream == 0 || event.header.stream == stream) {
                let is_notified =
                    event.header.message.as_ref().is_some_and(|about| about.kind == MessageKind::Notification);
                if is_notified && event.header.direction() == Direction::ServerToClient && !is_ours(event.body()) {
                    let _ = sender.send(event.body().to_vec());
                }
            }
            reader.recycle(block);
        }
    };
    let thread = std::thread::Builder::new().name("follower".into());
    thread.spawn(follow).map_err(|error| CommandError::reading(&path, &error))?;
    Ok(receiver)
}
