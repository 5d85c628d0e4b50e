//! Finds secrets in text with all detectors.

use super::cookies;
use super::detectors::{COOKIE, Check, DETECTORS, Detector, HIGH_ENTROPY, NAMED, Near, POINTER, Severity, TABLE};
use super::names;
use super::pattern::{PATTERN_BYTES, Pattern};
use super::places::{Builder, Places};
use super::pseudonym::{Kind, is_pseudonym, is_pseudonym_of};
use super::settings::Settings;
use super::tables;
use aho_corasick::AhoCorasickKind;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::bytes::{RegexSet, RegexSetBuilder};
use ring::digest::{SHA256, digest};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// For whole reels.
const FAST: AhoCorasickKind = AhoCorasickKind::DFA;
/// For the few texts at capture: `record` stays in memory next to each server, and this one takes 1.4 MB less.
const SMALL: AhoCorasickKind = AhoCorasickKind::ContiguousNFA;

/// What a text is that looks like a pseudonym.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookalike {
    /// A secret like any other: nothing says that the text was redacted.
    Secret,
    /// A pseudonym, which stays.
    Pseudonym,
    /// A pseudonym, which counts as the secret that it stands for.
    StandIn,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Where it is.
    pub range: Range<usize>,
    /// The number of its rule, for [`Finder::rule`].
    pub rule: usize,
    /// Whether it stays: it is a pseudonym, or allowed.
    pub stays: bool,
}

/// A detector of ours or of the user's, ready to be used.
pub struct Rule {
    /// Its name.
    pub name: String,
    /// How bad it is if such a secret becomes known.
    pub severity: Severity,
    /// What a pseudonym must look like.
    pub kind: Kind,
    pattern: Pattern,
    check: Check,
    length: usize,
}

impl Rule {
    /// Whether a secret of this length is whole, whatever follows it.
    pub(crate) fn is_whole(&self, length: usize) -> bool {
        length == self.length
    }

    fn of(detector: &Detector) -> Self {
        let Detector { name, severity, kind, pattern, check, length, .. } = *detector;
        Self { name: name.to_owned(), severity, kind, pattern: Pattern::of_detector(pattern), check, length }
    }

    /// A rule without a pattern, or with one of the user.
    fn named(name: &str, severity: Severity, pattern: Pattern) -> Self {
        let (kind, check) = (Kind::Password, super::checks::any as Check);
        Self { name: name.to_owned(), severity, kind, pattern, check, length: 0 }
    }
}

/// Finds secrets. Copies share the compiled patterns.
#[derive(Clone)]
pub struct Finder {
    rules: Arc<[Rule]>,
    places: Arc<Places>,
    allow: Vec<Vec<u8>>,
    allow_patterns: RegexSet,
    pointers: GlobSet,
    settings: Settings,
    lookalike: Lookalike,
}

