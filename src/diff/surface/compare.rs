//! Compares two surfaces.

use super::likeness::renamed_tools;
use super::rules::*;
use super::schema::{Delta, from_to};
use super::{List, ListKind, Surface, exact, items};
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One change of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceChange {
    /// The rule.
    pub rule: &'static SurfaceRule,
    /// What changed: `server`, `tool`, `prompt`, `resource` or `template`.
    pub kind: &'static str,
    /// Its name, URI or template; for the server, its name.
    pub name: String,
    /// The place in it: a JSON pointer.
    pub place: String,
    /// What was seen.
    pub seen: String,
    /// The value at the place before.
    pub left: Option<Value>,
    /// The value at the place after.
    pub right: Option<Value>,
}

/// The changes of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceReport {
    /// The changes, the worst first.
    pub changes: Vec<SurfaceChange>,
    /// The number of tools, prompts, resources and templates without any change.
    pub unchanged: usize,
    /// What was not compared, and why, as sentences.
    pub not_compared: Vec<String>,
}

impl SurfaceReport {
    /// Returns the number of changes with this effect.
    pub fn count(&self, effect: Effect) -> usize {
        self.changes.iter().filter(|change| change.rule.effect == effect).count()
    }

    /// Returns the worst effect.
    pub fn worst(&self) -> Option<Effect> {
        self.changes.iter().map(|change| change.rule.effect).max()
    }

    /// Returns the report as one JSON object:
    ///
    /// ```text
    /// {"breaking":N, "risk":N, "harmless":N, "unchanged":N, "not_compared":[TEXT…], "changes":[CHANGE…]}
    /// CHANGE: {"rule":ID, "severity":"breaking|risk|harmless", "kind":"server|tool|prompt|resource|template",
    ///          "name":TEXT, "place":POINTER, "seen":TEXT, "left":ANY, "right":ANY, "text":TEXT, "source":TEXT}
    /// ```
    ///
    /// `left` and `right` are left out if there is no value at the place.
    pub fn to_json(&self) -> Value {
        let mut report = json!({});
        for effect in Effect::ALL {
            report[effect.name()] = self.count(effect).into();
        }
        report["unchanged"] = self.unchanged.into();
        report["not_compared"] = self.not_compared.clone().into();
        report["changes"] = self.changes.iter().map(change_json).collect();
        report
    }
}

fn change_json(change: &SurfaceChange) -> Value {
    let rule = change.rule;
    let mut value = json!({
        "rule": rule.id, "severity": rule.effect.name(), "kind": change.kind, "name": change.name,
        "place": change.place, "seen": change.seen,
    });
    for (name, side) in [("left", &change.left), ("right", &change.right)] {
        if let Some(side) = side {
            value[name] = side.clone();
        }
    }
    value["text"] = rule.text.into();
    value["source"] = rule.source.into();
    value
}

/// Compares two surfaces of a server.
pub fn compare(old: &Surface, new: &Surface) -> SurfaceReport {
    let mut report = SurfaceReport::default();
    let asks_the_same = clients(old, new, &mut report);
    server(old, new, asks_the_same, &mut report);
    for kind in ListKind::ALL {
        match (old.lists.get(&kind), new.lists.get(&kind)) {
            (None, None) => {}
            (Some(_), None) => report.not_compared.push(not_listed(kind, "B")),
            (None, Some(_)) => report.not_compared.push(not_listed(kind, "A")),
            (Some(old), Some(new)) => lists(kind, old, new, &mut report),
        }
    }
    report.changes.sort_by(|one, other| {
        let key = |change: &SurfaceChange| (std::cmp::Reverse(change.rule.effect), order(change.kind));
        key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
    });
    report
}

fn order(kind: &str) -> usize {
    ["server", "tool", "prompt", "resource", "template"].iter().position(|known| *known == kind).unwrap_or(usize::MAX)
}

fn not_listed(kind: ListKind, side: &str) -> String {
    format!("{}s: {side} does not contain the result of {}", kind.noun(), kind.method())
}

impl SurfaceReport {
    fn add(&mut self, kind: &'static str, name: &str, delta: Delta, sides: [Option<&Value>; 2]) {
        let [left, right] = sides.map(|side| side?.pointer(&delta.place).map(exact::shown));
        let Delta { rule, place, seen } = delta;
        self.changes.push(SurfaceChange { rule, kind, name: name.to_owned(), place, seen, left, right });
    }
}

