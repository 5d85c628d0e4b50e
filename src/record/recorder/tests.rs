use super::*;
use crate::record::storage::{ReelLoss, SingleReel};
use crate::trace::{Item, ReelReader};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::VecDeque;
use std::io::Write;

/// A sink that fails on demand.
#[derive(Clone, Default)]
struct Flaky {
    bytes: Arc<Mutex<Vec<u8>>>,
    space: Arc<Mutex<Option<usize>>>,
    is_limited: bool,
    loss: Arc<Mutex<Option<ReelLoss>>>,
}

impl Write for Flaky {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.bytes.lock();
        let space = self.space.lock().map_or(bytes.len(), |space| space.min(bytes.len()));
        if space == 0 {
            let is_final = if self.is_limited { io::ErrorKind::FileTooLarge } else { io::ErrorKind::StorageFull };
            return Err(io::Error::from(is_final));
        }
        held.extend_from_slice(&bytes[..space]);
        if let Some(left) = self.space.lock().as_mut() {
            *left -= space;
        }
        Ok(space)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Flaky {
    fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        let mut held = self.bytes.lock();
        let cut = held.len().saturating_sub(offset as usize);
        held.truncate(offset as usize);
        if let Some(left) = self.space.lock().as_mut().filter(|_| self.is_limited) {
            *left += cut;
        }
        Ok(())
    }

    fn loss(&self, _end: u64) -> Option<ReelLoss> {
        *self.loss.lock()
    }
}

/// A sequence of sinks; at each `None`, no sink is available.
struct SinkSequence(VecDeque<Option<Flaky>>);

impl ReelStore for SinkSequence {
    type Sink = Flaky;

    fn next(&mut self) -> io::Result<Flaky> {
        self.0.pop_front().flatten().ok_or_else(|| io::Error::other("there is no place"))
    }
}

fn shelf(sinks: &[Option<&Flaky>]) -> SinkSequence {
    SinkSequence(sinks.iter().map(|sink| sink.cloned()).collect())
}

fn kinds(sink: &Flaky) -> Vec<EventKind> {
    events(&sink.bytes.lock()).into_iter().map(|event| event.0).collect()
}

fn options(complaints: &Arc<Mutex<Vec<String>>>) -> RecorderOptions {
    let complaints = Arc::clone(complaints);
    RecorderOptions {
        header: FileHeader::default(),
        queue_bytes: 1 << 20,
        on_overload: OnOverload::Block,
        is_required: false,
        complain: Box::new(move |text| complaints.lock().push(text.to_owned())),
        redaction: None,
    }
}

fn events(bytes: &[u8]) -> Vec<(EventKind, Framing, Vec<u8>)> {
    let mut reader =
        ReelReader::from_stream(Box::new(io::Cursor::new(bytes.to_vec()))).expect("a reel").with_payloads();
    let mut found = Vec::new();
    while let Some(item) = reader.next().expect("reads") {
        let Item::Block(block) = item else { panic!("damage: {item:?}") };
        found.extend(block.events().map(|event| (event.header.kind, event.header.framing, event.payload.to_vec())));
    }
    found
}

#[test]
fn chunks_become_frames_and_ends_are_kept() {
    let sink = Flaky::default();
    let complaints = Arc::default();
    let recorder = Recorder::start(SingleReel::new(sink.clone()), options(&complaints)).expect("starts");
    let lane = ChunkSource::Messages(Direction::ServerToClient);
    recorder.queue().push(lane, b"{\"a\":1}\n{\"b\"");
    recorder.queue().push(ChunkSource::Stderr, b"warn");
    recorder.queue().push(lane, b":2}\nlast");
    recorder.queue().end(lane);
    let summary = recorder.finish();
    assert_eq!((summary.events, summary.lost_bytes, summary.failure), (4, 0, None));
    let found = events(&sink.bytes.lock());
    assert_eq!(found[0], (EventKind::Message, Framing::Lf, b"{\"a\":1}".to_vec()));
    assert_eq!(found[1], (EventKind::Stderr, Framing::Whole, b"warn".to_vec()));
    assert_eq!(found[2], (EventKind::Message, Framing::Lf, b"{\"b\":2}".to_vec()));
    assert_eq!(found[3], (EventKind::Message, Framing::Unterminated, b"last".to_vec()));
    assert!(complaints.lock().is_empty());
}

