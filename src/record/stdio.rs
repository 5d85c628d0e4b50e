//! Recording over stdio. A client starts mcpreel in place of its server. mcpreel starts the server, relays both
//! directions and standard error, forwards signals, closes what either side closes, and exits with the server's status.

use super::answer_filter::AnswerFilter;
use super::injectable_writer::{InjectableWriter, Sink};
use super::queue::{ChunkSource, Queue, Ready};
use super::recorder::{Recorder, Summary};
use super::relay::{Activity, Ended, Messages, PlainRelay, RelayHandler, pump};
use super::startup_error;
use crate::platform::ignored_signals;
use crate::process::child::{ServerCommand, SpawnError};
use crate::process::stand_in::{InnerEnds, Signalled, StoodInServer};
use crate::process::threads;
use crate::redact;
use crate::sessions::answers::Answers;
use crate::sessions::control::{Control, InjectionProgress, Session};
use crate::sessions::recording_status::RecordingStatus;
use crate::trace::{EventKind, Opened, TransportEvent};
use crate::wire::Direction;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGWINCH,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Origin;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long the output of a dead server's descendants may be silent before mcpreel exits.
const ORPHAN_GRACE: Duration = Duration::from_millis(250);
/// How often that output is checked.
const ORPHAN_INTERVAL: Duration = Duration::from_millis(25);

/// How long to wait for the relay of what the client has already sent. It takes microseconds, unless the input has ended.
const FIRST_INPUT: Duration = Duration::from_millis(5);

/// How long a server may take to exit after SIGTERM if its session cannot be recorded.
const TERM_GRACE: Duration = Duration::from_secs(5);

/// The signals that are forwarded to the server: all that a process can catch, but for those of a fault in mcpreel's own
/// code, of its own children and pipes, those that stop it (its client could not start it again if the server went on), and
/// real-time signals, which have no names.
const FORWARDED: [i32; 14] = [
    SIGABRT, SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGWINCH,
];

/// How a recorded session ended.
#[derive(Debug)]
pub(crate) struct TapOutcome {
    /// How the server exited. Nobody knows it if the client was gone before.
    pub status: Option<ExitStatus>,
    /// How recording went.
    pub summary: Summary,
}

/// What the relay and signal threads report to the waiting thread.
enum TapNotice {
    /// A lane ended.
    Ended(ChunkSource),
    /// A signal arrived after the server's exit.
    Signal,
}

/// Where the server's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToClient {
    /// To standard output, where a client reads it.
    Stdout,
    /// Only into the reel, which is written to standard output.
    Nowhere,
}

/// The live session, for its control socket.
struct Live {
    ways: [Arc<RelayDirection>; 2],
    to_client: ToClient,
}

impl Session for Live {
    fn put(
        &self,
        toward: Direction,
        stream: u32,
        message: &[u8],
        deadline: Instant,
    ) -> Result<InjectionProgress, String> {
        if stream != 0 {
            return Err(format!("there is no stream {stream}: a session over stdio has only stream 0"));
        }
        if toward == Direction::ServerToClient && self.to_client == ToClient::Nowhere {
            return Err("this session has no client: its reel is written to standard output".to_owned());
        }
        let put = self.ways[toward as usize].writer.inject(message, deadline);
        put.map(|()| InjectionProgress::Written).map_err(|why| why.to_string())
    }
}

/// What a reel says about a server that is started. Secrets in its command line are redacted.
pub(crate) fn described(server: &ServerCommand) -> Opened {
    Opened {
        command: Some(redact::redact_arguments(&server.words())),
        cwd: server.folder(),
        env: server.env_names().into_iter().map(str::to_owned).collect(),
        ..Opened::over("stdio")
    }
}

