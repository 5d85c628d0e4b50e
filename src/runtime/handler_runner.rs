//! Performs what the proposals want done outside: scripts and the user's program below a supervisor, and HTTP posts,
//! each on its own thread and within its limits. It returns outcomes and judges nothing.
//!
//! Never: anything that was not permitted; a value of the user's environment that was not allowed.

use super::webhook::{INSTANCE, instance};
use crate::platform::process_handle::ProcessHandle;
use crate::process::supervisor::{ExitReport, GRACE_PERIOD, ProcessReach, supervisor};
use crate::proposals::server::handler_job::{
    HandlerJob, HandlerPost, HeaderPiece, Infer, JobEnd, JobOutcome, MAX_OUTPUT_BYTES, Script, Secret, check_address,
    may_be_private, pieces,
};
use crate::proposals::server::special_addresses::is_public;
use crate::transport::client::http::HttpError;
use crate::transport::client::http_post::{Posted, post};
use crate::transport::client::proxy_connector::AddressFilter;
use parking_lot::Mutex;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::sync::oneshot;

/// The environment variables that scripts get: enough to find programs and to use the user's language.
const LENT: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
/// Additional time beyond a job's own limit before it is abandoned.
const REPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to perform jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandlerOptions {
    /// A shell that takes a script as its next argument, with its own arguments.
    pub shell: Vec<OsString>,
    /// The user's program that acts as the model.
    pub program: Option<Vec<OsString>>,
    /// Whether that program gets only the environment of scripts. Otherwise, a script could look into it.
    pub is_program_bare: bool,
    /// The folder in which scripts run.
    pub folder: PathBuf,
    /// Values that headers may contain, by name.
    pub secrets: BTreeMap<Secret, String>,
    /// The hosts that may have addresses that are not public.
    pub private_hosts: Vec<String>,
}

/// Stops a job.
enum Stop {
    /// It has not begun, and will not begin once this entry is removed.
    Waiting,
    Keeper(ProcessHandle),
    HandlerPost(oneshot::Sender<()>),
}

impl Stop {
    fn now(self) {
        match self {
            Self::Waiting => {}
            Self::Keeper(supervisor) => supervisor.signal(Signal::TERM),
            Self::HandlerPost(stop) => drop(stop.send(())),
        }
    }
}

/// Performs jobs, for any number of sessions.
pub(crate) struct HandlerRunner {
    options: HandlerOptions,
    under_way: Mutex<BTreeMap<(u32, u64), Stop>>,
}

impl HandlerRunner {
    /// A runner without jobs.
    pub(crate) fn new(options: HandlerOptions) -> Arc<Self> {
        Arc::new(Self { options, under_way: Mutex::default() })
    }

    /// Begins a job. `complete_io` gets the outcome in any case.
    pub(crate) fn attend(
        self: &Arc<Self>,
        key: (u32, u64),
        job: HandlerJob,
        complete_io: impl FnOnce(JobOutcome) + Send + 'static,
    ) {
        let this = Arc::clone(self);
        let mut bringer = Bringer(Some(Box::new(complete_io)));
        // From now on, it can be stopped.
        self.under_way.lock().insert(key, Stop::Waiting);
        // If the thread cannot be started, dropping the bringer reports that.
        let started = std::thread::Builder::new().name("handler".into()).spawn(move || {
            let outcome = this.work(key, &job);
            this.under_way.lock().remove(&key);
            bringer.complete_io(outcome);
        });
        if started.is_err() {
            self.under_way.lock().remove(&key);
        }
    }

