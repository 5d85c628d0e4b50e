//! Jobs that a proposal may run outside of the server, if the user allows it: a script, an HTTP request, or an
//! inference. The proposal decides about the job and its time limit, and evaluates the outcome. The code that runs the
//! server executes it.

use super::special_addresses::is_public;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// The maximum size of the output that is kept, in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// The kind of executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A shell.
    Bash,
    /// A webhook.
    Webhook,
    /// A model.
    Agent,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Webhook, Self::Agent];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Webhook => "webhook",
            Self::Agent => "agent",
        }
    }
}

/// A variable of the user's that headers for one host may contain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    /// Its name, as in `${NAME}`. This module never sees the value.
    pub name: String,
    /// The only host that may receive it, as in a parsed URL.
    pub host: String,
    /// The port; `None` means the default port of the URL's scheme.
    pub port: Option<u16>,
}

impl Secret {
    /// Whether a request to this URL may contain it.
    pub fn is_for(&self, url: &Url) -> bool {
        let default = match url.scheme() {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        url.host_str() == Some(self.host.as_str()) && url.port_or_known_default() == self.port.or(default)
    }
}

/// A part of a header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderPiece<'a> {
    /// Literal text.
    Text(&'a str),
    /// The name of a [`Secret`], written as `${NAME}`.
    Name(&'a str),
}

/// Splits a header's value at the names in it.
///
/// # Errors
/// A `${` is not closed. The name is never guessed.
pub(crate) fn pieces(text: &str) -> Result<Vec<HeaderPiece<'_>>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("a ${ has no closing brace")?;
        found.extend([HeaderPiece::Text(before), HeaderPiece::Name(name)]);
        rest = behind;
    }
    found.push(HeaderPiece::Text(rest));
    Ok(found)
}

/// What the user allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerPolicy {
    /// The permitted kinds.
    pub kinds: BTreeSet<JobKind>,
    /// The variables that headers may contain.
    pub secrets: Vec<Secret>,
    /// The hosts that webhooks may reach although their addresses are not public, as in a parsed URL.
    pub private_hosts: Vec<String>,
    /// Whether a program of the user's answers instead of the host's model.
    pub has_program: bool,
    /// The time limit of every job.
    pub limit: Duration,
}

impl Default for HandlerPolicy {
    /// Permits nothing.
    fn default() -> Self {
        Self {
            kinds: BTreeSet::new(),
            secrets: Vec::new(),
            private_hosts: Vec::new(),
            has_program: false,
            limit: Duration::from_secs(30),
        }
    }
}

/// Whether a URL may lead to an address that is not public: the user allowed its host, or it names this machine.
pub(crate) fn may_be_private(url: &Url, private_hosts: &[String]) -> bool {
    is_loopback(url) || url.host_str().is_some_and(|host| private_hosts.iter().any(|allowed| allowed == host))
}

/// Checks the address in a URL, if it has one; names are checked once they are resolved.
///
/// # Errors
/// The address is not public, and not allowed.
pub(crate) fn check_address(url: &Url, private_hosts: &[String]) -> Result<(), String> {
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        _ => return Ok(()),
    };
    match is_public(address) || may_be_private(url, private_hosts) {
        true => Ok(()),
        false => Err(format!("{address} is not a public address, and this server does not allow it")),
    }
}

/// Whether a URL names this machine itself.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A job to run outside of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerJob {
    /// A script for a shell.
    Script(Script),
    /// An HTTP POST of JSON.
    HandlerPost(HandlerPost),
    /// An inference.
    Infer(Infer),
}

/// A script for a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The text of the script.
    pub text: String,
    /// Its arguments, `$1` and so on.
    pub arguments: Vec<String>,
    /// Variables to add to its environment, which otherwise contains only what a shell needs.
    pub environment: Vec<(String, String)>,
    /// Its working directory, relative to the user's folder for such scripts.
    pub folder: Option<String>,
    /// Its standard input.
    pub input: String,
    /// The time limit.
    pub limit: Duration,
}

/// An HTTP POST of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerPost {
    /// The URL. Redirects are not followed.
    pub url: String,
    /// Headers, with `${NAME}` for [`Secret`]s.
    pub headers: Vec<(String, String)>,
    /// The body, as JSON.
    pub body: String,
    /// The response timeout.
    pub limit: Duration,
}

/// An inference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Infer {
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The preferred model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that the model may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The maximum length of the answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The time limit.
    #[serde(skip)]
    pub limit: Duration,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum JobEnd {
    /// The process exited.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// A signal terminated the process.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// An HTTP response arrived.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The header `Retry-After`.
        retry_after: Option<String>,
        /// The header `Location`.
        location: Option<String>,
    },
    /// The model has answered.
    Said,
    /// The time limit passed.
    Late,
    /// It was stopped because its result is no longer needed.
    Stopped,
    /// The connection could not be established, or broke.
    Unreached {
        /// The reason.
        why: String,
    },
    /// It could not be started, and a retry would fail as well.
    Unstarted {
        /// The reason.
        why: String,
    },
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// How it ended.
    #[serde(flatten)]
    pub end: JobEnd,
    /// The beginning of the output as text, at most [`MAX_OUTPUT_BYTES`] bytes.
    #[serde(default)]
    pub output: String,
    /// The size of the whole output, in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// The number of processes that it left running, and that were stopped.
    #[serde(default)]
    pub left: u64,
}

impl JobOutcome {
    /// An outcome without output.
    pub fn silent(end: JobEnd) -> Self {
        Self { end, output: String::new(), bytes: 0, left: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e34_an_address_in_a_url_is_allowed_by_its_name_only() {
        let check = |url: &str, allowed: &str| check_address(&Url::parse(url).expect(url), &[allowed.to_owned()]);
        for url in [
            "https://10.0.0.1/",
            "https://[fe80::1]/",
            "https://0x0a000001/",
            "https://169.254.169.254/latest",
            "https://3221225985/",
            "https://0300.0.02.1/",
            "https://[::ffff:203.0.113.9]/",
            "https://[3fff::1]/",
        ] {
            assert!(check(url, "example.com").is_err_and(|why| why.contains("not a public address")), "{url}");
        }
        for (url, allowed) in [
            ("https://10.0.0.1:8443/", "10.0.0.1"),
            ("https://[fe80::1]/", "[fe80::1]"),
            ("http://127.0.0.1:9/", ""),
            ("http://localhost/", ""),
            ("https://example.com/", ""),
        ] {
            assert_eq!(check(url, allowed), Ok(()), "{url}");
        }
    }
}