/// Runs the session to its end. `describe` is what the reel records about the server; it must not contain secrets.
/// `control` is the session's control socket.
///
/// # Errors
/// The server or a thread cannot be started. Then there is no server, and nothing was read from the client.
pub(crate) fn run(
    command: &ServerCommand,
    recorder: Recorder,
    to_client: ToClient,
    control: Option<Control>,
    mut describe: Opened,
) -> Result<TapOutcome, SpawnError> {
    // Signals are caught from here on, so that an early one reaches the server, too. Signals that were ignored stay
    // ignored, also for the server.
    let caught = FORWARDED.into_iter().filter(|signal| !ignored_signals::contains(*signal));
    let signals = SignalsInfo::<WithOrigin>::new(caught).map_err(SpawnError::Tap)?;
    let recording = Arc::clone(recorder.status());
    let (sender, notices) = channel();
    let server_gone = Arc::new(AtomicBool::new(false));
    let was_signalled = Arc::new(AtomicBool::new(false));
    let answers = Arc::new(Answers::default());
    // All threads exist before the server does: a server whose traffic nobody relays must not be started.
    let (input_line, output_line) = (StartingLine::default(), StartingLine::default());
    let flags = [&server_gone, &was_signalled].map(Arc::clone);
    pass_signals_on(signals, &input_line, flags, sender.clone(), recorder.queue()).map_err(SpawnError::Tap)?;
    let ((to_server, from_server, stderr), inner_ends) = pipes().map_err(SpawnError::Tap)?;
    let lanes = Lanes { queue: recorder.queue(), notices: &sender, input_line: &input_line, output_line: &output_line };
    let outer_ends = (to_server, from_server, stderr);
    let (input, output, ways) = lanes.start(outer_ends, to_client, &answers).map_err(SpawnError::Tap)?;
    let mut server = StoodInServer::start(command, inner_ends)?;
    describe.pid = Some(server.signalled().pid());
    recorder.note(EventKind::StreamOpened, &describe);
    if let Some(control) = control {
        control.start(Arc::new(Live { ways: ways.clone(), to_client }), answers);
    }
    startup_error::begin();
    input_line.go(server.signalled());
    // What the client has already sent comes before what the server says without being asked.
    wait_for_first_input(&input);
    output_line.go(server.signalled());
    end_without_recording(&recording, server.signalled(), &server_gone);
    let status = server.wait();
    server_gone.store(true, Ordering::Release);
    wait_for_output(&notices, &output);
    ways.iter().for_each(|way| way.let_go());
    // An unfinished message of an open lane must precede the end of the stream.
    recorder.queue().end(ChunkSource::Messages(Direction::ClientToServer));
    recorder.queue().end(ChunkSource::Messages(Direction::ServerToClient));
    recorder.note_end(status, !was_signalled.load(Ordering::Acquire), Some("server exit"));
    Ok(TapOutcome { status, summary: recorder.finish() })
}

/// Waits a moment until what the client has already sent is being relayed.
fn wait_for_first_input(input: &Activity) {
    let (stdin, at_once) = (rustix::stdio::stdin(), Timespec { tv_sec: 0, tv_nsec: 0 });
    let began = Instant::now();
    let is_waiting = matches!(poll(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], Some(&at_once)), Ok(1..));
    while is_waiting && input.moved.load(Ordering::Acquire) == 0 && began.elapsed() < FIRST_INPUT {
        std::thread::yield_now();
    }
}

/// Our ends of the server's standard input, standard output and standard error.
type OuterEnds = (PipeWriter, PipeReader, PipeReader);

fn pipes() -> io::Result<(OuterEnds, InnerEnds)> {
    let (stdin, to_server) = io::pipe()?;
    let (from_server, stdout) = io::pipe()?;
    let (errors, stderr) = io::pipe()?;
    Ok(((to_server, from_server, errors), (stdin, stdout, stderr)))
}

/// Where the threads of a session wait until the server runs. If it does not start, they end and have touched nothing.
#[derive(Default)]
struct StartingLine(Arc<OnceLock<Option<Arc<Signalled>>>>);

impl StartingLine {
    /// Lets the threads begin.
    fn go(&self, server: Arc<Signalled>) {
        let _ = self.0.set(Some(server));
    }

    /// Starts a thread that begins when the server runs, which it gets.
    fn thread(&self, name: &str, run: impl FnOnce(Arc<Signalled>) + Send + 'static) -> io::Result<()> {
        let server = Arc::clone(&self.0);
        let begin = move || {
            if let Some(server) = server.wait() {
                run(Arc::clone(server));
            }
        };
        threads::start(name, begin).map(drop)
    }
}

