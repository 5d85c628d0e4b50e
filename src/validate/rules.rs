//! The rules of MCP and of JSON-RPC. Each proposal has its own rules.

use crate::proposals::Rule;
use crate::proposals::findings::rules;

/// A heading of the list of rules.
pub(super) struct Heading {
    /// The heading's text.
    pub title: &'static str,
    /// What a reader has to know.
    pub glossary: &'static str,
    /// The rules below it: whole names, or first parts of names (`http`).
    names: &'static [&'static str],
}

impl Heading {
    /// Returns whether a rule is below this heading.
    pub(super) fn is_over(&self, rule: &Rule) -> bool {
        let names = |heading: &&Self, name: &str| heading.names.contains(&name);
        let family = rule.id.split('/').next().unwrap_or_default();
        let of_all_proposals = || HEADINGS.iter().any(|other| names(&other, rule.id));
        names(&self, rule.id) || (names(&self, family) && !of_all_proposals())
    }
}

/// The headings of these rules and of those of MCP's subjects, in their order.
pub(super) const HEADINGS: &[Heading] = &[
    Heading {
        title: "The stream of messages (stdio)",
        glossary: "The lines that client and server write to each other.",
        names: &["stream"],
    },
    Heading {
        title: "JSON-RPC 2.0: the form of a message",
        glossary: "A message is a request (with an id), a notification (without one), or a response: a result or an error.",
        names: &["envelope", "era/batch"],
    },
    Heading {
        title: "Requests and their responses",
        glossary: "A request is pending until its response comes. A side is the client or the server.",
        names: &["pairing", "cancellation"],
    },
    Heading {
        title: "The handshake, capabilities and revisions",
        glossary: "A revision is a version of MCP, such as 2025-11-25. Client and server agree on one in the handshake, \
            where each declares its capabilities.",
        names: &["lifecycle", "capability"],
    },
    Heading { title: "Methods and error codes", glossary: "", names: &["method"] },
    Heading {
        title: "Schemas",
        glossary: "A JSON Schema says which members a message has, and of which types.",
        names: &["schema"],
    },
    Heading {
        title: "HTTP",
        glossary: "These are about the transport Streamable HTTP: the client sends each message as a POST request and can \
            listen with a GET request; the server answers with JSON or with a stream of events (server-sent events).",
        names: &["http"],
    },
    Heading {
        title: "Revision 2026-07-28, which has no sessions",
        glossary: "This revision has no handshake: each request names its revision and the client's capabilities in `_meta`.",
        names: &["era"],
    },
    Heading { title: "Tools", glossary: "", names: &["tools"] },
    Heading {
        title: "Tasks",
        glossary: "A task is a request whose result is fetched later: the request contains `task`, its response gives the \
            task's id, and `tasks/get`, `tasks/result` and `tasks/cancel` are about it.",
        names: &["tasks"],
    },
    Heading {
        title: "Input that a request needs",
        glossary: "In revision 2026-07-28, a server asks for input by answering a request with `resultType: \"input_required\"` \
            and `inputRequests`. The client sends the request again, with `inputResponses` and the same `requestState`.",
        names: &["input"],
    },
    Heading {
        title: "Subscriptions",
        glossary: "In revision 2026-07-28, a client opens a subscription with `subscriptions/listen` and so asks for \
            notifications about changes. The subscription's id is the id of that request.",
        names: &["subscriptions"],
    },
    Heading {
        title: "Sampling",
        glossary: "With `sampling/createMessage`, a server asks the client's model, and may offer it tools.",
        names: &["sampling"],
    },
    Heading {
        title: "Elicitation",
        glossary: "With `elicitation/create`, a server asks the user: with a form, or in URL mode, by a URL to open.",
        names: &["elicitation"],
    },
    Heading {
        title: "Progress",
        glossary: "A request with a `progressToken` in `_meta` asks for `notifications/progress`, which repeat the token.",
        names: &["progress"],
    },
    Heading { title: "Logging", glossary: "A log message is a `notifications/message`.", names: &["logging"] },
    Heading {
        title: "Pagination",
        glossary: "A list such as `tools/list` may come in pages: `nextCursor` of a result is the `cursor` for the next page.",
        names: &["pagination"],
    },
    Heading {
        title: "Metadata, icons, URIs, binary data, roots and completions",
        glossary: "",
        names: &["meta", "icons", "resources", "content", "roots", "completion"],
    },
    Heading {
        title: "All proposals",
        glossary: "A proposal is one of the five extensions of MCP below. These rules are about each of them.",
        names: &[
            "lifecycle/early-extension",
            "lifecycle/stripped-capability",
            "method/reserved-code",
            "schema/capability",
            "schema/tool-arguments",
            "schema/tool-result",
            "era/no-carrier",
            "overlap",
        ],
    },
];

