//! The model of a host: the built-in echo, the user's program, or none.

use super::super::error::CommandError;
use crate::host::engine::{ModelReply, ToolCall};
use crate::host::prompt::Prompt;
use crate::proposals::host::{Finish, Inference, Inferred, ModelView, tokens};
use crate::runtime::sleep_until;
use crate::wire::json;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What answers prompts.
#[derive(Clone, Debug)]
pub(crate) enum Model {
    /// Repeats what it was asked, and how much context it got: the same every time.
    Echo,
    /// Says nothing.
    None,
    /// A program that reads the prompt as JSON on stdin and prints its answer to stdout.
    Program {
        /// Its command.
        argv: Vec<OsString>,
        /// How long it may take.
        timeout: Duration,
    },
}

/// The maximum length of a program's answer, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// How long a program's output is read after it has exited: its own output is available at once.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// A program's answer in JSON, which may call tools.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    text: String,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    server: Option<String>,
    tool: String,
    /// Without them, the tool is called with an empty object.
    arguments: Option<Value>,
}

impl Model {
    /// A program by its command line, which is split as a shell would.
    ///
    /// # Errors
    ///
    /// The command line is empty, or a quote in it is not closed.
    pub(crate) fn program(command: &str, timeout: Duration) -> Result<Self, CommandError> {
        match shlex::split(command).filter(|argv| !argv.is_empty()) {
            Some(argv) => Ok(Self::Program { argv: argv.into_iter().map(OsString::from).collect(), timeout }),
            None => Err(CommandError::usage(format!("invalid command {command:?}"))
                .hint("it must not be empty, and its quotes must be closed")),
        }
    }

    /// What servers may know about the model.
    pub(crate) fn view(&self) -> ModelView {
        let (id, vendor) = match self {
            Self::Echo => return ModelView::default(),
            Self::None => ("none".to_owned(), "mcpreel"),
            Self::Program { argv, .. } => {
                let name = std::path::Path::new(&argv[0]).file_stem().unwrap_or(&argv[0]);
                (name.to_string_lossy().into_owned(), "a program")
            }
        };
        ModelView { id, vendor: vendor.to_owned(), ..ModelView::default() }
    }

    /// Answers a server's request. The pieces together are the text or its beginning.
    ///
    /// # Errors
    ///
    /// The program fails or takes too long.
    pub(crate) async fn infer(&self, asked: &Inference, piece: impl FnMut(&str)) -> Result<Inferred, String> {
        let prompt = Prompt::of(asked);
        match self {
            Self::None => Ok(Inferred::default()),
            Self::Echo => {
                let inferred = cut_to(ModelReply::echo(&prompt).text, asked.max_tokens);
                inferred.text.split_inclusive(' ').for_each(piece);
                Ok(inferred)
            }
            Self::Program { .. } => {
                let reply = self.reply(&prompt, piece).await?;
                Ok(Inferred { text: reply.text, finish: Finish::EndTurn })
            }
        }
    }

    /// Answers a prompt. Pieces of a program's answer are passed to `piece` as they arrive; together they are its
    /// text or the beginning of it.
    ///
    /// # Errors
    ///
    /// The program fails or takes too long.
    pub(crate) async fn reply(&self, prompt: &Prompt, piece: impl FnMut(&str)) -> Result<ModelReply, String> {
        match self {
            Self::None => Ok(ModelReply::default()),
            Self::Echo => Ok(ModelReply::echo(prompt)),
            Self::Program { argv, timeout } => {
                let reported = format!("{} did not answer within {timeout:?}", argv[0].to_string_lossy());
                tokio::time::timeout(*timeout, ask(argv, prompt, piece)).await.unwrap_or(Err(reported))
            }
        }
    }
}

/// A reply in progress.
pub(crate) struct Replying {
    task: JoinHandle<Result<ModelReply, String>>,
    pieces: mpsc::UnboundedReceiver<String>,
}

/// Progress of a reply.
#[derive(Debug)]
pub(crate) enum Progress {
    /// A piece of its text; see [`Model::reply`].
    Piece(String),
    /// The whole reply or an error. Nothing follows.
    Reply(Result<ModelReply, String>),
}

impl Replying {
    /// Asks the model.
    pub(crate) fn begin(model: &Model, prompt: Prompt) -> Self {
        let (sender, pieces) = mpsc::unbounded_channel();
        let model = model.clone();
        let task = tokio::spawn(async move { model.reply(&prompt, |piece| drop(sender.send(piece.to_owned()))).await });
        Self { task, pieces }
    }

    /// The next progress. Waits forever if no reply is in progress, as after the last one. Cancelling this loses
    /// nothing.
    pub(crate) async fn next(replying: &mut Option<Self>) -> Progress {
        let Some(Self { task, pieces }) = replying else { return std::future::pending().await };
        if let Some(piece) = pieces.recv().await {
            return Progress::Piece(piece);
        }
        let reply = task.await.unwrap_or_else(|error| Err(error.to_string()));
        *replying = None;
        Progress::Reply(reply)
    }

    /// Ends the program, if there is one.
    pub(crate) fn abort(self) {
        self.task.abort();
    }
}

/// A text cut between words to a maximum number of tokens.
fn cut_to(text: String, most: Option<u64>) -> Inferred {
    let most = most.filter(|most| tokens(&text) > *most);
    let Some(most) = most else { return Inferred { text, finish: Finish::EndTurn } };
    let mut kept = String::new();
    for word in text.split_inclusive(' ') {
        if tokens(&kept) + tokens(word) > most {
            break;
        }
        kept.push_str(word);
    }
    Inferred { text: kept, finish: Finish::MaxTokens }
}