/// Notes if the clients asked for different things, on which the answers may depend. Returns whether they asked for the same
/// revision, as far as that is known.
fn clients(old: &Surface, new: &Surface, report: &mut SurfaceReport) -> bool {
    let (one, other) = (&old.client["revision"], &new.client["revision"]);
    let text = |revision: &Value| revision.as_str().unwrap_or("no revision").to_owned();
    let asks_the_same = one.is_null() || other.is_null() || one == other;
    if !asks_the_same {
        let told = format!(
            "the revision and the capabilities: the client of A asked for {}, that of B for {}",
            text(one),
            text(other)
        );
        report.not_compared.push(told);
    }
    let declared = |surface: &Surface| -> Option<BTreeSet<String>> {
        Some(surface.client["capabilities"].as_object()?.keys().cloned().collect())
    };
    if let (Some(one), Some(other)) = (declared(old), declared(new)) {
        for (more, less, side) in [(&one, &other, "A"), (&other, &one, "B")] {
            let only: Vec<&str> = more.difference(less).map(String::as_str).collect();
            if !only.is_empty() {
                let told = format!(
                    "what depends on the client: only that of {side} declared {}, for which a server may offer more",
                    only.join(", ")
                );
                report.not_compared.push(told);
            }
        }
    }
    asks_the_same
}

fn server(old: &Surface, new: &Surface, asks_the_same: bool, report: &mut SurfaceReport) {
    if old.capabilities.is_null() || new.capabilities.is_null() {
        let side = if old.capabilities.is_null() { "A" } else { "B" };
        report.not_compared.push(format!("the server: {side} does not contain the handshake"));
        return;
    }
    let name = new.server["name"].as_str().unwrap_or("unnamed").to_owned();
    let [left, right] = [old, new].map(as_json);
    let mut add = |rule: &'static SurfaceRule, place: &str, seen: String| {
        report.add("server", &name, Delta { rule, place: place.to_owned(), seen }, [Some(&left), Some(&right)]);
    };
    if let (Some(one), Some(other)) = (&old.revision, &new.revision)
        && one != other
        && asks_the_same
    {
        let rule = if other < one { &REVISION_OLDER } else { &REVISION_NEWER };
        add(rule, "/revision", format!("revision {one} became {other}"));
    }
    for (rule, member) in [(&SERVER_RENAMED, "name"), (&SERVER_VERSION, "version")] {
        let (one, other) = (old.server.get(member), new.server.get(member));
        if one != other {
            add(rule, &format!("/server/{member}"), from_to(member, one, other));
        }
    }
    if old.instructions != new.instructions {
        let seen = from_to("instructions", left.get("instructions"), right.get("instructions"));
        add(&INSTRUCTIONS, "/instructions", seen);
    }
    // Each revision has its own capabilities.
    if asks_the_same {
        capabilities("/capabilities", &old.capabilities, &new.capabilities, &mut add);
    }
}

fn as_json(surface: &Surface) -> Value {
    let mut value = json!({"server": surface.server, "capabilities": surface.capabilities});
    for (name, text) in [("revision", &surface.revision), ("instructions", &surface.instructions)] {
        if let Some(text) = text {
            value[name] = text.as_str().into();
        }
    }
    value
}

