//! The pack format: one YAML document, parsed with positions for error messages. The doc comments here are the
//! descriptions in the published JSON Schema.
//!
//! Never: the meaning of a pack (see `read`).

use crate::protocol::Revision;
use crate::scenario::{OrderedMap, Placed, Span, TextOr};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A pack of mcpreel: an extension of MCP, with its capabilities, methods, schemas, summaries and rules.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "mcpreel pack")]
pub(super) struct Document {
    /// Its name, as in the filter `ext:NAME` and in the names of its rules: lower-case letters, digits and hyphens.
    pub pack: Placed<String>,
    /// Its title.
    pub title: String,
    /// A short citation of the document that defines it.
    pub source: String,
    /// What a side that declares it does, as a sentence.
    #[serde(default)]
    pub about: String,
    /// Its terms, in two or three lines, for readers of its rules.
    #[serde(default)]
    pub glossary: String,
    /// The places in the capabilities where it is declared, by a name that rules can use.
    #[serde(default)]
    pub capabilities: OrderedMap<CapabilityPart>,
    /// The methods that it adds, by name.
    #[serde(default)]
    pub methods: OrderedMap<MethodPart>,
    /// The tools that belong to it, by name.
    #[serde(default)]
    pub tools: OrderedMap<ToolPart>,
    /// The meanings of error codes in responses to its methods, by code.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub errors: OrderedMap<String>,
    /// Schemas that others refer to, as `#/$defs/NAME`.
    #[serde(default)]
    pub definitions: OrderedMap<Schematic>,
    /// The dialects that are in use, by name.
    #[serde(default)]
    pub dialects: OrderedMap<DialectPart>,
    /// Its rules, by name. Findings have the name PACK/RULE.
    #[serde(default)]
    pub rules: OrderedMap<RulePart>,
}

/// A JSON Schema (2020-12).
pub(super) type Schematic = Placed<Value>;

/// A place in the capabilities.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CapabilityPart {
    /// The side that declares it.
    pub side: SidePart,
    /// The names of members below `capabilities`, outermost first.
    pub at: Vec<String>,
    /// Whether this is only a further place, which the document does not name.
    #[serde(default)]
    pub informal: bool,
    /// Only an object with one of these members counts, because others use the same name.
    pub has_one_of: Option<Vec<String>>,
    /// Only an object without any other members counts, because others use the same name.
    pub has_only: Option<Vec<String>>,
    /// The schema of the value.
    #[schemars(with = "Option<Value>")]
    pub schema: Option<Schematic>,
}

/// The client or the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SidePart {
    /// The client (host).
    Client,
    /// The server.
    Server,
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SenderPart {
    /// The client (host).
    Client,
    /// The server.
    Server,
    /// Either side.
    Either,
}

/// The form in which a method is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KindPart {
    /// With an id; it gets a response.
    Request,
    /// Without an id; it gets no response.
    Notification,
    /// Either form.
    Either,
}

/// A method.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MethodPart {
    /// The side that sends it.
    pub from: SenderPart,
    /// The form in which it is sent.
    pub kind: KindPart,
    /// What it does, as a sentence.
    #[serde(default)]
    pub about: String,
    /// The member of its params that names its subject, to compare recordings: the names, outermost first.
    #[serde(default)]
    pub subject: Vec<String>,
    /// What `show` says about it, from its params: a text with places such as `{name}`, `{delivery/url}`,
    /// `{events#event}` (how many) and `{final?the last one}` (if it is true). A part in `[brackets]` is left out if a
    /// value in it is missing.
    pub summary: Option<Placed<String>>,
    /// The same about its result.
    pub result_summary: Option<Placed<String>>,
    /// The schema of its params.
    #[schemars(with = "Option<Value>")]
    pub params: Option<Schematic>,
    /// The schema of its result.
    #[schemars(with = "Option<Value>")]
    pub result: Option<Schematic>,
    /// Whether the request is answered only at the end of something, such as a stream.
    #[serde(default)]
    pub stays_open: bool,
    /// An example of its params.
    pub example: Option<Value>,
    /// The first revision of MCP that it can be used with (default: the first).
    pub since: Option<Placed<String>>,
    /// The last revision of MCP that it can be used with (default: the newest).
    pub until: Option<Placed<String>>,
}

/// A tool.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ToolPart {
    /// The schema of its arguments.
    #[schemars(with = "Option<Value>")]
    pub arguments: Option<Schematic>,
    /// The schema of the object that it returns.
    #[schemars(with = "Option<Value>")]
    pub result: Option<Schematic>,
}

/// A dialect: a version of the extension that differs from others.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DialectPart {
    /// What it is, in a few words.
    pub about: String,
    /// What shows that a session uses it. Any one is enough; the first dialect with a sign in a session is its dialect.
    pub signs: Vec<SignPart>,
}

