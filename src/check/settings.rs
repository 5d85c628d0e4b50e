//! What the user wants to be checked: which rules, how severe each is, what is known and excused, and what fails.

use crate::proposals::{Registry, Rule, Severity};
use crate::validate::all_rules;
use clap::ValueEnum;
use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The section `[validate]` of a settings file. Every member is optional, and options of the command line replace it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ValidateSection {
    /// The least severe finding that fails.
    pub fail_on: Option<FailOn>,
    /// The rules to check: names, or patterns with `*`.
    pub only: Option<Vec<String>>,
    /// The rules not to check.
    pub skip: Option<Vec<String>>,
    /// What to do with findings in injected messages.
    pub injected: Option<Injected>,
    /// The file of known findings.
    pub baseline: Option<std::path::PathBuf>,
    /// The severity of rules, by name or pattern.
    pub severity: BTreeMap<String, Level>,
    /// Findings that are excused.
    pub suppress: Vec<Suppression>,
}

/// The least severe finding that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailOn {
    /// Any finding.
    Info,
    /// Warnings and errors.
    Warning,
    /// Errors.
    #[default]
    Error,
    /// Never: the exit code only says whether the reel could be read.
    Never,
}

impl FailOn {
    /// Returns whether a finding of this severity fails.
    pub(crate) fn is_met(self, severity: Severity) -> bool {
        match self {
            Self::Info => severity >= Severity::Info,
            Self::Warning => severity >= Severity::Warning,
            Self::Error => severity >= Severity::Error,
            Self::Never => false,
        }
    }
}

/// What to do with findings in messages that mcpreel injected, and in the responses to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Injected {
    /// Report them, but do not count them.
    #[default]
    Report,
    /// Report and count them as any other.
    Include,
    /// Leave them out.
    Exclude,
    /// Leave out all others.
    Only,
}

/// The severity that a user gives a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The rule is not checked.
    Off,
    /// Worth knowing.
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

impl Level {
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Info => Some(Severity::Info),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

/// Findings that are excused, by rule and place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// The rule: a name, or a pattern with `*`.
    pub rule: String,
    /// The method of the message: a name, or a pattern.
    pub method: Option<String>,
    /// The place in the message: a JSON Pointer, or a pattern.
    pub path: Option<String>,
    /// Why it is excused, for the report.
    pub reason: Option<String>,
}

/// A suppression with its patterns compiled.
#[derive(Clone, Debug)]
pub(super) struct Excuse {
    rule: GlobMatcher,
    method: Option<GlobMatcher>,
    path: Option<GlobMatcher>,
    /// Why it is excused.
    pub reason: String,
}

impl Excuse {
    fn new(wanted: &Suppression, rules: &[&'static Rule]) -> Result<Self, String> {
        matching(&wanted.rule, rules)?;
        let optional = |text: &Option<String>| text.as_deref().map(pattern).transpose();
        let reason = wanted.reason.clone().unwrap_or_else(|| "suppressed".to_owned());
        let (method, path) = (optional(&wanted.method)?, optional(&wanted.path)?);
        Ok(Self { rule: pattern(&wanted.rule)?, method, path, reason })
    }

    /// Returns whether it excuses a finding of this rule at this place.
    pub(super) fn covers(&self, rule: &str, method: Option<&str>, path: Option<&str>) -> bool {
        let fits = |pattern: &Option<GlobMatcher>, value: Option<&str>| match pattern {
            Some(pattern) => value.is_some_and(|value| pattern.is_match(value)),
            None => true,
        };
        self.rule.is_match(rule) && fits(&self.method, method) && fits(&self.path, path)
    }
}

/// The settings of a check, ready for use.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The proposals and packs to check.
    pub registry: &'static Registry,
    /// The least severe finding that fails.
    pub fail_on: FailOn,
    /// What to do with findings in injected messages.
    pub injected: Injected,
    /// The rules that are not reported with the severity that they come with: `None` is not at all.
    severities: BTreeMap<&'static str, Option<Severity>>,
    pub(super) excuses: Vec<Excuse>,
}

impl Settings {
    /// Prepares the settings for the rules of MCP and of these proposals and packs.
    ///
    /// # Errors
    ///
    /// A name or pattern that no rule has, or that is invalid.
    pub(crate) fn new(wanted: &ValidateSection, registry: &'static Registry) -> Result<Self, String> {
        let rules: Vec<_> = all_rules(registry).collect();
        Ok(Self { registry, ..Self::of(wanted, &rules)? })
    }