rules! {
    NOISE = Error "stream/noise",
        "On stdin and stdout, client and server write only JSON messages, each on a line, and no log output or other text.",
        "MCP transports, stdio",
        fix "Write logs and other text to standard error.";
    BLANK_LINE = Info "stream/blank-line",
        "Client and server write no empty line between messages.",
        "MCP transports, stdio",
        fix "Write exactly one line break after each message.";
    CRLF = Info "stream/crlf",
        "Client and server end each line with LF, not with CR LF.",
        "MCP transports, stdio",
        fix "Open the stream in binary mode, or set its line ending to LF.";
    HEADER_BLOCKS = Warning "stream/content-length",
        "Client and server write each message on a line of its own, not in a block with a `Content-Length` header.",
        "MCP transports, stdio",
        fix "Write the JSON on one line, followed by a line break, without headers.";
    UNTERMINATED = Warning "stream/unterminated",
        "Client and server end each message with a line break, the last one, too.",
        "MCP transports, stdio",
        fix "Write a line break after each message, and flush.";
    NOT_CHECKED = Info "stream/not-checked",
        "A note about the reel, not about client or server: part of the traffic is missing or was too large, or the client never listed the tools that it called, so that not everything could be checked.",
        "the reel format",
        fix "Record the whole session again, on a machine that keeps up, with a `tools/list` before the calls.";
    MALFORMED = Error "envelope/malformed",
        "Whoever sends a line that begins like JSON must send valid JSON.",
        "RFC 8259; JSON-RPC 2.0 §4",
        fix "Serialize each message with a JSON library, and write it as one line without line breaks.";
    ENCODING = Error "envelope/encoding",
        "Client and server encode every message in UTF-8.",
        "RFC 8259 §8.1; MCP transports",
        fix "Encode what you write as UTF-8 explicitly, whatever the locale is.";
    UNREPRESENTABLE = Warning "envelope/unrepresentable",
        "Client and server send only JSON that common parsers can read: no number is too large for them, no text has half a surrogate pair, and nothing is nested more than 127 deep.",
        "RFC 8259 §6 and §8.2",
        fix "Send large numbers as strings, and cut texts between characters.";
    DUPLICATE_KEY = Warning "envelope/duplicate-key",
        "No object in a message, such as `params` or one within it, has two members of the same name. (For `id`, `method` and the other JSON-RPC members of the message itself, see envelope/duplicate-member.)",
        "RFC 8259 §4",
        fix "Build objects with a map instead of joining texts.";
    DUPLICATE_MEMBER = Error "envelope/duplicate-member",
        "Whoever sends a message must not give it a JSON-RPC member, such as `id` or `method`, twice.",
        "JSON-RPC 2.0 §4; RFC 8259 §4",
        fix "Build messages with a JSON library instead of joining texts.";
    NO_MESSAGE = Error "envelope/no-message",
        "Client and server send no JSON value that is neither a message nor a batch of messages: no number, text or `null`, and no object without `method`, `result` and `error`.",
        "JSON-RPC 2.0 §4 and §5",
        fix "Send the value as `params`, `result` or `error` of a message.";
    VERSION = Error "envelope/version",
        "Client and server write `\"jsonrpc\": \"2.0\"` in every message.",
        "JSON-RPC 2.0 §4",
        fix "Add `\"jsonrpc\": \"2.0\"` to every message that you send.";
    NULL_ID = Error "envelope/null-id",
        "Whoever sends a request must give it an `id` that is not null.",
        "MCP base protocol",
        fix "Count requests from 1, and send the number as `id`.";
    ODD_ID = Error "envelope/odd-id",
        "Client and server use only strings and integers as the `id` of a message.",
        "MCP base protocol",
        fix "Send the id as a string or an integer.";
    ERROR_ID = Error "envelope/error-id",
        "Whoever answers with an error must not send `\"id\": null`, except with -32700 or -32600, for which JSON-RPC requires it if the id could not be read. From 2025-11-25 on, an error whose request is not known may have no `id`.",
        "MCP 2025-11-25, Schema, JSONRPCErrorResponse",
        fix "Leave the id out, or repeat the id of the request.";
    MISSING_ID = Error "envelope/missing-id",
        "Whoever answers with a result must repeat the `id` of the request. (For an error without an `id`, see pairing/unattributed-error.)",
        "JSON-RPC 2.0 §5",
        fix "Copy `id` from the request, with the same type.";
    MIXED = Error "envelope/mixed",
        "Client and server send no message that is several things at once: only one of `method`, `result` and `error` is present.",
        "JSON-RPC 2.0 §5",
        fix "Send a request, a notification or a response, each as a message of its own.";
    ODD_METHOD = Error "envelope/odd-method",
        "Whoever sends a request or notification must give it a `method` that is a string.",
        "JSON-RPC 2.0 §4",
        fix "Send the method's name as a string.";
    ODD_PARAMS = Error "envelope/odd-params",
        "Whoever sends a request or notification must send its `params`, if present, as an object.",
        "MCP base protocol",
        fix "Send an object with named members, or leave `params` out.";
    ERROR_OBJECT = Error "envelope/error-object",
        "Whoever answers with an error must give `error` an integer `code` and a string `message`.",
        "JSON-RPC 2.0 §5.1",
        fix "Send `{\"code\": -32603, \"message\": \"what failed\"}`.";
    BATCH = Error "era/batch",
        "Client and server send batches (several messages in one JSON array) only in revision 2025-03-26.",
        "MCP 2025-06-18 changelog",
        fix "Send each message on its own.";
    EMPTY_BATCH = Error "envelope/empty-batch",
        "Whoever sends a batch must put at least one message into it.",
        "JSON-RPC 2.0 §6",
        fix "Send nothing if there are no messages.";
    BATCHED_INITIALIZE = Error "lifecycle/batched-initialize",
        "The client sends `initialize` on its own, not in a batch.",
        "MCP 2025-03-26 lifecycle",
        fix "Send `initialize` alone, and wait for its result.";
    ORPHAN = Error "pairing/orphan-response",
        "Client and server send a response only to a request that the other side sent before.",
        "JSON-RPC 2.0 §5",
        fix "Copy `id` from the request, with the same type; 1 and \"1\" are different ids.";
    DUPLICATE_RESPONSE = Error "pairing/duplicate-response",
        "Whoever answers a request must send only one response to it.",
        "JSON-RPC 2.0 §5",
        fix "Send what follows later as a notification, for instance `notifications/progress`.";
    UNATTRIBUTED = Info "pairing/unattributed-error",
        "Whoever answers a request with an error repeats its `id`. An error without an `id` (before 2025-11-25, with a null one) belongs to no request, and is right only if the request could not be read; each one is reported. (For a result without an `id`, see envelope/missing-id.)",
        "JSON-RPC 2.0 §5",
        fix "Read the `id` before the rest of the request, and copy it into the error.";
    ID_OPEN = Error "pairing/id-in-use",
        "Client and server must not use the `id` of one of their requests for another one while the first is pending.",
        "MCP base protocol",
        fix "Count up for each request, and never begin again in the same session.";
    ID_REUSED = Warning "pairing/id-reused",
        "Client and server each use an `id` for only one of their requests per session.",
        "MCP base protocol",
        fix "Count up for each request, and never begin again in the same session.";
    UNANSWERED = Warning "pairing/unanswered",
        "Whoever receives a request answers it. Checked at the end of the session: no request may be without a response for 10 s, or while a later one was answered.",
        "JSON-RPC 2.0 §4",
        fix "Answer every request: with an error, if it failed.";
    OPEN_AT_END = Info "pairing/open-at-end",
        "Whoever receives a request answers it before the recording ends. Only requests of the last 10 s are reported here, and subscriptions, which stay open.",
        "JSON-RPC 2.0 §4",
        fix "Record until all requests are answered, if you want to see their responses.";
    CANCEL_UNKNOWN = Info "pairing/cancel-unknown",
        "Client and server send `notifications/cancelled` only for a request of theirs that was not answered yet.",
        "MCP cancellation",
        fix "Remove a request from your table when its response comes, and cancel only what is in the table.";
    PROGRESS_TOKEN = Error "pairing/progress-token",
        "Whoever sends `notifications/progress` must use the `progressToken` of a request of the other side.",
        "MCP progress",
        fix "Copy `progressToken` from `_meta` of the request, with the same type. If the request has none, send no progress.";
    NOTIFICATION_ANSWERED = Warning "pairing/notification-answered",
        "Whoever receives a notification sends no response to it, not even an error.",
        "JSON-RPC 2.0 §4.1",
        fix "Answer only messages with an `id`.";
    NOT_INITIALIZED = Error "lifecycle/not-initialized",
        "In a revision before 2026-07-28, the client must begin a session with `initialize`; before it, neither side sends anything but `ping`, `server/discover`, `notifications/message` and `notifications/cancelled`.",
        "MCP lifecycle",
        fix "Wait for the result of `initialize` before you send other messages.";
    SECOND_INITIALIZE = Error "lifecycle/second-initialize",
        "The client must send `initialize` only once per session.",
        "MCP lifecycle",
        fix "Open a new connection to negotiate again.";
    EARLY = Warning "lifecycle/early-message",
        "From `initialize` until the client sends `notifications/initialized`, client and server send, apart from responses, only `ping`, `server/discover`, `notifications/message` and `notifications/cancelled`. Each other method is reported once. (For the methods of a proposal, see lifecycle/early-extension.)",
        "MCP lifecycle",
        fix "Send `notifications/initialized` right after the result of `initialize`.";
    EARLY_EXTENSION = Error "lifecycle/early-extension",
        "Client and server must not send the methods of a proposal between `initialize` and `notifications/initialized`.",
        "MCP lifecycle",
        fix "Wait for `notifications/initialized` before you use a proposal.";
    INITIALIZED_MISSING = Error "lifecycle/initialized-missing",
        "After the result of `initialize`, the client must send `notifications/initialized`. Checked at the end of a session in which the client sent other requests.",
        "MCP lifecycle",
        fix "Send `notifications/initialized` right after the result of `initialize`.";
    CRASHED = Error "lifecycle/server-crashed",
        "The server does not crash: no signal such as SIGSEGV or SIGABRT ends it, and it does not exit by itself with an error while a request of the client is pending.",
        "MCP lifecycle, Shutdown",
        fix "Look at the server's standard error (`mcpreel show event:stderr`) and at its core dump.";
    CANCELLED_INITIALIZE = Error "lifecycle/cancelled-initialize",
        "The client must not cancel `initialize` with `notifications/cancelled`.",
        "MCP cancellation",
        fix "Close the connection instead.";
    UNKNOWN_REVISION = Warning "lifecycle/unknown-revision",
        "In its result of `initialize`, the server names a published revision of MCP as `protocolVersion`.",
        "MCP versioning",
        fix "Answer with the client's revision if you support it, and with your latest one otherwise.";
    MODERN_HANDSHAKE = Error "lifecycle/modern-handshake",
        "In its result of `initialize`, the server must not name revision 2026-07-28, which has no handshake.",
        "MCP 2026-07-28",
        fix "Answer `initialize` with 2025-11-25 or an earlier revision.";
    CAPABILITY = Warning "lifecycle/capability",
        "In revisions before 2025-06-18 and in 2026-07-28, client and server send a request only if the other side declared the capability that it needs, such as `tools` for `tools/call`. (For the revisions between, see capability/undeclared.)",
        "MCP lifecycle, operation",
        fix "Read the other side's capabilities before you send the request.";
    STRIPPED = Info "lifecycle/stripped-capability",
        "The server declares a proposal under `experimental` or `extensions`, because clients built with the official SDKs never see other unknown capabilities.",
        "official MCP SDKs (TypeScript 1.x, Python 2.x)",
        fix "Declare the proposal under `experimental` or `extensions` as well.";
    UNKNOWN_REQUEST = Info "method/unknown-request",
        "Client and server send only requests whose method is defined by MCP or by a proposal that mcpreel knows.",
        "MCP schema; the proposals' method tables",
        fix "Correct the spelling, or describe your own extension in a pack (`--pack FILE`).";
    UNKNOWN_NOTIFICATION = Info "method/unknown-notification",
        "Client and server send only notifications whose method is defined by MCP or by a proposal that mcpreel knows.",
        "MCP schema; the proposals' method tables",
        fix "Correct the spelling, or describe your own extension in a pack (`--pack FILE`).";
    REFUSAL_CODE = Warning "method/refusal-code",
        "Whoever refuses a request whose method mcpreel does not know answers with error -32601 (method not found).",
        "JSON-RPC 2.0 §5.1",
        fix "Answer unknown methods with error -32601.";
    INVALID_PARAMS_CODE = Info "method/refusal-as-params",
        "Whoever refuses a request whose method mcpreel does not know answers with error -32601 (method not found), not with -32602 (invalid params), as some SDKs do.",
        "JSON-RPC 2.0 §5.1",
        fix "Look the method up before you read its params, and answer -32601 if there is none.";
    PING_REFUSED = Error "method/ping-refused",
        "Whoever receives a `ping` must answer it with an empty result, not with an error (except -32600 for one that is no valid request).",
        "MCP ping",
        fix "Answer `ping` with an empty object, whatever you declared.";
    PING_RESULT = Error "method/ping-result",
        "Whoever receives a `ping` must answer it with an empty result; only `_meta` may be in it.",
        "MCP ping",
        fix "Answer `{}`.";
    DECLARED_REFUSED = Warning "method/declared-refused",
        "A side that declared a capability, such as `tools` or `resources.subscribe`, does not answer a request for a method that needs it with error -32601 (method not found).",
        "MCP lifecycle, operation",
        fix "Handle the method, or do not declare the capability.";
    ERROR_CODE = Info "method/error-code",
        "Whoever answers with an error uses a code from -32768 to -32100, which JSON-RPC reserves, only if JSON-RPC, MCP or a proposal defines the code for the request's method.",
        "JSON-RPC 2.0 §5.1",
        fix "Use -32602 or -32603, or a code outside the reserved range.";
    RESERVED_CODE = Warning "method/reserved-code",
        "Whoever answers with an error uses a code from -32099 to -32020 only if MCP, or the proposal of the method, defines it: MCP 2026-07-28 reserves these codes. Checked in earlier revisions.",
        "MCP 2026-07-28 error codes",
        fix "Use -32602 or -32603, or a code outside the reserved range.";
    DIRECTION = Error "method/direction",
        "Client and server must send only the methods that their own side may send: the client, for example, `tools/call`, the server `sampling/createMessage`.",
        "MCP schema; the proposals' method tables",
        fix "Check that client and server are not mixed up, and use the method for your side.";
    KIND = Error "method/kind",
        "Whoever sends a method must send it as it is defined: as a request (with an `id`) or as a notification (without).",
        "MCP schema; the proposals' method tables",
        fix "Add an `id` if the method is a request, or remove it if the method is a notification.";
    NOT_IN_REVISION = Error "method/not-in-revision",
        "Client and server must send only methods that the revision of the session has.",
        "MCP changelogs",
        fix "Use the method of the negotiated revision, or negotiate another one.";
    PARAMS = Error "schema/params",
        "Whoever sends a request or notification must send `params` that conform to the schema of the method.",
        "MCP schema; the proposals' schemas",
        fix "Compare the params with `mcpreel explain --schema METHOD`.";
    RESULT = Error "schema/result",
        "Whoever answers a request with a result must send one that conforms to the schema of the method.",
        "MCP schema; the proposals' schemas",
        fix "Compare the result with `mcpreel explain --schema METHOD`.";
    CAPABILITY_SHAPE = Error "schema/capability",
        "A side that declares a proposal must declare it in the form that the proposal's schema requires.",
        "the proposals' schemas",
        fix "Compare the declaration with the proposal's schema, which `mcpreel explain` shows.";
    TOOL_ARGUMENTS = Error "schema/tool-arguments",
        "A client that calls a tool that a proposal defines, such as `events_subscribe`, must send `arguments` that conform to the proposal's schema.",
        "the proposals' tool definitions",
        fix "Compare the arguments with the `inputSchema` of the tool.";
    TOOL_RESULT = Error "schema/tool-result",
        "A server that answers the call of a tool that a proposal defines, such as `events_subscribe`, must return a result that conforms to the proposal's schema.",
        "the proposals' tool definitions",
        fix "Compare the result with the proposal's schema of the tool.";
    NO_CARRIER = Warning "era/no-carrier",
        "In revision 2026-07-28, client and server send no methods of the proposals: there is no handshake to declare them, and servers cannot send requests.",
        "MCP 2026-07-28",
        fix "Use an earlier revision for the proposals.";
    SERVER_REQUEST = Error "era/server-request",
        "In revision 2026-07-28, the server must not send requests.",
        "MCP 2026-07-28",
        fix "Answer the client's request with `resultType: \"input_required\"` and the `inputRequests`.";
    UNSOLICITED = Warning "era/unsolicited",
        "In revision 2026-07-28, the server sends notifications only while a request of the client is pending.",
        "MCP 2026-07-28",
        fix "Send notifications as part of a request, or through `subscriptions/listen`.";
    LEGACY_ANSWER = Warning "era/legacy-answer",
        "In revision 2026-07-28, the server puts `resultType` into every result.",
        "MCP 2026-07-28",
        fix "Add `\"resultType\": \"complete\"` to each result.";
    SAME_TEXT = Warning "overlap/same-text",
        "The server does not send the same text by means of two proposals, such as a reminder and an injection, for one turn (until the model's answer).",
        "the proposals, used together",
        fix "Choose one of the proposals for each text.";
    SAME_EVENT = Info "overlap/same-fact",
        "The server sends an event (recognised by its name or id) by means of one proposal only.",
        "the proposals, used together",
        fix "Choose one of the proposals for each event.";
}
