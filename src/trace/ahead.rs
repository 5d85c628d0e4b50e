//! Reading ahead: a reel is read and decompressed on a thread of its own while the blocks before are worked on.

use super::reader::{Block, Item, ReelReader};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// How many batches may wait.
const DEPTH: usize = 2;
/// A batch is handed over when it holds so many bytes: waking a thread costs more than working on a small block.
const BATCH_BYTES: usize = 256 << 10;

/// What is larger than this is not read ahead: the next batch waits until it is done with, so that memory holds one.
const LARGE: usize = 512 << 10;

/// What the thread hands over: items, and the method names that were met in them for the first time.
type Handed = io::Result<(Vec<Item>, Vec<Box<str>>)>;

/// A reader that works ahead.
pub struct AheadReader {
    items: Receiver<Handed>,
    /// Told whenever another batch is asked for.
    asked: Sender<()>,
    batch: std::vec::IntoIter<Item>,
    spent: Sender<Block>,
    methods: Vec<Box<str>>,
}

impl AheadReader {
    /// Starts reading ahead. Blocks come with their payloads where the reader is told to load them.
    pub fn start(reader: ReelReader) -> io::Result<Self> {
        let (sender, items) = sync_channel(DEPTH);
        let (spent, returned) = channel();
        let (asked, wanted) = channel();
        let methods = reader.methods().to_vec();
        let known = methods.len();
        let work = move || read(reader, known, &sender, &wanted, &returned);
        std::thread::Builder::new().name("reader".into()).spawn(work)?;
        Ok(Self { items, asked, batch: Vec::new().into_iter(), spent, methods })
    }

    /// The next item; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "as ReelReader::next")]
    pub fn next(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.batch.next() {
                return Ok(Some(item));
            }
            // A reader that is gone has left all it had.
            let _ = self.asked.send(());
            let Ok(handed) = self.items.recv() else { return Ok(None) };
            let (items, new) = handed?;
            self.methods.extend(new);
            self.batch = items.into_iter();
        }
    }

    /// Method names by the numbers that headers hold.
    pub fn methods(&self) -> &[Box<str>] {
        &self.methods
    }

    /// Gives a block back, so that its memory serves again.
    pub fn recycle(&self, block: Block) {
        let _ = self.spent.send(block);
    }
}

fn read(
    mut reader: ReelReader,
    mut known: usize,
    items: &SyncSender<Handed>,
    wanted: &Receiver<()>,
    returned: &Receiver<Block>,
) {
    let (mut given, mut asked) = (0, 0);
    loop {
        let (batch, bytes, more) = match next_batch(&mut reader, returned) {
            Ok(batch) => batch,
            Err(error) => {
                let _ = items.send(Err(error));
                return;
            }
        };
        let new = reader.methods()[known..].to_vec();
        known += new.len();
        if items.send(Ok((batch, new))).is_err() || !more {
            return;
        }
        given += 1;
        asked += wanted.try_iter().count();
        while bytes > LARGE && asked <= given {
            if wanted.recv().is_err() {
                return;
            }
            asked += 1;
        }
    }
}

/// The next items, their bytes, and whether there may be more.
fn next_batch(reader: &mut ReelReader, returned: &Receiver<Block>) -> io::Result<(Vec<Item>, usize, bool)> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES {
        if let Ok(block) = returned.try_recv() {
            reader.recycle(block);
        }
        let Some(item) = reader.next()? else { return Ok((batch, bytes, false)) };
        if let Item::Block(block) = &item {
            bytes += block.size();
        }
        batch.push(item);
    }
    Ok((batch, bytes, true))
}