    fn of(wanted: &ValidateSection, rules: &[&'static Rule]) -> Result<Self, String> {
        let mut severities = BTreeMap::new();
        for (text, level) in &wanted.severity {
            for rule in matching(text, rules)? {
                severities.insert(rule.id, level.severity());
            }
        }
        if let Some(only) = &wanted.only {
            let kept = all_matching(only, rules)?;
            let others = rules.iter().filter(|rule| !kept.iter().any(|kept| kept.id == rule.id));
            severities.extend(others.map(|rule| (rule.id, None)));
        }
        let skipped = all_matching(wanted.skip.as_deref().unwrap_or_default(), rules)?;
        severities.extend(skipped.into_iter().map(|rule| (rule.id, None)));
        let excuses = wanted.suppress.iter().map(|one| Excuse::new(one, rules)).collect::<Result<_, _>>()?;
        let (fail_on, injected) = (wanted.fail_on.unwrap_or_default(), wanted.injected.unwrap_or_default());
        Ok(Self { registry: Registry::built_in(), fail_on, injected, severities, excuses })
    }

    /// Returns the severity of a rule; `None` if it is not checked.
    pub(crate) fn severity(&self, rule: &Rule) -> Option<Severity> {
        self.severities.get(rule.id).copied().unwrap_or(Some(rule.severity))
    }
}

/// Compiles a pattern. `*` stands for any text, slashes included.
fn pattern(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| format!("{text:?}: {error}"))
}

/// Returns the rules that a name or pattern stands for.
fn matching(text: &str, rules: &[&'static Rule]) -> Result<Vec<&'static Rule>, String> {
    let pattern = pattern(text)?;
    let found: Vec<_> = rules.iter().copied().filter(|rule| pattern.is_match(rule.id)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
    let near = similar::get_close_matches(text, &names, 1, LIKENESS);
    let meant = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(format!("no rule is named {text:?}{meant}"))
}

/// The least likeness of a misspelt name to the rule that was meant.
const LIKENESS: f32 = 0.7;

fn all_matching(texts: &[String], rules: &[&'static Rule]) -> Result<Vec<&'static Rule>, String> {
    let found: Vec<_> = texts.iter().map(|text| matching(text, rules)).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::rules::{CRLF, NOISE, PARAMS};

    fn settings(json: serde_json::Value) -> Result<Settings, String> {
        let section: ValidateSection = serde_json::from_value(json).map_err(|error| error.to_string())?;
        Settings::of(&section, &[&NOISE, &CRLF, &PARAMS])
    }

    fn severities(json: serde_json::Value) -> [Option<Severity>; 3] {
        let settings = settings(json).expect("valid");
        [&NOISE, &CRLF, &PARAMS].map(|rule| settings.severity(rule))
    }

    #[test]
    fn rules_are_chosen_by_name_and_pattern_and_given_a_severity() {
        use Severity::{Error, Info, Warning};
        let json = |text: &str| serde_json::from_str(text).expect("JSON");
        assert_eq!(severities(json("{}")), [Some(Error), Some(Info), Some(Error)]);
        assert_eq!(severities(json(r#"{"only":["stream/*"]}"#)), [Some(Error), Some(Info), None]);
        assert_eq!(severities(json(r#"{"only":["stream/*"],"skip":["stream/crlf"]}"#)), [Some(Error), None, None]);
        let given = json(r#"{"severity":{"stream/*":"warning","schema/params":"off"}}"#);
        assert_eq!(severities(given), [Some(Warning), Some(Warning), None]);
    }

    #[test]
    fn what_names_no_rule_is_refused() {
        let near = settings(serde_json::json!({"only": ["stream/crfl"]})).expect_err("refused");
        assert!(near.contains("did you mean stream/crlf?"), "{near}");
        for text in [r#"{"skip":["stream/no"]}"#, r#"{"suppress":[{"rule":"x*"}]}"#, r#"{"severity":{"y":"off"}}"#] {
            let error = settings(serde_json::from_str(text).expect("JSON")).expect_err("refused");
            assert!(error.starts_with("no rule is named"), "{error}");
        }
        assert!(settings(serde_json::json!({"skipp": []})).expect_err("refused").contains("unknown field"));
    }

    #[test]
    fn an_excuse_covers_a_rule_at_a_place() {
        let json =
            r#"{"suppress":[{"rule":"schema/*","method":"tools/call","path":"/params/*"},{"rule":"stream/crlf"}]}"#;
        let settings = settings(serde_json::from_str(json).expect("JSON")).expect("valid");
        let covers = |rule, method, path| settings.excuses.iter().any(|excuse| excuse.covers(rule, method, path));
        assert!(covers("schema/params", Some("tools/call"), Some("/params/name/deep")));
        assert!(!covers("schema/params", Some("tools/call"), None));
        assert!(!covers("schema/params", Some("tools/list"), Some("/params/name")));
        assert!(covers("stream/crlf", None, None) && !covers("stream/noise", None, None));
    }

    #[test]
    fn a_severity_fails_from_the_chosen_one_on() {
        use Severity::{Error, Info, Warning};
        let fails = |fail_on: FailOn| [Info, Warning, Error].map(|severity| fail_on.is_met(severity));
        assert_eq!(fails(FailOn::Info), [true; 3]);
        assert_eq!(fails(FailOn::Warning), [false, true, true]);
        assert_eq!(fails(FailOn::Error), [false, false, true]);
        assert_eq!(fails(FailOn::Never), [false; 3]);
    }
}
