//! Reading ahead: a reel is read and decompressed on a thread of its own while the blocks before are worked on.

use super::reader::{Block, Item, ReelReader};
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks of so many bytes at most are out, read ahead or worked on, or one that is larger, where nothing else is said.
pub const MAX_OUT: usize = 1 << 20;
/// Blocks are handed over when there are so many bytes of them: waking a thread costs more than working on a small one.
const BATCH_BYTES: usize = 256 << 10;

/// What the thread hands over: items, and the method names that were met in them for the first time.
struct Batch {
    items: Vec<Item>,
    methods: Vec<Box<str>>,
    share: BudgetPermit,
}

/// What is out, told to whoever waits for it to be less.
#[derive(Debug)]
struct Gauge {
    most: usize,
    out: Mutex<Out>,
    less: Condvar,
}

#[derive(Debug, Default)]
struct Out {
    bytes: usize,
    /// The thread waits.
    is_awaited: bool,
}

impl Gauge {
    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.fits(self.lock().bytes, bytes)
    }

    /// Waits until there is room for so many bytes.
    fn wait(&self, bytes: usize) {
        let is_full = |out: &mut Out| {
            out.is_awaited = !self.fits(out.bytes, bytes);
            out.is_awaited
        };
        drop(self.less.wait_while(self.lock(), is_full));
    }

    fn take(self: &Arc<Self>, bytes: usize) -> BudgetPermit {
        self.lock().bytes += bytes;
        BudgetPermit { bytes, gauge: Arc::clone(self) }
    }

    fn fits(&self, out: usize, more: usize) -> bool {
        out == 0 || out + more <= self.most
    }
}

/// The part of a block, or of a batch beside its blocks, in what is out.
#[derive(Debug)]
pub(super) struct BudgetPermit {
    bytes: usize,
    gauge: Arc<Gauge>,
}

impl Drop for BudgetPermit {
    fn drop(&mut self) {
        let mut out = self.gauge.lock();
        out.bytes -= self.bytes;
        if out.is_awaited {
            self.gauge.less.notify_one();
        }
    }
}

/// Where blocks are given back, so that their memory serves again.
#[derive(Clone, Debug)]
pub struct BlockPool(Sender<Block>);

impl BlockPool {
    /// Gives a block back.
    pub fn recycle(&self, mut block: Block) {
        let share = block.share.take();
        block.shed();
        // A reader that is gone has no use for it.
        let _ = self.0.send(block);
        drop(share);
    }
}

/// A reader that works ahead.
pub struct AheadReader {
    batches: Receiver<io::Result<Batch>>,
    items: std::vec::IntoIter<Item>,
    share: Option<BudgetPermit>,
    /// What is told when the items are used up.
    failed: Option<io::Error>,
    returns: BlockPool,
    methods: Vec<Box<str>>,
}

impl AheadReader {
    /// Starts reading ahead. Blocks come with their payloads where the reader is told to load them.
    pub fn start(reader: ReelReader) -> io::Result<Self> {
        Self::within(reader, MAX_OUT)
    }

    /// The same with so many bytes of blocks out at most, or one block that is larger.
    pub fn within(reader: ReelReader, most: usize) -> io::Result<Self> {
        let (sender, batches) = channel();
        let (spent, returned) = channel();
        let methods = reader.methods().to_vec();
        let known = methods.len();
        let gauge = Arc::new(Gauge { most, out: Mutex::default(), less: Condvar::default() });
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

    /// The next item; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "as ReelReader::next")]
    pub fn next(&mut self) -> io::Result<Option<Item>> {
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

    /// Whether [`AheadReader::next`] would have to wait. Who keeps blocks must let go of them before: the wait may be
    /// for them.
    pub fn would_wait(&mut self) -> bool {
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

    /// Method names by the numbers that headers hold.
    pub fn methods(&self) -> &[Box<str>] {
        &self.methods
    }

    /// Gives a block back, so that its memory serves again.
    pub fn recycle(&self, block: Block) {
        self.returns.recycle(block);
    }

    /// Where others can give blocks back.
    pub fn returns(&self) -> BlockPool {
        self.returns.clone()
    }
}

/// What the thread works with.
struct Worker {
    reader: ReelReader,
    /// How many of the method names were handed over.
    known: usize,
    batches: Sender<io::Result<Batch>>,
    returned: Receiver<Block>,
    gauge: Arc<Gauge>,
    /// What is to be handed over next.
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

    /// Gathers the next items. Answers whether there may be more.
    fn next_items(&mut self) -> io::Result<bool> {
        // What comes through a pipe does not wait for what may come after it.
        let enough = if self.reader.is_seekable() { BATCH_BYTES } else { 1 };
        let mut bytes = 0;
        while bytes < enough {
            let size = self.reader.next_size()?;
            if !self.gauge.has_room(size) {
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

    /// Answers whether anybody takes it.
    fn hand_over(&mut self) -> bool {
        let items = std::mem::take(&mut self.items);
        let share = self.gauge.take(items.len() * size_of::<Item>());
        let methods = self.reader.methods()[self.known..].to_vec();
        self.known += methods.len();
        self.batches.send(Ok(Batch { items, methods, share })).is_ok()
    }
}
