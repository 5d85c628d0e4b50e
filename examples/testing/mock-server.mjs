// A recording in place of a server, for tests with node:test, Vitest or Jest. Needs nothing but mcpreel.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const REEL = fileURLToPath(new URL("session.jsonl", import.meta.url));

// Calls `use` with the URL of a fresh mock. Throws if the client did not do what was recorded.
export async function withMock(use, reel = REEL) {
  const mock = await startMock(reel);
  const [outcome] = await Promise.allSettled([use(mock.url)]);
  await mock.stop();
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

// Serves a recording. `stop` ends it, and throws if the client did not do what was recorded.
export async function startMock(reel = REEL) {
  const child = spawn("mcpreel", ["mock", reel, "--strict", "--listen", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  let report = "";
  child.stderr.on("data", (text) => { report += text; });
  const ended = once(child, "close");
  const began = once(createInterface({ input: child.stdout }), "line");
  const [line] = await Promise.race([began, ended.then(() => [])]);
  if (!line) throw new Error(`the mock did not start: ${report}`);
  const stop = async () => {
    child.kill();
    const [code] = await ended;
    if (code !== 0) throw new Error(`the client did not do what was recorded:\n${report}`);
  };
  return { url: JSON.parse(line).url, stop };
}