/// The pieces of a program's output that certainly belong to its answer: without white space around the text, and
/// nothing if the answer may be an object.
#[derive(Default)]
struct Pieces {
    whole: String,
    given: usize,
}

impl Pieces {
    fn take(&mut self, more: &str) -> &str {
        self.whole.push_str(more);
        let text = self.whole.trim();
        if text.starts_with('{') || text.ends_with(char::REPLACEMENT_CHARACTER) {
            return "";
        }
        let piece = text.get(self.given..).unwrap_or_default();
        self.given = text.len();
        piece
    }
}

async fn ask(argv: &[OsString], prompt: &Prompt, mut piece: impl FnMut(&str)) -> Result<ModelReply, String> {
    let name = argv[0].to_string_lossy().into_owned();
    let failed = |error: std::io::Error| format!("cannot run the model {name}: {error}");
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let text = format!("{}\n", prompt.to_value());
    let give = async {
        if let Some(mut stdin) = stdin {
            // A program may answer without reading all of its input.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
    };
    let take = async {
        let mut whole = Vec::new();
        let Some(mut stdout) = stdout else { return Ok(whole) };
        let (mut chunk, mut shown, mut pieces) = (vec![0; 16 << 10], 0, Pieces::default());
        let mut ended = None;
        loop {
            let got = tokio::select! {
                biased;
                got = stdout.read(&mut chunk) => got.map_err(failed)?,
                // Processes that it started may keep its output open.
                status = child.wait(), if ended.is_none() => {
                    status.map_err(failed)?;
                    ended = Some(Instant::now() + DRAIN_TIMEOUT);
                    continue;
                }
                () = sleep_until(ended) => 0,
            };
            if got == 0 || ended.is_some_and(|end| Instant::now() >= end) {
                return Ok(whole);
            }
            whole.extend_from_slice(&chunk[..got]);
            if whole.len() > MAX_BYTES {
                return Err(format!("the answer of the model {name} is longer than {} MiB", MAX_BYTES >> 20));
            }
            // An incomplete character is passed on with its last byte.
            let end = whole.len() - unfinished(&whole);
            let more = pieces.take(&String::from_utf8_lossy(&whole[shown..end]));
            if !more.is_empty() {
                piece(more);
            }
            shown = end;
        }
    };
    let whole = tokio::select! {
        whole = take => whole?,
        // A process that keeps the input open without reading must not block us.
        never = async { give.await; std::future::pending().await } => never,
    };
    let status = child.wait().await.map_err(failed)?;
    if !status.success() {
        return Err(format!("the model {name} failed with {status}"));
    }
    Ok(read_answer(&String::from_utf8_lossy(&whole)))
}

/// The number of bytes at the end that are an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len() - bytes.len().min(3)..];
    match tail.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && tail.ends_with(last.invalid()) => {
            let begins = last.invalid().first().is_some_and(|byte| *byte >= 0xc0);
            if begins { last.invalid().len() } else { 0 }
        }
        _ => 0,
    }
}

/// Parses an answer. An object with `text` or `tool_calls` is read as such; anything else is the text.
fn read_answer(text: &str) -> ModelReply {
    let trimmed = text.trim();
    let is_object = json::parsed(trimmed.as_bytes())
        .is_some_and(|value| value.get("text").is_some() || value.get("tool_calls").is_some());
    match is_object.then(|| serde_json::from_str::<Answer>(trimmed).ok()).flatten() {
        None => ModelReply { text: trimmed.to_owned(), tool_calls: Vec::new() },
        Some(answer) => ModelReply {
            text: answer.text,
            tool_calls: answer
                .tool_calls
                .into_iter()
                .map(|call| ToolCall {
                    server: call.server,
                    tool: call.tool,
                    arguments: call.arguments.unwrap_or_else(|| json!({})),
                })
                .collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_put_together_are_the_text() {
        let given = |chunks: &[&str]| {
            let mut pieces = Pieces::default();
            chunks.iter().map(|chunk| pieces.take(chunk).to_owned()).collect::<Vec<_>>().concat()
        };
        assert_eq!(given(&["\n one ", "two", "  three \n", "\n"]), "one two  three");
        assert_eq!(given(&["{\"te", "xt\": 1}"]), "");
        assert_eq!((unfinished(b"a\xc3"), unfinished("aä".as_bytes()), unfinished(b"\xe2\x82")), (1, 0, 2));
    }

    #[test]
    fn what_is_inferred_keeps_to_its_limit() {
        let cut = cut_to("one two three four".to_owned(), Some(2));
        assert_eq!((cut.text.as_str(), cut.finish), ("one two ", Finish::MaxTokens));
        assert_eq!(cut_to("one".to_owned(), Some(2)).finish, Finish::EndTurn);
    }

    #[test]
    fn an_answer_is_text_unless_it_is_an_object_of_ours() {
        assert_eq!(read_answer(" hello\n").text, "hello");
        assert_eq!(read_answer("{\"a\": 1}").text, "{\"a\": 1}");
        let reply = read_answer(r#"{"text": "wait", "tool_calls": [{"tool": "note", "arguments": {"x": 1}}]}"#);
        assert_eq!((reply.text.as_str(), reply.tool_calls.len()), ("wait", 1));
        assert_eq!(reply.tool_calls[0].tool, "note");
        let reply = read_answer(r#"{"text": "", "tool_calls": [{"tool": "a"}, {"tool": "b", "arguments": null}]}"#);
        assert!(reply.tool_calls.iter().all(|call| call.arguments == json!({})), "never null");
    }
}
