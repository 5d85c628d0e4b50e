//! Finds where in a raw payload a secret can be, in two scans that neither parse nor decode it. Most payloads have no such
//! place, and in the others few strings have one; only those need to be searched.
//!
//! A payload is JSON or other text, or JSON in strings of JSON, so escapes stand in it as they were sent. What a detector
//! finds in a decoded string must be suspected here. Letters and digits stand for themselves in each of these forms; where
//! they do not (`\u0041`, `%41`, base64), the form itself is suspected.

use super::finder::Finder;
use super::names;
use super::settings::Settings;
use regex_automata::Input;
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

/// The minimum length of a run of token characters that is looked at. Shorter tokens have a pattern of their own.
const LONG_RUN: usize = 16;
/// The minimum length of base64 that is decoded, without its padding.
const SHORTEST_BASE64: usize = super::encoding::SHORTEST_BASE64 - 2;
/// As many of its characters are decoded here.
const BASE64_START: usize = 12;
/// The maximum number of remembered names and runs; with it, all of them are forgotten.
const MAX_HARMLESS: usize = 4096;
/// Longer runs are not remembered.
const LONGEST_HARMLESS: usize = 64;

/// The maximum length of what follows in a member's name after something that looks like a name with its value.
const LONGEST_MEMBER_NAME: usize = 512;

/// Words that make any name with them suspicious.
const TELLING: &str = "passw|passphrase|passcode|pwd|secret|credential|api[^a-z0-9\"]*key|jwt|bearer|authoriz|dpop|otp\
    |cvv|cvc|passe|pass[^a-z0-9\"]*(?:phrase|code|wr?o?r?d)|kennwort|zugangsdaten|geheimnis|contrasen|senha|passord\
    |wachtwoord|losenord|adgangskode|salasana|haslo|heslo|jelszo|lozinka|zaporka|parool|mdp\
    |client[^a-z0-9\"]*key[^a-z0-9\"]*data|auth[^a-z0-9\"]*token|access[^a-z0-9\"]*token|private[^a-z0-9\"]*key\
    |device[^a-z0-9\"]*code|code[^a-z0-9\"]*verifier";
/// Words with which a suspicious name ends.
const LAST: &str = "token|auth|pass|pw|pin|pat|psk|cookie|(?:api|access|private|secret|encryption|signing|account|master|auth\
    |license|app|storage|subscription|consumer|shared|deploy)[^a-z0-9\"]*key";
/// What is between a name and its value.
const IS: &str = r#"[^a-z0-9"'=:]*["']?\]?\s*[:=]"#;
/// What stands before a word: nothing of the word.
const BEFORE: &str = r"(?:^|[^a-z0-9_]|\\[nrtbf]|\\u[0-9a-f]{4})";

/// What a place looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// A name and what divides it from its value; the name decides.
    Name,
    /// The beginning of the path of a home folder.
    Home,
    /// Digits of a card.
    Card,
    /// An international bank account number.
    Iban,
    /// Anything else that must be looked at.
    Other,
}

/// Returns the patterns of suspicious places, in groups. A match ends in the string that it makes suspicious, or, for a
/// name, right after it.
///
/// A pattern that goes on for long after its beginning, or that has the names at its end, multiplies the states of all
/// others in its automaton, and making states is what costs. So these are apart from the others.
fn patterns(settings: &Settings) -> [Vec<(Look, String)>; 4] {
    [places(settings), before_names(), after_names(), programs()]
}

