//! Reads ahead: one thread reads and decompresses a reel while another works on the blocks before.

use super::reader::{Block, Item, ReelReader};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

/// The default limit for blocks that are read ahead or in use, in bytes; a single larger block is allowed.
pub(crate) const MAX_BORROWED_BYTES: usize = 1 << 20;
/// Blocks are handed over in batches of at least this many bytes, since waking a thread costs more than a small block.
const BATCH_BYTES: usize = 256 << 10;

/// A batch from the thread: items, and the method names that appear in them for the first time.
struct Batch {
    items: Vec<Item>,
    methods: Vec<Box<str>>,
    share: BudgetPermit,
}

/// Counts the bytes in use, and wakes a waiting thread when there are fewer.
#[derive(Debug)]
struct Gauge {
    max: usize,
    out: Mutex<Out>,
    less: Condvar,
}

#[derive(Debug, Default)]
struct Out {
    bytes: usize,
    /// The reader thread is waiting.
    is_awaited: bool,
}

impl Gauge {
    fn has_space(&self, bytes: usize) -> bool {
        self.fits(self.out.lock().bytes, bytes)
    }

    /// Waits until this number of bytes fits.
    fn wait(&self, bytes: usize) {
        let is_full = |out: &mut Out| {
            out.is_awaited = !self.fits(out.bytes, bytes);
            out.is_awaited
        };
        self.less.wait_while(&mut self.out.lock(), is_full);
    }

    fn take(self: &Arc<Self>, bytes: usize) -> BudgetPermit {
        self.out.lock().bytes += bytes;
        BudgetPermit { bytes, gauge: Arc::clone(self) }
    }

    fn fits(&self, out: usize, more: usize) -> bool {
        out == 0 || out + more <= self.max
    }
}

/// A block's part of the bytes in use, or that of a batch without its blocks.
#[derive(Debug)]
pub(super) struct BudgetPermit {
    bytes: usize,
    gauge: Arc<Gauge>,
}

impl Drop for BudgetPermit {
    fn drop(&mut self) {
        let mut out = self.gauge.out.lock();
        out.bytes -= self.bytes;
        if out.is_awaited {
            self.gauge.less.notify_one();
        }
    }
}

/// Takes back blocks, so that their memory is used again.
#[derive(Clone, Debug)]
pub(crate) struct BlockPool(Sender<Block>);

impl BlockPool {
    /// Gives a block back.
    pub(crate) fn recycle(&self, mut block: Block) {
        let share = block.share.take();
        block.shed();
        // If the reader no longer exists, the block is dropped.
        let _ = self.0.send(block);
        drop(share);
    }
}

/// A reader that reads ahead.
pub(crate) struct AheadReader {
    batches: Receiver<io::Result<Batch>>,
    items: std::vec::IntoIter<Item>,
    share: Option<BudgetPermit>,
    /// The error to return after the items.
    failed: Option<io::Error>,
    returns: BlockPool,
    methods: Vec<Box<str>>,
}

impl AheadReader {
    /// Starts reading ahead. Blocks come with their payloads if the reader loads them.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub(crate) fn start(reader: ReelReader) -> io::Result<Self> {
        Self::within(reader, MAX_BORROWED_BYTES)
    }

    /// Does the same with a limit of `max` bytes for blocks in use; a single larger block is allowed.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub(crate) fn within(reader: ReelReader, max: usize) -> io::Result<Self> {
        let (sender, batches) = channel();
        let (spent, returned) = channel();
        let methods = reader.methods().to_vec();
        let known = methods.len();
        let gauge = Arc::new(Gauge { max, out: Mutex::default(), less: Condvar::default() });
        let worker = Worker { reader, known, batches: sender, returned, gauge, items: Vec::new() };
        let work = move || worker.run();
        std::thread::Builder::new().name("reader".into()).spawn(work)?;
        Ok(Self {
            batches,
            items: Vec::new().into_iter(),
            share: None,
            failed: None,
            returns: BlockPool(spent),
            methods,
        })
    }

    /// Returns the next item; `None` at the end.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub(crate) fn next(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.items.next() {
                return Ok(Some(item));
            }
            self.share = None;
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            let Ok(handed) = self.batches.recv() else { return Ok(None) };
            self.take(handed?);
        }
    }

    fn take(&mut self, batch: Batch) {
        self.methods.extend(batch.methods);
        self.items = batch.items.into_iter();
        self.share = Some(batch.share);
    }

    /// Returns whether [`AheadReader::next`] would have to wait. A caller that keeps blocks must give them back before
    /// it waits: the reader may need their memory.
    pub(crate) fn would_wait(&mut self) -> bool {
        if !self.items.as_slice().is_empty() {
            return false;
        }
        match self.batches.try_recv() {
            Ok(Ok(batch)) => self.take(batch),
            Ok(Err(error)) => self.failed = Some(error),
            Err(TryRecvError::Disconnected) => {}
            Err(TryRecvError::Empty) => return true,
        }
        false
    }

    /// Returns the method names, by the numbers in event headers.
    pub(crate) fn methods(&self) -> &[Box<str>] {
        &self.methods
    }

    /// Gives a block back, so that its memory is used again.
    pub(crate) fn recycle(&self, block: Block) {
        self.returns.recycle(block);
    }

    /// Returns the pool through which others can give blocks back.
    pub(crate) fn returns(&self) -> BlockPool {
        self.returns.clone()
    }
}

/// The state of the thread.
struct Worker {
    reader: ReelReader,
    /// The number of method names that were handed over.
    known: usize,
    batches: Sender<io::Result<Batch>>,
    returned: Receiver<Block>,
    gauge: Arc<Gauge>,
    /// The items of the next batch.
    items: Vec<Item>,
}

impl Worker {
    fn run(mut self) {
        loop {
            match self.next_items() {
                Ok(more) => {
                    if !self.hand_over() || !more {
                        return;
                    }
                }
                Err(error) => {
                    let _ = self.hand_over() && self.batches.send(Err(error)).is_ok();
                    return;
                }
            }
        }
    }

    /// Collects the next items. Returns whether there may be more.
    fn next_items(&mut self) -> io::Result<bool> {
        // From a pipe, hand over each item at once: the next one may come much later.
        let enough = if self.reader.is_seekable() { BATCH_BYTES } else { 1 };
        let mut bytes = 0;
        while bytes < enough {
            let size = self.reader.next_size()?;
            if !self.gauge.has_space(size) {
                if !self.items.is_empty() {
                    return Ok(true);
                }
                self.gauge.wait(size);
            }
            if let Ok(block) = self.returned.try_recv() {
                self.reader.recycle(block);
            }
            let Some(mut item) = self.reader.next()? else { return Ok(false) };
            bytes += size_of::<Item>();
            if let Item::Block(block) = &mut item {
                bytes += block.size();
                block.share = Some(self.gauge.take(block.size()));
            }
            self.items.push(item);
        }
        Ok(true)
    }

    /// Hands the batch over. Returns whether there is still a receiver.
    fn hand_over(&mut self) -> bool {
        let items = std::mem::take(&mut self.items);
        let share = self.gauge.take(items.len() * size_of::<Item>());
        let methods = self.reader.methods()[self.known..].to_vec();
        self.known += methods.len();
        self.batches.send(Ok(Batch { items, methods, share })).is_ok()
    }
}
