//! Options that the proposals leave to the host: their names, kinds and defaults, and their values for all servers or
//! for one.
//!
//! This module must never know what an option does.

use crate::wire::units::{parse_size, parse_time};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The kind of value that an option accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Flag,
    /// A number, or `none` for no limit.
    Count,
    /// A number of bytes with the unit `k` or `M`, or `none` for no limit.
    Bytes,
    /// A duration with the unit `ms`, `s`, `m` or `h`, or `none` for no limit.
    Time,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any of these words, separated by commas or as a list.
    Set(&'static [&'static str]),
    /// Arbitrary words, separated by commas or as a list. A text that begins with `{` or `[` is JSON (one word, or a
    /// list of words), because JSON contains commas of its own.
    Words,
}

/// An option.
#[derive(Debug)]
pub struct Setting {
    /// Its name, without that of its proposal.
    pub name: &'static str,
    /// The kind of value.
    pub kind: SettingKind,
    /// The default, as users would write it.
    pub default: &'static str,
    /// What it decides.
    pub text: &'static str,
    /// The section that leaves the choice to the host.
    pub source: &'static str,
}

/// The options of a proposal, or of the host itself.
pub(crate) type Settings = (&'static str, &'static [Setting]);

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
enum SettingValue {
    Flag(bool),
    /// `u64::MAX` means no limit. Durations are in nanoseconds.
    Number(u64),
    Text(&'static str),
    Words(Vec<String>),
}

/// Why an option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The option does not exist.
    #[error("unknown option {0:?}; known options: {1}")]
    Unknown(String, String),
    /// The value has the wrong kind.
    #[error("invalid value {given} for {option}: expected {expected}")]
    Value {
        /// The option.
        option: String,
        /// What it accepts.
        expected: String,
        /// The value.
        given: String,
    },
    /// The file has the wrong structure.
    #[error("{0}")]
    Shape(String),
}

/// A value of the right kind that the proposal nevertheless cannot use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    /// The server that it is set for; `None` if it is for all servers.
    pub server: Option<String>,
    /// The option, as `PROPOSAL.NAME`.
    pub option: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(out, "{} for {server}: {}", self.option, self.why),
            None => write!(out, "{}: {}", self.option, self.why),
        }
    }
}

/// Why a text is not a regular expression, on one line.
pub(crate) fn regex_error(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

impl fmt::Display for SettingKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => out.write_str("true or false"),
            Self::Count => out.write_str("a whole number from 0 on, or none"),
            Self::Bytes => out.write_str("a size like 16k, or none"),
            Self::Time => out.write_str("a duration like 500ms, or none"),
            Self::Choice(words) => out.write_str(&words.join(" | ")),
            Self::Set(words) => write!(out, "any of {}", words.join(", ")),
            Self::Words => out.write_str("words separated by commas, or JSON (an object or a list)"),
        }
    }
}

/// All options of one proposal for one server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    values: BTreeMap<&'static str, SettingValue>,
}

impl Policy {
    /// A flag; false if the option does not exist.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(SettingValue::Flag(true)))
    }

    /// A count or a size; `u64::MAX` for no limit.
    pub fn number(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(SettingValue::Number(number)) => *number,
            _ => u64::MAX,
        }
    }

    /// A size as `usize`.
    pub fn length(&self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    /// A duration; [`Duration::MAX`] for no limit.
    pub fn time(&self, name: &str) -> Duration {
        match self.number(name) {
            u64::MAX => Duration::MAX,
            nanos => Duration::from_nanos(nanos),
        }
    }

    /// The word of a choice; empty if the option does not exist.
    pub fn word(&self, name: &str) -> &'static str {
        match self.values.get(name) {
            Some(SettingValue::Text(word)) => word,
            _ => "",
        }
    }

    /// A list of words.
    pub fn words(&self, name: &str) -> &[String] {
        match self.values.get(name) {
            Some(SettingValue::Words(words)) => words,
            _ => &[],
        }
    }
}

/// The options for all servers, and those for a single one.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    known: Vec<Settings>,
    all: BTreeMap<(&'static str, &'static str), SettingValue>,
    one: BTreeMap<String, BTreeMap<(&'static str, &'static str), SettingValue>>,
}

impl Policies {
    /// All options with their defaults.
    pub fn new(known: impl IntoIterator<Item = Settings>) -> Self {
        Self { known: known.into_iter().collect(), ..Self::default() }
    }

    /// All options, by proposal.
    pub fn known(&self) -> &[Settings] {
        &self.known
    }

