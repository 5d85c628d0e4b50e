//! Replays several recordings: those in a folder, or those that a suite file names, each with its own server.
//!
//! Each recording is replayed by a process of its own, so that nothing of one run can reach another.

use super::ReplayArgs;
use crate::cli::printer::Format;
use crate::cli::{Context, Outcome, own_words};
use crate::error::{CommandError, ErrorKind};
use crate::wire::text::{counted, excerpt};
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Whether the argument of `replay` is a suite.
pub(super) fn is_suite(path: &Path) -> bool {
    path.is_dir() || path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Replays all recordings of a suite, and prints a line for each.
///
/// # Errors
///
/// The suite cannot be read or is empty, or a recording could not be replayed.
pub(super) fn run(args: &ReplayArgs, context: &Context) -> Result<Outcome, CommandError> {
    let all = match args.reel.is_dir() {
        true => in_folder(&args.reel, args)?,
        false => in_file(&args.reel, args)?,
    };
    let is_mine = |number: &usize| args.shard.is_none_or(|shard| number % shard.count == shard.number - 1);
    let tests: Vec<Test> = all.into_iter().enumerate().filter(|(number, _)| is_mine(number)).map(|it| it.1).collect();
    let outputs = run_all(&tests, args.jobs.max(1) as usize);
    let (mut differing, mut failed) = (0, Vec::new());
    for (test, output) in tests.iter().zip(outputs) {
        let output =
            output.map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
        match output.status.code() {
            Some(0) => {}
            Some(1) => differing += 1,
            other => failed.push(other),
        }
        print(test, &output, args, context)?;
    }
    let (count, bad) = (counted(tests.len() as u64, "recording"), failed.len());
    context.printer.flush().map_err(CommandError::output)?;
    context
        .printer
        .note(&format!("{count}: {} alike, {differing} different, {bad} failed", tests.len() - differing - bad));
    match failed.first() {
        None if differing == 0 => Ok(Outcome::Clean),
        None => Ok(Outcome::Findings),
        Some(code) => {
            let kind = match code {
                Some(2) => ErrorKind::Usage,
                Some(3) => ErrorKind::Input,
                Some(5) => ErrorKind::Timeout,
                _ => ErrorKind::Peer,
            };
            Err(CommandError::new(kind, format!("{} could not be replayed", counted(bad as u64, "recording"))))
        }
    }
}

/// The recordings in a folder, in the order of their names.
fn in_folder(folder: &Path, args: &ReplayArgs) -> Result<Vec<Test>, CommandError> {
    let entries = std::fs::read_dir(folder).map_err(|error| CommandError::reading(folder, &error))?;
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|found| found == "reel" || found == "jsonl");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_recording).collect();
    paths.sort();
    if paths.is_empty() {
        let error = CommandError::new(ErrorKind::Input, format!("{}: no recordings", folder.display()));
        return Err(error.hint("recordings are files that end in .reel or .jsonl"));
    }
    Ok(paths
        .into_iter()
        .map(|path| Test { name: path.display().to_string(), words: words(args, &path, &[], &[]) })
        .collect())
}

/// The recordings that a suite file names.
fn in_file(file: &Path, args: &ReplayArgs) -> Result<Vec<Test>, CommandError> {
    let text = std::fs::read_to_string(file).map_err(|error| CommandError::reading(file, &error))?;
    let wrong =
        |why: String| CommandError::new(ErrorKind::Input, format!("{}: {}", file.display(), excerpt(&why, 200)));
    let entries: Vec<SuiteEntry> = serde_saphyr::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if entries.is_empty() {
        return Err(wrong("no recordings".to_owned()));
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let test = |entry: SuiteEntry| {
        let path = folder.join(&entry.reel);
        Test { name: entry.reel.display().to_string(), words: words(args, &path, &entry.options, &entry.command) }
    };
    Ok(entries.into_iter().map(test).collect())
}

/// The words that replay one recording: those of this process with another recording, without what concerns the suite.
fn words(args: &ReplayArgs, path: &Path, options: &[String], command: &[String]) -> Vec<OsString> {
    let own = own_words();
    let end = own.iter().position(|word| word == "--").unwrap_or(own.len());
    let mut found: Vec<OsString> = Vec::new();
    let (mut own_options, mut is_replaced) = (own[..end].iter(), false);
    while let Some(word) = own_options.next() {
        let text = word.to_string_lossy();
        if ["-j", "--jobs", "--shard"].contains(&&*text) {
            own_options.next();
        } else if !is_replaced && word == args.reel.as_os_str() {
            is_replaced = true;
            found.push(path.into());
        } else if !["-j", "--jobs=", "--shard="].iter().any(|option| text.starts_with(option)) {
            found.push(word.clone());
        }
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

/// Runs the tests, at most `jobs` at the same time. Returns their outputs in the order of the tests.
fn run_all(tests: &[Test], jobs: usize) -> Vec<std::io::Result<Output>> {
    let next = AtomicUsize::new(0);
    let outputs: Vec<Mutex<Option<std::io::Result<Output>>>> = tests.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((test, output)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            tests.get(number).zip(outputs.get(number))
        } {
            *output.lock().unwrap_or_else(PoisonError::into_inner) = Some(run_one(&test.words));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tests.len()) {
            scope.spawn(work);
        }
    });
    let missing = || Err(std::io::Error::other("it was not started"));
    outputs
        .into_iter()
        .map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(missing))
        .collect()
}

fn run_one(words: &[impl AsRef<OsStr>]) -> std::io::Result<Output> {
    Command::new(std::env::current_exe()?).args(words).stdin(Stdio::null()).output()
}

/// Prints the result of one recording, and what differs.
fn print(test: &Test, output: &Output, args: &ReplayArgs, context: &Context) -> Result<(), CommandError> {
    if args.format == Format::Json {
        return match output.status.code() {
            Some(0 | 1) => context.printer.text(&String::from_utf8_lossy(&output.stdout)),
            code => {
                let error = String::from_utf8_lossy(&output.stderr);
                context.printer.json(&serde_json::json!({"recording": test.name, "exit_code": code, "error": error}))
            }
        };
    }
    let (verdict, details) = match output.status.code() {
        Some(0) => ("ok", &[][..]),
        Some(1) => ("different", &output.stdout[..]),
        _ => ("failed", &output.stderr[..]),
    };
    let details = String::from_utf8_lossy(details);
    context.printer.line(&format!("{verdict:<9} {}", test.name))?;
    details
        .lines()
        .filter(|line| !line.is_empty())
        .try_for_each(|line| context.printer.line(&format!("          {line}")))
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
