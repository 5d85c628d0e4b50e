//! Scopes (MCPL 0.4 §7): the lists, the user's decisions, and the requests that wait for a decision.

use crate::proposals::host::Refusal;
use crate::proposals::mcpl::label::{Label, notations};
use crate::proposals::policy::{Policy, regex_error};
use crate::proposals::recent::Recent;
use crate::protocol::errors;
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How many decisions of the user are remembered.
const MAX_DECISIONS: usize = 4096;
/// How many requests may wait for the user.
const MAX_WAITING: usize = 256;

/// The decision on a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be used.
    Approved,
    /// It may not be used, for this reason.
    Denied(String),
    /// The user has to decide.
    Ask,
}

/// One pattern of a list.
struct Pattern {
    /// The only feature set that it applies to, if any.
    set: Option<String>,
    text: String,
    matcher: Matcher,
}

enum Matcher {
    /// An invalid pattern. The options are checked earlier, so this is a fallback: it matches everything in a
    /// blacklist and nothing in a whitelist.
    Broken {
        is_black: bool,
    },
    Globs(Vec<GlobMatcher>),
    Regex(Regex),
}

impl Pattern {
    /// # Errors
    /// The pattern is invalid.
    fn read(word: &str, is_regex: bool, is_black: bool) -> Result<Self, String> {
        let (set, text) = match word.split_once('=') {
            Some(("", text)) => (None, text.to_owned()),
            Some((set, text)) if is_name(set) => (Some(set.to_owned()), text.to_owned()),
            _ => (None, word.to_owned()),
        };
        let matcher = match is_regex {
            // Also compiled on its own: the group below must not hide unbalanced parentheses.
            true => Regex::new(&text)
                .and_then(|_| RegexBuilder::new(&format!("^(?:{text})$")).case_insensitive(is_black).build())
                .map(Matcher::Regex)
                .map_err(|error| format!("invalid regular expression {text:?}: {}", regex_error(&error)))?,
            false => {
                let compiled =
                    |glob: &String| GlobBuilder::new(glob).literal_separator(true).case_insensitive(is_black).build();
                let globs: Result<Vec<_>, _> = notations(&text).iter().map(compiled).collect();
                let globs = globs.map_err(|error| format!("invalid glob {text:?}: {}", error.kind()))?;
                Matcher::Globs(globs.iter().map(globset::Glob::compile_matcher).collect())
            }
        };
        Ok(Self { set, text, matcher })
    }

    /// The patterns of a list.
    fn list(policy: &Policy, name: &str) -> Vec<Self> {
        let (is_regex, is_black) = (policy.word("patterns") == "regex", name == "blacklist");
        let broken = || Self { set: None, text: String::new(), matcher: Matcher::Broken { is_black } };
        policy
            .words(name)
            .iter()
            .map(|word| Self::read(word, is_regex, is_black).unwrap_or_else(|_| broken()))
            .collect()
    }

    fn is_for(&self, set: &str) -> bool {
        self.set.as_deref().is_none_or(|only| only == set)
    }

    fn fits(&self, label: &str) -> bool {
        self.text == label
            || match &self.matcher {
                Matcher::Broken { is_black } => *is_black,
                Matcher::Globs(globs) => globs.iter().any(|glob| glob.is_match(label)),
                Matcher::Regex(regex) => regex.is_match(label),
            }
    }
}

/// Whether the text before a `=` can be the name of a feature set. Otherwise the `=` belongs to the pattern: if it
/// were taken for one of an unknown set, a blacklist would deny nothing.
fn is_name(word: &str) -> bool {
    word.chars().all(|found| found.is_alphanumeric() || matches!(found, '_' | '-' | '.' | ':' | '/'))
}