    /// Sets `PROPOSAL.NAME` for one server, or for all.
    ///
    /// # Errors
    /// The option is unknown, the value has the wrong kind, or an option of the host itself is set for one server.
    pub fn set(&mut self, server: Option<&str>, option: &str, value: &Value) -> Result<(), PolicyError> {
        let found = option.split_once('.').and_then(|(proposal, name)| {
            let (proposal, settings) = self.known.iter().find(|(known, _)| *known == proposal)?;
            Some((*proposal, settings.iter().find(|setting| setting.name == name)?))
        });
        let Some((proposal, setting)) = found else {
            return Err(PolicyError::Unknown(option.to_owned(), self.similar(option)));
        };
        if proposal == "host"
            && let Some(server) = server
        {
            return Err(PolicyError::Shape(format!(
                "{option} applies to the whole host and cannot be set for {server} alone"
            )));
        }
        let refused = || PolicyError::Value {
            option: option.to_owned(),
            expected: setting.kind.to_string(),
            given: value.to_string(),
        };
        let chosen = read(setting.kind, value).ok_or_else(refused)?;
        let place = match server {
            None => &mut self.all,
            Some(server) => self.one.entry(server.to_owned()).or_default(),
        };
        place.insert((proposal, setting.name), chosen);
        Ok(())
    }

    /// Reads a policy: `{"all": {PROPOSAL: {NAME: VALUE}}, "servers": {SERVER: {PROPOSAL: {NAME: VALUE}}}}`.
    ///
    /// # Errors
    /// The policy has another structure, or an option cannot be set. Options before that one are set.
    pub fn read(&mut self, file: &Value) -> Result<(), PolicyError> {
        let object = |value: &Value, what: &str| {
            let found = value.as_object().cloned();
            found.ok_or_else(|| PolicyError::Shape(format!("{what} must be an object")))
        };
        for (part, value) in object(file, "a policy")? {
            match part.as_str() {
                "all" => self.read_proposals(None, &object(&value, "`all`")?)?,
                "servers" => {
                    for (server, proposals) in object(&value, "`servers`")? {
                        self.read_proposals(Some(&server), &object(&proposals, &format!("the policy of {server}"))?)?;
                    }
                }
                other => {
                    let reported = format!("a policy contains `all` and `servers`, not {other:?}");
                    return Err(PolicyError::Shape(reported));
                }
            }
        }
        Ok(())
    }

    fn read_proposals(&mut self, server: Option<&str>, proposals: &Map<String, Value>) -> Result<(), PolicyError> {
        for (proposal, options) in proposals {
            let Some(options) = options.as_object() else {
                return Err(PolicyError::Shape(format!("the options of {proposal} must be an object")));
            };
            for (name, value) in options {
                self.set(server, &format!("{proposal}.{name}"), value)?;
            }
        }
        Ok(())
    }

    /// The options of a proposal for a server.
    pub fn of(&self, proposal: &str, server: &str) -> Policy {
        let Some((proposal, settings)) = self.known.iter().find(|(known, _)| *known == proposal) else {
            return Policy::default();
        };
        let one = self.one.get(server);
        let value = |setting: &Setting| {
            let key = (*proposal, setting.name);
            let set = one.and_then(|one| one.get(&key)).or_else(|| self.all.get(&key)).cloned();
            set.or_else(|| read(setting.kind, &Value::from(setting.default)))
        };
        Policy { values: settings.iter().filter_map(|setting| Some((setting.name, value(setting)?))).collect() }
    }

    /// The proposals with an option of this name.
    pub fn proposals_with(&self, name: &'static str) -> impl Iterator<Item = &'static str> {
        let has = move |(_, settings): &&Settings| settings.iter().any(|setting| setting.name == name);
        self.known.iter().filter(has).map(|(proposal, _)| *proposal)
    }

    /// The servers with options of their own.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.one.keys().map(String::as_str)
    }

    fn similar(&self, option: &str) -> String {
        let proposal = option.split('.').next().unwrap_or_default();
        let names = |(proposal, settings): &Settings| {
            settings.iter().map(|setting| format!("{proposal}.{}", setting.name)).collect::<Vec<_>>()
        };
        let same: Vec<String> = self.known.iter().filter(|(known, _)| *known == proposal).flat_map(names).collect();
        let proposals = || self.known.iter().map(|(proposal, _)| format!("{proposal}.…")).collect::<Vec<_>>();
        if same.is_empty() { proposals().join(", ") } else { same.join(", ") }
    }
}

fn read(kind: SettingKind, value: &Value) -> Option<SettingValue> {
    let text = value.as_str().map(str::trim);
    let number = |unit: fn(&str) -> Option<u64>| match text {
        Some("none") => Some(SettingValue::Number(u64::MAX)),
        Some(text) => unit(text).map(SettingValue::Number),
        None => value.as_u64().map(|number| number.to_string()).and_then(|text| unit(&text)).map(SettingValue::Number),
    };
    match kind {
        SettingKind::Flag => match (value, text) {
            (Value::Bool(flag), _) => Some(SettingValue::Flag(*flag)),
            (_, Some(text)) => text.parse().ok().map(SettingValue::Flag),
            _ => None,
        },
        SettingKind::Count => number(|text| text.parse().ok()),
        SettingKind::Bytes => number(|text| parse_size(text).ok()),
        SettingKind::Time => number(|text| u64::try_from(parse_time(text).ok()?.as_nanos()).ok()),
        SettingKind::Choice(words) => {
            let flag = value.as_bool().map(|flag| if flag { "true" } else { "false" });
            words.iter().find(|word| Some(**word) == text.or(flag)).map(|word| SettingValue::Text(word))
        }
        SettingKind::Set(known) => {
            let words = words(value)?;
            words.iter().all(|word| known.contains(&word.as_str())).then_some(SettingValue::Words(words))
        }
        SettingKind::Words => words(value).map(SettingValue::Words),
    }
}

