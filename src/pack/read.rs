//! Turns a pack document into checked parts. Every error gives a line.

use super::Pack;
use super::format::{
    AnchorPart, AnsweredWithin, CapabilityPart, DialectPart, Document, MatchesSchemaOf, MethodPart, Names, OnlyAfter,
    RequiresCapability, RulePart, Schematic, SignPart, object, revisions,
};
use super::plan::{Anchor, Check, CheckKind, Dialect, Messages, Selector, Sign};
use super::pointer::Pointer;
use super::summary::Summary;
use crate::proposals::Registry;
use crate::protocol::{Revision, methods};
use crate::scenario::{Placed, ScenarioError, TextOr, TextPosition};
use crate::validate::all_rules;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

type Result<T, E = ScenarioError> = std::result::Result<T, E>;

impl Pack {
    /// Reads a pack from YAML.
    ///
    /// # Errors
    ///
    /// The first mistake, in form or meaning.
    pub fn read(text: &str) -> Result<Self> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let document: Document = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| ScenarioError::from_yaml(text, &error))?;
        Reader { text, document: &document, schemas: Vec::new() }.read().map(|parts| parts.of(document))
    }
}

/// What is made of a document.
struct Parts {
    checks: Vec<Check>,
    dialects: Vec<Dialect>,
    summaries: HashMap<String, [Option<Summary>; 2]>,
    schemas: Value,
}

impl Parts {
    fn of(self, document: Document) -> Pack {
        let Self { checks, dialects, summaries, schemas } = self;
        Pack { document, checks, dialects, summaries, schemas }
    }
}

struct Reader<'a> {
    text: &'a str,
    document: &'a Document,
    /// The schemas by name, with their places.
    schemas: Vec<(String, &'a Schematic)>,
}