impl Finder {
    /// Creates a finder with all detectors and these settings.
    ///
    /// # Errors
    ///
    /// If a pattern or a pointer is not valid, or no detector has a name: a sentence that names it.
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let unknown = settings.disable.iter().find(|name| DETECTORS.iter().all(|known| known.name != name.as_str()));
        if let Some(name) = unknown {
            return Err(format!("disable: no detector is named `{name}`"));
        }
        // Without settings, all share one.
        static USUAL: OnceLock<Result<Finder, String>> = OnceLock::new();
        match *settings == Settings::default() {
            true => USUAL.get_or_init(|| Self::with(settings, FAST, |_| true)).clone(),
            false => Self::with(settings, FAST, |detector| !settings.disable.iter().any(|name| name == detector.name)),
        }
    }

    /// Creates a finder with the detectors of tokens that have a shape of their own.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn of_shapes(settings: &Settings) -> Result<Self, String> {
        let is_on = |detector: &Detector| !settings.disable.iter().any(|name| name == detector.name);
        Self::with(settings, FAST, |detector| detector.is_shape && is_on(detector))
    }

    /// Returns the finder of tokens that have a shape of their own, with the same settings.
    pub(crate) fn shapes(&self) -> Self {
        // With these settings, a finder of more was made.
        let mut shapes = Self::of_shapes(&self.settings).unwrap_or_else(|_| self.clone());
        if self.keeps_pseudonyms() {
            shapes.take_lookalikes_as(Lookalike::Pseudonym);
        }
        shapes
    }

    /// Returns the finder for command lines and HTTP heads at capture, without settings.
    pub(crate) fn at_capture() -> Option<&'static Self> {
        static FINDER: OnceLock<Option<Finder>> = OnceLock::new();
        FINDER.get_or_init(|| Self::with(&Settings::default(), SMALL, |detector| detector.at_capture).ok()).as_ref()
    }

    fn with(settings: &Settings, kind: AhoCorasickKind, is_used: impl Fn(&Detector) -> bool) -> Result<Self, String> {
        // These two have no pattern, and are known by their numbers.
        let none = || Pattern::new("");
        let mut rules = vec![Rule::named(NAMED, Severity::High, none()), Rule::named(POINTER, Severity::High, none())];
        let mut places = Builder::default();
        for rule in &settings.rules {
            places.anywhere(rules.len());
            rules.push(user_rule(&rule.name, &rule.pattern, rule.severity)?);
        }
        for name in &settings.env {
            let pattern = format!(r#"\b{}\\*["']?\s*[=:]\s*\\*["']?([^\s"'\\,;]+)"#, regex::escape(name));
            places.near_text((rules.len(), &pattern), [name.as_str()], 0);
            rules.push(user_rule("env", &pattern, Severity::High)?);
        }
        for detector in DETECTORS.iter().filter(|detector| is_used(detector)) {
            match detector.near {
                Near::Text(texts) => {
                    places.near_text((rules.len(), detector.pattern), texts.iter().copied(), detector.reach);
                }
                Near::Name(name, beside) => places.near_name(rules.len(), name, beside, detector.reach),
                Near::Run(run) => places.in_run(rules.len(), run),
            }
            rules.push(Rule::of(detector));
        }
        for (name, own, pattern) in own_names(settings) {
            places.near_text((rules.len(), &pattern), [own], pattern.len());
            rules.push(user_rule(name, &pattern, Severity::Low)?);
        }
        let places = Arc::new(places.build(kind)?);
        let whole = |pattern: &String| format!("^(?:{pattern})$");
        let allow_patterns = RegexSetBuilder::new(settings.allow_patterns.iter().map(whole))
            .unicode(false)
            .size_limit(PATTERN_BYTES)
            .build()
            .map_err(|error| format!("allow_patterns: {error}"))?;
        let allow = settings.allow.iter().map(|text| text.clone().into_bytes()).collect();
        let pointers = pointers(&settings.pointers)?;
        let (rules, settings, lookalike) = (rules.into(), settings.clone(), Lookalike::Secret);
        Ok(Self { rules, places, allow, allow_patterns, pointers, settings, lookalike })
    }

    /// Decides what texts are that look like pseudonyms. Without that, they are secrets.
    pub(crate) fn take_lookalikes_as(&mut self, lookalike: Lookalike) {
        self.lookalike = lookalike;
    }

    /// Returns whether texts that look like pseudonyms are some, and stay.
    pub(crate) fn keeps_pseudonyms(&self) -> bool {
        self.lookalike == Lookalike::Pseudonym
    }

    /// Returns the settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns a rule by its number.
    pub fn rule(&self, number: usize) -> Option<&Rule> {
        self.rules.get(number)
    }

    /// Returns the digest of all rules and settings: `sha256:` and 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut text = String::from("mcpreel redaction 1\n");
        for rule in self.rules.iter().filter(|rule| rule.name != OWN_USER && rule.name != OWN_HOST) {
            text.push_str(&format!(
                "{}\t{}\t{:?}\t{}\n",
                rule.name,
                rule.severity.name(),
                rule.kind,
                rule.pattern.source()
            ));
        }
        text.push_str(&serde_json::to_string(&self.settings).unwrap_or_default());
        let hash = digest(&SHA256, text.as_bytes());
        hash.as_ref().iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    }

    /// Returns the secrets in a text, in order; they do not overlap.
    pub fn find(&self, text: &[u8]) -> Vec<Match> {
        self.search(text, &self.places(text))
    }

    fn places(&self, text: &[u8]) -> Vec<(usize, Vec<Range<usize>>)> {
        self.places.find(text, |rule, at| self.rules[rule].pattern.may_begin(text, at))
    }

    /// Returns the matches that begin at these places of rules.
    fn search(&self, text: &[u8], places: &[(usize, Vec<Range<usize>>)]) -> Vec<Match> {
        if places.is_empty() {
            return Vec::new();
        }
        let mut found = Apart::default();
        let find = |found: &mut Apart, is_wanted: fn(&Match) -> bool| {
            places.iter().for_each(|(rule, places)| self.find_one(*rule, text, places, found, is_wanted));
        };
        find(&mut found, |_| true);
        if self.keeps_pseudonyms() && found.0.values().any(|one| !one.stays) {
            // A pseudonym may contain by chance what looks like a token.
            found.0.clear();
            find(&mut found, |one| one.stays);
            find(&mut found, |_| true);
        }
        found.0.into_values().collect()
    }

    /// Adds the matches of a rule that begin at these places, overlap no other one, and are wanted.
    fn find_one(
        &self,
        number: usize,
        text: &[u8],
        places: &[Range<usize>],
        found: &mut Apart,
        is_wanted: fn(&Match) -> bool,
    ) {
        let Some(rule) = self.rules.get(number) else { return };
        let cells = match rule.name.as_str() {
            TABLE => Some(tables::cells(text)),
            COOKIE => Some(cookies::values(text)),
            _ => None,
        };
        if let Some(cells) = cells {
            for range in cells {
                found.add(Some(self.matched(text, range, number, rule.kind)).filter(is_wanted));
            }
            return;
        }
        let mut next = 0;
        for place in places {
            let mut at = place.start.max(next);
            while let Some(groups) = rule.pattern.find(text, at..place.end) {
                let Some(whole) = groups.get(0) else { return };
                let secret = groups.iter().flatten().last().unwrap_or_else(|| whole.clone());
                let is_it = !secret.as_bytes().is_empty()
                    && !found.overlap(&secret.range())
                    && ((rule.check)(text, &groups) || self.is_stand_in(secret.as_bytes()));
                at = if is_it {
                    let range = secret.start()..rule.pattern.end_of(text, &secret.range());
                    let end = whole.end().max(range.end);
                    found.add(Some(self.matched(text, range, number, rule.kind)).filter(is_wanted));
                    end
                } else {
                    // In `a: PASSWORD=b`, the value of `a` is another assignment.
                    groups.iter().skip(1).flatten().next().map_or(whole.end(), |group| group.end())
                };
                at = at.max(whole.start() + 1);
            }
            next = at;
        }
    }

    fn matched(&self, text: &[u8], range: Range<usize>, rule: usize, kind: Kind) -> Match {
        Match { stays: self.stays(&text[range.clone()], kind), range, rule }
    }

    /// Returns the secrets in the last argument of a command line that the arguments before it give away. `start` is the
    /// place of that argument.
    pub(crate) fn find_argument(&self, line: &[u8], start: usize) -> Vec<Match> {
        let is_of_programs =
            |number: &usize| self.rules.get(*number).is_some_and(|rule| OF_COMMAND_LINES.contains(&rule.name.as_str()));
        let mut found = Apart::default();
        for (number, places) in self.places(line).iter().filter(|(number, _)| is_of_programs(number)) {
            self.find_one(*number, line, places, &mut found, |_| true);
        }
        found
            .0
            .into_values()
            .filter(|one| one.range.start >= start)
            .map(|one| Match { range: one.range.start - start..one.range.end - start, ..one })
            .collect()
    }

    fn is_stand_in(&self, text: &[u8]) -> bool {
        self.lookalike == Lookalike::StandIn && is_pseudonym(text)
    }

    /// Returns whether a secret of a kind stays as it is.
    pub(crate) fn stays(&self, secret: &[u8], kind: Kind) -> bool {
        super::is_removed(secret)
            || self.keeps_pseudonyms() && is_pseudonym_of(secret, kind)
            || self.allow.iter().any(|text| text == secret)
            || self.allow_patterns.is_match(secret)
    }

    /// Returns the secrets in the value of a member, a header or a variable with a name. If the name suggests a secret and
    /// no token is all of the value, the value as a whole is one. A setting is one of a program's environment, or a header.
    pub fn find_named(&self, name: &str, is_setting: bool, text: &[u8]) -> Vec<Match> {
        if let Some(user) = self.own_user(name, text) {
            return vec![user];
        }
        let mut found = self.find(text);
        let is_random = |one: &Match| self.rules[one.rule].name == HIGH_ENTROPY;
        if found.iter().any(is_random) && names::is_public(name) {
            found.retain(|one| !is_random(one));
        }
        let is_named =
            || self.places.is_secret(name) || self.is_member(name) || is_setting && names::is_key_of_settings(name);
        // A token with a prefix or a scheme is all of the value; otherwise, what is found would be only a part of the secret.
        let is_prefix = |before: &[u8]| {
            let is_scheme = |scheme: &&[u8]| before.trim_ascii().eq_ignore_ascii_case(scheme);
            !before.contains(&b' ') || SCHEMES.iter().any(is_scheme)
        };
        let is_all = matches!(&found[..], [one] if one.range.end == text.len() && is_prefix(&text[..one.range.start]));
        if is_all || text.is_empty() || !is_named() || self.is_none(text) {
            return found;
        }
        vec![Match { range: 0..text.len(), rule: 0, stays: self.stays(text, Kind::Password) }]
    }

    /// Returns the name of this machine's user, if that is all of a value which is the name of a user.
    fn own_user(&self, name: &str, text: &[u8]) -> Option<Match> {
        let user = self.settings.own_user.as_ref().filter(|user| user.as_bytes() == text)?;
        let is_user = USER_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        let rule = self.rules.iter().position(|rule| rule.name == OWN_USER).filter(|_| is_user)?;
        Some(Match { range: 0..user.len(), rule, stays: self.stays(text, Kind::Password) })
    }

    /// Returns the places where a text that this machine's user wrote, such as a label, has the user's name as a word,
    /// unless programs and machines often have that name.
    pub(crate) fn own_user_in(&self, text: &[u8]) -> Vec<Match> {
        let user = self.settings.own_user.as_ref().filter(|user| user.len() >= SHORTEST_NAME && !is_common(user));
        let rule = self.rules.iter().position(|rule| rule.name == OWN_USER);
        let (Some(user), Some(rule)) = (user, rule) else { return Vec::new() };
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let ranges = memchr::memmem::find_iter(text, user.as_bytes()).map(|start| start..start + user.len());
        let is_whole = |range: &Range<usize>| {
            !text[..range.start].last().is_some_and(is_word) && !text[range.end..].first().is_some_and(is_word)
        };
        ranges.filter(is_whole).map(|range| self.matched(text, range, rule, Kind::Password)).collect()
    }

    /// Returns whether a value with a telling name is no secret.
    fn is_none(&self, text: &[u8]) -> bool {
        // The label of a field, as in translations.
        let is_label = || {
            let label = String::from_utf8_lossy(text);
            super::is_ordinary(text) && self.places.is_secret(&label)
                || names::is_foreign(&label) && label.chars().all(|found| found.is_alphabetic() || found == ' ')
        };
        !self.is_stand_in(text) && (names::is_placeholder(text) || self.is_prose(text) || is_label())
    }

    /// Returns whether a value describes a secret instead of being one: several words without a digit.
    fn is_prose(&self, text: &[u8]) -> bool {
        let words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
        words > 5 && !text.iter().any(u8::is_ascii_digit)
    }

    /// Returns the secret that is all of the text, because the user named its place.
    pub fn find_at(&self, pointer: &str, text: &[u8]) -> Option<Match> {
        let is_named = !self.pointers.is_empty() && self.pointers.is_match(pointer) && !text.is_empty();
        is_named.then(|| Match { range: 0..text.len(), rule: 1, stays: self.stays(text, Kind::Password) })
    }

    /// Returns whether the user named the members with this name.
    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.settings.members.iter().any(|one| one == name)
    }

    /// Returns whether the value of a header is a secret as a whole.
    pub fn is_secret_header(&self, name: &str) -> bool {
        self.settings.headers.iter().any(|header| header.eq_ignore_ascii_case(name))
    }

    /// Returns whether places were named, so that pointers are needed.
    pub fn has_pointers(&self) -> bool {
        !self.pointers.is_empty()
    }
}