/// Names with their values, and places with a shape.
fn places(settings: &Settings) -> Vec<(Look, String)> {
    let mut all = vec![
        (Look::Name, format!(r"(?:{TELLING})[^\s=:]*{IS}")),
        (Look::Name, format!(r"(?:{LAST}){IS}")),
        (Look::Name, r"[?&][a-z0-9_.~%-]+=".to_owned()),
        (Look::Other, flag()),
        // The same with the quotes of CSV, XML and HTML.
        (
            Look::Other,
            format!(r#"(?:{TELLING}|{LAST})[^\s=:]*(?:\\*"\\*"|&[a-z]*quot;|&#(?:34|x22|39);|&apos;)\s*[:=]"#),
        ),
        // The same as an item of an array, before its value.
        (Look::Other, format!(r#""--?{}\\*""#, flag_name())),
        (Look::Other, foreign_words()),
        (Look::Other, r"-u(?:ser)?[ =]".to_owned()),
        // Arguments in an array.
        (Look::Other, r#"[\[,]\s*\\*"-[a-z]"#.to_owned()),
        (Look::Other, r"\$(?:[156y]|apr1|2[aby]|argon2|pbkdf2)|access_token\$|private-lines".to_owned()),
        // Tokens that are short, or that other characters divide.
        (Look::Other, r"xox[a-z][.-]|[0-9]{8}:aa|webhook\.office\.com/|fo1_|fm[12][ar]?_".to_owned()),
        (Look::Other, r#"[a-z0-9._%+-]@[a-z0-9-]+\.|://[^\s/@"'<>]*@"#.to_owned()),
        // Encoded ASCII, but for `<`, `>` and ESC, which are common and in no secret.
        (Look::Other, r"\\u00(?:0|1[0-9ac-f]|[24-7]|3[0-9abdf])|\\/|%(?:[2-7][0-9a-f]|0[9ad])".to_owned()),
        (Look::Home, r"/home/|/users/|\\users\\".to_owned()),
        (Look::Card, format!(r"{BEFORE}[2-6](?:[ -]?[0-9]){{12}}")),
        (Look::Iban, format!(r"{BEFORE}(?-i:[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]{{4}}){{2}})")),
    ];
    let own = [&settings.own_user, &settings.own_host, &settings.own_home];
    let literals = settings.env.iter().chain(&settings.members).chain(own.into_iter().flatten());
    all.extend(literals.filter(|text| !text.is_empty()).map(|text| (Look::Other, regex::escape(text))));
    all
}

/// What a telling name follows.
fn before_names() -> Vec<(Look, String)> {
    vec![
        // The name of a header, beside which its value stands.
        (
            Look::Other,
            format!(
                r#"(?:name|key|header|field|label|variable|param|parameter|property|attribute|title|k|id)\\*"\s*:\s*\\*"[^"\\]*(?:{TELLING}|(?:{LAST})\\*")"#
            ),
        ),
        // The end of an element, and what describes another one.
        (Look::Other, format!(r"(?:<|&lt;|\\u003c)\\*/[a-z0-9_.:-]*(?:{TELLING}|{LAST})")),
        (Look::Other, format!(r#"(?:name|key|id|property|type)\s*=\s*\\*["'][^"'\\<>]*(?:{TELLING}|{LAST})"#)),
        (Look::Other, format!(r"(?:env|arg)(?:\s|\\t)+[a-z0-9_]*(?:{TELLING}|{LAST})[a-z0-9_]*(?:\s|\\+[nrt])")),
        (Look::Other, format!(r#"variable\s+\\*["'][a-z0-9_.-]*(?:{TELLING}|{LAST})"#)),
    ]
}

/// What follows a telling name.
fn after_names() -> Vec<(Look, String)> {
    vec![
        // A name of several words, as no program's variables have. It may contain escaped quotes.
        (Look::Other, format!(r#"(?:{TELLING})(?:[^"]|\\")*[^a-z0-9_."\\-](?:[^"]|\\")*"\s*:"#)),
        (Look::Other, format!(r"(?:{TELLING}|{LAST})\s*(?:<|&lt;|\\u003c)\\*/")),
        // A telling name in a list, in a call, or above a column; then the divider.
        (
            Look::Other,
            format!(r#"(?:{TELLING}|{LAST})[a-z0-9_ .*`-]*(?:\\*["'])?[\s*`]*(?:[|,;\]\t\r\n]|\\+[tnr]|\(\s*\\*["'])"#),
        ),
        (Look::Other, format!(r#"(?:{TELLING}|{LAST})[a-z0-9_.-]*\\*["']?(?:\s|\\+[nrt])+value\s*:"#)),
        (Look::Other, format!(r#"(?:{TELLING}|{LAST})[a-z0-9_ .-]*\\*["']\s*\}}?\s*\)\s*(?:\.[a-z_]|,)"#)),
    ]
}

/// Programs, statements and phrases, which are rare.
fn programs() -> Vec<(Look, String)> {
    vec![
        // Statements, and options of programs.
        (Look::Other, r"\)(?:\s|\\+[nrtf])*values(?:\s|\\+[nrtf])*\(".to_owned()),
        // Underlined headings.
        (Look::Other, "- +-".to_owned()),
        (Look::Other, r#"identified[\s\\nrt]|password[\s\\nrt(]*'|password[\s\\nrt(]+\\*"|set[\s\\nrt]+password"#.to_owned()),
        (Look::Other, r#"(?:mysql|mariadb|sshpass|mongo|login|redis-cli|ldap|zip|sqlcmd|bcp|7z)(?:[^"|;&]|\\")*(?:\s|\\t)-[pwa]"#.to_owned()),
        (Look::Other, r"(?:pass(?:word|phrase|code|wort|e)|pin(?:[ -]code)?|kennwort|senha|wachtwoord|contrase\S{1,6}a)(?:\s|\\t)+(?:is|was|ist|lautet|est|es|to|has|set|reset|changed)(?:[\s:]|\\t)".to_owned()),
        (Look::Other, r"pass(?:word|phrase|code|wort)(?:\s|\\t)+\S*[0-9]".to_owned()),
        // Arguments of further programs, or what they read.
        (Look::Other, r#"(?:sqlplus|smb[a-z]+|rpcclient|htpasswd|snmp[a-z]+|securestring)(?:\s|\\t)|curl(?:[^"|;&]|\\")*(?:\s|\\t)-[a-z]*u|chpasswd|-stdin|sudo\s+-s|--with-token"#.to_owned()),
        (Look::Other, r"(?:login|machine)(?:\s|\\+[nrt])+\S+(?:\s|\\+[nrt])+(?:account|login|password)(?:\s|\\+[nrt])|:(?:5432|5433|6432|\*):".to_owned()),
        (Look::Other, r"(?:signature|response|mac)\s*=|(?:code_verifier|client_assertion)=|(?:-| )code(?:\s|\\t)+(?:is|was|has|to|set|reset|changed)".to_owned()),
        (Look::Other, r"private key|(?:basic|bearer|dpop)[\s:\\]|cookie:|aws[a-z0-9_ .-]*(?:secret|key)".to_owned()),
    ]
}

/// The name of a flag, and what divides it from its value.
fn flag() -> String {
    format!(r#"(?:^|[\s"']|\\[nrtf])--?{}[ =]"#, flag_name())
}

/// The name of a flag without its hyphens.
fn flag_name() -> String {
    let parts = "token|secret|passw|pass-?phrase|pass-?code|pass-?w|api-?key|credential|bearer|private-key|auth|jwt|dpop\
        |signature|cookie|kennwort|zugangsdaten|geheimnis|passe|contrasen|senha|wachtwoord|losenord|adgangskode\
        |salasana|haslo|heslo|jelszo|lozinka|zaporka|parool|passord|mdp";
    let whole = "key|pat|pw|pwd|pass|pin|otp|sig|passkey|psk";
    format!(r"(?:[a-z0-9_.-]*(?:{parts})[a-z0-9_.-]*|(?:[a-z0-9_.-]*[-_.])?(?:{whole}))")
}

/// The words for secrets with other letters than those of ASCII, as they are or escaped.
fn foreign_words() -> String {
    let byte = |byte: &u8| format!(r"\x{byte:02x}");
    let either = |letter: char| {
        let same = letter.to_lowercase().chain(letter.to_uppercase());
        let forms = same.flat_map(|one| {
            let mut utf_8 = [0; 4];
            let plain: String = one.encode_utf8(&mut utf_8).as_bytes().iter().map(byte).collect();
            [plain, format!(r"\\u{:04x}", u32::from(one))]
        });
        format!("(?:{})", forms.collect::<Vec<_>>().join("|"))
    };
    let word = |word: &&&str| {
        word.chars()
            .map(|letter| if letter.is_ascii() { letter.to_string() } else { either(letter) })
            .collect::<String>()
    };
    let words = names::FOREIGN.iter().filter(|word| !word.is_ascii()).collect::<Vec<_>>();
    words.iter().map(word).collect::<Vec<_>>().join("|")
}

/// The places in a payload where a secret can be, in order.
#[derive(Debug, Default)]
pub(crate) struct Suspects(Vec<usize>);

impl Suspects {
    /// These places, in order.
    pub(crate) fn at(places: Vec<usize>) -> Self {
        Self(places)
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether one of them is in a string with these contents.
    pub(crate) fn touch(&self, contents: &Range<usize>) -> bool {
        let first = self.0.partition_point(|place| *place < contents.start);
        self.0.get(first).is_some_and(|place| *place <= contents.end)
    }

    /// Returns those in a part of the payload, as places in it.
    pub(crate) fn within(&self, part: &Range<usize>) -> Self {
        let inside = self.0.iter().filter(|place| part.contains(place));
        Self(inside.map(|place| place - part.start).collect())
    }
}

/// Finds suspicious places.
pub(crate) struct Prefilter {
    groups: Vec<Group>,
    names: Harmless,
    runs: Harmless,
}

/// Patterns that one automaton finds, and what each of them looks like.
struct Group {
    places: Regex,
    looks: Vec<Look>,
}

/// Names, or runs, that are no secrets.
#[derive(Default)]
struct Harmless(RefCell<HashSet<Vec<u8>, foldhash::fast::RandomState>>);

impl Harmless {
    /// Returns whether a text is remembered as harmless, or `check` says that it is.
    fn has(&self, text: &[u8], check: impl FnOnce() -> bool) -> bool {
        let is_short = text.len() <= LONGEST_HARMLESS;
        if is_short && self.0.borrow().contains(text) {
            return true;
        }
        let is_harmless = check();
        if is_harmless && is_short {
            let mut known = self.0.borrow_mut();
            if known.len() == MAX_HARMLESS {
                known.clear();
            }
            known.insert(text.to_vec());
        }
        is_harmless
    }
}

impl Prefilter {
    /// Creates a prefilter; `None` if the settings name what only the whole search finds.
    pub(crate) fn new(settings: &Settings) -> Option<Self> {
        if !settings.rules.is_empty() || !settings.pointers.is_empty() {
            return None;
        }
        let group = |patterns: Vec<(Look, String)>| {
            let (looks, patterns): (Vec<Look>, Vec<String>) = patterns.into_iter().unzip();
            Some(Group { places: compiled(&patterns).ok()?, looks })
        };
        let groups = patterns(settings).into_iter().map(group).collect::<Option<Vec<Group>>>()?;
        Some(Self { groups, names: Harmless::default(), runs: Harmless::default() })
    }

    /// Returns the suspicious places of a payload. `finder` has the same settings.
    pub(crate) fn suspects(&self, text: &[u8], finder: &Finder) -> Suspects {
        let mut found = Vec::new();
        self.groups.iter().for_each(|group| self.find_places(group, text, finder, &mut found));
        each_long_run(text, |run| {
            if self.is_suspicious_run(text, &run, finder) {
                found.push(run.start);
            }
        });
        found.sort_unstable();
        Suspects(found)
    }

    fn find_places(&self, group: &Group, text: &[u8], finder: &Finder, found: &mut Vec<usize>) {
        let mut at = 0;
        while let Some(half) = group.places.search_half(&Input::new(text).range(at..).earliest(true)) {
            let end = half.offset();
            let place = last_of_name(text, end);
            let look = group.looks.get(half.pattern().as_usize()).copied().unwrap_or(Look::Other);
            if self.is_suspicious(look, text, end, finder) {
                found.push(place);
            } else if let Some(quote) = end_of_member_name(text, end) {
                found.push(last_of_name(text, quote));
            }
            // What divides a name from its value may begin something else.
            at = end.saturating_sub(1).max(at + 1);
        }
    }

    fn is_suspicious(&self, look: Look, text: &[u8], end: usize, finder: &Finder) -> bool {
        match look {
            Look::Name => self.is_suspicious_name(text, last_of_name(text, end) + 1),
            Look::Home => is_users_home(&text[end..]),
            Look::Card => has_match(finder, text, end, |byte| byte.is_ascii_digit() || b" -".contains(&byte)),
            Look::Iban => has_match(finder, text, end, |byte| byte.is_ascii_alphanumeric() || byte == b' '),
            Look::Other => true,
        }
    }

    /// Whether the value of the name that ends here can be a secret.
    fn is_suspicious_name(&self, text: &[u8], end: usize) -> bool {
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
        let start = text[..end].iter().rposition(|byte| !is_in(byte)).map_or(0, |at| at + 1);
        let name = &text[start..end];
        match text[..start].last() {
            // Of `api key`, this is the last word.
            _ if name.is_empty() || name.eq_ignore_ascii_case(b"key") => true,
            Some(b'?' | b'&') => names::is_secret_parameter(&String::from_utf8_lossy(name)) || is_secret_name(name),
            // The name of a member may begin with other letters.
            Some(128..) => true,
            Some(b'\\') => name[0] == b'u' || is_secret_name(&name[1..]) || is_secret_name(name),
            _ => !self.names.has(name, || !is_secret_name(name)),
        }
    }

    /// Whether a run of token characters contains a token, something random, or base64 of text.
    fn is_suspicious_run(&self, text: &[u8], run: &Range<usize>, finder: &Finder) -> bool {
        let is_clean = |run: &[u8]| finder.find(run).is_empty() && !may_be_base64(run);
        let whole = &text[run.clone()];
        match text[..run.start].last() {
            _ if has_percent(whole) => true,
            Some(b'\\') => !is_clean(whole) || !is_clean(&text[after_escape(text, run.start).min(run.end)..run.end]),
            // What precedes a parameter belongs to it.
            Some(b'?' | b'&' | b';') => !is_clean(whole) || !finder.find(&text[run.start - 1..run.end]).is_empty(),
            _ => !self.runs.has(whole, || is_clean(whole)),
        }
    }
}

fn is_secret_name(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    let is_flag = name.starts_with('-');
    names::is_secret(&name) || name.to_ascii_lowercase().ends_with("cookie") || is_flag && names::is_reporting(&name)
}

/// Whether a text contains a percent-encoded byte.
fn has_percent(text: &[u8]) -> bool {
    let is_code = |at: usize| text.get(at + 1..at + 3).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
    memchr::memchr_iter(b'%', text).any(is_code)
}

/// Returns where a text goes on after the escape in which, or right after whose backslash, `at` is; otherwise `at`.
fn after_escape(text: &[u8], at: usize) -> usize {
    let first = at.saturating_sub(5);
    let Some(backslash) = text[first..at].iter().rposition(|byte| *byte == b'\\').map(|place| first + place) else {
        return at;
    };
    let length = if text.get(backslash + 1) == Some(&b'u') { 6 } else { 2 };
    (backslash + length).clamp(at, text.len())
}

fn compiled(patterns: &[String]) -> Result<Regex, Box<BuildError>> {
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false).case_insensitive(true))
        .configure(Config::new().utf8_empty(false).auto_prefilter(false))
        .build_many(patterns)
        .map_err(Box::new)
}

/// Returns where the name of a member ends in which something is divided at `end`, such as `"secretName=1": 2`.
fn end_of_member_name(text: &[u8], end: usize) -> Option<usize> {
    let near = &text[end..text.len().min(end + LONGEST_MEMBER_NAME)];
    for quote in memchr::memchr_iter(b'"', near).map(|at| end + at) {
        if text[quote + 1..].trim_ascii_start().starts_with(b":") {
            return Some(quote);
        }
        if text.get(quote.checked_sub(1)?) != Some(&b'\\') {
            return None;
        }
    }
    None
}

/// Returns the place of the last byte before `end` that is not between a name and its value, or the next name.
fn last_of_name(text: &[u8], end: usize) -> usize {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b":=,]\"'\\".contains(byte);
    text[..end].iter().rposition(|byte| !is_between(byte)).unwrap_or_default()
}

/// Whether there is a secret among the bytes of a class around a place.
fn has_match(finder: &Finder, text: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> bool {
    let start = text[..at].iter().rposition(|byte| !is_in(*byte)).map_or(0, |before| before + 1);
    let end = text[at..].iter().position(|byte| !is_in(*byte)).map_or(text.len(), |length| at + length);
    let inner = after_escape(text, start).min(end);
    !finder.find(&text[start..end]).is_empty() || inner > start && !finder.find(&text[inner..end]).is_empty()
}

/// Whether the path of a home folder goes on with the name of a user.
fn is_users_home(rest: &[u8]) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'\\:;,<>|*?$".contains(byte);
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    let is_cut = rest.get(length) == Some(&b'\\') && rest.get(length + 1) == Some(&b'u');
    length == 0 || is_cut || !super::checks::is_common_user(&rest[..length])
}

/// The characters of tokens.
static IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric()
            || matches!(byte as u8, b'+' | b'/' | b'_' | b'=' | b'.' | b'~' | b'%' | b'-');
        byte += 1;
    }
    table
};

/// Passes on all runs of at least [`LONG_RUN`] token characters. Where there are none, it looks at few bytes.
fn each_long_run(text: &[u8], mut visit: impl FnMut(Range<usize>)) {
    let is_in = |at: usize| IN_RUN[usize::from(text[at])];
    let mut at = 0;
    while at + LONG_RUN <= text.len() {
        let last = at + LONG_RUN - 1;
        let mut start = last + 1;
        while start > at && is_in(start - 1) {
            start -= 1;
        }
        if start > at {
            at = start;
            continue;
        }
        let end =
            text[last..].iter().position(|byte| !IN_RUN[usize::from(*byte)]).map_or(text.len(), |rest| last + rest);
        visit(at..end);
        at = end + 1;
    }
}

/// Whether a run contains what may be base64 of text.
fn may_be_base64(run: &[u8]) -> bool {
    run.split(|byte| b".~%=".contains(byte)).any(|whole| {
        whole.len() >= SHORTEST_BASE64
            && (begins_like_text(whole)
                || whole
                    .split(|byte| *byte == b'/')
                    .any(|part| part.len() >= SHORTEST_BASE64 && begins_like_text(part)))
    })
}

/// Whether base64 begins like that of text: UTF-8, or ASCII as UTF-16.
fn begins_like_text(run: &[u8]) -> bool {
    let Some(start) = run.get(..BASE64_START) else { return false };
    let bytes: Vec<u8> = start.chunks_exact(4).flat_map(decoded_group).collect();
    let is_plain = |text: &str| text.chars().all(|found| !found.is_control() || found.is_ascii_whitespace());
    let is_text = match std::str::from_utf8(&bytes) {
        Ok(text) => is_plain(text),
        Err(error) => {
            error.error_len().is_none() && std::str::from_utf8(&bytes[..error.valid_up_to()]).is_ok_and(is_plain)
        }
    };
    is_text || bytes.chunks_exact(2).all(|pair| pair[1] == 0)
}

/// Decodes four characters of either alphabet of base64.
fn decoded_group(group: &[u8]) -> [u8; 3] {
    let bits = group.iter().fold(0u32, |bits, byte| bits << 6 | u32::from(sextet(*byte)));
    let [_, first, second, third] = bits.to_be_bytes();
    [first, second, third]
}

fn sextet(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}
