//! The rules: what may change in a server's surface, and what it means for its clients.
//!
//! Inputs may be widened and outputs may be narrowed; the reverse breaks somebody. So most rules about schemas have an
//! input form and an output form.

/// What a change does to those who use the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// What worked before works the same.
    Harmless,
    /// It depends on the client, or changes how a model or a host behaves.
    Risk,
    /// Something that worked before does not work any more, or a host's decision no longer holds; or this could not be
    /// ruled out.
    Breaking,
}

impl Effect {
    /// All effects, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Risk, Self::Harmless];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Harmless => "harmless",
            Self::Risk => "risk",
            Self::Breaking => "breaking",
        }
    }
}

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct SurfaceRule {
    /// A stable name, `part/what`.
    pub id: &'static str,
    /// What a change of this kind means.
    pub effect: Effect,
    /// What changed and what follows, as a sentence.
    pub text: &'static str,
    /// The specification and section.
    pub source: &'static str,
}

/// Declares rules as statics and lists them all in `RULES`.
macro_rules! surface_rules {
    ($($name:ident = $effect:ident $id:literal, $text:literal, $source:literal;)+) => {
        $(
            pub(crate) static $name: SurfaceRule =
                SurfaceRule { id: $id, effect: Effect::$effect, text: $text, source: $source };
        )+
        /// All rules.
        pub(crate) static RULES: &[&SurfaceRule] = &[$(&$name),+];
    };
}