/// A message that only one dialect has. All that is given must be true of it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SignPart {
    /// The message: a method, or a method with `result` or `error`.
    pub message: Names,
    /// Capabilities of the pack that the message declares.
    #[serde(default)]
    pub declares: Vec<String>,
    /// Capabilities of the pack that the message does not declare.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// A schema that the whole message fits.
    #[schemars(with = "Option<Value>")]
    pub matches: Option<Schematic>,
}

/// A rule: what it requires, and exactly one kind of check.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RulePart {
    /// How severe a violation is.
    pub severity: SeverityPart,
    /// The requirement, as a sentence.
    pub text: String,
    /// The document and its section that require it (default: the pack's source).
    pub source: Option<String>,
    /// What to do about a violation, as a sentence.
    pub fix: Option<String>,
    /// The dialects that have the rule (default: all). It is not checked until the dialect is known.
    #[serde(default)]
    pub dialects: Vec<String>,
    /// The message needs a capability.
    pub requires_capability: Option<RequiresCapability>,
    /// The message is answered in time.
    pub answered_within: Option<AnsweredWithin>,
    /// A value occurs only once.
    pub unique_by: Option<UniqueBy>,
    /// The message comes only after another one.
    pub only_after: Option<OnlyAfter>,
    /// A value fits a schema of the pack.
    pub matches_schema: Option<MatchesSchema>,
    /// A value fits a schema that an earlier message contains.
    pub matches_schema_of: Option<MatchesSchemaOf>,
    /// A session uses one dialect only.
    pub one_dialect: Option<OneDialect>,
}

/// How severe a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SeverityPart {
    /// It contradicts a requirement.
    Error,
    /// It contradicts a recommendation, or is likely to fail somewhere.
    Warning,
    /// It is worth knowing.
    Info,
}

/// The message may be sent only if a capability is declared.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RequiresCapability {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// Capabilities of the pack, of which one must be declared (default: all that the pack has).
    pub capability: Option<Names>,
    /// A member of the capability that must be true.
    pub member: Option<String>,
}

/// A request gets its response in time, or a message another message.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AnsweredWithin {
    /// The request; with `by`, any message.
    pub message: Names,
    /// The time, such as 30s.
    pub time: Span,
    /// The message that answers it, beside its response (default: its response only).
    #[schemars(with = "Option<TextOr<AnchorPart>>")]
    pub by: Option<TextOr<AnchorPart>>,
    /// A JSON Pointer to the value that is the same in both (with `by` only).
    pub key: Option<String>,
}

/// A value occurs only once in a session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UniqueBy {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to each of the things that have the value; `*` stands for every item or member (default: the
    /// message).
    pub each: Option<String>,
    /// A JSON Pointer to the value, from there.
    pub key: String,
    /// A JSON Pointer to a value within which the key is unique, from there.
    pub per: Option<String>,
}

/// A message comes only after another one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OnlyAfter {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to a value that is the same in both messages.
    pub key: Option<String>,
    /// The message that comes before.
    pub after: TextOr<AnchorPart>,
    /// The message after which it no longer may come.
    pub until: Option<TextOr<AnchorPart>>,
    /// Whether it may come only once for each of them.
    #[serde(default)]
    pub once: bool,
}

/// A value fits a schema of the pack.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MatchesSchema {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to each of the things that have the value; `*` stands for every item or member (default: the
    /// message).
    pub each: Option<String>,
    /// A JSON Pointer to the value, from there. A value that is missing is not checked. Default: the whole message; that
    /// of a response has a member `request` with the `params` of its request.
    #[serde(default)]
    pub value: String,
    /// The schema.
    #[schemars(with = "Value")]
    pub schema: Schematic,
}

/// A value fits a schema that an earlier message contains.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MatchesSchemaOf {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to each of the things that have the value; `*` stands for every item or member (default: the
    /// message).
    pub each: Option<String>,
    /// A JSON Pointer to the value, from there. A value that is missing is not checked.
    pub value: String,
    /// A JSON Pointer to the name of its schema, from there.
    pub key: String,
    /// Where the schemas are.
    pub from: SchemaSource,
}

/// Where the schemas of a peer are.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SchemaSource {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to each of the things that have a schema; `*` stands for every item or member.
    pub each: String,
    /// A JSON Pointer to the name, from there.
    pub key: String,
    /// A JSON Pointer to the schema, from there.
    pub schema: String,
}

/// A session uses one dialect only.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OneDialect {}

/// Another message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AnchorPart {
    /// The message: a method, or a method with `result` or `error`; or a list.
    pub message: Names,
    /// A JSON Pointer to the value that is the same in both messages (default: the rule's `key`).
    pub key: Option<String>,
}

impl From<String> for AnchorPart {
    fn from(message: String) -> Self {
        Self { message: Names(vec![message]), key: None }
    }
}

/// One name or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(pub Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Names;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Names, E> {
                Ok(Names(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Names, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Names)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl JsonSchema for Names {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]})
    }
}

/// Returns the JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}

/// Returns the names of all revisions, for an error message.
pub(super) fn revisions() -> String {
    Revision::ALL.map(Revision::as_str).join(", ")
}

/// Returns definitions as the members of an object.
pub(super) fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}
