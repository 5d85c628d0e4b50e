//! The list of detectors: what a secret looks like. Written from the published formats of tokens.
//!
//! A line of the list has a name, what must be near a secret (the search looks for that alone, and runs the pattern only
//! there), the pattern and an example. The last group of the pattern is the secret; what is before it, such as the prefix of
//! a token, stays. A pattern that begins with `~` must begin a word. A group that ends with `{n,256}` goes on to the end of
//! its run. If two detectors find overlapping secrets, the earlier one counts.

mod contexts;
mod tokens;

use super::checks;
use super::groups::Groups;
use super::pseudonym::Kind;
use contexts::CONTEXTS;
use tokens::TOKENS;

/// How bad it is if the text becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Personal data, or a text that may be a secret.
    Low,
    /// A secret of limited use, or one that is recognised by the text around it.
    Medium,
    /// A secret that opens something.
    High,
}

impl Severity {
    /// Returns the name in reports and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Whether a match is a secret: gets the text and the pattern's groups.
pub(crate) type Check = fn(&[u8], &Groups<'_>) -> bool;

/// What must be near a secret.
#[derive(Clone, Copy, Debug)]
pub enum Near {
    /// One of these texts, in lower case.
    Text(&'static [&'static str]),
    /// A name that suggests a secret, and one of these bytes nearby.
    Name(NameOf, &'static [u8]),
    /// A long run of characters of a class.
    Run(Run),
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    /// A member, a variable, an element or a column.
    Value,
    /// An option of a program.
    Flag,
    /// A parameter of a URL or a form.
    Parameter,
}

/// The characters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Those of tokens: at least 24.
    Token,
    /// Digits with spaces and hyphens between them: at least 13 digits.
    Digits,
    /// Upper-case letters and digits with spaces between them, as in account numbers: at least 15.
    Account,
}

/// One kind of secret.
#[derive(Clone, Copy)]
pub struct Detector {
    /// The name in reports and settings.
    pub name: &'static str,
    /// How bad it is if the secret becomes known.
    pub severity: Severity,
    /// What must be near.
    pub near: Near,
    /// How far before that a match may begin, if not right there. Unit: bytes.
    pub(crate) reach: usize,
    /// The pattern; its last group is the secret.
    pub pattern: &'static str,
    /// What else must hold.
    pub(crate) check: Check,
    /// What a pseudonym of the secret must look like.
    pub kind: Kind,
    /// An example for [`sample`].
    pub example: &'static str,
    /// Whether the detector is used for command lines and HTTP heads at capture.
    pub at_capture: bool,
    /// Whether the secret is recognised by its own shape.
    pub is_shape: bool,
    /// The length of all such secrets, without what stays; 0 if they differ.
    pub(crate) length: usize,
}

impl Detector {
    /// The same, for matches that may begin this far before what is near.
    const fn reaching(self, reach: usize) -> Self {
        Self { reach, ..self }
    }

    /// The same, for secrets that all have this length.
    const fn of_length(self, length: usize) -> Self {
        Self { length, ..self }
    }
}

/// How far before what is near most matches begin, at most. Unit: bytes.
const REACH: usize = 96;

/// A token with a shape of its own.
const fn token(name: &'static str, near: Near, pattern: &'static str, example: &'static str) -> Detector {
    let (severity, check, kind) = (Severity::High, checks::varied as Check, Kind::Token);
    Detector {
        name,
        severity,
        near,
        reach: 0,
        pattern,
        check,
        kind,
        example,
        at_capture: true,
        is_shape: true,
        length: 0,
    }
}

/// A secret that is recognised by what surrounds it, or by what a check says.
const fn checked(
    name: &'static str,
    severity: Severity,
    kind: Kind,
    (near, pattern): (Near, &'static str),
    check: Check,
    example: &'static str,
) -> Detector {
    Detector {
        name,
        severity,
        near,
        reach: REACH,
        pattern,
        check,
        kind,
        example,
        at_capture: !matches!(severity, Severity::Low),
        is_shape: false,
        length: 0,
    }
}

/// The name of the detector of values after a name and `=` or `:`.
pub(super) const ASSIGNMENT: &str = "assignment";

/// The name of the detector of the values of cookies, which [`super::cookies`] finds.
pub(super) const COOKIE: &str = "cookie";

/// The name of the detector of values under a telling heading, which [`super::tables`] finds.
pub(super) const TABLE: &str = "table-cell";

/// The name of the detector of strings that look random.
pub(crate) const HIGH_ENTROPY: &str = "high-entropy";

/// All detectors, the most specific first.
pub static DETECTORS: &[Detector] = &ALL;

static ALL: [Detector; TOKENS.len() + CONTEXTS.len()] = {
    let mut all = [TOKENS[0]; TOKENS.len() + CONTEXTS.len()];
    let mut number = 0;
    while number < all.len() {
        all[number] = if number < TOKENS.len() { TOKENS[number] } else { CONTEXTS[number - TOKENS.len()] };
        number += 1;
    }
    all
};

/// The name under which a whole value is reported whose name suggests a secret.
pub(crate) const NAMED: &str = "named-value";
/// The name under which a value is reported whose place the user named.
pub(crate) const POINTER: &str = "pointer";

/// The rules that are no patterns, with what they find.
pub(crate) const OTHER_RULES: &[(&str, Severity, &str)] = &[
    (NAMED, Severity::High, "the whole value of a member, header or variable with a telling name, such as `password`"),
    (POINTER, Severity::High, "the value at a place that `pointers` in .mcpreel.toml names"),
    ("env", Severity::High, "the value of a variable that `env` in .mcpreel.toml names"),
    (
        "own-user",
        Severity::Low,
        "the user's name on this machine, where a name says that it is one, in the path of the home folder, and in labels, notes \
         and command lines",
    ),
    ("own-host", Severity::Low, "the name of this machine, unless it is an ordinary word"),
];

/// Fills in an example: `<36>` becomes 36 letters and digits, `<8h>` hexadecimal digits, `<8d>` digits, `<8u>` upper-case
/// letters and digits, `<8l>` letters. `random` returns a number below its argument.
pub fn sample(example: &str, mut random: impl FnMut(usize) -> usize) -> String {
    const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut out = String::new();
    let mut rest = example;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let Some((hole, tail)) = after.split_once('>') else { break };
        let count: usize = hole.trim_end_matches(char::is_alphabetic).parse().unwrap_or(0);
        let (letters, start) = match hole.trim_start_matches(char::is_numeric) {
            "h" => (&b"0123456789abcdef"[..], out.len()),
            "d" => (&ALL[52..], out.len()),
            "u" => (&b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[..], out.len()),
            "l" => (&ALL[..52], out.len()),
            _ => (ALL, out.len()),
        };
        while out.len() < start + count {
            out.push(char::from(letters[random(letters.len())]));
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
