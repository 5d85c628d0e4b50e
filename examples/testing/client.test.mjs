// Tests a client with a recording in place of its server: `node --test`. For Vitest or Jest, take `test` from there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { withMock } from "./mock-server.mjs";

test("the client adds", () => withMock(async (url) => {
  // The client under test:
  const client = ["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=40", "--format", "json"];
  const { stdout } = await promisify(execFile)("mcpreel", [...client, "--url", url]);
  assert.deepEqual(JSON.parse(stdout).structuredContent, { sum: 42 });
}));
