//! What a live session's server says by itself: it goes to the session's client, so it is read where it is recorded.

use super::live::Live;
use crate::error::CommandError;
use crate::sessions::injection::is_ours;
use crate::trace::{Item, ReelReader};
use crate::wire::{Direction, MessageKind};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long is waited before the reel is looked at again.
const PAUSE: Duration = Duration::from_millis(40);

/// The notifications that come from now on, until nobody takes them any more. Those about a request that was put in go
/// to who asked, and are not among them.
pub fn notifications(live: &Live) -> Result<mpsc::UnboundedReceiver<Vec<u8>>, CommandError> {
    let path = live.reel()?;
    let opened = ReelReader::open(&path).map_err(|error| CommandError::reel(&path, &error))?;
    let mut reader = opened.following().with_payloads();
    // What stands there already is over.
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        if let Item::Block(block) = item {
            reader.recycle(block);
        }
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = live.stream;
    let follow = move || {
        while !sender.is_closed() {
            // A reel that cannot be read any more says nothing; that its session has ended is told by the session.
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
