//! Reading ahead: a reel is read and decompressed on a thread of its own while the blocks before are worked on.

use super::reader::{Block, Item, ReelReader};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// How many items may wait.
const DEPTH: usize = 4;

/// What the thread hands over: an item, and the method names that were met in it for the first time.
type Handed = io::Result<(Item, Vec<Box<str>>)>;

/// A reader that works ahead. Blocks come with their payloads.
pub struct AheadReader {
    items: Receiver<Handed>,
    spent: Sender<Block>,
    methods: Vec<Box<str>>,
}

impl AheadReader {
    /// Starts reading ahead.
    pub fn start(reader: ReelReader) -> io::Result<Self> {
        let (sender, items) = sync_channel(DEPTH);
        let (spent, returned) = channel();
        let reader = reader.with_payloads();
        let methods = reader.methods().to_vec();
        let known = methods.len();
        std::thread::Builder::new().name("reader".into()).spawn(move || read(reader, known, &sender, &returned))?;
        Ok(Self { items, spent, methods })
    }

    /// The next item; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "as ReelReader::next")]
    pub fn next(&mut self) -> io::Result<Option<Item>> {
        let Ok(handed) = self.items.recv() else { return Ok(None) };
        let (item, new) = handed?;
        self.methods.extend(new);
        Ok(Some(item))
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

fn read(mut reader: ReelReader, mut known: usize, items: &SyncSender<Handed>, returned: &Receiver<Block>) {
    loop {
        if let Ok(block) = returned.try_recv() {
            reader.recycle(block);
        }
        let handed = match reader.next() {
            Ok(None) => return,
            Ok(Some(item)) => {
                let new = reader.methods()[known..].to_vec();
                known += new.len();
                Ok((item, new))
            }
            Err(error) => Err(error),
        };
        if handed.is_err() {
            let _ = items.send(handed);
            return;
        }
        if items.send(handed).is_err() {
            return;
        }
    }
}