surface_rules! {
    REVISION_OLDER = Breaking "server/revision-older",
        "The server agrees on an older revision of MCP; clients that need the newer one fail.",
        "MCP 2025-11-25, Lifecycle, Version Negotiation";
    REVISION_NEWER = Harmless "server/revision-newer",
        "The server agrees on a newer revision of MCP.",
        "MCP 2025-11-25, Lifecycle, Version Negotiation";
    CAPABILITY_REMOVED = Breaking "server/capability-removed",
        "The server no longer declares a capability; clients must not use its methods any more.",
        "MCP 2025-11-25, Lifecycle, Capability Negotiation";
    CAPABILITY_ADDED = Harmless "server/capability-added",
        "The server declares another capability.",
        "MCP 2025-11-25, Lifecycle, Capability Negotiation";
    CAPABILITY_CHANGED = Risk "server/capability-changed",
        "The settings of a capability have other values.",
        "MCP 2025-11-25, Lifecycle, Capability Negotiation";
    SERVER_RENAMED = Risk "server/renamed",
        "The server has another name; hosts may keep settings and approvals under the old one.",
        "MCP 2025-11-25, Lifecycle, Initialization";
    SERVER_VERSION = Harmless "server/version-changed",
        "The server has another version.",
        "MCP 2025-11-25, Lifecycle, Initialization";
    INSTRUCTIONS = Risk "server/instructions-changed",
        "The instructions for the model changed; it may use the server differently.",
        "MCP 2025-11-25, Lifecycle, Initialization";

    TOOL_REMOVED = Breaking "tool/removed",
        "A tool no longer exists; calls of it fail.",
        "MCP 2025-11-25, Tools";
    TOOL_RENAMED = Breaking "tool/renamed",
        "A tool seems to have another name; calls under the old name fail.",
        "MCP 2025-11-25, Tools";
    TOOL_ADDED = Harmless "tool/added",
        "The server has another tool.",
        "MCP 2025-11-25, Tools";
    TOOL_CONFUSABLE = Risk "tool/confusable",
        "The name of a new tool differs from another tool's only in case or punctuation; a model may confuse them.",
        "MCP 2025-11-25, Tools, Tool Names";
    TOOL_DESCRIPTION = Risk "tool/description-changed",
        "The description of a tool changed; a model may choose another tool, or use this one differently.",
        "MCP 2025-11-25, Tools";
    TOOL_TITLE = Risk "tool/title-changed",
        "The title of a tool changed; users see another name when they approve a call.",
        "MCP 2025-11-25, Tools";
    TOOL_SUSPICIOUS = Breaking "tool/description-suspicious",
        "The new description of a tool contains hidden characters or gives orders to the model, as poisoned tools do.",
        "MCP 2025-11-25, Tools, Security Considerations";
    TOOL_LESS_SAFE = Breaking "tool/less-safe",
        "An annotation moved to the less safe side; hosts approve calls by annotations.",
        "MCP 2025-11-25, Tools; schema, ToolAnnotations";
    TOOL_SAFER = Harmless "tool/safer",
        "An annotation moved to the safer side.",
        "MCP 2025-11-25, Tools; schema, ToolAnnotations";
    TOOL_TASKS_NARROWED = Breaking "tool/tasks-narrowed",
        "Calling a tool as a task became required or forbidden; clients that do the other fail.",
        "MCP 2025-11-25, Tasks";
    TOOL_TASKS_WIDENED = Harmless "tool/tasks-widened",
        "Calling a tool as a task became optional.",
        "MCP 2025-11-25, Tasks";
    TOOL_MEMBER = Risk "tool/member-changed",
        "A member of a tool that MCP does not define changed.",
        "MCP 2025-11-25, Tools";
    OUTPUT_ADDED = Harmless "tool/output-schema-added",
        "A tool promises structured results; the server must now conform to its output schema.",
        "MCP 2025-11-25, Tools, Output Schema";
    OUTPUT_REMOVED = Breaking "tool/output-schema-removed",
        "A tool no longer promises structured results.",
        "MCP 2025-11-25, Tools, Output Schema";

    INPUT_REQUIRED_ADDED = Breaking "input/required-parameter-added",
        "A tool requires a new parameter; calls without it fail.",
        "JSON Schema 2020-12, Validation §6.5.3";
    INPUT_BECAME_REQUIRED = Breaking "input/became-required",
        "An optional parameter became required; calls without it fail.",
        "JSON Schema 2020-12, Validation §6.5.3";
    INPUT_BECAME_OPTIONAL = Harmless "input/became-optional",
        "A required parameter became optional.",
        "JSON Schema 2020-12, Validation §6.5.3";
    INPUT_REFUSED = Breaking "input/parameter-refused",
        "A parameter no longer exists, and the schema forbids unknown ones; calls with it fail.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    INPUT_REMOVED = Risk "input/parameter-removed",
        "A parameter no longer exists; the tool probably ignores it.",
        "JSON Schema 2020-12, Core §10.3.2.1";
    INPUT_ADDED = Harmless "input/parameter-added",
        "A tool has a new optional parameter.",
        "JSON Schema 2020-12, Core §10.3.2.1";
    INPUT_CLAIMED = Breaking "input/extra-claimed",
        "The schema explicitly allowed extra parameters, and a new optional one constrains a name that callers may use.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    INPUT_TYPE_NARROWED = Breaking "input/type-narrowed",
        "A parameter no longer accepts a type; calls with such values fail.",
        "JSON Schema 2020-12, Validation §6.1.1";
    INPUT_TYPE_WIDENED = Harmless "input/type-widened",
        "A parameter accepts another type.",
        "JSON Schema 2020-12, Validation §6.1.1";
    INPUT_VALUES_REMOVED = Breaking "input/values-removed",
        "A parameter accepts fewer of the values that an enum or const lists.",
        "JSON Schema 2020-12, Validation §6.1.2";
    INPUT_VALUES_ADDED = Harmless "input/values-added",
        "A parameter accepts more of the values that an enum or const lists.",
        "JSON Schema 2020-12, Validation §6.1.2";
    INPUT_BOUND_TIGHTENED = Breaking "input/bound-tightened",
        "A limit of a parameter became stricter; values beyond it fail.",
        "JSON Schema 2020-12, Validation §6.2 to §6.5";
    INPUT_BOUND_LOOSENED = Harmless "input/bound-loosened",
        "A limit of a parameter became less strict.",
        "JSON Schema 2020-12, Validation §6.2 to §6.5";
    INPUT_PATTERN_ADDED = Breaking "input/pattern-added",
        "A parameter must match a pattern or format that was not required before.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    INPUT_PATTERN_REMOVED = Harmless "input/pattern-removed",
        "A parameter no longer has to match a pattern or format.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    INPUT_PATTERN_CHANGED = Breaking "input/pattern-changed",
        "A parameter must match another pattern or format; whether old values still match could not be decided.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    INPUT_EXTRA_REFUSED = Breaking "input/extra-refused",
        "Extra members are now refused or constrained; calls with them fail.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    INPUT_EXTRA_ALLOWED = Harmless "input/extra-allowed",
        "Extra members are now allowed.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    INPUT_NULL_REFUSED = Breaking "input/null-refused",
        "A parameter no longer accepts null.",
        "JSON Schema 2020-12, Validation §6.1.1";
    INPUT_NULL_ALLOWED = Harmless "input/null-allowed",
        "A parameter also accepts null.",
        "JSON Schema 2020-12, Validation §6.1.1";
    INPUT_UNION_NARROWED = Breaking "input/union-narrowed",
        "An alternative was removed, or a condition was added; values that relied on it fail.",
        "JSON Schema 2020-12, Core §10.2.1";
    INPUT_UNION_WIDENED = Harmless "input/union-widened",
        "An alternative was added, or a condition was removed.",
        "JSON Schema 2020-12, Core §10.2.1";
    INPUT_DEFAULT = Risk "input/default-changed",
        "The default of a parameter changed; calls without it may do something else.",
        "JSON Schema 2020-12, Validation §9.2";
    INPUT_DESCRIPTION = Risk "input/description-changed",
        "The title or description of a parameter changed; a model may fill it in differently.",
        "JSON Schema 2020-12, Validation §9.1";
    INPUT_HEADER = Breaking "input/header-changed",
        "A parameter is mapped to another HTTP header; over HTTP, servers refuse calls without it.",
        "MCP 2026-07-28, Transports, Streamable HTTP";
    INPUT_UNDECIDED = Breaking "input/undecided",
        "The schema changed in a way that could not be judged; old calls may fail.",
        "JSON Schema 2020-12, Core";

    RESULT_REMOVED = Breaking "output/property-removed",
        "A property of a result no longer exists.",
        "JSON Schema 2020-12, Core §10.3.2.1";
    RESULT_ADDED = Harmless "output/property-added",
        "A result has another property.",
        "JSON Schema 2020-12, Core §10.3.2.1";
    RESULT_NOT_GUARANTEED = Breaking "output/not-guaranteed",
        "A property of a result is no longer guaranteed.",
        "JSON Schema 2020-12, Validation §6.5.3";
    RESULT_GUARANTEED = Harmless "output/guaranteed",
        "A property of a result is now guaranteed.",
        "JSON Schema 2020-12, Validation §6.5.3";
    RESULT_TYPE_WIDENED = Breaking "output/type-widened",
        "A result may have a type that clients have never seen.",
        "JSON Schema 2020-12, Validation §6.1.1";
    RESULT_TYPE_NARROWED = Harmless "output/type-narrowed",
        "A result no longer has one of its types.",
        "JSON Schema 2020-12, Validation §6.1.1";
    RESULT_VALUES_ADDED = Breaking "output/values-added",
        "A result may have a value that clients have never seen; those who match all values fail.",
        "JSON Schema 2020-12, Validation §6.1.2";
    RESULT_VALUES_REMOVED = Harmless "output/values-removed",
        "A result has fewer possible values.",
        "JSON Schema 2020-12, Validation §6.1.2";
    RESULT_BOUND_LOOSENED = Breaking "output/bound-loosened",
        "A result may exceed a limit that it kept before.",
        "JSON Schema 2020-12, Validation §6.2 to §6.5";
    RESULT_BOUND_TIGHTENED = Harmless "output/bound-tightened",
        "A result keeps a stricter limit.",
        "JSON Schema 2020-12, Validation §6.2 to §6.5";
    RESULT_PATTERN_REMOVED = Breaking "output/pattern-removed",
        "A result no longer has to match a pattern or format.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    RESULT_PATTERN_ADDED = Harmless "output/pattern-added",
        "A result matches a pattern or format.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    RESULT_PATTERN_CHANGED = Breaking "output/pattern-changed",
        "A result matches another pattern or format.",
        "JSON Schema 2020-12, Validation §6.3.3 and §7";
    RESULT_EXTRA_ALLOWED = Risk "output/extra-allowed",
        "A result may have extra members; clients that check strictly refuse it.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    RESULT_EXTRA_REFUSED = Harmless "output/extra-refused",
        "A result has no extra members any more.",
        "JSON Schema 2020-12, Core §10.3.2.3";
    RESULT_NULL_ALLOWED = Breaking "output/null-allowed",
        "A result may be null where it never was.",
        "JSON Schema 2020-12, Validation §6.1.1";
    RESULT_NULL_REFUSED = Harmless "output/null-refused",
        "A result is no longer null.",
        "JSON Schema 2020-12, Validation §6.1.1";
    RESULT_UNION_WIDENED = Breaking "output/union-widened",
        "A result may have an alternative form, or a condition on it was removed.",
        "JSON Schema 2020-12, Core §10.2.1";
    RESULT_UNION_NARROWED = Harmless "output/union-narrowed",
        "A result has fewer alternative forms, or meets another condition.",
        "JSON Schema 2020-12, Core §10.2.1";
    RESULT_DEFAULT = Harmless "output/default-changed",
        "The default of a result's property changed.",
        "JSON Schema 2020-12, Validation §9.2";
    RESULT_DESCRIPTION = Harmless "output/description-changed",
        "The title or description of a result's property changed.",
        "JSON Schema 2020-12, Validation §9.1";
    RESULT_UNDECIDED = Breaking "output/undecided",
        "The schema of a result changed in a way that could not be judged.",
        "JSON Schema 2020-12, Core";

    PROMPT_REMOVED = Breaking "prompt/removed",
        "A prompt no longer exists.",
        "MCP 2025-11-25, Prompts";
    PROMPT_ADDED = Harmless "prompt/added",
        "The server has another prompt.",
        "MCP 2025-11-25, Prompts";
    PROMPT_REQUIRED_ADDED = Breaking "prompt/required-argument-added",
        "A prompt requires an argument that it did not require before.",
        "MCP 2025-11-25, Prompts";
    PROMPT_ARGUMENT_REMOVED = Risk "prompt/argument-removed",
        "An argument of a prompt no longer exists.",
        "MCP 2025-11-25, Prompts";
    PROMPT_ARGUMENT_ADDED = Harmless "prompt/argument-added",
        "A prompt has a new optional argument, or one became optional.",
        "MCP 2025-11-25, Prompts";
    PROMPT_TEXT = Harmless "prompt/description-changed",
        "The title or description of a prompt or of its arguments changed.",
        "MCP 2025-11-25, Prompts";

    RESOURCE_REMOVED = Breaking "resource/removed",
        "A resource or template no longer exists.",
        "MCP 2025-11-25, Resources";
    RESOURCE_ADDED = Harmless "resource/added",
        "The server has another resource or template.",
        "MCP 2025-11-25, Resources";
    RESOURCE_TYPE = Risk "resource/type-changed",
        "A resource or template has another MIME type; clients may not be able to display it.",
        "MCP 2025-11-25, Resources";
    RESOURCE_TEXT = Harmless "resource/description-changed",
        "The name, title or description of a resource or template changed.",
        "MCP 2025-11-25, Resources";
}
