//! The rules of MCP and of JSON-RPC. Each proposal has its own rules.

use crate::proposals::findings::rules;

rules! {
    NOISE = Error "stream/noise",
        "Every line on stdin and stdout is a JSON message, not log output or other text.",
        "MCP transports, stdio";
    BLANK_LINE = Info "stream/blank-line",
        "There is no empty line between messages.",
        "MCP transports, stdio";
    CRLF = Info "stream/crlf",
        "Lines end with LF, not with CR LF.",
        "MCP transports, stdio";
    HEADER_BLOCKS = Warning "stream/content-length",
        "Each message is on a line of its own, not in a block with a Content-Length header.",
        "MCP transports, stdio";
    UNTERMINATED = Warning "stream/unterminated",
        "The last message, too, ends with a line break.",
        "MCP transports, stdio";
    NOT_CHECKED = Info "stream/not-checked",
        "The reel contains all messages, each of them complete, so that everything can be checked.",
        "the reel format";
    MALFORMED = Error "envelope/malformed",
        "Every message that begins like JSON is valid JSON.",
        "RFC 8259; JSON-RPC 2.0 §4";
    ENCODING = Error "envelope/encoding",
        "Every message is encoded in UTF-8.",
        "RFC 8259 §8.1; MCP transports";
    UNREPRESENTABLE = Warning "envelope/unrepresentable",
        "Common JSON parsers can read the message: no number is too large for them, and no text has half a surrogate pair.",
        "RFC 8259 §6 and §8.2";
    DUPLICATE_KEY = Warning "envelope/duplicate-key",
        "No object in a message (such as params, or an object in it) has two members of the same name.",
        "RFC 8259 §4";
    DUPLICATE_MEMBER = Error "envelope/duplicate-member",
        "No JSON-RPC member (such as id or method) occurs twice in a message.",
        "JSON-RPC 2.0 §4; RFC 8259 §4";
    NO_MESSAGE = Error "envelope/no-message",
        "Every JSON value on the stream is a request, a notification, a response or a batch of them.",
        "JSON-RPC 2.0 §4 and §5";
    VERSION = Error "envelope/version",
        "Every message says \"jsonrpc\": \"2.0\".",
        "JSON-RPC 2.0 §4";
    NULL_ID = Error "envelope/null-id",
        "The id of a request is not null.",
        "MCP base protocol";
    ODD_ID = Error "envelope/odd-id",
        "Ids are strings or integers.",
        "MCP base protocol";
    ERROR_ID = Error "envelope/error-id",
        "The id of an error is not null. From 2025-11-25 on, an error without a known request leaves it out.",
        "MCP 2025-11-25, Schema, JSONRPCErrorResponse",
        fix "Leave the id out, or repeat the id of the request.";
    MISSING_ID = Error "envelope/missing-id",
        "A response contains the id of its request.",
        "JSON-RPC 2.0 §5";
    MIXED = Error "envelope/mixed",
        "A message is exactly one of these: a request, a notification, a result or an error.",
        "JSON-RPC 2.0 §5";
    ODD_METHOD = Error "envelope/odd-method",
        "The name of a method is a string.",
        "JSON-RPC 2.0 §4";
    ODD_PARAMS = Error "envelope/odd-params",
        "The params of a message are an object.",
        "MCP base protocol";
    ERROR_OBJECT = Error "envelope/error-object",
        "An error has an integer `code` and a string `message`.",
        "JSON-RPC 2.0 §5.1";
    BATCH = Error "era/batch",
        "Batches are sent only in revision 2025-03-26.",
        "MCP 2025-06-18 changelog";
    EMPTY_BATCH = Error "envelope/empty-batch",
        "A batch contains at least one message.",
        "JSON-RPC 2.0 §6";
    BATCHED_INITIALIZE = Error "lifecycle/batched-initialize",
        "A batch does not contain initialize.",
        "MCP 2025-03-26 lifecycle";
    ORPHAN = Error "pairing/orphan-response",
        "A response belongs to a request that was sent before.",
        "JSON-RPC 2.0 §5";
    DUPLICATE_RESPONSE = Error "pairing/duplicate-response",
        "A request gets only one response.",
        "JSON-RPC 2.0 §5";
    UNATTRIBUTED = Info "pairing/unattributed-error",
        "An error contains the id of its request, unless the request could not be read.",
        "JSON-RPC 2.0 §5";
    ID_OPEN = Error "pairing/id-in-use",
        "An id is not used for another request while the first one is pending.",
        "MCP base protocol";
    ID_REUSED = Warning "pairing/id-reused",
        "Each side uses an id only once per session.",
        "MCP base protocol";
    UNANSWERED = Warning "pairing/unanswered",
        "A side does not leave a request unanswered while it responds to later ones.",
        "JSON-RPC 2.0 §4";
    OPEN_AT_END = Info "pairing/open-at-end",
        "No request is still pending when the recording ends.",
        "JSON-RPC 2.0 §4";
    CANCEL_UNKNOWN = Info "pairing/cancel-unknown",
        "A cancellation refers to a pending request.",
        "MCP cancellation";
    PROGRESS_TOKEN = Error "pairing/progress-token",
        "Progress notifications use a token of a pending request.",
        "MCP progress";
    NOTIFICATION_ANSWERED = Warning "pairing/notification-answered",
        "A notification gets no response, not even an error.",
        "JSON-RPC 2.0 §4.1";
    NOT_INITIALIZED = Error "lifecycle/not-initialized",
        "A session in a revision before 2026-07-28 begins with initialize.",
        "MCP lifecycle";
    SECOND_INITIALIZE = Error "lifecycle/second-initialize",
        "A session is initialized only once.",
        "MCP lifecycle";
    EARLY = Warning "lifecycle/early-message",
        "Between initialize and notifications/initialized, only pings, log messages and cancellations are sent.",
        "MCP lifecycle";
    EARLY_EXTENSION = Error "lifecycle/early-extension",
        "Messages of a proposal are sent only after notifications/initialized.",
        "MCP lifecycle";
    CANCELLED_INITIALIZE = Error "lifecycle/cancelled-initialize",
        "The client does not cancel initialize.",
        "MCP cancellation";
    UNKNOWN_REVISION = Warning "lifecycle/unknown-revision",
        "Client and server agree on a published revision of MCP.",
        "MCP versioning";
    MODERN_HANDSHAKE = Error "lifecycle/modern-handshake",
        "Client and server do not use initialize to agree on revision 2026-07-28, which has no handshake.",
        "MCP 2026-07-28";
    CAPABILITY = Warning "lifecycle/capability",
        "A method is used only if the other side declared the capability for it.",
        "MCP lifecycle, operation";
    STRIPPED = Info "lifecycle/stripped-capability",
        "A server declares a proposal under `experimental` or `extensions`, because clients built with the official SDKs never see other unknown capabilities.",
        "official MCP SDKs (TypeScript 1.x, Python 2.x)";
    UNKNOWN_REQUEST = Info "method/unknown-request",
        "The method of each request is defined by MCP or by a proposal that mcpreel knows.",
        "MCP schema; the proposals' method tables";
    UNKNOWN_NOTIFICATION = Info "method/unknown-notification",
        "The method of each notification is defined by MCP or by a proposal that mcpreel knows.",
        "MCP schema; the proposals' method tables";
    REFUSAL_CODE = Warning "method/refusal-code",
        "A request with an unknown method is refused with error -32601 (method not found).",
        "JSON-RPC 2.0 §5.1";
    INVALID_PARAMS_CODE = Info "method/refusal-as-params",
        "A request with an unknown method is not refused with -32602 (invalid params), as some SDKs do; the code for it is -32601.",
        "JSON-RPC 2.0 §5.1";
    PING_REFUSED = Error "method/ping-refused",
        "A ping gets an empty result.",
        "MCP ping";
    DECLARED_REFUSED = Warning "method/declared-refused",
        "A side that declared a capability does not answer one of its methods with -32601 (method not found).",
        "MCP lifecycle, operation";
    ERROR_CODE = Info "method/error-code",
        "A response uses an error code from JSON-RPC's reserved range (-32768 to -32000) only if the code is defined for the request's method.",
        "JSON-RPC 2.0 §5.1";
    RESERVED_CODE = Warning "method/reserved-code",
        "A proposal does not use error codes from -32099 to -32020, which MCP 2026-07-28 reserves for itself.",
        "MCP 2026-07-28 error codes";
    DIRECTION = Error "method/direction",
        "Each method is sent only by the side (client or server) that it is defined for.",
        "MCP schema; the proposals' method tables";
    KIND = Error "method/kind",
        "A method is sent in the form that it is defined for: as a request or as a notification.",
        "MCP schema; the proposals' method tables";
    NOT_IN_REVISION = Error "method/not-in-revision",
        "A method is part of the revision that client and server agreed on.",
        "MCP changelogs";
    PARAMS = Error "schema/params",
        "The params of a message conform to the schema of its method.",
        "MCP schema; the proposals' schemas";
    RESULT = Error "schema/result",
        "A result conforms to the schema of its method.",
        "MCP schema; the proposals' schemas";
    CAPABILITY_SHAPE = Error "schema/capability",
        "The capability with which a side declares a proposal conforms to the proposal's schema.",
        "the proposals' schemas";
    TOOL_ARGUMENTS = Error "schema/tool-arguments",
        "The arguments of a tool that a proposal defines conform to the tool's schema.",
        "the proposals' tool definitions";
    TOOL_RESULT = Error "schema/tool-result",
        "The result of a tool that a proposal defines conforms to the tool's schema.",
        "the proposals' tool definitions";
    NO_CARRIER = Warning "era/no-carrier",
        "In revision 2026-07-28, no method of the proposals is used: there is no handshake to declare them, and servers cannot send requests.",
        "MCP 2026-07-28";
    SERVER_REQUEST = Error "era/server-request",
        "In revision 2026-07-28, servers do not send requests.",
        "MCP 2026-07-28";
    UNSOLICITED = Warning "era/unsolicited",
        "In revision 2026-07-28, a server sends notifications only while a request of the client is pending.",
        "MCP 2026-07-28";
    LEGACY_ANSWER = Warning "era/legacy-answer",
        "In revision 2026-07-28, every result contains `resultType`.",
        "MCP 2026-07-28";
    SAME_TEXT = Warning "overlap/same-text",
        "Within one turn, a server does not send the same text by means of two proposals.",
        "the proposals, used together";
    SAME_EVENT = Info "overlap/same-fact",
        "A server sends an event (recognised by its name or id) by means of one proposal only.",
        "the proposals, used together";
}
