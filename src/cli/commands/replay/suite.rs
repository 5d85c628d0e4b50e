//! Replays several recordings: those that the user or a suite file names, each with its own server, or those in a folder.
//!
//! Each recording is replayed by a process of its own, so that nothing of one run can reach another.

use super::ReplayArgs;
use super::report::{self, Form};
use crate::cli::own_line::own_words;
use crate::cli::progress::SharedProgress;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::verdict::Junit;
use crate::cli::{Context, Outcome, recordings};
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{LARGE, read_text};
use crate::render::replayed::{SessionReport, Verdict};
use crate::scenario::ScenarioError;
use crate::wire::json;
use crate::wire::text::counted;
use parking_lot::Mutex;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// A part of a suite: `1/4` is the first of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    number: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        let valid = parts.filter(|(number, count)| (1..=*count).contains(number));
        let (number, count) = valid.ok_or_else(|| format!("invalid part {text:?}: expected N/COUNT, such as 1/4"))?;
        Ok(Self { number, count })
    }
}

/// One recording of a suite file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteEntry {
    /// The recording, relative to the suite file.
    reel: PathBuf,
    /// More options.
    #[serde(default)]
    options: Vec<String>,
    /// The server's command.
    #[serde(default)]
    command: Vec<String>,
}

/// A recording, and the words that replay it.
struct Test {
    name: String,
    words: Vec<OsString>,
}

/// How the replay of one recording ended; `None` if it was not started because another one had failed.
type Ended = Option<std::io::Result<Output>>;

/// Whether the arguments of `replay` name several recordings.
pub(super) fn is_suite(args: &ReplayArgs) -> bool {
    args.reel.is_dir() || is_suite_file(&args.reel) || more(args) > 0
}

fn is_suite_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Returns how many words of the filter are names of more recordings.
fn more(args: &ReplayArgs) -> usize {
    let is_recording = |word: &&String| {
        let path = Path::new(word);
        path.is_dir() || path.is_file() && path.extension().is_some_and(|found| found == "reel" || found == "jsonl")
    };
    args.filter.iter().take_while(is_recording).count()
}

/// Replays all recordings of a suite, and reports each.
///
/// # Errors
///
/// The suite cannot be read or is empty, or a recording could not be replayed.
pub(super) fn run(args: &ReplayArgs, junit: Option<Junit>, context: &Context) -> Result<Outcome, CommandError> {
    let all = match if is_suite_file(&args.reel) { in_file(&args.reel, args) } else { named(args) } {
        Err(error) if !args.dry_run => return super::unreadable(error, args, junit, context),
        all => all?,
    };
    let is_mine = |number: &usize| args.shard.is_none_or(|shard| number % shard.count == shard.number - 1);
    let tests: Vec<Test> = all.into_iter().enumerate().filter(|(number, _)| is_mine(number)).map(|it| it.1).collect();
    let began = Instant::now();
    let progress = SharedProgress::new(context.printer.progress_of("replaying", tests.len() as u64));
    let ended = run_all(&tests, args, &|| progress.advance(1));
    progress.finish();
    let (mut codes, mut warning) = (Vec::new(), report::warning(args, context)?);
    for (test, output) in tests.iter().zip(&ended) {
        if let Some(Err(error)) = output {
            return Err(CommandError::new(ErrorKind::Internal, format!("cannot start {}: {error}", test.name)));
        }
        let Some(Ok(output)) = output else { continue };
        codes.push(output.status.code());
        if args.format == Form::Human {
            print(test, output, args, &mut warning, context)?;
        }
    }
    write(&tests, &ended, args, junit, &mut warning, context)?;
    warning.print();
    context.printer.flush().map_err(CommandError::output)?;
    if !args.dry_run {
        summarise(tests.len(), &codes, began, context);
    }
    verdict(&codes)
}

/// Prints how many recordings ended how.
fn summarise(count: usize, codes: &[Option<i32>], began: Instant, context: &Context) {
    let of = |wanted: i32| codes.iter().filter(|code| **code == Some(wanted)).count();
    let (alike, differing) = (of(0), of(1));
    let failed = codes.len() - alike - differing;
    let left = count - codes.len();
    let left = if left > 0 { format!(", {left} not replayed") } else { String::new() };
    let (recordings, took) = (counted(count as u64, "recording"), began.elapsed().as_secs_f64());
    let text = format!("{recordings}: {alike} alike, {differing} different, {failed} failed{left} ({took:.1} s)");
    context.printer.note(&text);
}

