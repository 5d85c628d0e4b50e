// Tests a client with a recording in place of its server: `node --test examples/testing`. For Vitest or Jest, take
// `test`, `beforeEach` and `afterEach` from there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { afterEach, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { startMock } from "./mock-server.mjs";

let mock;
beforeEach(async () => { mock = await startMock(); });
afterEach(() => mock.stop());

test("the client adds", async () => {
  // The client under test:
  const client = ["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=40", "--format", "json"];
  const { stdout } = await promisify(execFile)("mcpreel", [...client, "--url", mock.url]);
  assert.deepEqual(JSON.parse(stdout).structuredContent, { sum: 42 });
});
