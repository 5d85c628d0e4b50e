//! The rules of MCP itself and of the JSON-RPC beneath it. What a proposal adds stands in its room.

use crate::proposals::findings::rules;

rules! {
    NOISE = Error "stream/noise",
        "A message stream carries messages only.",
        "MCP transports, stdio; X8";
    BLANK_LINE = Info "stream/blank-line",
        "Lines are not empty.",
        "MCP transports, stdio; X9";
    CRLF = Info "stream/crlf",
        "A line ends in LF alone.",
        "MCP transports, stdio; X9";
    HEADER_BLOCKS = Warning "stream/content-length",
        "Messages are lines, not Content-Length blocks.",
        "MCP transports, stdio; X9";
    UNTERMINATED = Warning "stream/unterminated",
        "The last line is ended like the others.",
        "MCP transports, stdio; X9";
    NOT_CHECKED = Info "stream/not-checked",
        "Messages are recorded whole, so that they can be checked.",
        "the reel format";
    MALFORMED = Error "envelope/malformed",
        "A message is JSON to the letter.",
        "RFC 8259; JSON-RPC 2.0 §4";
    ENCODING = Error "envelope/encoding",
        "A message is UTF-8.",
        "RFC 8259 §8.1; MCP transports";
    UNREPRESENTABLE = Warning "envelope/unrepresentable",
        "Numbers and strings are ones that common parsers can hold.",
        "RFC 8259 §6 and §8.2";
    DUPLICATE_KEY = Warning "envelope/duplicate-key",
        "An object names each of its members once.",
        "RFC 8259 §4";
    DUPLICATE_MEMBER = Error "envelope/duplicate-member",
        "The envelope names each of its members once.",
        "JSON-RPC 2.0 §4; RFC 8259 §4";
    NO_MESSAGE = Error "envelope/no-message",
        "Every JSON value on the stream is a request, a notification or a response.",
        "JSON-RPC 2.0 §4 and §5";
    VERSION = Error "envelope/version",
        "Every message says \"jsonrpc\": \"2.0\".",
        "JSON-RPC 2.0 §4";
    NULL_ID = Error "envelope/null-id",
        "A request's id is never null.",
        "MCP base protocol; X2";
    ODD_ID = Error "envelope/odd-id",
        "An id is a string or an integer.",
        "MCP base protocol; X2";
    MISSING_ID = Error "envelope/missing-id",
        "A result names the request it answers.",
        "JSON-RPC 2.0 §5";
    MIXED = Error "envelope/mixed",
        "A message is one thing: a call, a result or an error.",
        "JSON-RPC 2.0 §5";
    ODD_METHOD = Error "envelope/odd-method",
        "A method is a string.",
        "JSON-RPC 2.0 §4";
    ODD_PARAMS = Error "envelope/odd-params",
        "Params are an object.",
        "MCP base protocol";
    ERROR_OBJECT = Error "envelope/error-object",
        "An error has an integer code and a message.",
        "JSON-RPC 2.0 §5.1";
    BATCH = Error "era/batch",
        "Batches are sent in revision 2025-03-26 only.",
        "MCP 2025-06-18 changelog; X9";
    EMPTY_BATCH = Error "envelope/empty-batch",
        "A batch holds at least one message.",
        "JSON-RPC 2.0 §6";
    BATCHED_INITIALIZE = Error "lifecycle/batched-initialize",
        "initialize is never part of a batch.",
        "MCP 2025-03-26 lifecycle";
    ORPHAN = Error "pairing/orphan-response",
        "A response answers a request that was asked.",
        "JSON-RPC 2.0 §5; X3";
    DUPLICATE_RESPONSE = Error "pairing/duplicate-response",
        "A request gets one response.",
        "JSON-RPC 2.0 §5; X3";
    UNATTRIBUTED = Info "pairing/unattributed-error",
        "An error names its request, unless the request could not be read.",
        "JSON-RPC 2.0 §5";
    ID_OPEN = Error "pairing/id-in-use",
        "An id is not used again while its request waits.",
        "MCP base protocol; X1";
    ID_REUSED = Warning "pairing/id-reused",
        "A requester uses an id once in a session.",
        "MCP base protocol; X1";
    UNANSWERED = Warning "pairing/unanswered",
        "Every request is answered.",
        "JSON-RPC 2.0 §4; X3";
    OPEN_AT_END = Info "pairing/open-at-end",
        "Requests are answered before the session ends.",
        "JSON-RPC 2.0 §4; X3";
    CANCEL_UNKNOWN = Info "pairing/cancel-unknown",
        "A cancellation names a request that waits.",
        "MCP cancellation";
    PROGRESS_TOKEN = Warning "pairing/progress-token",
        "Progress is told for a token of a request that waits.",
        "MCP progress";
    NOTIFICATION_ANSWERED = Warning "pairing/notification-answered",
        "A notification is never answered, not even with an error.",
        "JSON-RPC 2.0 §4.1; X4, X6";
    NOT_INITIALIZED = Error "lifecycle/not-initialized",
        "A session of the legacy era begins with initialize.",
        "MCP lifecycle; X10";
    SECOND_INITIALIZE = Error "lifecycle/second-initialize",
        "A session is initialized once.",
        "MCP lifecycle";
    EARLY = Warning "lifecycle/early-message",
        "Before notifications/initialized only pings and logging go over the wire.",
        "MCP lifecycle; X10";
    EARLY_EXTENSION = Error "lifecycle/early-extension",
        "A proposal's traffic waits for notifications/initialized.",
        "MCP lifecycle; X10";
    CANCELLED_INITIALIZE = Error "lifecycle/cancelled-initialize",
        "A client does not cancel initialize.",
        "MCP cancellation";
    UNKNOWN_REVISION = Warning "lifecycle/unknown-revision",
        "The handshake agrees on a published revision.",
        "MCP versioning";
    MODERN_HANDSHAKE = Error "lifecycle/modern-handshake",
        "The handshake agrees on a revision that has a handshake.",
        "MCP 2026-07-28; X11";
    CAPABILITY = Warning "lifecycle/capability",
        "A method is used only with a peer that declared its capability.",
        "MCP lifecycle, operation";
    STRIPPED = Info "lifecycle/stripped-capability",
        "A proposal is declared where stock SDKs let it through: under experimental or extensions.",
        "X12, F9";
    UNKNOWN_REQUEST = Info "method/unknown-request",
        "A request's method is one that MCP or a known proposal has.",
        "X5";
    UNKNOWN_NOTIFICATION = Info "method/unknown-notification",
        "A notification's method is one that MCP or a known proposal has.",
        "X6";
    REFUSAL_CODE = Warning "method/refusal-code",
        "An unknown request is refused with -32601.",
        "JSON-RPC 2.0 §5.1; X5";
    INVALID_PARAMS_CODE = Info "method/refusal-as-params",
        "An unknown request is refused with -32601; -32602 is what some SDKs send.",
        "X5";
    PING_REFUSED = Error "method/ping-refused",
        "A ping is answered with an empty result.",
        "MCP ping; X5";
    DECLARED_REFUSED = Warning "method/declared-refused",
        "A method whose capability was declared is not refused as unknown.",
        "MCP lifecycle, operation; X5";
    ERROR_CODE = Info "method/error-code",
        "An error code in the reserved range means something for the method it answers.",
        "JSON-RPC 2.0 §5.1; X13";
    RESERVED_CODE = Warning "method/reserved-code",
        "A proposal's code stays out of the range that MCP 2026-07-28 keeps for itself.",
        "MCP 2026-07-28 error codes; X13";
    DIRECTION = Error "method/direction",
        "A method is sent by the side that sends it.",
        "MCP schema; the proposals' method tables";
    KIND = Error "method/kind",
        "A method is sent as what it is, a request or a notification.",
        "MCP schema; the proposals' method tables; X4";
    NOT_IN_REVISION = Error "method/not-in-revision",
        "A method belongs to the session's revision.",
        "MCP changelogs";
    PARAMS = Error "schema/params",
        "Params fit the method's schema.",
        "MCP schema; the proposals' schemas";
    RESULT = Error "schema/result",
        "A result fits the method's schema.",
        "MCP schema; the proposals' schemas";
    CAPABILITY_SHAPE = Error "schema/capability",
        "A proposal's capability fits its schema.",
        "the proposals' schemas";
    TOOL_ARGUMENTS = Error "schema/tool-arguments",
        "The arguments of a proposal's tool fit its schema.",
        "the proposals' tool definitions";
    TOOL_RESULT = Error "schema/tool-result",
        "The result of a proposal's tool fits its schema.",
        "the proposals' tool definitions";
    NO_CARRIER = Warning "era/no-carrier",
        "Revision 2026-07-28 has no carrier for this method of a proposal.",
        "X11";
    SERVER_REQUEST = Error "era/server-request",
        "In revision 2026-07-28 a server sends no requests.",
        "MCP 2026-07-28; X11";
    UNSOLICITED = Warning "era/unsolicited",
        "In revision 2026-07-28 a server notifies only while a request of the client waits.",
        "MCP 2026-07-28; X11";
    LEGACY_ANSWER = Warning "era/legacy-answer",
        "A result to a request of the 2026-07-28 era says its resultType.",
        "MCP 2026-07-28; X11";
    SAME_TEXT = Warning "overlap/same-text",
        "In one turn a server gives a text by one proposal's way.",
        "F1, F2";
    SAME_FACT = Info "overlap/same-fact",
        "A server tells of one happening by one proposal's way.",
        "F4";
}
