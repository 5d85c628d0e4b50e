//! The process that runs jq programs: it reads requests from stdin, and writes replies to stdout in the same order.

use crate::platform::parent_death;
use crate::render::jq::{Jq, Stop};
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, getrlimit, setrlimit};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The first argument that starts this process.
pub(super) const ARGUMENT: &str = "__jq";
/// The third argument if strings are printed for a terminal.
pub(super) const FOR_TERMINAL: &str = "terminal";

/// The stack of a program, in bytes. Only what is used takes memory.
pub(super) const STACK_BYTES: usize = 256 << 20;
/// The address space of the process, in bytes: the stack, this program, and about a gigabyte for values.
const MAX_MEMORY_BYTES: u64 = 1536 << 20;
/// The outputs of a program are written when they have this many bytes, or after this time.
const FLUSH_BYTES: usize = 32 << 10;
const FLUSH_TIME: Duration = Duration::from_millis(50);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ask {
    /// To compile a program, which gets this number, the next one.
    Compile = b'c',
    /// All outputs, as lines.
    Run = b'r',
    /// The name of an output that is not true, or `nothing` if there is no output; nothing if all are true.
    Judge = b'j',
    /// The first output, as a line.
    First = b'f',
}

impl Ask {
    const ALL: [Self; 4] = [Self::Compile, Self::Run, Self::Judge, Self::First];
}

/// What a reply says. All but output ends the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Said {
    /// Output, or a part of it.
    Output = b'o',
    /// The request is done.
    Done = b'd',
    /// It failed, for this reason.
    Failed = b'f',
    /// The program called `halt` with this exit code. It is not run any more.
    Halted = b'h',
}

impl Said {
    pub(super) fn read(byte: u8) -> Option<Self> {
        [Self::Output, Self::Done, Self::Failed, Self::Halted].into_iter().find(|said| *said as u8 == byte)
    }
}

/// The length of what precedes a request: what it asks, the number of the program, and the lengths of two texts.
const HEAD_BYTES: usize = 1 + 4 + 8 + 8;
/// The length of a text that is missing.
const MISSING: u64 = u64::MAX;
/// The length of what precedes a reply: what it says, and its length.
pub(super) const REPLY_HEAD_BYTES: usize = 1 + 8;

/// Appends a request.
pub(super) fn request(ask: Ask, program: u32, text: &[u8], message: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(ask as u8);
    out.extend_from_slice(&program.to_le_bytes());
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(&message.map_or(MISSING, |message| message.len() as u64).to_le_bytes());
    out.extend_from_slice(text);
    out.extend_from_slice(message.unwrap_or_default());
}

/// The number in eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Runs programs if this process was started for that; returns its exit code.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != ARGUMENT {
        return None;
    }
    let worked = begin(args.next(), args.next().is_some_and(|word| word == FOR_TERMINAL));
    Some(if worked.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn begin(parent: Option<OsString>, for_terminal: bool) -> io::Result<()> {
    parent_death::notify(Signal::KILL)?;
    let parent: Option<i32> = parent.and_then(|parent| parent.to_str()?.parse().ok());
    if getppid().map(Pid::as_raw_pid) != parent {
        // The parent died before the request took effect.
        return Err(io::Error::other("mcpreel has exited"));
    }
    limit(Resource::Core, 0)?;
    limit(Resource::As, MAX_MEMORY_BYTES)?;
    let work = move || serve(for_terminal);
    let worker = std::thread::Builder::new().name("jq".into()).stack_size(STACK_BYTES).spawn(work)?;
    worker.join().unwrap_or_else(|_| Err(io::Error::other("the program cannot be run")))
}

/// Lowers a limit of this process.
fn limit(what: Resource, most: u64) -> io::Result<()> {
    let maximum = getrlimit(what).maximum.map_or(most, |known| known.min(most));
    Ok(setrlimit(what, Rlimit { current: Some(maximum), maximum: Some(maximum) })?)
}

fn serve(for_terminal: bool) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 18, io::stdin().lock());
    let mut replies = Replies::new()?;
    let (mut programs, mut has_halted) = (Vec::new(), false);
    let (mut text, mut message) = (Vec::new(), Vec::new());
    while !input.fill_buf()?.is_empty() {
        let (ask, program, has_message) = read(&mut input, &mut text, &mut message)?;
        let message = has_message.then_some(&message[..]);
        let done = match programs.get(program) {
            None => Jq::compile(&String::from_utf8_lossy(&text)).map(|jq| programs.push(jq)).map_err(Stop::Failed),
            Some(_) if has_halted => Ok(()),
            Some(jq) => answer(ask, jq, (&text, message), for_terminal, &mut replies),
        };
        match done {
            Ok(()) => replies.end(Said::Done, b""),
            Err(Stop::Failed(reason)) => replies.end(Said::Failed, reason.as_bytes()),
            Err(Stop::Halted(code)) => {
                has_halted = true;
                replies.end(Said::Halted, code.to_string().as_bytes());
            }
        }
        // If the next program ends this process, what was done before is known.
        replies.flush()?;
    }
    Ok(())
}

