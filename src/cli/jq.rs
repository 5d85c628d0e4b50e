//! Runs jq programs in a process of their own, with a stack, memory and time of its own: a program may recurse without end,
//! fill the memory or never put anything out, and then only that process ends.
//!
//! Requests are sent ahead of their replies, so that both processes work at the same time.

mod worker;

pub(crate) use worker::run_if_asked;

use crate::error::{CommandError, ErrorKind};
use crate::platform::own_program;
use crate::proposals::clip;
use crate::wire::text::excerpt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use worker::{ARGUMENT, Ask, FOR_TERMINAL, REPLY_HEAD_BYTES, STACK_BYTES, Said, number, request};

/// For how long a program may work without an output and without finishing, in [`TURN`]s. A suspended process does not
/// count them.
const MAX_SILENT_TURNS: u32 = 40;
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };
/// At most this many bytes of requests wait to be sent, besides the last one.
const MAX_WAITING_BYTES: usize = 1 << 20;
/// Requests are sent when so many bytes of them wait, or when their replies are.
const PIECE_BYTES: usize = 32 << 10;
/// So much of what the process reports of its end is read.
const MAX_REPORT_BYTES: usize = 16 << 10;
/// The maximum number of bytes of the input that are shown if an expectation is not met.
const MAX_SEEN: usize = 200;

/// What came of a request, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply<'a> {
    /// Lines of output.
    Output(&'a [u8]),
    /// The program failed at this input, for this reason.
    Failed(&'a str),
}

/// Takes replies, each with the number of its event; returns whether it wants more.
pub(super) type Take<'a> = dyn FnMut(Option<u64>, Reply<'_>) -> bool + 'a;

/// What happened in a turn.
enum Turn {
    /// Bytes were sent or received.
    Moved,
    /// None were.
    Silent,
    /// Replies are not wanted any more.
    Refused,
}

/// jq programs, and the process that runs them.
pub(super) struct Jq {
    is_for_terminal: bool,
    process: Option<Process>,
    /// The options and texts of the programs; the place of a program is its number.
    programs: Vec<(String, String)>,
    /// The program that exceeded its limits, and how: none is run any more.
    broken: Option<(Program, String)>,
    /// Whether replies are not wanted any more.
    is_closed: bool,
}

/// A program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program(usize);

impl Jq {
    /// Prints strings for a terminal, or as they are.
    pub(super) fn new(is_for_terminal: bool) -> Self {
        Self { is_for_terminal, process: None, programs: Vec::new(), broken: None, is_closed: false }
    }

    /// Compiles the program of an option.
    ///
    /// # Errors
    ///
    /// The program is invalid, or cannot be compiled within the limits.
    pub(super) fn compile(&mut self, option: &str, code: &str) -> Result<Program, CommandError> {
        let program = Program(self.programs.len());
        self.programs.push((option.to_owned(), code.to_owned()));
        let compiled = self.answer(Ask::Compile, program, code.as_bytes())?;
        compiled.map(|_| program).map_err(|reason| CommandError::usage(format!("{option}: {reason} in {code:?}")))
    }

    /// Runs a program on an object, with `message` as the JSON text of its member of that name, if given. `take` gets the
    /// replies that are there, each with the number of its event; [`Jq::finish`] waits for the others. When `take` returns
    /// false, no program is run any more.
    ///
    /// # Errors
    ///
    /// A program exceeds its limits.
    pub(super) fn run(
        &mut self,
        program: Program,
        event: Option<u64>,
        (object, message): (&[u8], Option<&[u8]>),
        take: &mut Take<'_>,
    ) -> Result<(), CommandError> {
        self.ask(Ask::Run, (program, event), (object, message), take)
    }

