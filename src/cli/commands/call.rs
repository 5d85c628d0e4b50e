//! `call`: sends one request, or the requests of a file.

mod advice;
pub(in crate::cli) mod checks;
mod overview;

use crate::cli::client_session::{self, ClientOptions};
use crate::cli::jq::{Jq, Program, Reply};
use crate::cli::redaction::RedactOptions;
use crate::cli::repeat::{Repeating, Tally};
use crate::cli::secret_warning::Shared;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::Output;
use crate::host::client::{Answer, Handshake, Params};
use crate::render::answer::{attachments, laid_out};
use crate::render::line;
use crate::render::pretty::{Layout, pretty};
use crate::render::text::Escaping;
use crate::runtime;
use crate::runtime::client::{Closing, Connection, Failure};
use crate::runtime::parameters;
use crate::wire::text::excerpt;
use crate::wire::units::millis;
use crate::wire::{Envelope, json, tree};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Send one request to a server and print the result; without a method, list what the server offers.
///
/// mcpreel detects the era and does the handshake. Meanwhile it answers the server's pings and requests for roots,
/// and refuses its other requests.
#[derive(Debug, Args)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `server/discover`, then `initialize`")))]
#[command(mut_arg("redact", |redact| redact.help("With --file: replace secrets in the report by pseudonyms, as `mcpreel redact` does")))]
#[command(mut_arg("key_file", |key| key.requires("redact")))]
#[command(after_help = "\
Examples:
  mcpreel call -- my-server                         # everything it offers
  mcpreel call tools/list -- npx -y @modelcontextprotocol/server-everything
  mcpreel call tools/call name=echo arguments:='{\"message\":\"hi\"}' -- my-server
  mcpreel call tools/call name=echo arguments.message=hi -- my-server
  mcpreel call resources/read uri=demo://x --record session.reel -v -- my-server
  mcpreel call tools/call @params.json --format envelope -- my-server
  mcpreel call notifications/roots/list_changed -- my-server
  mcpreel call tools/list --url https://host/mcp -H 'Authorization: Bearer …' -v
  mcpreel call tools/list --url unix:/run/user/1000/server.sock
  mcpreel call tools/list --session everything      # in a live session
  mcpreel call tools/list --jq '.tools[].name' -- my-server
  mcpreel call tools/call name=draw --save images -- my-server
  mcpreel call tools/list --repeat 100 --expect '.tools != []' -- my-server
  mcpreel call --file checks.yaml --format junit -- my-server > report.xml

On a terminal, tools, prompts, resources and templates are printed as a table (a ? marks optional arguments), texts as text, \
and images by their kind and size. Elsewhere, and with --format json or envelope, you get the result as JSON.

A file with checks:
  checks:
    - call: tools/list
      expect: .tools != []
      capture: {tool: '.tools[] | select(.name == \"add\") | .name'}
    - name: it adds
      call: tools/call
      params: {name: '${tool}', arguments: {a: 2, b: 40}}
      expect: ['.structuredContent.sum == 42', '.isError != true']

Exit codes: 0 the server returned a result, or a notification was sent; 1 it returned an error, the tool failed, or an expectation is not met; 4 the server or the connection failed; 5 no response in time.")]
pub(crate) struct CallArgs {
    /// The method, such as tools/list. Without one, mcpreel asks for everything that the server lists: on a terminal, you
    /// get tables, elsewhere JSON, which is also a lock file for `mcpreel diff --surface`.
    method: Option<String>,
    /// Parameters: name=text, name:=JSON, a JSON object, @file, or - for stdin; a.b=text sets a nested member. A text can
    /// be @file, or @- for stdin; @@ stands for a literal @.
    params: Vec<String>,
    /// Run the checks in this YAML file (- for stdin) on one connection: requests, with expectations and captured values.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "params", "notify", "jq", "save", "expect", "repeat"])]
    file: Option<PathBuf>,
    /// Send a notification and do not wait for a response. Implied by methods that begin with notifications/.
    #[arg(long)]
    notify: bool,
    /// What to print.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Run a jq program on the result (or the error) and print its results, strings as they are.
    #[arg(long, value_name = "EXPR", conflicts_with_all = ["format", "notify"])]
    jq: Option<String>,
    /// Write images, audio and other binary content of the result to files in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "notify")]
    save: Option<PathBuf>,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    repeating: Repeating,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The result or error: laid out on a terminal, else as indented JSON.
    Human,
    /// The result or error as received.
    Json,
    /// One JSON object with the whole message, the latency, the era and the revision.
    Envelope,
    /// With --file: JUnit XML, a case for each check.
    Junit,
    /// With --file: annotations for GitHub Actions.
    Github,
    /// With --file: Markdown, for a summary.
    Markdown,
}