impl Drop for StartingLine {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

/// Ends the server when its recording is given up: sends SIGTERM, then SIGKILL.
fn end_without_recording(status: &RecordingStatus, server: Arc<Signalled>, server_gone: &Arc<AtomicBool>) {
    let server_gone = Arc::clone(server_gone);
    status.when_given_up(move || {
        let at_once = Arc::clone(&server);
        let end = move || {
            for signal in [Signal::TERM, Signal::KILL] {
                if server_gone.load(Ordering::Acquire) {
                    return;
                }
                server.signal(signal);
                std::thread::sleep(TERM_GRACE);
            }
        };
        // Must not block the recorder's thread, which calls this.
        if threads::start("ender", end).is_err() {
            at_once.signal(Signal::TERM);
        }
    });
}

/// Forwards signals that were sent to mcpreel alone; those from a terminal reach both processes anyway. Once the server
/// has exited, its process id may belong to another process, so a signal only ends the wait for its output.
fn pass_signals_on(
    mut signals: SignalsInfo<WithOrigin>,
    starting_line: &StartingLine,
    [server_gone, was_signalled]: [Arc<AtomicBool>; 2],
    notices: Sender<TapNotice>,
    queue: &Arc<Queue>,
) -> io::Result<()> {
    let queue = Arc::clone(queue);
    starting_line.thread("signals", move |server| {
        for Origin { signal, process, .. } in signals.forever() {
            was_signalled.store(true, Ordering::Release);
            if server_gone.load(Ordering::Acquire) {
                let _ = notices.send(TapNotice::Signal);
            } else if let Some(sender) = process
                && let Some(passed) = Signal::from_named_raw(signal)
            {
                server.signal(passed);
                let reported = TransportEvent::Signal { signal, pid: sender.pid };
                queue.note(Ready::about(EventKind::Transport, 0), &reported);
            }
        }
    })
}

/// The activity of the input, that of the two output lanes, and the relays to the server and to the client.
type Started = (Arc<Activity>, [(ChunkSource, Arc<Activity>); 2], [Arc<RelayDirection>; 2]);

/// What the relay threads share.
struct Lanes<'a> {
    queue: &'a Arc<Queue>,
    notices: &'a Sender<TapNotice>,
    input_line: &'a StartingLine,
    output_line: &'a StartingLine,
}

impl Lanes<'_> {
    /// Starts one relay thread per lane; each reports when it ends.
    fn start(
        &self,
        (to_server, from_server, stderr): OuterEnds,
        to_client: ToClient,
        answers: &Arc<Answers>,
    ) -> io::Result<Started> {
        let way = |direction, sink| {
            Arc::new(RelayDirection::new(direction, Arc::clone(self.queue), sink, Arc::clone(answers)))
        };
        let to_server = way(Direction::ClientToServer, Arc::new(to_server));
        let null = Arc::new(File::options().write(true).open("/dev/null")?);
        let out: Sink = match to_client {
            ToClient::Nowhere => Arc::clone(&null) as Sink,
            ToClient::Stdout => Arc::new(rustix::stdio::stdout()),
        };
        let stdout = from_server;
        let from_server = way(Direction::ServerToClient, out);
        let way = Arc::clone(&to_server);
        let input = self.lane(ChunkSource::Messages(Direction::ClientToServer), move |activity| {
            let ended = way.pump(rustix::stdio::stdin(), activity);
            if matches!(ended, Ended::SinkClosed { .. }) {
                // The client's next write must fail, as it would without mcpreel.
                let _ = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?));
            }
            ended
        })?;
        let lane = ChunkSource::Messages(Direction::ServerToClient);
        let way = Arc::clone(&from_server);
        let output = self.lane(lane, move |activity| {
            let ended = way.pump(stdout, activity);
            if to_client == ToClient::Stdout {
                // The client must see the end of the output, even if the server lives on.
                let _ = rustix::stdio::dup2_stdout(&*null);
            }
            ended
        })?;
        let queue = Arc::clone(self.queue);
        let errors = self.lane(ChunkSource::Stderr, move |activity| {
            let sink = Arc::new(rustix::stdio::stderr());
            let ended = pump(stderr, &mut PlainRelay { lane: ChunkSource::Stderr, queue: &queue, sink }, activity);
            queue.end(ChunkSource::Stderr);
            ended
        })?;
        Ok((input, [(lane, output), (ChunkSource::Stderr, errors)], [to_server, from_server]))
    }

    fn lane(
        &self,
        lane: ChunkSource,
        run: impl FnOnce(&Activity) -> Ended + Send + 'static,
    ) -> io::Result<Arc<Activity>> {
        let (queue, notices, activity) = (Arc::clone(self.queue), self.notices.clone(), Arc::new(Activity::default()));
        let watched = Arc::clone(&activity);
        let line = match lane {
            ChunkSource::Messages(Direction::ClientToServer) => self.input_line,
            _ => self.output_line,
        };
        line.thread(lane_name(lane), move |_| {
            if let Ended::SinkClosed { undelivered } = run(&activity)
                && undelivered > 0
            {
                let (lane, bytes) = (lane_name(lane).to_owned(), undelivered as u64);
                let reported = TransportEvent::Undelivered { lane, bytes };
                queue.note(Ready::about(EventKind::Transport, 0), &reported);
            }
            let _ = notices.send(TapNotice::Ended(lane));
        })?;
        Ok(watched)
    }
}