    /// Whether a program exceeded its limits.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Fails if a program exceeded its limits.
    ///
    /// # Errors
    ///
    /// One did.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        if self.is_broken() { Err(self.exceeded(None)) } else { Ok(()) }
    }

    /// Why the program is not true for a JSON text; `None` if it is: it has outputs, and none of them is `false` or `null`.
    ///
    /// # Errors
    ///
    /// The program exceeds its limits.
    pub(super) fn unmet(&mut self, program: Program, text: &[u8]) -> Result<Option<String>, CommandError> {
        let answered = self.answer(Ask::Judge, program, text)?;
        let code = &self.programs[program.0].1;
        let input = String::from_utf8_lossy(text);
        let input = clip(&input, MAX_SEEN);
        Ok(match answered {
            Err(error) => Some(format!("cannot evaluate {code}: {error}; the input: {input}")),
            Ok(seen) if seen.is_empty() => None,
            Ok(seen) => Some(format!("expected {code}, but got {} from {input}", String::from_utf8_lossy(&seen))),
        })
    }

    /// The first output of a program, as a line; the inner `Err` says why it failed.
    ///
    /// # Errors
    ///
    /// The program exceeds its limits.
    pub(super) fn first(&mut self, program: Program, text: &[u8]) -> Result<Result<Vec<u8>, String>, CommandError> {
        self.answer(Ask::First, program, text)
    }

    fn answer(&mut self, ask: Ask, program: Program, text: &[u8]) -> Result<Result<Vec<u8>, String>, CommandError> {
        let mut answered = Ok(Vec::new());
        let mut take = |_: Option<u64>, reply: Reply<'_>| {
            match (reply, &mut answered) {
                (Reply::Failed(reason), answered) => *answered = Err(reason.to_owned()),
                (Reply::Output(bytes), Ok(all)) => all.extend_from_slice(bytes),
                (Reply::Output(_), Err(_)) => {}
            }
            true
        };
        self.ask(ask, (program, None), (text, None), &mut take)?;
        self.finish(&mut take)?;
        Ok(answered)
    }

    fn ask(
        &mut self,
        ask: Ask,
        (program, event): (Program, Option<u64>),
        (text, message): (&[u8], Option<&[u8]>),
        take: &mut Take<'_>,
    ) -> Result<(), CommandError> {
        if self.is_closed {
            return Ok(());
        }
        if self.broken.is_some() {
            return Err(self.exceeded(None));
        }
        if self.process.is_none() {
            let started = Process::start(self.is_for_terminal);
            self.process = Some(started.map_err(|error| {
                let why = format!("cannot start the process that runs jq programs: {error}");
                CommandError::new(ErrorKind::Internal, why)
            })?);
        }
        let Some(process) = &mut self.process else { return Ok(()) };
        request(ask, u32::try_from(program.0).unwrap_or(u32::MAX), text, message, &mut process.waiting);
        process.asked.push_back((event, program));
        if process.unsent() < PIECE_BYTES {
            return Ok(());
        }
        self.exchange(|process| process.unsent() > MAX_WAITING_BYTES, take)
    }

    /// Waits for all replies.
    ///
    /// # Errors
    ///
    /// A program exceeds its limits.
    pub(super) fn finish(&mut self, take: &mut Take<'_>) -> Result<(), CommandError> {
        self.exchange(|process| !process.asked.is_empty(), take)
    }

    /// Exchanges requests and replies, while that is to go on.
    fn exchange(&mut self, goes_on: impl Fn(&Process) -> bool, take: &mut Take<'_>) -> Result<(), CommandError> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let mut silent = 0;
        let broken = loop {
            let waits = goes_on(process);
            match process.turn(waits, take) {
                Ok(Turn::Moved) => silent = 0,
                Ok(Turn::Silent) if !waits => return Ok(()),
                Ok(Turn::Silent) => silent += 1,
                Ok(Turn::Refused) => {
                    (self.process, self.is_closed) = (None, true);
                    return Ok(());
                }
                Err(why) => break why,
            }
            if silent > MAX_SILENT_TURNS {
                break "it gave no result for 10 seconds".to_owned();
            }
        };
        let (event, program) = process.asked.front().copied().unwrap_or((None, Program(0)));
        (self.process, self.broken) = (None, Some((program, broken)));
        Err(self.exceeded(event))
    }

    /// The error for the program that exceeded its limits, at this event if that is known.
    fn exceeded(&self, event: Option<u64>) -> CommandError {
        let (program, why) = self.broken.as_ref().map_or((0, ""), |(program, why)| (program.0, why.as_str()));
        let at = event.map(|event| format!(" at event {event}")).unwrap_or_default();
        let (option, code) =
            self.programs.get(program).map_or(("", ""), |(option, code)| (option.as_str(), code.as_str()));
        CommandError::usage(format!("{option}: the program {} was stopped{at}: {why}", excerpt(code, MAX_SEEN)))
            .hint("let the program recurse, repeat or collect less: it has 256 MiB of stack and about 1 GiB of memory")
    }
}

/// The process that runs programs, and what is on its way to it and from it.
struct Process {
    child: Child,
    requests: File,
    replies: File,
    reports: File,
    /// Requests, of which some bytes are sent.
    waiting: Vec<u8>,
    sent: usize,
    /// The numbers of the requests without a complete reply, each with its program.
    asked: VecDeque<(Option<u64>, Program)>,
    /// The beginning of a reply.
    came: Vec<u8>,
    /// What the process reports of its end.
    report: Vec<u8>,
    /// Whether it takes no more requests, and reports nothing more, because it is ending.
    takes_none: bool,
    reports_none: bool,
    chunk: Vec<u8>,
}