fn verdict(codes: &[Option<i32>]) -> Result<Outcome, CommandError> {
    let failed: Vec<&Option<i32>> = codes.iter().filter(|code| !matches!(code, Some(0 | 1))).collect();
    let kind = match failed.first() {
        None if codes.contains(&Some(1)) => return Ok(Outcome::Findings),
        None => return Ok(Outcome::Clean),
        Some(Some(2)) => ErrorKind::Usage,
        Some(Some(3)) => ErrorKind::Input,
        Some(Some(5)) => ErrorKind::Timeout,
        Some(_) => ErrorKind::Peer,
    };
    Err(CommandError::new(kind, format!("{} could not be replayed", counted(failed.len() as u64, "recording"))))
}

/// The recordings that the user named, and those in folders, in the order of their names.
fn named(args: &ReplayArgs) -> Result<Vec<Test>, CommandError> {
    let more = args.filter.iter().take(more(args)).map(PathBuf::from);
    let paths = recordings::expand(&std::iter::once(args.reel.clone()).chain(more).collect::<Vec<_>>())?;
    let test = |(number, path): (usize, &PathBuf)| Test {
        name: path.display().to_string(),
        words: words(args, (number, path), &[], &[]),
    };
    Ok((1..).zip(&paths).map(test).collect())
}

/// The recordings that a suite file names.
fn in_file(file: &Path, args: &ReplayArgs) -> Result<Vec<Test>, CommandError> {
    let text = read_text(file, LARGE).map_err(|error| CommandError::reading(file, &error))?;
    let form = "a suite is a list; each entry has `reel`, and may have `options` and `command`, which are lists, too";
    let entries: Vec<SuiteEntry> = serde_saphyr::from_str(&text)
        .map_err(|error| CommandError::document(file, &ScenarioError::from_yaml(&text, &error)).hint(form))?;
    if entries.is_empty() {
        return Err(CommandError::new(ErrorKind::Input, format!("{}: no recordings", file.display())));
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let test = |(number, entry): (usize, SuiteEntry)| {
        let path = folder.join(&entry.reel);
        let words = words(args, (number, &path), &entry.options, &entry.command);
        Test { name: entry.reel.display().to_string(), words }
    };
    Ok((1..).zip(entries).map(test).collect())
}

/// The options that concern the suite, each with a value.
const OF_SUITE: [&str; 9] = ["-j", "--jobs", "--shard", "-f", "--format", "--junit", "-o", "--output", "--record"];

/// The words that replay one recording: those of this process with another recording, without what concerns the suite.
/// The number of the recording makes the names of its new reels.
fn words(args: &ReplayArgs, (number, path): (usize, &Path), options: &[String], command: &[String]) -> Vec<OsString> {
    let own = own_words();
    let end = own.iter().position(|word| word == "--").unwrap_or(own.len());
    let mut found: Vec<OsString> = Vec::new();
    let mut recordings: Vec<OsString> = args.filter.iter().take(more(args)).map(OsString::from).collect();
    recordings.insert(0, args.reel.clone().into());
    // The first word `replay` is the command; a folder may have the same name.
    let begin = own.iter().position(|word| word == "replay").map_or(0, |at| at + 1);
    found.extend(own[..begin].iter().cloned());
    let (mut own_options, mut is_named) = (own[begin..end].iter(), false);
    while let Some(word) = own_options.next() {
        let text = word.to_string_lossy();
        let is_joined = |option: &&str| match option.strip_prefix("--") {
            Some(_) => text.starts_with(&format!("{option}=")),
            None => text.starts_with(*option),
        };
        if OF_SUITE.contains(&&*text) {
            own_options.next();
        } else if let Some(place) = recordings.iter().position(|recording| recording == word) {
            recordings.remove(place);
            found.extend((!std::mem::replace(&mut is_named, true)).then(|| path.into()));
        } else if !OF_SUITE.iter().any(is_joined) {
            found.push(word.clone());
        }
    }
    let format = if args.format == Form::Human { "human+json" } else { "json" };
    found.extend(["--format".into(), format.into()]);
    if let Some(output) = &args.output {
        found.extend(["--output".into(), output.into(), "--recording-number".into(), number.to_string().into()]);
    }
    found.extend(options.iter().map(OsString::from));
    match command {
        [] => found.extend(own[end..].iter().cloned()),
        command => {
            found.push("--".into());
            found.extend(command.iter().map(OsString::from));
        }
    }
    found
}

/// Runs the tests, at most `--jobs` at the same time. Returns their outputs in the order of the tests.
fn run_all(tests: &[Test], args: &ReplayArgs, advance: &(impl Fn() + Sync)) -> Vec<Ended> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let outputs: Vec<Mutex<Ended>> = tests.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while !is_over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((test, place)) = tests.get(number).zip(outputs.get(number)) else { return };
            let output = run_one(&test.words);
            if args.fail_fast && !output.as_ref().is_ok_and(|output| output.status.success()) {
                is_over.store(true, Ordering::Relaxed);
            }
            *place.lock() = Some(output);
            advance();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..(args.jobs as usize).min(tests.len()) {
            scope.spawn(work);
        }
    });
    outputs.into_iter().map(Mutex::into_inner).collect()
}