#[test]
fn a_full_disk_is_reported_once_and_noted_when_there_is_space_again() {
    let sink = Flaky::default();
    let complaints = Arc::default();
    let recorder = Recorder::start(SingleReel::new(sink.clone()), options(&complaints)).expect("starts");
    *sink.space.lock() = Some(30);
    let lane = ChunkSource::Messages(Direction::ClientToServer);
    let line = [b"{\"x\":\"", "y".repeat(70_000).as_bytes(), b"\"}\n"].concat();
    recorder.queue().push(lane, &line);
    while complaints.lock().is_empty() {
        std::thread::yield_now();
    }
    recorder.queue().push(lane, b"{\"lost\":1}\n");
    *sink.space.lock() = None;
    let summary = recorder.finish();
    assert!(summary.failure.is_some());
    assert_eq!(complaints.lock().len(), 1);
    let found = events(&sink.bytes.lock());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, EventKind::Gap);
    assert!(summary.lost_bytes >= 70_000);
}

#[test]
fn a_reel_that_is_lost_is_followed_by_one_that_can_be_read_alone() {
    for (loss, has_gap) in [(ReelLoss::Removed, true), (ReelLoss::Cut, true), (ReelLoss::Moved, false)] {
        let (first, second) = (Flaky::default(), Flaky::default());
        let complaints = Arc::default();
        let store = shelf(&[Some(&first), Some(&second)]);
        let recorder = Recorder::start(store, options(&complaints)).expect("starts");
        recorder.note(EventKind::StreamOpened, &json!({"command": "x"}));
        recorder.queue().push(ChunkSource::Messages(Direction::ClientToServer), b"{}\n");
        *first.loss.lock() = Some(loss);
        let status = Arc::clone(recorder.status());
        let summary = recorder.finish();
        let mut wanted = vec![EventKind::StreamOpened, EventKind::Note];
        wanted.extend(has_gap.then_some(EventKind::Gap));
        assert_eq!(kinds(&second), wanted, "{loss:?}");
        assert_eq!(kinds(&first).len(), 2, "{loss:?}");
        assert_eq!(summary.lost_bytes > 0, has_gap, "{loss:?}");
        let reported = complaints.lock();
        assert!(matches!(&reported[..], [reported] if reported.contains(&loss.to_string())), "{reported:?}");
        assert_eq!((&status.details()["recording"]["active"], status.given_up()), (&json!(true), None));
    }
}

#[test]
fn a_reel_at_its_limit_is_left_whole_and_another_takes_the_rest() {
    let limited = || Flaky { is_limited: true, ..Flaky::default() };
    let (first, second) = (limited(), limited());
    *first.space.lock() = Some(200_000);
    let complaints = Arc::default();
    let mut settings = options(&complaints);
    settings.queue_bytes = 4 << 20;
    let recorder = Recorder::start(shelf(&[Some(&first), Some(&second)]), settings).expect("starts");
    let lane = ChunkSource::Messages(Direction::ClientToServer);
    let random: Vec<u8> = (0..600_000).map(|_| fastrand::u8(b'a'..=b'z')).collect();
    for piece in random.chunks(1000) {
        recorder.queue().push(lane, &[piece, b"\n"].concat());
    }
    let summary = recorder.finish();
    let (kept, rest) = (kinds(&first).len() as u64, kinds(&second));
    assert_eq!((rest[0], rest[1]), (EventKind::Note, EventKind::Gap));
    assert!(summary.lost_bytes > 0 && kept + rest.len() as u64 >= 300, "{kept}, {}", rest.len());
    assert_eq!(summary.events, kept + rest.len() as u64);
}

#[test]
fn a_recording_that_cannot_begin_begins_when_it_can_and_one_that_is_required_is_given_up() {
    let sink = Flaky::default();
    let complaints = Arc::default();
    let recorder = Recorder::start(shelf(&[None, Some(&sink)]), options(&complaints)).expect("starts");
    assert_eq!(recorder.status().details()["recording"]["active"], false);
    recorder.note(EventKind::StreamOpened, &json!({}));
    let summary = recorder.finish();
    assert_eq!(kinds(&sink), [EventKind::StreamOpened, EventKind::Gap]);
    assert_eq!(summary.failure.as_deref(), Some("there is no place"));
    let settings = RecorderOptions { is_required: true, ..options(&complaints) };
    let recorder = Recorder::start(shelf(&[None, Some(&Flaky::default())]), settings).expect("starts");
    assert_eq!(recorder.status().given_up().as_deref(), Some("there is no place"));
    assert_eq!(recorder.finish().events, 0);
}