impl Format {
    /// Whether it is a form of results, which only checks have.
    fn is_of_results(self) -> bool {
        matches!(self, Self::Junit | Self::Github | Self::Markdown)
    }
}

impl CallArgs {
    fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    /// Whether mcpreel may ask for the tools for its advice: a reel or a repeated call has only what the user sends.
    fn may_ask(&self) -> bool {
        self.method() == "tools/call" && self.repeating.repeat == 1 && !self.client.records()
    }

    fn is_notification(&self) -> bool {
        self.notify || self.method().starts_with("notifications/")
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &CallArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(path) = &args.file {
        return run_file(path, args, context);
    }
    if args.redact.redact {
        return Err(CommandError::usage("--redact is only for the report of --file")
            .hint("record the call, and redact the reel: --record FILE, then `mcpreel redact FILE -o SHARED`"));
    }
    if args.format.is_of_results() {
        return Err(CommandError::usage("this format is only for --file"));
    }
    if args.method.is_none() {
        return overview::run(args, context);
    }
    let params =
        parameters::params(&args.params).map_err(|error| advice::on_words(error, args.method(), &args.params))?;
    let params = match params {
        None => Params::Absent,
        Some(text) => Params::Raw(text),
    };
    let mut printing =
        Printing { args, jq: JqOption::of(args.jq.as_deref(), context)?, saved: 0, number: 0, has_failed: false };
    let mut tally = args.repeating.tally()?;
    runtime::block_on(async {
        let (link, server) = client_session::start(&args.target, &args.client, context).await?;
        let (mut connection, handshake) =
            match client_session::open(&server, link, &args.client, json!({}), context).await {
                Ok(opened) => opened,
                Err(error) => return Err(server.end_after(error, context.notices()).await),
            };
        if args.is_notification() {
            connection.notify(args.method(), params).await;
            let closing = connection.runner.close().await;
            server.end(context.notices()).await?;
            return match closing.failure {
                None => Ok(Outcome::Clean),
                Some(why) => Err(client_session::failed(Failure::Failed(why.into()), &closing.said)),
            };
        }
        connection.runner.engine.take_all_values();
        let is_alone = !server.is_joined();
        let done = repeat((&mut connection, is_alone), &handshake, &params, &mut printing, &mut tally, context).await;
        // A server may take its time to end.
        let done = done.and_then(|()| context.printer.flush().map_err(CommandError::output));
        if let Err(error) = done {
            connection.runner.close().await;
            return Err(server.end_after(error, context.notices()).await);
        }
        client_session::report_noise(&connection.runner.engine, context);
        let report = |closing: &Closing| client_session::report_stderr(&closing.said, printing.has_failed, context);
        server.end_answered(connection.runner, context.notices(), report).await?;
        tally.finish(context)
    })
}

/// Runs the checks of a file.
fn run_file(path: &Path, args: &CallArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.format == Format::Envelope {
        return Err(CommandError::usage("--file has no format `envelope`").hint("use json, junit, github or markdown"));
    }
    let mut shared = Shared::new(&args.redact, args.format == Format::Human && context.printer.is_terminal)?;
    let broken = |checks, error| checks::report_broken((path, checks), error, args, context);
    let checks = checks::Checks::read(path).map_err(|error| broken(None, error))?;
    let mut jq = checks.compile().map_err(|error| broken(Some(&checks), error))?;
    runtime::block_on(async {
        let started = client_session::start(&args.target, &args.client, context).await;
        let (link, server) = started.map_err(|error| broken(Some(&checks), error))?;
        let (mut connection, _) = match client_session::open(&server, link, &args.client, json!({}), context).await {
            Ok(opened) => opened,
            Err(error) => {
                let error = server.end_after(error, context.notices()).await;
                return Err(broken(Some(&checks), error));
            }
        };
        let (results, failure) = checks.run(&mut connection, &mut jq, &mut shared, context).await;
        let outcome = checks::print(&results, args, &mut shared, context);
        let outcome =
            outcome.and_then(|outcome| context.printer.flush().map(|()| outcome).map_err(CommandError::output));
        let outcome = outcome.and_then(|outcome| jq.check().map(|()| outcome));
        match failure {
            Some(failure) => {
                let error = client_session::failed(failure, &connection.runner.said);
                connection.runner.close().await;
                Err(server.end_after(error, context.notices()).await)
            }
            None => server.end_answered(connection.runner, context.notices(), |_| ()).await.and(outcome),
        }
    })
}

/// The time that mcpreel waits for the list of tools, if it needs it only for advice.
const FOR_ADVICE: Duration = Duration::from_secs(2);

/// What was probably meant, if the server refused the name of a tool or of an argument. Asks for the list of tools.
async fn misspelt(connection: &mut Connection, params: &Params, words: &[String], answer: &Answer) -> Option<String> {
    let envelope = Envelope::scan(&answer.message);
    let content = json::value_of(envelope.result.or(envelope.error)?);
    let Params::Raw(params) = params else { return None };
    let params = json::value_of(params);
    if !advice::may_be_misspelt("tools/call", &content) {
        return None;
    }
    let listed = connection.request_within(FOR_ADVICE, "tools/list", Params::Absent, |_| ()).await.ok()?;
    let listed = json::value_of(Envelope::scan(&listed.message).result?);
    advice::on_names(&params, &listed).or_else(|| advice::on_types(&params, &listed, words))
}

/// Sends the request as often as the user wants, and prints each answer. `is_alone` means that no other client uses the
/// connection.
async fn repeat(
    (connection, is_alone): (&mut Connection, bool),
    handshake: &Handshake,
    params: &Params,
    printing: &mut Printing<'_>,
    tally: &mut Tally,
    context: &Context,
) -> Result<(), CommandError> {
    let mut due = Some(Duration::ZERO);
    while let Some(at) = due {
        while let Some(output) = connection.runner.next(Some(at)).await {
            client_session::report(&output, context);
        }
        let began = connection.runner.now();
        let method = printing.args.method();
        let asked = connection.request(method, params.clone(), |output| client_session::report(output, context)).await;
        let answer = asked.map_err(|failure| client_session::failed(failure, &connection.runner.said))?;
        let judged = printing.print(&answer, handshake, context)?;
        let may_ask = is_alone && printing.args.may_ask();
        if matches!(judged, Outcome::Findings)
            && may_ask
            && let Some(text) = misspelt(connection, params, &printing.args.params, &answer).await
        {
            context.printer.note(&text);
        }
        if printing.args.repeating.repeat > 1 {
            context.printer.flush().map_err(CommandError::output)?;
        }
        let envelope = Envelope::scan(&answer.message);
        let result = envelope.result.or(envelope.error).unwrap_or(b"null");
        let content = json::value_of(result);
        advice::on_era(method, handshake.era, &content).iter().for_each(|text| context.printer.note(text));
        // Of a result that is too large, the value is null; the program says so if it gets the text.
        let reported =
            || if tree::fits(result).is_ok() { Cow::Owned(content.to_string().into()) } else { result.into() };
        tally.take_text(reported, Ok(judged), Some(answer.latency), context);
        due = printing.args.repeating.next(tally.taken(), began);
    }
    Ok(())
}

/// Fails for what is not JSON: programs get JSON or nothing.
fn check_json(content: &[u8]) -> Result<(), CommandError> {
    json::check(content).map_err(|reason| {
        let shown = excerpt(&String::from_utf8_lossy(content), MAX_SHOWN);
        CommandError::new(ErrorKind::Peer, format!("the result is not JSON: {reason}: {shown}"))
            .hint("--record FILE keeps its exact bytes, and `mcpreel show --full FILE` shows them")
    })
}

/// The maximum number of characters of a result that is not JSON that are shown.
const MAX_SHOWN: usize = 200;

/// What `--format envelope` prints.
#[derive(Serialize)]
struct ShownEnvelope<'a> {
    /// As it was received: a value in memory does not have every number.
    message: Box<RawValue>,
    latency_ms: f64,
    era: &'static str,
    version: &'a str,
}