    /// Stops all jobs of a session.
    pub(crate) fn recall(&self, session: u32) {
        let mut under_way = self.under_way.lock();
        let keys: Vec<(u32, u64)> = under_way.range((session, 0)..=(session, u64::MAX)).map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| under_way.remove(key)).for_each(Stop::now);
    }

    /// From now on, stopping the job uses `stop`. If it was stopped before, uses it immediately.
    fn hold(&self, key: (u32, u64), stop: Stop) {
        match self.under_way.lock().get_mut(&key) {
            Some(held) => *held = stop,
            None => stop.now(),
        }
    }

    fn is_recalled(&self, key: (u32, u64)) -> bool {
        !self.under_way.lock().contains_key(&key)
    }

    fn work(&self, key: (u32, u64), job: &HandlerJob) -> JobOutcome {
        let done = match job {
            _ if self.is_recalled(key) => Ok(JobOutcome::silent(JobEnd::Stopped)),
            HandlerJob::Script(script) => self.script(key, script),
            HandlerJob::Infer(asked) => self.program(key, asked),
            HandlerJob::HandlerPost(wanted) => self.post(key, wanted),
        };
        let outcome = done.unwrap_or_else(|error| JobOutcome::silent(JobEnd::Unstarted { why: error.to_string() }));
        self.without_secrets(outcome)
    }

    /// Replaces the user's secret values in an outcome, because a script may repeat them, and outcomes are recorded.
    fn without_secrets(&self, mut outcome: JobOutcome) -> JobOutcome {
        let is_cut = outcome.bytes > MAX_OUTPUT_BYTES as u64;
        for (secret, value) in self.options.secrets.iter().filter(|(_, value)| !value.is_empty()) {
            outcome.output = outcome.output.replace(value.as_str(), &format!("${{{}}}", secret.name));
            // A value at the end may have been cut off, so its beginning counts as well.
            let begins = |(at, _): (usize, char)| outcome.output.ends_with(&value[..at]).then_some(at);
            if let Some(length) = is_cut.then(|| value.char_indices().rev().find_map(begins)).flatten() {
                outcome.output.truncate(outcome.output.len() - length);
            }
        }
        outcome
    }

    fn script(&self, key: (u32, u64), script: &Script) -> io::Result<JobOutcome> {
        let mut argv = self.options.shell.clone();
        // `$0` is what the shell calls itself in error messages.
        argv.extend([script.text.clone().into(), "handler".into()]);
        argv.extend(script.arguments.iter().map(OsString::from));
        let mut command = supervisor(&argv, script.limit, ProcessReach::Own)?;
        bare(&mut command).envs(script.environment.iter().cloned());
        let folder =
            script.folder.as_ref().map_or_else(|| self.options.folder.clone(), |at| self.options.folder.join(at));
        std::fs::read_dir(&folder).map_err(|error| io::Error::other(format!("cannot run in {folder:?}: {error}")))?;
        command.current_dir(folder);
        self.keep(key, command, script.input.clone(), script.limit)
    }

    fn program(&self, key: (u32, u64), asked: &Infer) -> io::Result<JobOutcome> {
        let argv = self.options.program.as_ref().ok_or_else(|| io::Error::other("there is no program for agents"))?;
        let input = serde_json::to_string(asked).map_err(io::Error::other)? + "\n";
        let mut command = supervisor(argv, asked.limit, ProcessReach::Own)?;
        if self.options.is_program_bare {
            bare(&mut command);
        }
        self.keep(key, command, input, asked.limit)
    }

    /// Waits for a supervisor to report how its command ended.
    fn keep(&self, key: (u32, u64), mut command: Command, input: String, limit: Duration) -> io::Result<JobOutcome> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let ended = self.await_end(key, &mut child, input, limit);
        let outcome = ended.unwrap_or_else(|error| {
            let _ = child.kill();
            JobOutcome::silent(JobEnd::Unreached { why: error.to_string() })
        });
        let _ = child.wait();
        Ok(outcome)
    }

    fn await_end(&self, key: (u32, u64), child: &mut Child, input: String, limit: Duration) -> io::Result<JobOutcome> {
        self.hold(key, Stop::Keeper(ProcessHandle::of(child)?));
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let mut stdin = child.stdin.take().ok_or_else(broken)?;
        let (says, reports) = (child.stderr.take().ok_or_else(broken)?, child.stdout.take().ok_or_else(broken)?);
        let (said, reported) = (channel(), channel());
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        // A command may ignore its input.
        thread("handler-in").spawn(move || drop(stdin.write_all(input.as_bytes())))?;
        thread("handler-out").spawn(move || said.0.send(read(says, MAX_OUTPUT_BYTES)))?;
        thread("handler-end").spawn(move || reported.0.send(read(reports, MAX_OUTPUT_BYTES)))?;
        let lost = |_| io::Error::other("its supervisor did not report how it ended");
        let (end, _) = reported.1.recv_timeout(limit.saturating_add(GRACE_PERIOD + REPORT_TIMEOUT)).map_err(lost)?;
        let (output, bytes) = said.1.recv_timeout(REPORT_TIMEOUT).map_err(lost)?;
        let kept: ExitReport = match serde_json::from_slice(&end) {
            Ok(kept) => kept,
            // It may be stopped before it listens; then nothing has begun.
            Err(_) if self.is_recalled(key) => return Ok(JobOutcome::silent(JobEnd::Stopped)),
            Err(_) => return Err(io::Error::other("its supervisor was killed")),
        };
        let left = kept.left;
        Ok(JobOutcome { end: end_of(kept), output: readable(&output), bytes, left })
    }

    fn post(&self, key: (u32, u64), wanted: &HandlerPost) -> io::Result<JobOutcome> {
        let url = url::Url::parse(&wanted.url).map_err(io::Error::other)?;
        check_address(&url, &self.options.private_hosts).map_err(io::Error::other)?;
        let permits = (!may_be_private(&url, &self.options.private_hosts)).then_some(is_public as AddressFilter);
        let mut headers = self.with_secrets(wanted, &url)?;
        headers.push((INSTANCE.to_owned(), instance().to_owned()));
        let (stop, stopped) = oneshot::channel();
        self.hold(key, Stop::HandlerPost(stop));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            let outcome = tokio::select! {
                biased;
                _ = stopped => JobOutcome::silent(JobEnd::Stopped),
                posted = post(url.as_str(), &headers, &wanted.body, MAX_OUTPUT_BYTES, permits) => match posted {
                    Ok(posted) => answered(&posted),
                    Err(error @ (HttpError::Url(..) | HttpError::Header(..) | HttpError::Address(..))) => {
                        return Err(io::Error::other(error));
                    }
                    Err(error) => JobOutcome::silent(JobEnd::Unreached { why: error.to_string() }),
                },
                () = tokio::time::sleep(wanted.limit) => JobOutcome::silent(JobEnd::Late),
            };
            Ok(outcome)
        });
        // A name lookup may still block a thread of its own.
        runtime.shutdown_background();
        outcome
    }

    /// Fills in the user's values in headers, if the host may get them.
    fn with_secrets(&self, wanted: &HandlerPost, url: &url::Url) -> io::Result<Vec<(String, String)>> {
        let value = |name: &str| {
            let mut fitting =
                self.options.secrets.iter().filter(|(secret, _)| secret.name == name && secret.is_for(url));
            fitting.next().map(|(_, value)| value.as_str())
        };
        let fill = |text: &str| {
            let filled = pieces(text).map_err(io::Error::other)?.into_iter().map(|piece| match piece {
                HeaderPiece::Text(text) => Ok(text),
                HeaderPiece::Name(name) => value(name)
                    .ok_or_else(|| io::Error::other(format!("${{{name}}} is not allowed for that host and port"))),
            });
            filled.collect::<io::Result<String>>()
        };
        wanted.headers.iter().map(|(name, text)| Ok((name.clone(), fill(text)?))).collect()
    }
}

