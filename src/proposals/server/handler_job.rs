//! What a room may have done outside of the server, where the user allowed it: a script, an HTTP request, a model's
//! answer. The room decides what and until when, and judges what came of it; whoever runs the server does it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use url::Url;

/// How many bytes of an output are kept.
pub const OUTPUT_KEPT: usize = 16 << 10;

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A shell.
    Bash,
    /// A server that is posted to.
    Webhook,
    /// A model.
    Agent,
}

impl JobKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Webhook, Self::Agent];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Webhook => "webhook",
            Self::Agent => "agent",
        }
    }
}

/// A variable of the user's that headers to one host may hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    /// Its name, as it stands in `${NAME}`. The value is known outside only.
    pub name: String,
    /// The one host that may get it, as it stands in a URL that was read.
    pub host: String,
    /// The port there; `None` for the one that the URL's scheme has by default.
    pub port: Option<u16>,
}

impl Secret {
    /// Whether a request to this URL may hold it.
    pub fn is_for(&self, url: &Url) -> bool {
        let default = match url.scheme() {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        url.host_str() == Some(self.host.as_str()) && url.port_or_known_default() == self.port.or(default)
    }
}

/// A piece of a header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPiece<'a> {
    /// What is sent as it stands.
    Text(&'a str),
    /// The name of a [`Secret`], which stood as `${NAME}`.
    Name(&'a str),
}

/// Cuts a header's value at the names in it.
///
/// # Errors
/// A `${` is not closed: what it would name is never guessed.
pub fn pieces(text: &str) -> Result<Vec<HeaderPiece<'_>>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("a ${ in it has no closing brace")?;
        found.extend([HeaderPiece::Text(before), HeaderPiece::Name(name)]);
        rest = behind;
    }
    found.push(HeaderPiece::Text(rest));
    Ok(found)
}

/// What the user allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerPolicy {
    /// Which kinds.
    pub kinds: BTreeSet<JobKind>,
    /// What headers may hold.
    pub secrets: Vec<Secret>,
    /// A program of the user's answers in the place of the host's model.
    pub has_program: bool,
    /// How long anything may take.
    pub limit: Duration,
}

impl Default for HandlerPolicy {
    /// Nothing.
    fn default() -> Self {
        Self { kinds: BTreeSet::new(), secrets: Vec::new(), has_program: false, limit: Duration::from_secs(30) }
    }
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerJob {
    /// A script for a shell.
    Script(Script),
    /// An HTTP POST of JSON.
    HandlerPost(HandlerPost),
    /// Something for a model.
    Infer(Infer),
}

/// A script for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// Its arguments, `$1` and so on.
    pub arguments: Vec<String>,
    /// What is added to its environment, which is empty but for what a shell needs.
    pub environment: Vec<(String, String)>,
    /// Where it runs, from the user's folder for such scripts.
    pub folder: Option<String>,
    /// What stands on its standard input.
    pub input: String,
    /// How long it may take.
    pub limit: Duration,
}

/// An HTTP POST of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerPost {
    /// Where to. What comes back as a redirect is not followed.
    pub url: String,
    /// Headers, with `${NAME}` for [`Secret`]s.
    pub headers: Vec<(String, String)>,
    /// The JSON.
    pub body: String,
    /// How long the answer may take.
    pub limit: Duration,
}

/// Something for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Infer {
    /// What it is to be and to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What it is told.
    pub prompt: String,
    /// Which model is wished for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools that it is to have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How much it may say, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How long it may take.
    #[serde(skip)]
    pub limit: Duration,
}

/// How something ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum JobEnd {
    /// A process ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended a process.
    Signalled {
        /// Its number.
        signal: i32,
    },
    /// An HTTP answer came.
    Answered {
        /// Its status.
        status: u16,
        /// Its `Retry-After`.
        retry_after: Option<String>,
        /// Its `Location`.
        location: Option<String>,
    },
    /// A model has answered.
    Said,
    /// It took too long.
    Late,
    /// It was ended, because nobody waits for it any more.
    Stopped,
    /// Nobody could be reached, or the connection broke.
    Unreached {
        /// Why.
        why: String,
    },
    /// It could not be begun, and cannot be at another time.
    Unstarted {
        /// Why.
        why: String,
    },
}

/// What came of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// How it ended.
    #[serde(flatten)]
    pub end: JobEnd,
    /// The beginning of what was said, at most [`OUTPUT_KEPT`] bytes, as text.
    #[serde(default)]
    pub output: String,
    /// How much was said, in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// Processes that were left running, and were ended.
    #[serde(default)]
    pub left: u64,
}

impl JobOutcome {
    /// An end without a word.
    pub fn silent(end: JobEnd) -> Self {
        Self { end, output: String::new(), bytes: 0, left: 0 }
    }
}
