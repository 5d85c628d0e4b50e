// The TypeScript SDK as a client: `node client.mjs SCENARIO CMD ARG...` starts CMD as a stdio server (or goes to a
// server's URL instead: HTTP+SSE if its path ends in /sse, else Streamable HTTP), runs the scenario's operations in a
// fixed order and prints one JSON line for each. Values that vary from run to run (times,
// identifiers) are masked, so two runs print the same. An operation with an unexpected result ends the run.
// The SDK is in the folder that MCPREEL_REAL_PEERS names (see install.sh).

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const REQUEST_MS = 20_000;
const RUN_MS = 90_000;
const LATE_MS = 2_000;
const MANY = 20;
const BIG = "ab\u00e9\u2028\u{1f980}\"\\\n".repeat(30_000);
const DOCUMENT = "demo://resource/static/document/features.md";
const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } };

const peers = process.env.MCPREEL_REAL_PEERS ?? resolve(import.meta.dirname, "../../target/real");
const sdk = (path) =>
  import(pathToFileURL(resolve(peers, "node_modules/@modelcontextprotocol/sdk/dist/esm", path)).href);
const { Client } = await sdk("client/index.js");
const { SSEClientTransport } = await sdk("client/sse.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const types = await sdk("types.js");

const options = { timeout: REQUEST_MS };

// ---- printing and masking ----

const print = (op, outcome) => process.stdout.write(`${JSON.stringify({ op, ...outcome })}\n`);

const digest = (text) => {
  const bytes = Buffer.from(text, "utf8");
  return `<${bytes.length} bytes, sha256 ${createHash("sha256").update(bytes).digest("hex")}>`;
};

const maskText = (text) => {
  const masked = text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "<uuid>")
    .replace(/\d{4}-\d\d-\d\dT/g, "<date>T")
    .replace(/\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g, "<day>")
    .replace(/created at .*$/gm, "created at <time>");
  return masked.length > 400 ? digest(masked) : masked;
};

const maskBlob = (text) => `base64 of ${maskText(Buffer.from(text, "base64").toString("utf8"))}`;

const mask = (value, key) => {
  if (typeof value === "string") return key === "blob" ? maskBlob(value) : maskText(value);
  if (Array.isArray(value)) return value.map((item) => mask(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mask(item, name)]));
};

const maskClock = (value) =>
  JSON.parse(JSON.stringify(value).replace(/T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/g, "T<clock>"));

// ---- steps ----

const expect = async (op, action, view = mask) => print(op, { ok: view(await action()) });

const expectRefusal = async (op, action) => {
  let value;
  try {
    value = await action();
  } catch (error) {
    print(op, { error: mask({ code: error.code, message: error.message }) });
    return;
  }
  throw new Error(`${op}: expected a refusal, got ${JSON.stringify(value)}`);
};

