//! What users add to the list of detectors, and what they exempt: the table `[redact]` of `.mcpreel.toml`.

use super::detectors::Severity;
use serde::{Deserialize, Serialize};

/// The settings of redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Places in messages that hold a secret: JSON Pointers in which `*` stands for one segment and `**` for any number.
    pub pointers: Vec<String>,
    /// Names of HTTP headers whose values are secrets.
    pub headers: Vec<String>,
    /// Names of environment variables whose values are secrets, in text and in command lines.
    pub env: Vec<String>,
    /// Names of members of JSON objects whose values are secrets.
    pub members: Vec<String>,
    /// Exact texts that are no secrets.
    pub allow: Vec<String>,
    /// Regular expressions; what one matches as a whole stays.
    pub allow_patterns: Vec<String>,
    /// Names of detectors that are not used.
    pub disable: Vec<String>,
    /// Further detectors.
    pub rules: Vec<UserRule>,
    /// The user's name on this machine; not part of the digest.
    #[serde(skip)]
    pub own_user: Option<String>,
    /// The name of this machine; not part of the digest.
    #[serde(skip)]
    pub own_host: Option<String>,
    /// The path of the user's home folder on this machine, without a slash at its end; not part of the digest.
    #[serde(skip)]
    pub own_home: Option<String>,
}

/// A detector of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// Its name in reports.
    pub name: String,
    /// A regular expression. Its last group is the secret, or the whole match if there is none.
    pub pattern: String,
    /// How bad it is if the text becomes known.
    #[serde(default = "medium")]
    pub severity: Severity,
}

fn medium() -> Severity {
    Severity::Medium
}