impl<'a> Reader<'a> {
    fn wrong(&self, place: TextPosition, why: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.text, place, why)
    }

    fn read(mut self) -> Result<Parts> {
        let document = self.document;
        self.check_name()?;
        for (name, schema) in &document.definitions.0 {
            self.schemas.push((name.value.clone(), schema));
        }
        for (name, part) in &document.capabilities.0 {
            self.capability(name, part)?;
        }
        let mut summaries = HashMap::new();
        for (name, part) in &document.methods.0 {
            summaries.insert(name.value.clone(), self.method(name, part)?);
        }
        for (name, part) in &document.tools.0 {
            self.add(format!("tool:{}:arguments", name.value), &part.arguments);
            self.add(format!("tool:{}:result", name.value), &part.result);
        }
        for (code, _) in &document.errors.0 {
            if code.value.parse::<i64>().is_err() {
                return Err(
                    self.wrong(code.place, format!("{:?} is no error code: expected a whole number", code.value))
                );
            }
        }
        let dialects =
            document.dialects.0.iter().map(|(name, part)| self.dialect(name, part)).collect::<Result<_>>()?;
        let checks = document.rules.0.iter().map(|(name, part)| self.rule(name, part)).collect::<Result<_>>()?;
        let schemas = self.compiled()?;
        Ok(Parts { checks, dialects, summaries, schemas })
    }

    /// A pack must not be confused with a proposal, or with a subject of MCP.
    fn check_name(&self) -> Result<()> {
        let Placed { value: name, place } = &self.document.pack;
        let fits = |found: char| found.is_ascii_lowercase() || found.is_ascii_digit() || found == '-';
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.chars().all(fits) {
            return Err(self.wrong(
                *place,
                format!("{name:?} is no name: expected a letter, then lower-case letters, digits and hyphens"),
            ));
        }
        let mut families = all_rules(Registry::built_in()).filter_map(|rule| rule.id.split('/').next());
        match families.any(|family| family == name) {
            true => Err(self.wrong(*place, format!("{name} is the name of rules that mcpreel has: choose another"))),
            false => Ok(()),
        }
    }

    fn add(&mut self, name: String, schema: &'a Option<Schematic>) {
        self.schemas.extend(schema.as_ref().map(|schema| (name, schema)));
    }

    fn capability(&mut self, name: &Placed<String>, part: &'a CapabilityPart) -> Result<()> {
        if part.at.is_empty() {
            return Err(self.wrong(name.place, format!("`at` of {} names no member", name.value)));
        }
        if part.has_one_of.is_some() && part.has_only.is_some() {
            return Err(self.wrong(name.place, format!("{} has both has-one-of and has-only", name.value)));
        }
        self.add(format!("capability:{}", name.value), &part.schema);
        Ok(())
    }

    fn method(&mut self, name: &Placed<String>, part: &'a MethodPart) -> Result<[Option<Summary>; 2]> {
        if methods::lookup(&name.value).is_some() {
            return Err(self.wrong(name.place, format!("{} is a method of MCP itself", name.value)));
        }
        if let Some(proposal) = Registry::built_in().of_method(&name.value) {
            let why = format!("{} is a method of the proposal {}", name.value, proposal.descriptor().name);
            return Err(self.wrong(name.place, why));
        }
        for revision in [&part.since, &part.until].into_iter().flatten() {
            if Revision::parse(&revision.value).is_none() {
                let why = format!("{:?} is not a revision of MCP: expected one of {}", revision.value, revisions());
                return Err(self.wrong(revision.place, why));
            }
        }
        self.add(format!("{}:params", name.value), &part.params);
        self.add(format!("{}:result", name.value), &part.result);
        let summary = |text: &Option<Placed<String>>| {
            let read = |text: &Placed<String>| {
                Summary::parse(&text.value).map_err(|why| self.wrong(text.place, format!("invalid summary: {why}")))
            };
            text.as_ref().map(read).transpose()
        };
        Ok([summary(&part.summary)?, summary(&part.result_summary)?])
    }

    fn dialect(&mut self, name: &Placed<String>, part: &'a DialectPart) -> Result<Dialect> {
        let signs = part.signs.iter().enumerate().map(|(at, sign)| self.sign(name, at, sign));
        Ok(Dialect { name: name.value.clone(), signs: signs.collect::<Result<_>>()? })
    }

    fn sign(&mut self, name: &Placed<String>, at: usize, part: &'a SignPart) -> Result<Sign> {
        let definition = part.matches.as_ref().map(|_| format!("dialect:{}.{at}", name.value));
        self.schemas.extend(definition.clone().zip(part.matches.as_ref()));
        Ok(Sign {
            messages: self.messages(&part.message, name.place)?,
            declares: self.places(&part.declares, name.place)?,
            lacks: self.places(&part.lacks, name.place)?,
            definition,
        })
    }

    /// The places of capabilities, by their names.
    fn places(&self, names: &[String], place: TextPosition) -> Result<Vec<usize>> {
        let known = &self.document.capabilities.0;
        let find = |name: &String| {
            known.iter().position(|(known, _)| known.value == *name).ok_or_else(|| {
                let known: Vec<_> = known.iter().map(|(name, _)| name.value.as_str()).collect();
                self.wrong(place, format!("no capability is named {name:?}; the pack has {}", listed(&known)))
            })
        };
        names.iter().map(find).collect()
    }

    fn messages(&self, names: &Names, place: TextPosition) -> Result<Messages> {
        let is_known = |method: &str| {
            methods::lookup(method).is_some() || self.document.methods.0.iter().any(|(name, _)| name.value == method)
        };
        let read = |text: &String| {
            let selector = Selector::parse(text).map_err(|why| self.wrong(place, why))?;
            match is_known(&selector.method) {
                true => Ok(selector),
                false => Err(self.wrong(place, format!("{} is no method of the pack or of MCP", selector.method))),
            }
        };
        if names.0.is_empty() {
            return Err(self.wrong(place, "`message` names no method"));
        }
        names.0.iter().map(read).collect::<Result<_>>().map(Messages)
    }

    fn pointer(&self, text: &str, place: TextPosition) -> Result<Pointer> {
        let pointer = Pointer::parse(text).map_err(|why| self.wrong(place, why))?;
        match pointer.is_wild() {
            true => Err(self.wrong(place, format!("{text}: `*` can only be in `each`"))),
            false => Ok(pointer),
        }
    }

    fn optional(&self, text: &Option<String>, place: TextPosition) -> Result<Option<Pointer>> {
        text.as_ref().map(|text| self.pointer(text, place)).transpose()
    }

    fn each(&self, text: Option<&str>, place: TextPosition) -> Result<Option<Pointer>> {
        text.map(|text| Pointer::parse(text).map_err(|why| self.wrong(place, why))).transpose()
    }

    fn anchor(&self, part: &TextOr<AnchorPart>, key: &Option<Pointer>, place: TextPosition) -> Result<Anchor> {
        let TextOr(AnchorPart { message, key: own }) = part;
        let own = self.optional(own, place)?;
        if own.is_some() && key.is_none() {
            return Err(self.wrong(place, "the other message has a `key`, but the rule has none to compare it with"));
        }
        Ok(Anchor { messages: self.messages(message, place)?, key: own.or_else(|| key.clone()) })
    }

    fn rule(&mut self, name: &Placed<String>, part: &'a RulePart) -> Result<Check> {
        let kinds = [
            part.requires_capability.is_some(),
            part.answered_within.is_some(),
            part.unique_by.is_some(),
            part.only_after.is_some(),
            part.matches_schema.is_some(),
            part.matches_schema_of.is_some(),
            part.one_dialect.is_some(),
        ];
        if kinds.iter().filter(|is_there| **is_there).count() != 1 {
            let why = format!(
                "the rule {} needs exactly one of requires-capability, answered-within, unique-by, only-after, matches-schema, matches-schema-of and one-dialect",
                name.value
            );
            return Err(self.wrong(name.place, why));
        }
        let known: Vec<&str> = self.document.dialects.0.iter().map(|(name, _)| name.value.as_str()).collect();
        let dialect = |wanted: &String| {
            known.iter().position(|known| known == wanted).ok_or_else(|| {
                self.wrong(name.place, format!("no dialect is named {wanted:?}; the pack has {}", listed(&known)))
            })
        };
        let dialects = part.dialects.iter().map(dialect).collect::<Result<_>>()?;
        Ok(Check { dialects, kind: self.kind(name, part)? })
    }

    fn kind(&mut self, name: &Placed<String>, part: &'a RulePart) -> Result<CheckKind> {
        let place = name.place;
        match part {
            RulePart { requires_capability: Some(it), .. } => self.requires_capability(it, name),
            RulePart { answered_within: Some(it), .. } => self.answered_within(it, place),
            RulePart { unique_by: Some(it), .. } => Ok(CheckKind::UniqueBy {
                messages: self.messages(&it.message, place)?,
                each: self.each(it.each.as_deref(), place)?,
                key: self.pointer(&it.key, place)?,
                per: self.optional(&it.per, place)?,
            }),
            RulePart { only_after: Some(it), .. } => self.only_after(it, place),
            RulePart { matches_schema: Some(it), .. } => {
                let definition = format!("rule:{}", name.value);
                self.schemas.push((definition.clone(), &it.schema));
                Ok(CheckKind::MatchesSchema {
                    messages: self.messages(&it.message, place)?,
                    each: self.each(it.each.as_deref(), place)?,
                    value: self.pointer(&it.value, place)?,
                    definition,
                })
            }
            RulePart { matches_schema_of: Some(it), .. } => self.matches_schema_of(it, place),
            _ => Ok(CheckKind::OneDialect),
        }
    }

    fn requires_capability(&self, it: &RequiresCapability, name: &Placed<String>) -> Result<CheckKind> {
        let places = match &it.capability {
            Some(names) => self.places(&names.0, name.place)?,
            None => (0..self.document.capabilities.0.len()).collect(),
        };
        if places.is_empty() {
            return Err(self.wrong(name.place, format!("{} requires a capability, but the pack has none", name.value)));
        }
        let messages = self.messages(&it.message, name.place)?;
        Ok(CheckKind::RequiresCapability { messages, places, member: it.member.clone() })
    }

    fn answered_within(&self, it: &AnsweredWithin, place: TextPosition) -> Result<CheckKind> {
        let key = self.optional(&it.key, place)?;
        if key.is_some() && it.by.is_none() {
            return Err(self.wrong(place, "answered-within has a `key` only with `by`"));
        }
        let by = it.by.as_ref().map(|by| self.anchor(by, &key, place)).transpose()?;
        Ok(CheckKind::AnsweredWithin { messages: self.messages(&it.message, place)?, time: it.time.0, key, by })
    }

    fn only_after(&self, it: &OnlyAfter, place: TextPosition) -> Result<CheckKind> {
        let key = self.optional(&it.key, place)?;
        Ok(CheckKind::OnlyAfter {
            messages: self.messages(&it.message, place)?,
            after: self.anchor(&it.after, &key, place)?,
            until: it.until.as_ref().map(|until| self.anchor(until, &key, place)).transpose()?,
            key,
            once: it.once,
        })
    }

    fn matches_schema_of(&self, it: &MatchesSchemaOf, place: TextPosition) -> Result<CheckKind> {
        Ok(CheckKind::MatchesSchemaOf {
            messages: self.messages(&it.message, place)?,
            each: self.each(it.each.as_deref(), place)?,
            value: self.pointer(&it.value, place)?,
            key: self.pointer(&it.key, place)?,
            from: self.messages(&it.from.message, place)?,
            schemas: self.each(Some(&it.from.each), place)?.unwrap_or_default(),
            name: self.pointer(&it.from.key, place)?,
            schema: self.pointer(&it.from.schema, place)?,
        })
    }

    /// Puts the schemas into one document, after a look at each of them.
    fn compiled(&self) -> Result<Value> {
        let mut names = BTreeSet::new();
        if let Some((name, schema)) = self.schemas.iter().find(|(name, _)| !names.insert(name)) {
            return Err(self.wrong(schema.place, format!("{name} is defined twice")));
        }
        let definitions = object(self.schemas.iter().map(|(name, schema)| (name.clone(), schema.value.clone())));
        let named = |name: &str| format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"));
        let all: Vec<Value> = self.schemas.iter().map(|(name, _)| json!({"$ref": named(name)})).collect();
        let document = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions});
        if jsonschema::draft202012::new(&json!({"$defs": definitions, "allOf": all})).is_ok() {
            return Ok(document);
        }
        // One of them is wrong.
        for (_, schema) in &self.schemas {
            if let Err(error) = jsonschema::draft202012::meta::validate(&schema.value) {
                let at = error.instance_path().to_string();
                return Err(self.wrong(schema.place, format!("invalid schema{}: {error}", within(&at))));
            }
        }
        for (name, schema) in &self.schemas {
            let root = json!({"$defs": definitions, "$ref": named(name)});
            if let Err(error) = jsonschema::draft202012::new(&root) {
                return Err(self.wrong(schema.place, format!("unusable schema: {error}")));
            }
        }
        Ok(document)
    }
}

fn within(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(", at {path}") }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
