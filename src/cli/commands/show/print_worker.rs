//! Printing on a separate thread while the following events are processed. Descriptions are passed to the thread as
//! text, and events as the blocks in which they were read, so that no payload is copied.

use crate::render::output_buffer::OutputBuffer;
use crate::trace::{Block, BlockPool, Event};
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// The number of bytes that are passed on at once: waking a thread costs more than printing a few small messages.
const BATCH_BYTES: usize = 128 << 10;

/// What to print: text, and events at certain places in it.
#[derive(Debug, Default)]
struct PrintBatch {
    text: Vec<u8>,
    marks: Vec<Mark>,
    blocks: Vec<Block>,
    /// The size of the blocks, in bytes.
    held: usize,
}

/// Where an event is to be printed.
#[derive(Debug)]
struct Mark {
    /// The length of the text before it.
    after: usize,
    /// The index of its block in the batch, and its own index in the block.
    block: usize,
    event: usize,
}

impl PrintBatch {
    fn print(&self, print: impl Fn(&Event<'_>, &mut OutputBuffer<File>), out: &mut OutputBuffer<File>) {
        let mut start = 0;
        for mark in &self.marks {
            out.append(&self.text[start..mark.after]);
            start = mark.after;
            let block = self.blocks.get(mark.block);
            if let Some(event) = block.and_then(|block| Some(block.event(block.headers.get(mark.event)?))) {
                print(&event, out);
            }
        }
        out.append(&self.text[start..]);
    }

    fn clear(&mut self, returns: &BlockPool) {
        self.blocks.drain(..).for_each(|block| returns.recycle(block));
        self.text.clear();
        self.marks.clear();
        self.held = 0;
    }
}

/// The thread, and the batch for it that is being filled.
pub(super) struct PrintWorker {
    batch: PrintBatch,
    ready: Option<SyncSender<PrintBatch>>,
    spent: Receiver<PrintBatch>,
    returns: BlockPool,
    worker: Option<JoinHandle<io::Result<()>>>,
}

impl PrintWorker {
    /// Starts a thread that prints to `out`, and events with `print`. Printed blocks are returned to `returns`.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub(super) fn start(
        print: impl Fn(&Event<'_>, &mut OutputBuffer<File>) + Send + 'static,
        out: File,
        returns: BlockPool,
    ) -> io::Result<Self> {
        // Some batches may wait, so that neither thread has to be woken in time for the other.
        let (ready, batches) = sync_channel(3);
        let (back, spent) = channel();
        let work = {
            let returns = returns.clone();
            move || work(print, out, &batches, &back, &returns)
        };
        let worker = std::thread::Builder::new().name("print-worker".into()).spawn(work)?;
        Ok(Self { batch: PrintBatch::default(), ready: Some(ready), spent, returns, worker: Some(worker) })
    }

    /// The text to print next.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.batch.text
    }

    /// Prints an event of the block that is passed to [`Self::take`] next, by its index.
    pub(super) fn event(&mut self, event: usize) {
        self.batch.marks.push(Mark { after: self.batch.text.len(), block: self.batch.blocks.len(), event });
    }

    /// Takes the block whose events were added.
    ///
    /// # Errors
    ///
    /// Earlier output could not be written.
    pub(super) fn take(&mut self, block: Block) -> io::Result<()> {
        if self.batch.marks.last().is_none_or(|mark| mark.block < self.batch.blocks.len()) {
            // None of its events is printed.
            self.returns.recycle(block);
        } else {
            self.batch.held += block.size();
            self.batch.blocks.push(block);
        }
        if self.batch.held + self.batch.text.len() < BATCH_BYTES { Ok(()) } else { self.hand_over() }
    }

    /// Passes the batch to the thread.
    ///
    /// # Errors
    ///
    /// Earlier output could not be written.
    pub(super) fn hand_over(&mut self) -> io::Result<()> {
        if self.batch.text.is_empty() && self.batch.blocks.is_empty() {
            return Ok(());
        }
        let next = self.spent.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, next);
        match self.ready.as_ref().map(|ready| ready.send(batch)) {
            Some(Ok(())) => Ok(()),
            _ => self.end(),
        }
    }

    /// Prints what is left, and waits until everything is written.
    ///
    /// # Errors
    ///
    /// Some output could not be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.hand_over()?;
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.ready = None;
        let ended = self.worker.take().map(JoinHandle::join);
        ended.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(io::Error::other("the printing thread failed")))
    }
}