impl Process {
    fn start(is_for_terminal: bool) -> io::Result<Self> {
        let mut command = Command::new(own_program::path()?);
        command.arg(ARGUMENT).arg(std::process::id().to_string());
        command.args(is_for_terminal.then_some(FOR_TERMINAL)).env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C ends this process, and that ends the other.
        let mut child = command.process_group(0).spawn()?;
        let (Some(requests), Some(replies), Some(reports)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let requests = OwnedFd::from(requests);
        fcntl_setfl(&requests, fcntl_getfl(&requests)? | OFlags::NONBLOCK)?;
        Ok(Self {
            child,
            requests: requests.into(),
            replies: OwnedFd::from(replies).into(),
            reports: OwnedFd::from(reports).into(),
            waiting: Vec::new(),
            sent: 0,
            asked: VecDeque::new(),
            came: Vec::new(),
            report: Vec::new(),
            takes_none: false,
            reports_none: false,
            chunk: vec![0; 64 << 10],
        })
    }

    /// The number of bytes that wait to be sent.
    fn unsent(&self) -> usize {
        self.waiting.len() - self.sent
    }

    /// Sends and receives what is possible, and waits for that if wanted, at most [`TURN`].
    ///
    /// # Errors
    ///
    /// The process ended: why.
    fn turn(&mut self, waits: bool, take: &mut Take<'_>) -> Result<Turn, String> {
        let flags = |is_wanted, flags| if is_wanted { flags } else { PollFlags::empty() };
        let sends = self.unsent() > 0 && !self.takes_none;
        let mut watched = [
            PollFd::new(&self.replies, PollFlags::IN),
            PollFd::new(if self.reports_none { &self.replies } else { &self.reports }, PollFlags::IN),
            PollFd::new(if sends { &self.requests } else { &self.replies }, flags(sends, PollFlags::OUT)),
        ];
        let timeout = if waits { TURN } else { Timespec { tv_sec: 0, tv_nsec: 0 } };
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Ok(Turn::Silent),
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Turn::Moved),
            Err(error) => return Err(error.to_string()),
        }
        let [has_replies, has_reports, may_send] = watched.map(|one| !one.revents().is_empty());
        if may_send && sends {
            self.send();
        }
        if has_reports && !self.reports_none {
            let read = self.reports.read(&mut self.chunk).unwrap_or(0);
            let left = MAX_REPORT_BYTES.saturating_sub(self.report.len());
            self.report.extend_from_slice(&self.chunk[..read.min(left)]);
            self.reports_none = read == 0;
        }
        let goes_on = if has_replies { self.receive(take)? } else { true };
        Ok(if goes_on { Turn::Moved } else { Turn::Refused })
    }

    /// Sends some bytes.
    fn send(&mut self) {
        match self.requests.write(&self.waiting[self.sent..]) {
            Ok(more) => self.sent += more,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.takes_none = true,
        }
        if self.unsent() == 0 {
            self.sent = 0;
            self.waiting.clear();
            self.waiting.shrink_to(2 * MAX_WAITING_BYTES);
        }
    }

    /// Reads replies, and passes on those that are complete. Returns whether more are wanted.
    fn receive(&mut self, take: &mut Take<'_>) -> Result<bool, String> {
        match self.replies.read(&mut self.chunk) {
            Ok(0) => return Err(self.end()),
            Ok(read) => self.came.extend_from_slice(&self.chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
        let (mut at, mut goes_on) = (0, true);
        while goes_on && let Some(head) = self.came.get(at..at + REPLY_HEAD_BYTES) {
            let (said, length) = (Said::read(head[0]), usize::try_from(number(&head[1..])).unwrap_or(usize::MAX));
            let start = at + REPLY_HEAD_BYTES;
            let Some(text) = start.checked_add(length).and_then(|end| self.came.get(start..end)) else { break };
            let event = self.asked.front().and_then(|(event, _)| *event);
            goes_on = match said {
                Some(Said::Output) => take(event, Reply::Output(text)),
                Some(Said::Failed) => take(event, Reply::Failed(&String::from_utf8_lossy(text))),
                Some(Said::Halted) if text != b"0" => {
                    let code = String::from_utf8_lossy(text);
                    take(event, Reply::Failed(&format!("it halted with exit code {code}, and is not run any more")))
                }
                Some(Said::Halted | Said::Done) => true,
                None => return Err("its process sent what is no reply".to_owned()),
            };
            if said != Some(Said::Output) {
                self.asked.pop_front();
            }
            at = start + length;
        }
        self.came.drain(..at);
        self.came.shrink_to(4 * self.chunk.len());
        Ok(goes_on)
    }

    /// Ends the process, and returns why it ended.
    fn end(&mut self) -> String {
        let _ = self.child.kill();
        let status = self.child.wait();
        let left = MAX_REPORT_BYTES.saturating_sub(self.report.len()) as u64;
        let _ = (&self.reports).take(left).read_to_end(&mut self.report);
        let report = String::from_utf8_lossy(&self.report);
        let has = |text: &str| report.contains(text);
        if has("has overflowed its stack") {
            return format!("it needs more than {} MiB of stack", STACK_BYTES >> 20);
        }
        if has("memory allocation of") || has("capacity overflow") {
            return "it needs more than about 1 GiB of memory".to_owned();
        }
        let reason = report.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("thread '"));
        match (reason, status.ok().and_then(|status| status.signal())) {
            (Some(reason), _) => format!("the jq interpreter failed: {}", excerpt(reason, MAX_SEEN)),
            (None, Some(signal)) => format!("its process was ended by signal {signal}"),
            (None, None) => "its process ended".to_owned(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