fn run_one(words: &[OsString]) -> std::io::Result<Output> {
    Command::new(std::env::current_exe()?).args(words).stdin(Stdio::null()).output()
}

/// Prints the result of one recording, and what differs.
fn print(
    test: &Test,
    output: &Output,
    args: &ReplayArgs,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    let (verdict, details) = match output.status.code() {
        Some(0) if args.dry_run => ("plan", &output.stdout[..]),
        Some(0) => ("ok", &[][..]),
        Some(1) => ("different", &output.stdout[..]),
        _ => ("failed", &output.stderr[..]),
    };
    let details = String::from_utf8_lossy(details);
    warning.take_text(&details);
    context.printer.line(&format!("{verdict:<9} {}", test.name))?;
    details
        .lines()
        .filter(|line| !line.is_empty() && !is_report(line.as_bytes()))
        .try_for_each(|line| context.printer.line(&format!("          {line}")))
}

/// Whether a line that a replay printed is its report as JSON. All else begins with another character.
fn is_report(line: &[u8]) -> bool {
    line.starts_with(b"{")
}

/// Writes the reports of all recordings as JSON or for other programs.
fn write(
    tests: &[Test],
    ended: &[Ended],
    args: &ReplayArgs,
    junit: Option<Junit>,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    if args.dry_run && args.format == Form::Human {
        return Ok(());
    }
    if args.dry_run {
        let outputs = ended.iter().flatten().flatten();
        return outputs.into_iter().try_for_each(|it| context.printer.text(&String::from_utf8_lossy(&it.stdout)));
    }
    let replayed = tests.iter().zip(ended).filter_map(|(test, ended)| Some((test, ended.as_ref()?.as_ref().ok()?)));
    let sessions: Vec<SessionReport> = replayed.flat_map(|(test, output)| sessions(test, output)).collect();
    if args.format == Form::Json {
        sessions.iter().try_for_each(|session| report::json(session, warning, context))?;
    }
    report::write(&sessions.iter().collect::<Vec<_>>(), args.format, junit, warning, context)
}

/// Returns the reports that a process printed. If there is none, the process failed.
fn sessions(test: &Test, output: &Output) -> Vec<SessionReport> {
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| is_report(line));
    let mut sessions: Vec<SessionReport> =
        lines.filter_map(|line| serde_json::from_value(json::value_of(line)).ok()).collect();
    if sessions.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.lines().find_map(|line| line.strip_prefix("mcpreel: error: "));
        sessions.push(SessionReport {
            verdict: Verdict::Failed,
            failure: Some(error.unwrap_or(said.trim()).to_owned()),
            exit_code: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
            ..SessionReport::default()
        });
    }
    sessions.iter_mut().for_each(|session| session.recording.clone_from(&test.name));
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_suite_is_a_number_and_a_count() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, count: 4 }));
        for wrong in ["0/4", "5/4", "1", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