/// What says how to use the credentials behind it (RFC 9110, section 11).
const SCHEMES: [&[u8]; 3] = [b"basic", b"bearer", b"dpop"];

/// The detectors that know the arguments of programs.
const OF_COMMAND_LINES: [&str; 3] = ["program-option", "program-argument", "user-flag"];

/// Matches that do not overlap, by where they begin.
#[derive(Default)]
struct Apart(BTreeMap<usize, Match>);

impl Apart {
    fn overlap(&self, range: &Range<usize>) -> bool {
        self.0.range(..range.end).next_back().is_some_and(|(_, before)| before.range.end > range.start)
    }

    fn add(&mut self, one: Option<Match>) {
        if let Some(one) = one.filter(|one| !self.overlap(&one.range)) {
            self.0.insert(one.range.start, one);
        }
    }
}

/// The name of the rule for the user's name on this machine.
const OWN_USER: &str = "own-user";
/// The name of the rule for the name of this machine.
const OWN_HOST: &str = "own-host";
/// What the name of a user is called.
const USER_NAMES: [&str; 6] = ["user", "username", "user_name", "logname", "login", "owner"];
/// Shorter names are too common.
const SHORTEST_NAME: usize = 4;
/// Users that come with systems.
const COMMON_USERS: [&str; 9] =
    ["circleci", "codespace", "debian", "docker", "jenkins", "runner", "ubuntu", "vagrant", "vscode"];