/// Returns a message on one line.
fn raw(message: &[u8]) -> Result<Box<RawValue>, CommandError> {
    // In JSON, line ends stand between values only.
    let line: Vec<u8> = message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    serde_json::from_slice(&line)
        .map_err(|error| CommandError::new(ErrorKind::Peer, format!("the response is not JSON: {error}")))
}

/// Prints answers in the form that the user wants.
struct Printing<'a> {
    args: &'a CallArgs,
    jq: Option<JqOption>,
    /// The number of files that were saved.
    saved: usize,
    /// The number in the name of the last one.
    number: usize,
    /// Whether the server or a tool reported an error.
    has_failed: bool,
}

impl Printing<'_> {
    fn print(&mut self, answer: &Answer, handshake: &Handshake, context: &Context) -> Result<Outcome, CommandError> {
        let envelope = Envelope::scan(&answer.message);
        let content = envelope.result.or(envelope.error).unwrap_or(&answer.message);
        let saved = match (&self.args.save, envelope.result) {
            (Some(folder), Some(result)) => self.save(folder, result, context),
            _ => Ok(()),
        };
        match (&mut self.jq, self.args.format) {
            (Some(jq), _) => jq.run(content, context)?,
            (None, Format::Envelope) => {
                check_json(&answer.message)?;
                context.printer.json(&ShownEnvelope {
                    message: raw(&answer.message)?,
                    latency_ms: millis(answer.latency),
                    era: handshake.era.name(),
                    version: &handshake.version_text,
                })?;
            }
            (None, Format::Json) => {
                check_json(content)?;
                context.printer.append(|out| {
                    let _ = Escaping(&mut *out).write_all(content);
                    out.append(b"\n");
                })?;
            }
            // The other formats are those of checks.
            (None, _) => self.lay_out(content, envelope.result.is_some(), context)?,
        }
        saved?;
        let failed = match (envelope.error, envelope.tool_error) {
            (Some(_), _) => Some("the server returned an error"),
            (None, true) => Some("the tool reported an error"),
            (None, false) => None,
        };
        if let Some(failed) = failed {
            self.has_failed = true;
            context.printer.note(failed);
            advice::on_answer(self.args.method(), &self.args.params).iter().for_each(|text| context.printer.note(text));
        }
        Ok(if envelope.error.is_some() || envelope.tool_error { Outcome::Findings } else { Outcome::Clean })
    }

    /// Prints content for people: laid out on a terminal if that is possible, else as indented JSON.
    fn lay_out(&self, content: &[u8], is_result: bool, context: &Context) -> Result<(), CommandError> {
        let (palette, width) = (context.printer.palette, context.printer.width);
        let wanted = context.printer.is_terminal && is_result;
        let checked = check_json(content);
        if !context.printer.is_terminal && checked.is_err() {
            return checked;
        }
        if let Some(text) = wanted.then(|| laid_out(self.args.method(), content, &palette, width)).flatten() {
            return context.printer.line(&text);
        }
        let layout = Layout { palette, is_json: !context.printer.is_terminal, ..Layout::default() };
        context.printer.append(|out| {
            pretty(content, &layout, out);
            out.append(b"\n");
        })?;
        checked
    }

    /// The next path in a folder at which there is no file.
    fn free(&mut self, folder: &Path, extension: &str) -> PathBuf {
        loop {
            self.number += 1;
            let path = folder.join(format!("{}.{extension}", self.number));
            if path.symlink_metadata().is_err() {
                return path;
            }
        }
    }

    fn save(&mut self, folder: &Path, result: &[u8], context: &Context) -> Result<(), CommandError> {
        if let Err(too_large) = tree::fits(result) {
            context.printer.note(&format!("nothing was saved from the result: {too_large}"));
            return Ok(());
        }
        let files = attachments(&json::value_of(result));
        std::fs::create_dir_all(folder).map_err(|error| CommandError::writing(folder, &error))?;
        for (bytes, extension) in files {
            self.saved += 1;
            let path = self.free(folder, extension);
            let mut out = Output::create(&path, false)?;
            out.write_all(&bytes).map_err(|error| CommandError::writing(&path, &error))?;
            out.finish()?;
            context.printer.note(&format!("saved {}, {}", path.display(), line::bytes(bytes.len() as u64)));
        }
        if self.saved == 0 {
            context.printer.note("the result has nothing to save: no images, audio or other binary content");
        }
        Ok(())
    }
}

/// The program of `--jq`.
struct JqOption {
    jq: Jq,
    program: Program,
}

impl JqOption {
    fn of(code: Option<&str>, context: &Context) -> Result<Option<Self>, CommandError> {
        let Some(code) = code else { return Ok(None) };
        let mut jq = Jq::new(context.printer.is_terminal);
        let program = jq.compile("--jq", code)?;
        Ok(Some(Self { jq, program }))
    }

    /// Prints what the program makes of a JSON text: strings as they are.
    fn run(&mut self, content: &[u8], context: &Context) -> Result<(), CommandError> {
        context.printer.allow_commands();
        let (mut ran, mut failed) = (Ok(()), None);
        context.printer.append(|out| {
            let mut take = |_: Option<u64>, reply: Reply<'_>| {
                match reply {
                    Reply::Output(lines) => out.append(lines),
                    Reply::Failed(reason) => failed = Some(format!("--jq: {reason}")),
                }
                !out.has_failed()
            };
            ran = self.jq.run(self.program, None, (content, None), &mut take).and_then(|()| self.jq.finish(&mut take));
        })?;
        ran?;
        failed.map_or(Ok(()), |failed| Err(CommandError::new(ErrorKind::Unmet, failed)))
    }
}