fn words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(word).collect(),
        Value::Object(_) => Some(vec![word(value)?]),
        _ => match value.as_str()?.trim() {
            text if text.starts_with(['{', '[']) => words(&serde_json::from_str(text).ok()?),
            text => {
                let words = text.split(',').map(str::trim);
                Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
            }
        },
    }
}

/// A single word. An object is a word, too, as JSON.
fn word(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.is_object().then(|| value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SETTINGS: &[Setting] = &[
        Setting { name: "deadline", kind: SettingKind::Time, default: "500ms", text: "", source: "" },
        Setting { name: "most", kind: SettingKind::Bytes, default: "16k", text: "", source: "" },
        Setting { name: "how", kind: SettingKind::Choice(&["auto", "never"]), default: "auto", text: "", source: "" },
        Setting { name: "some", kind: SettingKind::Set(&["one", "two"]), default: "one,two", text: "", source: "" },
        Setting { name: "words", kind: SettingKind::Words, default: "", text: "", source: "" },
        Setting { name: "on", kind: SettingKind::Flag, default: "true", text: "", source: "" },
    ];

    #[test]
    fn what_is_set_for_a_server_beats_what_is_set_for_all_beats_the_default() {
        let mut policies = Policies::new([("demo", SETTINGS)]);
        let file = json!({"all": {"demo": {"deadline": "2s", "how": "never"}},
            "servers": {"mem": {"demo": {"deadline": "none", "most": 12, "on": false}}}});
        policies.read(&file).expect("fits");
        let (other, mem) = (policies.of("demo", "other"), policies.of("demo", "mem"));
        assert_eq!((other.time("deadline"), other.length("most")), (Duration::from_secs(2), 16384));
        assert_eq!((other.word("how"), other.flag("on")), ("never", true));
        assert_eq!((mem.time("deadline"), mem.length("most"), mem.flag("on")), (Duration::MAX, 12, false));
    }

    #[test]
    fn what_is_no_option_or_no_value_is_reported_with_what_would_be() {
        let mut policies = Policies::new([("demo", SETTINGS)]);
        let unknown = policies.set(None, "demo.dedline", &json!("1s")).expect_err("unknown").to_string();
        assert!(unknown.contains("demo.deadline, demo.most"), "{unknown}");
        let wrong = policies.set(None, "demo.how", &json!("maybe")).expect_err("no choice").to_string();
        assert_eq!(wrong, "invalid value \"maybe\" for demo.how: expected auto | never");
        for odd in [json!("two, three"), json!(["three"]), json!([1])] {
            let wrong = policies.set(None, "demo.some", &odd).expect_err("none of the set").to_string();
            assert_eq!(wrong, format!("invalid value {odd} for demo.some: expected any of one, two"));
        }
        assert!(
            policies.set(None, "demo.some", &json!("two")).is_ok()
                && policies.set(None, "demo.some", &json!("")).is_ok()
        );
        assert!(policies.read(&json!({"everyone": {}})).is_err());
    }

    #[test]
    fn a_choice_between_true_false_and_more_accepts_json_booleans() {
        const KIND: SettingKind = SettingKind::Choice(&["ask", "true", "false"]);
        for (value, word) in [(json!(true), "true"), (json!(false), "false"), (json!("ask"), "ask")] {
            assert_eq!(read(KIND, &value), Some(SettingValue::Text(word)));
        }
        assert_eq!(read(SettingKind::Choice(&["auto"]), &json!(true)), None);
    }

    #[test]
    fn json_among_words_keeps_its_commas() {
        let filter = r#"{"eventTypes":["a.*"],"tags":["t"]}"#;
        let mut policies = Policies::new([("demo", SETTINGS)]);
        for (value, words) in [
            (json!("a, b"), vec!["a", "b"]),
            (json!(filter), vec![filter]),
            (json!(format!("[{filter}, \"b,c\"]")), vec![filter, "b,c"]),
            (json!([{"tags": ["t"]}, "b"]), vec![r#"{"tags":["t"]}"#, "b"]),
        ] {
            policies.set(None, "demo.words", &value).expect("words");
            assert_eq!(policies.of("demo", "").words("words"), words);
        }
        for odd in [json!("{\"a\":"), json!("[1]"), json!(7)] {
            assert!(policies.set(None, "demo.words", &odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn every_default_can_be_read() {
        for proposal in super::super::REGISTRY {
            for setting in proposal.settings() {
                assert!(read(setting.kind, &Value::from(setting.default)).is_some(), "{}", setting.name);
            }
        }
    }
}