/// Whether the name of a user says nothing about who that is.
fn is_common(user: &str) -> bool {
    COMMON_USERS.contains(&user) || super::words::is_ordinary(user.as_bytes())
}

/// Returns rules for the names of this machine and its user, and for the path of the home folder, where they are no ordinary
/// words: the name of the rule, the name that it finds, and the pattern.
fn own_names(settings: &Settings) -> Vec<(&'static str, &str, String)> {
    fn long(name: Option<&String>) -> Option<&String> {
        name.filter(|name| name.len() >= SHORTEST_NAME)
    }
    let user = long(settings.own_user.as_ref()).map(|user| {
        let before = r#"\b(?:user(?:_?name)?|logname|login|owner|home)\\?["']?\s*[=:]\s*\\?["']?"#;
        (OWN_USER, user.as_str(), format!(r"(?i:{before}({})\b)", regex::escape(user)))
    });
    // The detector of home folders knows the usual places.
    let home = settings.own_home.as_deref().and_then(|home| home.rsplit_once('/'));
    let is_usual = |above: &str| matches!(above, "" | "/home" | "/Users");
    let is_user = |name: &str| name.len() > 1 && !name.starts_with('.') && !is_common(name);
    let home = home.filter(|(above, name)| !is_usual(above) && is_user(name));
    let home = home.map(|(above, name)| {
        let pattern = format!(r"{}/({})(?:[^\w.-]|$)", regex::escape(above), regex::escape(name));
        (OWN_USER, name, pattern)
    });
    let is_distinct = |host: &String| host.chars().any(|found| found.is_ascii_digit() || matches!(found, '-' | '.'));
    let host = long(settings.own_host.as_ref()).filter(|host| is_distinct(host));
    let host = host.map(|host| (OWN_HOST, host.as_str(), format!(r"\b({})\b", regex::escape(host))));
    user.into_iter().chain(home).chain(host).collect()
}