/// Checks the patterns of both lists.
///
/// # Errors
/// The name of the list, and what is wrong in it.
pub(super) fn check(policy: &Policy) -> Result<(), (&'static str, String)> {
    let is_regex = policy.word("patterns") == "regex";
    for name in ["whitelist", "blacklist"] {
        for word in policy.words(name) {
            Pattern::read(word, is_regex, name == "blacklist").map_err(|why| (name, why))?;
        }
    }
    Ok(())
}

/// A request that waits for the user.
pub(super) struct Pending {
    /// The id exactly as it was received.
    pub id: Vec<u8>,
    /// The feature set.
    pub set: String,
    /// The scope's label.
    pub label: String,
    /// The scope's payload.
    pub payload: Value,
    /// When it is denied if the user does not decide.
    pub until: Duration,
}

/// The scopes of one server.
pub(super) struct Scopes {
    white: Vec<Pattern>,
    black: Vec<Pattern>,
    otherwise: &'static str,
    keeps: bool,
    timeout: Duration,
    /// The user's decisions, by feature set and [`Label::key`]: the label that they are about, and whether it was approved.
    said: Recent<(String, String), (String, bool)>,
    /// The requests that wait for the user, oldest first.
    pub pending: Vec<Pending>,
}

impl Scopes {
    /// With the lists of the policy.
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            white: Pattern::list(policy, "whitelist"),
            black: Pattern::list(policy, "blacklist"),
            otherwise: policy.word("scope"),
            keeps: policy.flag("scope_cache"),
            timeout: policy.time("scope_timeout"),
            said: Recent::new(MAX_DECISIONS),
            pending: Vec::new(),
        }
    }

    /// Decides on a scope. In order of precedence: the blacklist, the whitelist, the user's decision, the policy
    /// (MCPL 0.4 §7.6).
    pub(super) fn judge(&self, set: &str, label: &str) -> Verdict {
        let label = Label::read(label);
        if self.is_black(set, &label) {
            return Verdict::Denied("it is on the blacklist".to_owned());
        }
        if let Some(why) = label.fault().filter(|_| self.has_rules(set)) {
            return Verdict::Denied(format!("it cannot be compared with the lists: {why}"));
        }
        let fits = |pattern: &&Pattern| label.is_white(&pattern.text, |reading| pattern.fits(reading));
        if self.white.iter().filter(|pattern| pattern.is_for(set)).any(|pattern| fits(&pattern)) {
            return Verdict::Approved;
        }
        match (self.said.get(&(set.to_owned(), label.key())), self.otherwise) {
            (Some((_, false)), _) => Verdict::Denied("the user denied it".to_owned()),
            // An approval is for what the user saw, a denial for all that it may mean.
            (Some((seen, true)), _) if Label::read(seen).plain() == label.plain() => Verdict::Approved,
            (_, "approve") => Verdict::Approved,
            (_, "deny") => Verdict::Denied("it is not on the whitelist".to_owned()),
            _ => Verdict::Ask,
        }
    }

    /// Whether the host itself may do something that is known by these names: none of them is denied, and one is
    /// approved or there is no whitelist.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may(&self, set: &str, names: &[&str]) -> Result<(), String> {
        let verdicts: Vec<Verdict> = names.iter().map(|name| self.judge(set, name)).collect();
        let is_listed = self.white.iter().any(|pattern| pattern.is_for(set));
        match verdicts.iter().find(|verdict| matches!(verdict, Verdict::Denied(_))) {
            Some(Verdict::Denied(why)) => Err(why.clone()),
            _ if verdicts.contains(&Verdict::Approved) || !is_listed => Ok(()),
            _ => Err("it is not on the whitelist, and the user did not approve it".to_owned()),
        }
    }

    /// Whether something that belongs to one of these sets may be done ([`Self::may`]). It is not known which one it is, so
    /// the blacklist of each denies it, and if there are whitelists, one of them must approve it.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_one_of(&self, sets: &[&str], label: &str) -> Result<(), String> {
        let listed: Vec<&str> = sets.iter().copied().filter(|set| self.white.iter().any(|it| it.is_for(set))).collect();
        let asked = if listed.is_empty() { sets } else { &listed[..] };
        let found = Label::read(label);
        if sets.iter().any(|set| self.is_black(set, &found)) {
            return Err("it is on the blacklist".to_owned());
        }
        let verdicts: Vec<_> = asked.iter().map(|set| self.may(set, &[label])).collect();
        match verdicts.iter().any(Result::is_ok) {
            true => Ok(()),
            false => verdicts.into_iter().find(Result::is_err).unwrap_or(Ok(())),
        }
    }

    fn is_black(&self, set: &str, label: &Label<'_>) -> bool {
        let fits = |pattern: &Pattern| label.may_be_black(|reading| pattern.fits(reading));
        self.black.iter().any(|pattern| pattern.is_for(set) && fits(pattern))
    }

    /// Whether a list has a pattern for a set.
    pub(super) fn has_rules(&self, set: &str) -> bool {
        self.white.iter().chain(&self.black).any(|pattern| pattern.is_for(set))
    }

    /// The lists of these sets, for the server; `Null` if there are none.
    pub(super) fn lists<'a>(&self, sets: impl Iterator<Item = &'a str>) -> Value {
        let of = |list: &[Pattern], set: &str| -> Vec<Value> {
            list.iter().filter(|pattern| pattern.is_for(set)).map(|pattern| pattern.text.as_str().into()).collect()
        };
        let lists: Map<String, Value> = sets
            .filter(|set| self.has_rules(set))
            .map(|set| (set.to_owned(), json!({"whitelist": of(&self.white, set), "blacklist": of(&self.black, set)})))
            .collect();
        if lists.is_empty() { Value::Null } else { lists.into() }
    }

    /// Adds a request that waits for the user.
    ///
    /// # Errors
    /// Too many requests wait.
    pub(super) fn wait(&mut self, now: Duration, id: &[u8], set: &str, scope: &Value) -> Result<(), Refusal> {
        if self.pending.len() >= MAX_WAITING {
            return Err(Refusal::new(errors::INTERNAL_ERROR, "too many scopes are waiting for the user"));
        }
        let label = scope["label"].as_str().unwrap_or_default().to_owned();
        let (id, set, payload) = (id.to_vec(), set.to_owned(), scope["payload"].clone());
        self.pending.push(Pending { id, set, label, payload, until: now.saturating_add(self.timeout) });
        Ok(())
    }

    /// Remembers the user's decision on a label, for these sets. Returns the requests that waited for it.
    pub(super) fn say(&mut self, sets: &[&str], label: &str, is_approved: bool) -> Vec<Pending> {
        let found = Label::read(label);
        for set in sets.iter().filter(|_| self.keeps) {
            self.said.insert(((*set).to_owned(), found.key()), (label.to_owned(), is_approved));
        }
        let is_it = |other: &Label<'_>| other.plain() == found.plain() || !is_approved && other.key() == found.key();
        self.take(|pending| is_it(&Label::read(&pending.label)) && sets.contains(&pending.set.as_str()))
    }

    /// Removes and returns the waiting requests that match.
    pub(super) fn take(&mut self, fits: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        let (taken, left) = std::mem::take(&mut self.pending).into_iter().partition(fits);
        self.pending = left;
        taken
    }
}