/// Compares declared capabilities. A missing member and `false` are the same.
fn capabilities(place: &str, old: &Value, new: &Value, add: &mut impl FnMut(&'static SurfaceRule, &str, String)) {
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (before, after) = (members(old), members(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        let is_on = |value: Option<&Value>| value.is_some_and(|value| !value.is_null() && value != &Value::Bool(false));
        match (before.get(name), after.get(name)) {
            (one, other) if is_on(one) && !is_on(other) => {
                add(&CAPABILITY_REMOVED, &place, format!("`{name}` is no longer declared"));
            }
            (one, other) if !is_on(one) && is_on(other) => {
                add(&CAPABILITY_ADDED, &place, format!("`{name}` is now declared"));
            }
            (Some(one @ Value::Object(_)), Some(other @ Value::Object(_))) => capabilities(&place, one, other, add),
            (one, other) if is_on(one) && one != other => {
                add(&CAPABILITY_CHANGED, &place, from_to(name, one, other));
            }
            _ => {}
        }
    }
}

fn lists(kind: ListKind, old: &List, new: &List, report: &mut SurfaceReport) {
    for (list, side) in [(old, "A"), (new, "B")] {
        if !list.is_complete {
            let told = format!("{}s that are missing in {side}: it does not contain all pages", kind.noun());
            report.not_compared.push(told);
        }
    }
    let renamed: BTreeMap<String, (String, String)> = match kind {
        ListKind::Tools => {
            renamed_tools(old, new).into_iter().map(|found| (found.from, (found.to, found.basis))).collect()
        }
        _ => BTreeMap::new(),
    };
    for (name, before) in &old.items {
        match (new.items.get(name), renamed.get(name)) {
            (Some(after), _) => report.unchanged += usize::from(!item(kind, name, before, after, report)),
            (None, Some((to, basis))) => {
                let delta = Delta { rule: &TOOL_RENAMED, place: "/name".into(), seen: format!("now {to:?}: {basis}") };
                let after = new.items.get(to);
                report.add(kind.noun(), name, delta, [Some(before), after]);
                after.into_iter().for_each(|after| _ = item(kind, to, before, after, report));
            }
            (None, None) if new.is_complete => {
                let delta = Delta { rule: rules_of(kind).0, place: String::new(), seen: format!("{name} was removed") };
                report.add(kind.noun(), name, delta, [Some(before), None]);
            }
            (None, None) => {}
        }
    }
    let new_names: BTreeSet<&String> = renamed.values().map(|(to, _)| to).collect();
    let has_old_name = |name: &String| new_names.contains(name);
    let added = new.items.iter().filter(|(name, _)| !old.items.contains_key(*name) && !has_old_name(name));
    let names = plain_names(new);
    for (name, after) in added.filter(|_| old.is_complete) {
        added_item(kind, name, after, &names, report);
    }
}

/// Returns the rules for removed and for added items.
fn rules_of(kind: ListKind) -> (&'static SurfaceRule, &'static SurfaceRule) {
    match kind {
        ListKind::Tools => (&TOOL_REMOVED, &TOOL_ADDED),
        ListKind::Prompts => (&PROMPT_REMOVED, &PROMPT_ADDED),
        ListKind::Resources | ListKind::Templates => (&RESOURCE_REMOVED, &RESOURCE_ADDED),
    }
}

/// Compares two versions of an item. Returns whether it changed.
fn item(kind: ListKind, name: &str, old: &Value, new: &Value, report: &mut SurfaceReport) -> bool {
    let deltas = match kind {
        ListKind::Tools => items::tools(old, new),
        ListKind::Prompts => items::prompts(old, new),
        ListKind::Resources | ListKind::Templates => items::resources(old, new),
    };
    let has_changed = !deltas.is_empty();
    without_contradictions(deltas)
        .into_iter()
        .for_each(|delta| report.add(kind.noun(), name, delta, [Some(old), Some(new)]));
    has_changed
}

/// Leaves out what says again, as a smaller effect, what another delta says of the same change: a type that another one
/// replaced is both narrower and wider.
fn without_contradictions(deltas: Vec<Delta>) -> Vec<Delta> {
    let mut worst: HashMap<(String, String), Effect> = HashMap::new();
    for delta in &deltas {
        let effect = worst.entry((delta.place.clone(), delta.seen.clone())).or_insert(delta.rule.effect);
        *effect = (*effect).max(delta.rule.effect);
    }
    let is_worst = |delta: &Delta| worst.get(&(delta.place.clone(), delta.seen.clone())) == Some(&delta.rule.effect);
    deltas.into_iter().filter(is_worst).collect()
}

fn added_item(
    kind: ListKind,
    name: &str,
    item: &Value,
    names: &HashMap<String, Vec<&str>>,
    report: &mut SurfaceReport,
) {
    let mut add = |rule, place: &str, seen: String| {
        report.add(kind.noun(), name, Delta { rule, place: place.to_owned(), seen }, [None, Some(item)]);
    };
    add(rules_of(kind).1, "", format!("{name} was added"));
    if kind != ListKind::Tools {
        return;
    }
    let alike = names.get(&plain(name)).into_iter().flatten();
    if let Some(twin) = alike.copied().find(|other| *other != name) {
        add(&TOOL_CONFUSABLE, "/name", format!("there is also {twin:?}"));
    }
    if let Some(sign) = item["description"].as_str().and_then(items::sign_of_poisoning) {
        add(&TOOL_SUSPICIOUS, "/description", format!("it contains {sign}"));
    }
}

/// Returns all names of a list by what is left of them without what is easily overlooked.
fn plain_names(list: &List) -> HashMap<String, Vec<&str>> {
    let mut names: HashMap<String, Vec<&str>> = HashMap::new();
    list.items.keys().for_each(|name| names.entry(plain(name)).or_default().push(name));
    names
}

/// Returns a name without what is easily overlooked.
fn plain(name: &str) -> String {
    name.chars().filter(|found| found.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a summary in words: `2 breaking changes, 1 risk, 3 harmless changes, 12 unchanged`.
pub(crate) fn in_words(report: &SurfaceReport) -> String {
    let [breaking, risks, harmless] = Effect::ALL.map(|effect| report.count(effect) as u64);
    let breaking = counted(breaking, "breaking change");
    let (risks, harmless) = (counted(risks, "risk"), counted(harmless, "harmless change"));
    format!("{breaking}, {risks}, {harmless}, {} unchanged", report.unchanged)
}