impl Drop for PrintWorker {
    fn drop(&mut self) {
        // If something failed, what was shown before is still printed.
        let _ = self.finish();
    }
}

fn work(
    print: impl Fn(&Event<'_>, &mut OutputBuffer<File>),
    file: File,
    batches: &Receiver<PrintBatch>,
    back: &Sender<PrintBatch>,
    returns: &BlockPool,
) -> io::Result<()> {
    let mut out = OutputBuffer::new(file);
    loop {
        let mut batch = match batches.try_recv() {
            Ok(batch) => batch,
            Err(_) => {
                // What was printed must not wait for the next batch.
                out.flush()?;
                let Ok(batch) = batches.recv() else { return Ok(()) };
                batch
            }
        };
        batch.print(&print, &mut out);
        batch.clear(returns);
        out.failure()?;
        // At the end, there is no receiver.
        let _ = back.send(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{
        AheadReader, EventKind, FileHeader, Flags, Item, NewEvent, ReelReader, ReelWriter, WriterOptions,
    };
    use crate::wire::Framing;
    use std::fs;

    /// A reel with these payloads, read ahead.
    fn reel(payloads: impl Iterator<Item = Vec<u8>>) -> AheadReader {
        let mut writer =
            ReelWriter::create(Vec::new(), &FileHeader::default(), WriterOptions::default()).expect("a Vec takes all");
        for payload in payloads {
            let (kind, flags, framing) = (EventKind::Message, Flags::default(), Framing::Lf);
            let event = NewEvent { time: 0, stream: 0, exchange: 0, kind, flags, framing, payload: &payload };
            writer.append(event).expect("a Vec takes all");
        }
        let (bytes, _) = writer.finish().expect("a Vec takes all");
        let reader = ReelReader::from_stream(Box::new(io::Cursor::new(bytes))).expect("a reel");
        AheadReader::start(reader.with_payloads()).expect("a thread")
    }

    fn payloads() -> impl Iterator<Item = Vec<u8>> {
        // Some are larger than what may be in use at a time.
        let length = |number: usize| if number % 1000 == 700 { (1 << 20) + number } else { number % 90 };
        (0..5000).map(move |number| vec![b'a' + (number % 26) as u8; length(number)])
    }

    fn print_worker(reader: &AheadReader, file: File) -> PrintWorker {
        let print = |event: &Event<'_>, out: &mut OutputBuffer<File>| out.append(event.payload);
        PrintWorker::start(print, file, reader.returns()).expect("a thread")
    }

    fn next(reader: &mut AheadReader, print_worker: &mut PrintWorker) -> Option<Item> {
        if reader.would_wait() {
            let _ = print_worker.hand_over();
        }
        reader.next().expect("reading works")
    }

    #[test]
    fn events_are_printed_in_their_places() {
        for each in [1, 2, 900] {
            let home = tempfile::tempdir().expect("a folder");
            let path = home.path().join("out");
            let mut reader = reel(payloads());
            let mut print_worker = print_worker(&reader, File::create(&path).expect("a file"));
            let mut wanted = Vec::new();
            while let Some(item) = next(&mut reader, &mut print_worker) {
                let Item::Block(block) = item else { panic!("{item:?}") };
                for (place, header) in block.headers.iter().enumerate().filter(|(_, header)| header.seq % each == 0) {
                    print_worker.text().extend_from_slice(format!("{}\n", header.seq).as_bytes());
                    print_worker.event(place);
                    print_worker.text().push(b';');
                    wanted.extend_from_slice(format!("{}\n", header.seq).as_bytes());
                    wanted.extend_from_slice(block.event(header).payload);
                    wanted.push(b';');
                }
                print_worker.take(block).expect("written");
            }
            print_worker.finish().expect("written");
            assert!(fs::read(&path).expect("a file") == wanted);
        }
    }

    #[test]
    fn what_cannot_be_written_is_reported() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("out");
        fs::write(&path, "").expect("a file");
        let mut reader = reel(payloads());
        let mut print_worker = print_worker(&reader, File::open(&path).expect("a file"));
        let mut outcome = Ok(());
        while let (Ok(()), Some(item)) = (&outcome, next(&mut reader, &mut print_worker)) {
            let Item::Block(block) = item else { panic!("{item:?}") };
            (0..block.headers.len()).for_each(|place| print_worker.event(place));
            outcome = print_worker.take(block);
        }
        assert!(outcome.and_then(|()| print_worker.finish()).is_err());
    }
}