/// The result that approves a scope; it contains the payload (MCPL 0.4 §7.5).
pub(super) fn approval(payload: &Value) -> Value {
    let mut result = json!({"approved": true});
    if !payload.is_null() {
        result["payload"] = payload.clone();
    }
    result
}

/// The result that denies a scope.
pub(super) fn denial(reason: &str) -> Value {
    json!({"approved": false, "reason": reason})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::policy::Policies;

    fn scopes(set: &[(&str, &str)]) -> Scopes {
        let mut policies = Policies::new([("mcpl", super::super::SETTINGS)]);
        set.iter().for_each(|(name, value)| policies.set(None, name, &(*value).into()).unwrap());
        Scopes::new(&policies.of("mcpl", "s"))
    }

    #[test]
    fn c21_c22_the_blacklist_wins_and_a_star_stays_within_its_segment() {
        let scopes = scopes(&[
            ("mcpl.whitelist", "/project/**,chat=#dev-*,/one/*/x,discord:acme/*,[[]odd"),
            ("mcpl.blacklist", "**/.env"),
            ("mcpl.scope", "deny"),
        ]);
        let is_approved = |label: &str, set: &str| scopes.judge(set, label) == Verdict::Approved;
        assert!(is_approved("/project/src/ä.rs", "files") && !is_approved("/project/a/.env", "files"));
        assert!(is_approved("/one/two/x", "files") && !is_approved("/one/two/three/x", "files"));
        assert!(is_approved("#dev-ops", "chat") && !is_approved("#dev-ops", "files"));
        assert!(is_approved("discord:acme/general", "chat") && !is_approved("discord:acme/a/b", "chat"));
        assert!(!is_approved("/project/../etc/passwd", "files"));
        assert!(is_approved("[odd", "files") && !is_approved("odd", "files"));
    }

    #[test]
    fn c22_what_is_no_pattern_is_reported_and_denies() {
        let reported = |list: &str, pattern: &str, kind: &str| {
            let mut policies = Policies::new([("mcpl", super::super::SETTINGS)]);
            policies.set(Some("s"), list, &pattern.into()).unwrap();
            policies.set(None, "mcpl.patterns", &kind.into()).unwrap();
            let reported = crate::proposals::check_policies(&policies).map_err(|error| error.to_string());
            (reported, Scopes::new(&policies.of("mcpl", "s")).judge("files", "/etc/passwd"))
        };
        for (pattern, kind, why) in [
            ("/etc/(", "regex", "unclosed group"),
            ("a)|(b", "regex", "unopened group"),
            ("files=/etc/[a-", "regex", "unclosed character class"),
            ("/etc/[a-", "glob", "unclosed character class"),
            ("ok,/etc/{a", "glob", "alternate"),
        ] {
            let (black, verdict) = reported("mcpl.blacklist", pattern, kind);
            let black = black.expect_err(pattern);
            assert!(black.starts_with("mcpl.blacklist for s: ") && black.contains(why), "{black}");
            assert!(matches!(verdict, Verdict::Denied(_)), "{pattern}: {verdict:?}");
            let (white, verdict) = reported("mcpl.whitelist", pattern, kind);
            assert!(white.is_err_and(|reported| reported.starts_with("mcpl.whitelist for s: ")), "{pattern}");
            assert_ne!(verdict, Verdict::Approved, "{pattern}");
        }
        assert_eq!(reported("mcpl.blacklist", "files=/etc/.*", "regex").0, Ok(()));
    }

    #[test]
    fn c22_a_pattern_may_have_an_equals_sign() {
        for (pattern, is_denied) in
            [("files=.*", true), ("other=.*", false), (".*[?]token=.*", true), ("=key=.*", false), ("=.*key=.*", true)]
        {
            let scopes = scopes(&[("mcpl.blacklist", pattern), ("mcpl.patterns", "regex")]);
            let verdict = scopes.judge("files", "/a?token=b&key=c");
            assert_eq!(matches!(verdict, Verdict::Denied(_)), is_denied, "{pattern}: {verdict:?}");
        }
    }

    #[test]
    fn c22_patterns_may_be_regular_expressions() {
        let scopes = scopes(&[("mcpl.whitelist", "#(dev|ops)-.+"), ("mcpl.patterns", "regex")]);
        assert_eq!(scopes.judge("chat", "#ops-1"), Verdict::Approved);
        assert_eq!(scopes.judge("chat", "x#ops-1"), Verdict::Ask);
    }

    /// MCPL 0.4 §7.6: "If label matches blacklist → deny". A label that means a place on the blacklist matches it,
    /// however it is written.
    #[test]
    fn a_notation_of_a_place_does_not_get_round_the_blacklist() {
        for kind in ["glob", "regex"] {
            let patterns = match kind {
                "glob" => ("/project/**", "**/.env,/project/secrets/,#admin-*,https://h/private/**"),
                _ => ("/project/.*", ".*/[.]env,/project/secrets,#admin-.*,https://h/private/.*"),
            };
            let scopes = scopes(&[
                ("mcpl.whitelist", patterns.0),
                ("mcpl.blacklist", patterns.1),
                ("mcpl.patterns", kind),
                ("mcpl.scope", "approve"),
            ]);
            for label in [
                "/project/.env",
                "/project/.env/",
                "/project/.env/.",
                "/project/.env//",
                "/project//.env",
                "/project/./.env",
                "/project/x/../.env",
                "/project/%2eenv",
                "/project%2F.env",
                "/project/%252eenv",
                "/project\\.env",
                "/project/.ENV",
                "/project/.env.",
                "/project/.env ",
                "/project/.e\u{200b}nv",
                "/project\u{ff0f}.env",
                "/project/.env\0.txt",
                "/project/.env%00",
                "/project/%ff.env",
                "file:///project/secrets",
                "/project/secrets/",
                "/project/secrets",
                "#ADMIN-1",
                "#admin-1/",
                "https://h//private/a/",
                "HTTPS://H/private/a",
            ] {
                assert!(matches!(scopes.judge("files", label), Verdict::Denied(_)), "{kind} {label:?}");
                assert!(scopes.may_one_of(&["files"], label).is_err(), "{kind} {label:?}");
            }
            for near in ["/project/.env.example", "/project/env", "/project/a.env", "/project/secretsauce", "#general"]
            {
                assert_eq!(scopes.judge("files", near), Verdict::Approved, "{kind} {near}");
            }
        }
    }

    #[test]
    fn a_whitelist_approves_only_what_every_system_takes_for_a_place_on_it() {
        let scopes = scopes(&[("mcpl.whitelist", "/project/**,./src/*,https://h/my%20docs/*,/caf\u{e9},/odd%2Fname")]);
        for label in [
            "/project/a",
            "/project//a/",
            "/project/./a",
            "/project/a b",
            "src/a",
            "./src/a",
            "https://h/my%20docs/a",
            "https://h/my docs/a",
            "/cafe\u{301}",
            "/odd%2Fname",
        ] {
            assert_eq!(scopes.judge("files", label), Verdict::Approved, "{label}");
        }
        for label in [
            "/project/../etc",
            "/project/\u{ff0e}\u{ff0e}/etc",
            "/project/\u{2025}/etc",
            "/project/a/..",
            "/project\\a",
            "src%2Fa",
            "/project%2Fa",
            "https://h/my%20docs/a%2Fb",
            "/Project/a",
        ] {
            assert_eq!(scopes.judge("files", label), Verdict::Ask, "{label}");
        }
    }

    #[test]
    fn a_denial_holds_for_all_notations_and_an_approval_for_what_the_user_saw() {
        let mut scopes = scopes(&[]);
        scopes.say(&["files"], "/etc/hosts", false);
        for label in ["/etc/hosts", "/etc/hosts/", "/etc/./hosts", "/etc/%68osts"] {
            assert!(matches!(scopes.judge("files", label), Verdict::Denied(_)), "{label}");
        }
        scopes.say(&["files"], "/tmp/a", true);
        for label in ["/tmp/a", "/tmp/a/"] {
            assert_eq!(scopes.judge("files", label), Verdict::Approved, "{label}");
        }
        for label in ["/tmp/%61", "/tmp/b", "/tmp/A"] {
            assert_eq!(scopes.judge("files", label), Verdict::Ask, "{label}");
        }
    }
}