/// The parts that relay one direction of messages.
struct RelayDirection {
    direction: Direction,
    writer: InjectableWriter,
    answers: Arc<Answers>,
    answer_filter: Mutex<AnswerFilter>,
    queue: Arc<Queue>,
}

impl RelayDirection {
    fn new(direction: Direction, queue: Arc<Queue>, sink: Sink, answers: Arc<Answers>) -> Self {
        let writer = InjectableWriter::new(direction, Arc::clone(&queue), sink);
        Self { direction, writer, answers, answer_filter: Mutex::default(), queue }
    }

    /// Relays to the end, and closes the write side.
    fn pump(&self, source: impl AsFd, activity: &Activity) -> Ended {
        let mut messages = Messages::new(self.direction, &self.writer, &self.answers, &self.answer_filter);
        let ended = pump(source, &mut messages, activity);
        self.writer.close();
        self.queue.end(ChunkSource::Messages(self.direction));
        ended
    }

    /// Releases what is held back, because mcpreel exits while the relay may still wait for its source.
    fn let_go(&self) {
        if self.answer_filter.try_lock().is_some_and(|answer_filter| answer_filter.holds()) {
            let _ = Messages::new(self.direction, &self.writer, &self.answers, &self.answer_filter).finish();
        }
    }
}

fn lane_name(lane: ChunkSource) -> &'static str {
    match lane {
        ChunkSource::Messages(direction) => direction.short(),
        ChunkSource::Stderr => "stderr",
    }
}

/// Waits after the server's exit until its output is completely relayed, however slowly the client reads. If
/// descendants hold the output open but are silent, the wait ends soon, as a client that waits for the exit expects.
fn wait_for_output(notices: &Receiver<TapNotice>, output: &[(ChunkSource, Arc<Activity>); 2]) {
    let mut open = vec![true; output.len()];
    let mut last = u64::MAX;
    let mut still_since = Instant::now();
    while open.contains(&true) {
        match notices.recv_timeout(ORPHAN_INTERVAL) {
            Ok(TapNotice::Signal) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(TapNotice::Ended(lane)) => {
                for (open, (watched, _)) in open.iter_mut().zip(output) {
                    *open &= *watched != lane;
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let busy = output.iter().zip(&open).any(|((_, lane), open)| *open && lane.busy.load(Ordering::Acquire));
                let moved = output.iter().map(|(_, lane)| lane.moved.load(Ordering::Acquire)).sum();
                if busy || moved != last {
                    last = moved;
                    still_since = Instant::now();
                } else if still_since.elapsed() >= ORPHAN_GRACE {
                    return;
                }
            }
        }
    }
}