/// Reads a request: what it asks, the number of the program, and whether there is a message.
fn read(input: &mut impl Read, text: &mut Vec<u8>, message: &mut Vec<u8>) -> io::Result<(Ask, usize, bool)> {
    let mut head = [0; HEAD_BYTES];
    input.read_exact(&mut head)?;
    let ask = Ask::ALL.into_iter().find(|ask| *ask as u8 == head[0]).ok_or(io::ErrorKind::InvalidData)?;
    let lengths = [number(&head[5..13]), number(&head[13..])];
    for (length, into) in lengths.into_iter().zip([text, message]) {
        into.clear();
        if length != MISSING {
            input.by_ref().take(length).read_to_end(into)?;
        }
    }
    Ok((ask, usize::try_from(number(&head[1..5])).unwrap_or(usize::MAX), lengths[1] != MISSING))
}

/// Runs a program.
fn answer(
    ask: Ask,
    jq: &Jq,
    (text, message): (&[u8], Option<&[u8]>),
    for_terminal: bool,
    replies: &mut Replies,
) -> Result<(), Stop> {
    let mut seen = "nothing";
    jq.run(text, message, |output| match ask {
        Ask::Judge => {
            seen = output.untrue().unwrap_or_default();
            seen.is_empty()
        }
        Ask::First => {
            replies.output(|out| output.write(for_terminal, out));
            false
        }
        Ask::Compile | Ask::Run => {
            replies.output(|out| output.write(for_terminal, out));
            replies.relieve().is_ok()
        }
    })?;
    if ask == Ask::Judge {
        replies.output(|out| out.write_all(seen.as_bytes()));
    }
    Ok(())
}

/// Replies that are not written yet.
struct Replies {
    to: File,
    waiting: Vec<u8>,
    written: Instant,
}

impl Replies {
    fn new() -> io::Result<Self> {
        let to = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self { to: to.into(), waiting: Vec::new(), written: Instant::now() })
    }

    /// Adds output.
    fn output(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let start = self.waiting.len();
        self.end(Said::Output, b"");
        // Writing to memory does not fail.
        let _ = write(&mut self.waiting);
        let length = (self.waiting.len() - start - REPLY_HEAD_BYTES) as u64;
        self.waiting[start + 1..start + REPLY_HEAD_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    /// Adds a reply.
    fn end(&mut self, said: Said, text: &[u8]) {
        self.waiting.push(said as u8);
        self.waiting.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.waiting.extend_from_slice(text);
    }

    /// Writes replies that are many or old.
    fn relieve(&mut self) -> io::Result<()> {
        if self.waiting.len() >= FLUSH_BYTES || self.written.elapsed() >= FLUSH_TIME { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.waiting)?;
        self.waiting.clear();
        self.waiting.shrink_to(4 * FLUSH_BYTES);
        self.written = Instant::now();
        Ok(())
    }
}
