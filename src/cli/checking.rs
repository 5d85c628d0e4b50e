//! Checking reels that still grow, for `validate --follow` and `record --check`.

use crate::trace::{Item, ReelReader};
use std::io;
use std::time::Duration;

/// How long to wait before a growing reel is read again.
pub(crate) const FOLLOW_PAUSE: Duration = Duration::from_millis(40);

/// Reads a reel that grows, to its end, or until `goes_on` is false and everything that was written before is read.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn follow(
    reader: &mut ReelReader,
    mut goes_on: impl FnMut() -> bool,
    mut take: impl FnMut(&Item),
) -> io::Result<()> {
    let mut is_last_look = false;
    loop {
        match reader.next()? {
            Some(item) => {
                take(&item);
                if let Item::Block(block) = item {
                    reader.recycle(block);
                }
            }
            None if is_last_look || reader.has_ended() => return Ok(()),
            None => {
                is_last_look = !goes_on();
                if !is_last_look {
                    std::thread::sleep(FOLLOW_PAUSE);
                }
            }
        }
    }
}
