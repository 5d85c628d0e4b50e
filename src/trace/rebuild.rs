//! Rebuilds the index of a reel by reading it.

use super::index::{Index, Tallies};
use super::reader::{Damage, Item, ReelReader};
use std::io;

/// Builds the index by reading the reel from the beginning. Damage is skipped and returned.
///
/// # Errors
///
/// If reading fails.
pub fn build_index(mut reader: ReelReader) -> io::Result<(Index, Vec<Damage>)> {
    count(&mut reader, |_| {})
}

/// Does the same with a reader that is used further. `progress` gets the position in the file.
///
/// # Errors
///
/// If reading fails.
pub(crate) fn count(reader: &mut ReelReader, mut progress: impl FnMut(u64)) -> io::Result<(Index, Vec<Damage>)> {
    let mut index = Index::default();
    let mut tallies = Tallies::default();
    let mut damages = Vec::new();
    // The index counts pieces, as they are in the reel.
    reader.leave_pieces();
    while let Some(item) = reader.next()? {
        let block = match item {
            Item::Damage(damage) => {
                damages.push(damage);
                continue;
            }
            Item::Block(block) => block,
        };
        if reader.leaves_out(&block) {
            // Its checksum is verified nevertheless.
            damages.extend(reader.pass_payload(&block, |_, _, _| Ok(()))?.err());
        }
        let part_of_group = block.part();
        for header in &block.headers {
            tallies.add_header(header, reader.methods());
            index.bytes = index.bytes.saturating_add(u64::from(header.len));
            index.events = index.events.max(header.seq.saturating_add(1));
            index.times =
                Some(index.times.map_or((header.time, header.time), |(first, last)| {
                    (first.min(header.time), last.max(header.time))
                }));
        }
        if let (0, Some(first)) = (part_of_group, block.headers.first()) {
            index.start_group(block.offset, first.seq, first.time);
        }
        if let Some(group) = index.groups.last_mut() {
            for header in &block.headers {
                group.2 = group.2.min(header.time);
                group.3 = group.3.max(header.time);
            }
        }
        reader.recycle(block);
        progress(reader.offset());
    }
    tallies.fill(&mut index);
    Ok((index, damages))
}