/// Removes all of our environment from a command, except for [`LENT`].
fn bare(command: &mut Command) -> &mut Command {
    let lent = LENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(lent);
    if let Some(path) = std::env::var_os("PATH").and_then(|path| absolute_path(&path)) {
        command.env("PATH", path);
    }
    command
}

/// The folders of a `PATH` as seen from our own folder: a script runs in a folder that a subscriber chose, whose programs
/// must not take the place of ours. `None` if there is nothing to change.
fn absolute_path(path: &OsStr) -> Option<OsString> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let is_absolute = |folder: &PathBuf| folder.is_absolute();
    if folders.iter().all(is_absolute) {
        return None;
    }
    let here = std::env::current_dir().ok();
    let seen = |folder: PathBuf| match &here {
        Some(here) => Some(here.join(folder)),
        None => Some(folder).filter(is_absolute),
    };
    std::env::join_paths(folders.into_iter().filter_map(seen)).ok().or_else(|| Some(OsString::new()))
}

/// Delivers an outcome exactly once.
struct Bringer(Option<Box<dyn FnOnce(JobOutcome) + Send>>);

impl Bringer {
    fn complete_io(&mut self, outcome: JobOutcome) {
        if let Some(complete_io) = self.0.take() {
            complete_io(outcome);
        }
    }
}

impl Drop for Bringer {
    fn drop(&mut self) {
        self.complete_io(JobOutcome::silent(JobEnd::Unstarted { why: "cannot start a thread".to_owned() }));
    }
}