fn user_rule(name: &str, pattern: &str, severity: Severity) -> Result<Rule, String> {
    let pattern = Pattern::new(pattern);
    match pattern.matches_nothing() {
        Ok(false) => Ok(Rule::named(name, severity, pattern)),
        Ok(true) => Err(format!("rule `{name}`: its pattern matches the empty text")),
        Err(error) => Err(format!("rule `{name}`: {error}")),
    }
}

fn pointers(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| format!("pointers: {error}"))?);
    }
    set.build().map_err(|error| format!("pointers: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::detectors::sample;

    fn finder() -> Finder {
        Finder::new(&Settings::default()).expect("rules")
    }

    fn found(text: &str) -> Vec<(String, String)> {
        let finder = finder();
        let shown = |one: Match| (finder.rules[one.rule].name.clone(), text[one.range].to_owned());
        finder.find(text.as_bytes()).into_iter().map(shown).collect()
    }

    #[test]
    fn every_detector_compiles_and_finds_its_example_in_prose() {
        let finder = finder();
        for detector in DETECTORS {
            for seed in 0..20 {
                let mut random = fastrand::Rng::with_seed(seed);
                let example = sample(detector.example, |below| random.usize(..below));
                let text = format!("see {example} here");
                let number = finder.rules.iter().position(|rule| rule.name == detector.name).expect("a rule");
                assert!(finder.rules[number].pattern.matches_nothing().is_ok(), "{} compiles", detector.name);
                let found = finder.find(text.as_bytes());
                assert!(
                    found.iter().any(|one| finder.rules[one.rule].name == detector.name && !one.stays),
                    "{}: {text}: {found:?}",
                    detector.name
                );
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = DETECTORS.iter().map(|detector| detector.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count >= 90, "{count}");
    }

    #[test]
    fn a_prefix_stays_and_the_most_specific_detector_counts() {
        assert_eq!(
            found("sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx1"),
            [("anthropic-key".into(), "AbCdEfGhIjKlMnOpQrStUvWx1".into())]
        );
        assert_eq!(
            found("postgres://app:hunter2@db/x and Bearer abcdefgh12345678"),
            [("url-password".into(), "hunter2".into()), ("bearer-token".into(), "abcdefgh12345678".into())]
        );
        assert_eq!(found(r#"{\"password\":\"hunter2x\"}"#), [("assignment".into(), "hunter2x".into())]);
        assert_eq!(found("CREATE USER me IDENTIFIED BY tiger"), [("sql-password".into(), "tiger".into())]);
        let bot = "https://api.telegram.org/bot123456789:AAFaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/getMe";
        assert_eq!(found(bot), [("telegram-bot-token".into(), "Faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".into())]);
        assert_eq!(found("config: DB_PASSWORD=hunter2x"), [("assignment".into(), "hunter2x".into())]);
    }

    #[test]
    fn all_cookies_are_found_whatever_the_first_one_is() {
        for first in ["v=1", "v=\"\"", "v=\"a\"", "v=;"] {
            let secrets = found(&format!("Cookie: {first}; session=a8Kd92mQ"));
            assert!(secrets.contains(&("cookie".into(), "a8Kd92mQ".into())), "{first}: {secrets:?}");
        }
    }

    #[test]
    fn what_looks_like_a_token_in_a_pseudonym_is_none() {
        let text =
            b"https://acme.webhook.office.com/webhookb2/redactedl70Yw2/TQvblf/BSA47ur9MV1M0e6vWindknFlcTdEoJ1Y/x";
        let mut finder = finder();
        assert!(finder.find(text).iter().any(|one| !one.stays));
        finder.take_lookalikes_as(Lookalike::Pseudonym);
        assert!(finder.find(text).iter().all(|one| one.stays));
    }

    #[test]
    fn what_is_no_secret_is_not_found() {
        for text in [
            "token: the value that a server returns",
            "password = getpass()",
            "the key to success",
            "messages identified by UID, rather than number",
            "4f9d3c1e-7b2a-4c3d-9e8f-0a1b2c3d4e5f",
            "commit 3d90dcd1c5811b1dce5613d90dcd1c5811b1dce56",
            "see https://example.com/path?page=2&sort=name",
            "user@example.com and git@github.com:a/b.git",
            "getUserInfoFromDatabaseV2WithCache",
            "1732353600000 4111111111111112 4111.1111",
            "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
            "npm install @modelcontextprotocol/server-everything@1.2.3",
            "Authorization: Bearer [redacted]",
            "/home/user/project /Users/Shared",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    /// Texts of examples, names and what may stand around them.
    fn generated(random: &mut fastrand::Rng) -> String {
        let pieces = [
            "the",
            " ",
            "=",
            ": ",
            "\"",
            "'",
            "\\\"",
            "/",
            ".",
            "-",
            "--",
            "\n",
            "\\n",
            "?",
            "&",
            "<",
            ">",
            "|",
            ",",
            "(",
            ")",
            "é",
            "$",
            "key",
            "api",
            "Password",
            "token",
            "my_auth",
            "-p",
            "name",
            "value",
            "x7Q",
            "q9w8e7r6t5",
            "4111 1111",
            "ABCDE",
            "@",
            "://",
        ];
        let piece = |random: &mut fastrand::Rng| match random.usize(..8) {
            0 => sample(random.choice(DETECTORS).expect("detectors").example, |below| random.usize(..below)),
            1 => (*random.choice(names::FOREIGN.as_slice()).expect("words")).to_owned(),
            _ => (*random.choice(pieces.as_slice()).expect("pieces")).to_owned(),
        };
        (0..random.usize(1..20)).map(|_| piece(random)).collect()
    }

    #[test]
    fn a_token_that_is_too_short_or_within_a_word_is_none() {
        let finder = finder();
        for detector in DETECTORS.iter().filter(|detector| detector.is_shape && !detector.name.ends_with("webhook")) {
            let mut random = fastrand::Rng::with_seed(7);
            let example = sample(detector.example, |below| random.usize(..below));
            let of_it = |text: &str| {
                let found = finder.find(text.as_bytes()).into_iter();
                found.filter(|one| finder.rules[one.rule].name == detector.name).collect::<Vec<_>>()
            };
            let whole = of_it(&example);
            let [one, ..] = &whole[..] else { panic!("{}: {example}", detector.name) };
            let short = format!("{} and more", &example[..one.range.start + 4]);
            assert!(of_it(&short).is_empty(), "{}: {short}", detector.name);
            let within = format!("x{example}");
            assert!(!detector.pattern.starts_with('~') || of_it(&within).is_empty(), "{}: {within}", detector.name);
        }
    }

    #[test]
    fn the_search_for_places_loses_no_match() {
        let finder = finder();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..4000 {
            let text = generated(&mut random);
            let places = finder.places(text.as_bytes());
            for (number, rule) in finder.rules.iter().enumerate().skip(2) {
                let found = |places: Vec<Range<usize>>| finder.search(text.as_bytes(), &[(number, places)]);
                let near =
                    places.iter().find(|place| place.0 == number).map(|place| place.1.clone()).unwrap_or_default();
                let near = found(near);
                for one in found(std::iter::once(0..text.len() + 1).collect()) {
                    let is_found = near
                        .iter()
                        .any(|other| other.range.start <= one.range.start && one.range.end <= other.range.end);
                    assert!(is_found, "{}: {text:?}: {:?}, not in {near:?}", rule.name, &text.get(one.range));
                }
            }
        }
    }

    #[test]
    fn the_names_of_this_machine_are_found_in_short_texts() {
        let settings = Settings {
            own_user: Some("zoe1".into()),
            own_host: Some("h-12".into()),
            env: vec!["X".into()],
            ..Settings::default()
        };
        let finder = Finder::new(&settings).expect("settings");
        for text in ["user=ZOE1", "on h-12", "X=abcd"] {
            assert_eq!(finder.find(text.as_bytes()).len(), 1, "{text}");
        }
        assert!(finder.find(b"zoe1 h-13 x=abcd").is_empty());
    }

    #[test]
    fn users_add_rules_and_exempt_texts() {
        let settings = Settings {
            rules: vec![super::super::settings::UserRule {
                name: "employee".into(),
                pattern: "EMP-([0-9]{6})".into(),
                severity: Severity::Low,
            }],
            allow: vec!["hunter2".into()],
            allow_patterns: vec!["test-[0-9]+".into()],
            env: vec!["CITY".into()],
            pointers: vec!["/params/*/place".into(), "/result/**".into()],
            disable: vec!["email-address".into()],
            ..Settings::default()
        };
        let finder = Finder::new(&settings).expect("settings");
        let found = |text: &str| -> Vec<(String, bool)> {
            let shown = |one: Match| (text[one.range].to_owned(), one.stays);
            finder.find(text.as_bytes()).into_iter().map(shown).collect()
        };
        assert_eq!(found("EMP-123456 j@acme.com CITY=Bonn"), [("123456".into(), false), ("Bonn".into(), false)]);
        assert_eq!(found("ab://u:hunter2@h ab://u:test-1@h"), [("hunter2".into(), true), ("test-1".into(), true)]);
        assert!(finder.find_at("/params/a/place", b"x").is_some() && finder.find_at("/result/a/b", b"x").is_some());
        assert!(finder.find_at("/params/a/b/place", b"x").is_none());
        let broken = |settings: Settings| Finder::new(&settings).err().unwrap_or_default();
        assert!(broken(Settings { disable: vec!["nope".into()], ..Settings::default() }).contains("`nope`"));
        assert!(
            broken(Settings { allow_patterns: vec!["(".into()], ..Settings::default() }).contains("allow_patterns")
        );
        assert_ne!(finder.digest(), Finder::new(&Settings::default()).expect("none").digest());
    }
}