const within = (promise, what) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${REQUEST_MS} ms`)), REQUEST_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

// ---- the client and what it answers to the server ----

const signal = () => {
  let fire;
  const fired = new Promise((done) => (fire = done));
  return { fire, fired };
};

const answerServer = (client, seen) => {
  client.setRequestHandler(types.ListRootsRequestSchema, () => {
    seen.roots += 1;
    return { roots: [{ uri: "file:///srv/reel", name: "reel" }] };
  });
  client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => {
    seen.sampling.push(mask(params.messages));
    return { role: "assistant", model: "fixed-model", content: { type: "text", text: "forty-two" } };
  });
  client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
    seen.elicitation.push(Object.keys(params.requestedSchema.properties).sort());
    return { action: "accept", content: { name: "Ada", check: true, integer: 7 } };
  });
};

const countNotifications = (client, seen) => {
  client.fallbackNotificationHandler = async ({ method, params }) => {
    seen.notifications[method] = (seen.notifications[method] ?? 0) + 1;
    if (method === "notifications/message" && /^Roots updated/.test(params.data)) seen.rootsSynced.fire();
    if (method === "notifications/resources/updated") seen.updated.fire();
  };
};

// A server inherits the whole environment, or with MCPREEL_REAL_SERVER_ENV=sdk what the SDK passes by default.
const serverEnv = process.env.MCPREEL_REAL_SERVER_ENV === "sdk" ? undefined : process.env;

const transportTo = (command, args) => {
  if (!/^https?:/.test(command)) return new StdioClientTransport({ command, args, env: serverEnv, stderr: "inherit" });
  const url = new URL(command);
  return url.pathname.endsWith("/sse") ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
};

const connect = async (command, args) => {
  const client = new Client({ name: "mcpreel-real-ts", version: "1.0.0" }, { capabilities: CAPABILITIES });
  const seen = { roots: 0, sampling: [], elicitation: [], notifications: {} };
  seen.rootsSynced = signal();
  seen.updated = signal();
  seen.lastProgress = signal();
  answerServer(client, seen);
  countNotifications(client, seen);
  // The SDK treats progress of a cancelled call as an error.
  client.onerror = ({ message }) => /"progress":3,"total":3/.test(message) && seen.lastProgress.fire();
  const transport = transportTo(command, args);
  let protocolVersion;
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    protocolVersion = version;
    setProtocolVersion?.(version);
  };
  try {
    await client.connect(transport, options);
  } catch (error) {
    await transport.close(); // otherwise a server that does not answer would outlive this process
    throw error;
  }
  print("initialize", {
    ok: mask({
      protocolVersion,
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    }),
  });
  return { client, seen };
};

const caller = (client) => (name, args, more) =>
  client.callTool({ name, arguments: args }, undefined, { ...options, ...more });

// ---- scenario: everything ----

const tools = async (client) => {
  const call = caller(client);
  await expect("tools/list", () => client.listTools({}, options));
  await expect("echo", () => call("echo", { message: "hello, \u4e16\u754c \u{1f980}" }));
  await expect("echo big", () => call("echo", { message: BIG }));
  await expect("get-sum", () => call("get-sum", { a: 2, b: 40 }));
  await expect("structured", () => call("get-structured-content", { location: "Chicago" }));
  await expect("image", () => call("get-tiny-image", {}));
  await expect("many at once", () =>
    Promise.all(Array.from({ length: MANY }, (_, n) => call("get-sum", { a: n, b: n * n }))));
  await expect("bad arguments", () => call("get-sum", { a: "two", b: 40 }));
  await expect("unknown tool", () => call("no-such-tool", {}));
};

const slowCalls = async (client, seen) => {
  const call = caller(client);
  const progress = [];
  const onprogress = (update) => progress.push(update);
  await expect("long-running", () =>
    call("trigger-long-running-operation", { duration: 0.4, steps: 4 }, { onprogress }));
  // The SDK drops progress that arrives in one chunk with the answer, so only the early ones are certain.
  print("progress", { ok: progress.slice(0, 2) });
  const abort = new AbortController();
  const stop = () => abort.abort("enough");
  await expectRefusal("cancelled", () =>
    call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, { onprogress: stop, signal: abort.signal }));
  // The server still works on it, and must finish before the connection is closed.
  await Promise.race([seen.lastProgress.fired, new Promise((over) => setTimeout(over, LATE_MS).unref())]);
};

const resources = async (client, seen) => {
  await expect("resources/list", () => client.listResources({}, options));
  await expect("resources/templates/list", () => client.listResourceTemplates({}, options));
  await expect("read document", () => client.readResource({ uri: DOCUMENT }, options));
  await expect("read text", () => client.readResource({ uri: "demo://resource/dynamic/text/1" }, options));
  await expect("read blob", () => client.readResource({ uri: "demo://resource/dynamic/blob/2" }, options));
  await expectRefusal("read unknown", () => client.readResource({ uri: "demo://resource/none" }, options));
  await expect("subscribe", () => client.subscribeResource({ uri: DOCUMENT }, options));
  await expect("updates on", () => caller(client)("toggle-subscriber-updates", {}));
  await within(seen.updated.fired, "notifications/resources/updated");
  await expect("updates off", () => caller(client)("toggle-subscriber-updates", {}));
  await expect("unsubscribe", () => client.unsubscribeResource({ uri: DOCUMENT }, options));
};

const prompts = async (client) => {
  const ref = { type: "ref/prompt", name: "completable-prompt" };
  const argument = { name: "name", value: "A" };
  const context = { arguments: { department: "Engineering" } };
  await expect("prompts/list", () => client.listPrompts({}, options));
  await expect("prompts/get", () =>
    client.getPrompt({ name: "args-prompt", arguments: { city: "Tromsø", state: "NO" } }, options));
  await expectRefusal("prompts/get unknown", () => client.getPrompt({ name: "no-such-prompt" }, options));
  await expect("complete", () => client.complete({ ref, argument, context }, options));
};

const serverAsks = async (client, seen) => {
  const call = caller(client);
  await within(seen.rootsSynced.fired, "the log message about the roots");
  await expect("roots", () => call("get-roots-list", {}));
  await expect("sampling", () => call("trigger-sampling-request", { prompt: "the answer?", maxTokens: 9 }));
  await expect("elicitation", () => call("trigger-elicitation-request", {}));
};

const everything = async (client, seen) => {
  await expect("logging/setLevel", () => client.setLoggingLevel("debug", options));
  await expect("ping", () => client.ping(options));
  await tools(client);
  await slowCalls(client, seen);
  await resources(client, seen);
  await prompts(client);
  await serverAsks(client, seen);
  const { roots, sampling, elicitation, notifications } = seen;
  delete notifications["notifications/progress"]; // those of the cancelled call may or may not arrive
  // Over Streamable HTTP, notifications before the client has opened the GET stream are lost, unless the server keeps
  // them, which MCPREEL_REAL_KEPT says.
  if (!process.env.MCPREEL_REAL_KEPT && client.transport instanceof StreamableHTTPClientTransport) delete notifications["notifications/tools/list_changed"];
  const counted = Object.fromEntries(Object.entries(notifications).sort());
  print("seen", { ok: { roots, sampling, elicitation, notifications: counted } });
};

// ---- scenario: time ----

const time = async (client) => {
  const call = caller(client);
  const view = (result) => maskClock(mask(result));
  const convert = { source_timezone: "Asia/Tokyo", time: "16:30", target_timezone: "Asia/Kathmandu" };
  await expect("tools/list", () => client.listTools({}, options));
  await expect("get_current_time", () => call("get_current_time", { timezone: "Asia/Tokyo" }), view);
  await expect("convert_time", () => call("convert_time", convert));
  await expect("bad timezone", () => call("get_current_time", { timezone: "Mars/Olympus" }));
  await expect("bad time", () => call("convert_time", { ...convert, time: "25:99" }));
  await expect("missing argument", () => call("convert_time", {}));
  await expectRefusal("unknown tool", () => call("no_such_tool", {}));
};

// ---- scenario: live ----

const live = async (client) => {
  const call = caller(client);
  const progress = [];
  const onprogress = (update) => progress.push([update.progress, update.total]);
  const ref = { type: "ref/prompt", name: "recall" };
  await expect("tools/list", () => client.listTools({}, options));
  await expect("echo", () => call("echo", { message: "hi" }));
  await expect("structured", () => call("add", { a: 2, b: 3 }));
  await expect("own failure", () => call("fail", {}));
  await expect("slow", () => call("count_slowly", { to: 2, interval_ms: 50 }, { onprogress }));
  print("progress", { ok: progress.slice(0, 1) });
  await expect("note", () => call("add_note", { text: "milk" }));
  await expectRefusal("unknown tool", () => call("no_such_tool", {}));
  await expect("resources/list", () => client.listResources({}, options));
  await expect("resources/templates/list", () => client.listResourceTemplates({}, options));
  await expect("read", () => client.readResource({ uri: "mcpreel://notes" }, options));
  await expectRefusal("read unknown", () => client.readResource({ uri: "mcpreel://none" }, options));
  await expect("prompts/list", () => client.listPrompts({}, options));
  await expect("prompts/get", () => client.getPrompt({ name: "recall", arguments: { topic: "schema" } }, options));
  await expect("complete", () => client.complete({ ref, argument: { name: "topic", value: "mi" } }, options));
};

// ---- scenario: agents (`mcpreel mcp` over the reel demo.reel) ----

const agents = async (client) => {
  const call = caller(client);
  const recording = { recording: "demo" };
  const ref = { type: "ref/prompt", name: "review_session" };
  await expect("tools/list", () => client.listTools({}, options));
  await expect("list", () => call("list_recordings", { kind: "reels" }));
  await expect("show", () => call("show_messages", { ...recording, filter: "tool:add_note" }));
  await expect("get", () => call("get_message", { ...recording, seq: 1 }));
  await expect("statistics", () => call("statistics", recording));
  await expect("findings", () => call("findings", recording));
  await expect("diff", () => call("diff", { a: "demo", b: "demo" }));
  await expect("explain", () => call("explain", { name: "tools/call" }));
  await expect("own failure", () => call("show_messages", { recording: "none" }));
  await expect("resources/list", () => client.listResources({}, options));
  await expect("resources/templates/list", () => client.listResourceTemplates({}, options));
  await expect("read", () => client.readResource({ uri: "mcpreel://reel/demo.reel" }, options));
  await expectRefusal("read unknown", () => client.readResource({ uri: "mcpreel://reel/none" }, options));
  await expect("prompts/list", () => client.listPrompts({}, options));
  await expect("prompts/get", () => client.getPrompt({ name: "review_session", arguments: recording }, options));
  await expect("complete", () => client.complete({ ref, argument: { name: "recording", value: "d" } }, options));
};

// ---- the run ----

const [scenario, command, ...args] = process.argv.slice(2);
const run = { everything, time, live, agents }[scenario];
if (run === undefined || command === undefined) {
  console.error("usage: client.mjs everything|time|live|agents CMD ARG... | URL");
  process.exit(2);
}
setTimeout(() => {
  console.error(`client.mjs: ${scenario} took longer than ${RUN_MS} ms`);
  process.exit(1);
}, RUN_MS).unref();
try {
  const { client, seen } = await connect(command, args);
  await run(client, seen).finally(async () => {
    await client.transport?.terminateSession?.();
    await client.close();
  });
} catch (error) {
  console.error(`client.mjs: ${error.stack}`);
  process.exitCode = 1;
}