fn end_of(kept: ExitReport) -> JobEnd {
    match kept {
        ExitReport { unstarted: Some(why), .. } => JobEnd::Unstarted { why },
        ExitReport { late: true, .. } => JobEnd::Late,
        ExitReport { reported: true, .. } => JobEnd::Stopped,
        ExitReport { code: Some(code), .. } => JobEnd::Exited { code },
        ExitReport { signal, .. } => JobEnd::Signalled { signal: signal.unwrap_or_default() },
    }
}

fn answered(posted: &Posted) -> JobOutcome {
    let header = |name: &str| posted.headers.get(name)?.to_str().ok().map(str::to_owned);
    let (retry_after, location) = (header("retry-after"), header("location"));
    let end = JobEnd::Answered { status: posted.status, retry_after, location };
    JobOutcome { end, output: readable(&posted.body), bytes: posted.bytes, left: 0 }
}

/// Reads to the end; returns the beginning, and the total length.
fn read(mut from: impl Read, most: usize) -> (Vec<u8>, u64) {
    let (mut kept, mut bytes, mut chunk) = (Vec::new(), 0, vec![0; 64 << 10]);
    loop {
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(got) => {
                bytes += got as u64;
                let proposal = most.saturating_sub(kept.len()).min(got);
                kept.extend_from_slice(&chunk[..proposal]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    (kept, bytes)
}

/// Text without control characters.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: (u32, u64) = (1, 7);

    fn recalled() -> Arc<HandlerRunner> {
        let jobs =
            HandlerRunner::new(HandlerOptions { shell: vec!["no-such-shell".into()], ..HandlerOptions::default() });
        jobs.under_way.lock().insert(KEY, Stop::Waiting);
        jobs.recall(1);
        jobs
    }

    #[test]
    fn a_relative_folder_of_path_is_ours_and_not_the_scripts() {
        let here = std::env::current_dir().expect("a folder").display().to_string();
        let absolute = |path: &str| absolute_path(path.as_ref()).map(|path| path.into_string().expect("text"));
        assert_eq!(absolute("/usr/bin:/bin"), None);
        assert_eq!(absolute("/usr/bin:.:bin:"), Some(format!("/usr/bin:{here}/.:{here}/bin:{here}/")));
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_the_output_was_cut() {
        let key = Secret { name: "KEY".to_owned(), host: "host".to_owned(), port: None };
        let secrets = [(key, "s3cret-värde".to_owned())];
        let jobs = HandlerRunner::new(HandlerOptions { secrets: BTreeMap::from(secrets), ..HandlerOptions::default() });
        let said = |output: &str, bytes: u64| {
            let outcome = JobOutcome { output: output.into(), bytes, ..JobOutcome::silent(JobEnd::Exited { code: 0 }) };
            jobs.without_secrets(outcome).output
        };
        let more = MAX_OUTPUT_BYTES as u64 + 1;
        assert_eq!(said("a s3cret-värde, a s3cret-vä", more), "a ${KEY}, a ");
        assert_eq!(said("a s3cret-värde", more), "a ${KEY}");
        assert_eq!(said("all of it: s3", 13), "all of it: s3");
    }

    #[test]
    fn what_is_recalled_before_it_begins_does_not_begin() {
        let script = Script {
            text: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            input: String::new(),
            limit: Duration::from_secs(600),
        };
        let outcome = recalled().work(KEY, &HandlerJob::Script(script));
        assert_eq!(outcome.end, JobEnd::Stopped, "the shell is never started");
        let other = HandlerRunner::new(HandlerOptions::default());
        other.under_way.lock().insert(KEY, Stop::Waiting);
        other.recall(2);
        assert!(!other.is_recalled(KEY), "it belongs to another session");
    }

    #[test]
    fn what_is_recalled_while_it_is_started_is_ended_at_once() {
        let mut long = Command::new("sleep");
        long.arg("600");
        let outcome = recalled().keep(KEY, long, String::new(), Duration::from_secs(600)).expect("it was started");
        assert_eq!(outcome.end, JobEnd::Stopped);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        listener.set_nonblocking(true).expect("set");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let post = HandlerPost { url, headers: Vec::new(), body: String::new(), limit: Duration::from_secs(600) };
        assert_eq!(recalled().post(KEY, &post).expect("an outcome").end, JobEnd::Stopped);
        assert!(listener.accept().is_err(), "nothing connected");
    }
}
