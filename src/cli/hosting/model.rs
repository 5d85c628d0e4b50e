//! The model behind a host: the built-in echo, somebody's program, or none.

use super::super::error::CommandError;
use crate::extension::host::{Finish, Inference, Inferred, ModelView, tokens};
use crate::host::engine::{ModelReply, ToolCall};
use crate::host::prompt::{Prompt, Role};
use serde::Deserialize;
use serde_json::Value;
use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// What answers prompts.
#[derive(Clone, Debug)]
pub enum Model {
    /// Says what it was asked, and how much it was given: the same every time.
    Echo,
    /// Says nothing.
    None,
    /// A program: the prompt as JSON on its standard input, the answer on its standard output.
    Program {
        /// Its command.
        argv: Vec<OsString>,
        /// How long it may take.
        timeout: Duration,
    },
}

/// The longest answer of a program.
const MOST_BYTES: u64 = 16 << 20;

/// An answer in JSON, where a program wants tools used.
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
    #[serde(default)]
    arguments: Value,
}

impl Model {
    /// A program by its command, split as a shell would.
    pub fn program(command: &str, timeout: Duration) -> Result<Self, CommandError> {
        match shlex::split(command).filter(|argv| !argv.is_empty()) {
            Some(argv) => Ok(Self::Program { argv: argv.into_iter().map(OsString::from).collect(), timeout }),
            None => Err(CommandError::usage(format!("{command:?} is no command")).hint("quotes in it must be closed")),
        }
    }

    /// What servers may learn of it.
    pub fn view(&self) -> ModelView {
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

    /// Answers what a server asks. The pieces, put together, are the text, or its beginning.
    pub async fn infer(&self, asked: &Inference, mut piece: impl FnMut(&str)) -> Result<Inferred, String> {
        let prompt = Prompt::of(asked);
        match self {
            Self::None => Ok(Inferred::default()),
            Self::Echo => {
                let inferred = cut_to(echo(&prompt), asked.max_tokens);
                inferred.text.split_inclusive(' ').for_each(piece);
                Ok(inferred)
            }
            Self::Program { .. } => {
                let mut pieces = Pieces::default();
                let reply = self.reply(&prompt, |more| piece(pieces.take(more))).await?;
                Ok(Inferred { text: reply.text, finish: Finish::EndTurn })
            }
        }
    }

    /// Answers a prompt. Pieces of a program's answer go to `piece` as they come.
    pub async fn reply(&self, prompt: &Prompt, piece: impl FnMut(&str)) -> Result<ModelReply, String> {
        match self {
            Self::None => Ok(ModelReply::default()),
            Self::Echo => Ok(ModelReply { text: echo(prompt), tool_calls: Vec::new() }),
            Self::Program { argv, timeout } => {
                let told = format!("{} gave no answer within {timeout:?}", argv[0].to_string_lossy());
                tokio::time::timeout(*timeout, ask(argv, prompt, piece)).await.unwrap_or(Err(told))
            }
        }
    }
}

/// A text within a limit of tokens, cut between words.
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

/// The pieces of a program's output that are surely its answer's: without what is around the text, and none of an
/// answer that may be an object.
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

/// What the user said last, and how many parts of servers stood around it.
pub fn echo(prompt: &Prompt) -> String {
    let own = |role: Role| prompt.parts.iter().rfind(move |part| part.role == role && part.origin.is_none());
    let said = own(Role::User).map_or("", |part| part.text.as_str());
    let external = prompt.parts.iter().filter(|part| part.origin.is_some()).count();
    let tools = prompt.parts.iter().filter(|part| part.role == Role::Tool).count();
    format!("echo: {said} ({external} parts of servers, {tools} tool results)")
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
            // A program that does not read all of it may answer all the same.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
    };
    let take = async {
        let mut whole = Vec::new();
        let Some(mut stdout) = stdout.map(|stdout| stdout.take(MOST_BYTES)) else { return Ok(whole) };
        let mut chunk = vec![0; 16 << 10];
        let mut shown = 0;
        loop {
            let got = stdout.read(&mut chunk).await?;
            if got == 0 {
                return Ok(whole);
            }
            whole.extend_from_slice(&chunk[..got]);
            // A character that is cut in two goes with the rest of it.
            let end = whole.len() - unfinished(&whole);
            piece(&String::from_utf8_lossy(&whole[shown..end]));
            shown = end;
        }
    };
    let ((), whole) = tokio::join!(give, take);
    let whole = whole.map_err(failed)?;
    let status = child.wait().await.map_err(failed)?;
    if !status.success() {
        return Err(format!("the model {name} ended with {status}"));
    }
    Ok(read_answer(&String::from_utf8_lossy(&whole)))
}

/// How many bytes at the end begin a character and do not end it.
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

/// An object with `text` or `tool_calls` is taken as such; anything else is the text.
fn read_answer(text: &str) -> ModelReply {
    let trimmed = text.trim();
    let is_object = serde_json::from_str::<Value>(trimmed)
        .is_ok_and(|value| value.get("text").is_some() || value.get("tool_calls").is_some());
    match serde_json::from_str::<Answer>(trimmed).ok().filter(|_| is_object) {
        None => ModelReply { text: trimmed.to_owned(), tool_calls: Vec::new() },
        Some(answer) => ModelReply {
            text: answer.text,
            tool_calls: answer
                .tool_calls
                .into_iter()
                .map(|call| ToolCall { server: call.server, tool: call.tool, arguments: call.arguments })
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
    }
}
