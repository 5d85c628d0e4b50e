// Uses the page of a session in a browser, as a colleague would: small and hostile, and with 100,000 messages.
//
//   node tests/page/browser.mjs MCPREEL [SCREENSHOTS]
//
// Needs Chromium (CHROMIUM names it; Debian's by default), and playwright-core and axe-core in target/real
// (tests/real/install.sh) or in the folder that MCPREEL_REAL_PEERS names. SCREENSHOTS is a folder for pictures to look at.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , mcpreel, pictures] = process.argv;
const peers = process.env.MCPREEL_REAL_PEERS ?? new URL("../../target/real", import.meta.url).pathname;
const require = createRequire(join(resolve(peers), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const MESSAGES = 100_000;
const READY_MS = 2000;
const LONGEST_TASK_MS = 100;
const MEMORY_BYTES = 300e6;
const HOSTILE = `</script><script>window.owned=1</script><img src=x onerror="window.owned=1">\u001b[31m\u202e`;

const home = mkdtempSync(join(tmpdir(), "mcpreel-page-"));
const run = (...words) => execFileSync(mcpreel, words, { cwd: home, env: { ...process.env, MCPREEL_HOME: home }, stdio: ["pipe", "pipe", "pipe"] });

/** The page of a session with these events. */
function page(name, events) {
  const header = { reel: { version: 1, created: "2026-01-02T03:04:05Z", tool: "test" } };
  writeFileSync(join(home, `${name}.jsonl`), [header, ...events].map((line) => JSON.stringify(line)).join("\n"));
  run("import", `${name}.jsonl`, "-o", `${name}.reel`);
  run("export", "--format", "html", `${name}.reel`, "-o", `${name}.html`);
  return join(home, `${name}.html`);
}

const at = (millis) => new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + millis).toISOString();
const message = (millis, dir, content) => ({ time: at(millis), stream: 1, dir, event: "message", message: { jsonrpc: "2.0", ...content } });

/** Every field that a stranger can fill contains markup. */
function hostile() {
  const params = { clientInfo: { name: HOSTILE, version: HOSTILE }, protocolVersion: "2025-11-25", capabilities: { [HOSTILE]: {} } };
  const server = { serverInfo: { name: HOSTILE, version: HOSTILE }, protocolVersion: "2025-11-25", capabilities: {}, instructions: HOSTILE };
  return [
    message(0, "c2s", { id: HOSTILE, method: "initialize", params }),
    message(5, "s2c", { id: HOSTILE, result: server }),
    message(10, "c2s", { id: 2, method: "tools/call", params: { name: HOSTILE, arguments: { [HOSTILE]: HOSTILE } } }),
    message(900, "s2c", { id: 2, result: { isError: true, content: [{ type: "text", text: HOSTILE }] } }),
    message(910, "s2c", { method: HOSTILE, params: { text: HOSTILE } }),
    message(915, "c2s", { id: 3, method: HOSTILE }),
    message(920, "s2c", { id: 3, error: { code: -32601, message: HOSTILE, data: HOSTILE } }),
    { time: at(930), stream: 1, event: "stderr", framing: "whole", text: `${HOSTILE}\n` },
    { time: at(940), stream: 1, dir: "s2c", event: "message", text: HOSTILE },
  ];
}

/** Calls with progress; one of them is slow, and one text occurs once. */
function many() {
  const events = [];
  for (let id = 0; events.length < MESSAGES; id += 1) {
    const [time, text] = [id * 10, id === 12_345 ? "the needle" : `result ${id} ${"x".repeat(id % 200)}`];
    events.push(message(time, "c2s", { id, method: "tools/call", params: { name: `tool_${id % 20}`, arguments: { number: id } } }));
    events.push(message(time + 2, "s2c", { method: "notifications/progress", params: { progressToken: id, progress: 1 } }));
    events.push(message(time + (id === 777 ? 5000 : 5), "s2c", { id, result: { content: [{ type: "text", text }] } }));
  }
  return events.sort((a, b) => a.time.localeCompare(b.time));
}

/** Opens a page; every request and every error is a failure. */
async function open(context, file) {
  const tab = await context.newPage();
  const faults = [];
  tab.on("request", (request) => request.url().startsWith("file:") && request.isNavigationRequest() ? null : faults.push(`request: ${request.url()}`));
  tab.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  tab.on("console", (line) => line.type() === "error" && faults.push(`console: ${line.text()}`));
  await tab.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ type: "longtask", buffered: false });
  });
  const began = performance.now();
  await tab.goto(pathToFileURL(file).href);
  await tab.waitForSelector("body[data-ready]");
  return { tab, faults, ready: performance.now() - began };
}

async function picture(tab, name) {
  if (pictures) await tab.screenshot({ path: join(pictures, `${name}.png`) });
}

/** No serious violation, in both themes. */
async function accessible(tab, name) {
  await tab.evaluate(`${axe};0`).catch(() => null);
  const found = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  const told = serious.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200)}`).join("; ")}`);
  assert.deepEqual(told, [], name);
}

const rows = (tab, list) => tab.locator(`#${list} .row`);
const count = (tab) => tab.locator("#count").textContent();

async function setFilter(tab, text, expected) {
  await tab.fill("#filter", text);
  await tab.waitForFunction((wanted) => document.getElementById("count").textContent === wanted, expected, { timeout: 20_000 });
}

async function small(context) {
  const { tab, faults } = await open(context, page("small", hostile()));
  assert.ok((await tab.locator("h2").first().textContent()).startsWith("Findings"), "findings come first");
  assert.equal(await tab.evaluate(() => window.owned), undefined);
  await picture(tab, "overview-light");
  await accessible(tab, "overview");
  // The first filter, typed on the overview, opens the list with what it selects.
  await setFilter(tab, "error kind:result", "1 of 9 events");
  assert.equal(await rows(tab, "list").count(), 1);
  await tab.keyboard.press("Escape");
  assert.equal(await tab.inputValue("#filter"), "error kind:result", "Escape leaves the filter as it is");
  await setFilter(tab, "", "9 events");
  // A link of the overview, and back.
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("1");
  await tab.locator("#overview a", { hasText: "seq 2" }).first().click();
  await tab.waitForSelector("#list", { state: "visible" });
  await tab.goBack();
  await tab.waitForSelector("#overview", { state: "visible" });
  assert.ok(!(await tab.locator("#panel").isVisible()));
  await tab.keyboard.press("2");
  await tab.keyboard.press("j");
  await tab.waitForFunction(() => location.hash === "#seq-3");
  await tab.keyboard.press("Escape");
  await tab.click("#tab-timeline");
  const range = await tab.locator("#range").textContent();
  await tab.keyboard.press("+");
  assert.notEqual(await tab.locator("#range").textContent(), range);
  await tab.keyboard.press("Home");
  await tab.click("#tab-messages");
  assert.equal(await rows(tab, "list").count(), 9);
  await rows(tab, "list").nth(3).click();
  assert.equal(new URL(tab.url()).hash, "#seq-3");
  await tab.waitForSelector("#panel .json-root");
  assert.ok((await tab.locator("#panel").textContent()).includes("The request: seq 2"));
  assert.ok((await tab.locator("#panel .json-root").textContent()).includes("</script><script>"), "the text is there");
  const root = tab.locator("#panel details.json").first();
  await root.locator("summary").first().click();
  assert.equal(await root.evaluate((element) => element.open), false, "it is folded");
  await root.locator("summary").first().click();
  await tab.locator("#panel summary", { hasText: "Bytes" }).click();
  assert.match(await tab.locator("#panel .hex").textContent(), /^00000000 {2}7b/);
  await picture(tab, "panel-light");
  await accessible(tab, "panel");
  await tab.locator("#panel a", { hasText: "seq 2" }).first().click();
  await tab.waitForFunction(() => document.getElementById("panel-title").textContent.startsWith("Event 2"));
  await tab.keyboard.press("p");
  await tab.waitForFunction(() => location.hash === "#seq-3");
  await tab.keyboard.press("Escape");
  assert.ok(!(await tab.locator("#panel").isVisible()));
  await setFilter(tab, "error kind:result", "1 of 9 events");
  await tab.fill("#filter", "(");
  await tab.waitForFunction(() => document.getElementById("filter-state").textContent.includes("missing term"));
  await setFilter(tab, "text:WINDOW.OWNED", "9 of 9 events".replace("9 of ", ""));
  for (const tabName of ["sequence", "timeline"]) {
    await tab.click(`#tab-${tabName}`);
    await tab.waitForTimeout(100);
    await picture(tab, `${tabName}-light`);
    await accessible(tab, tabName);
  }
  await zoom(tab);
  await tab.selectOption("#theme", "dark");
  assert.equal(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(13, 17, 23)");
  for (const tabName of ["overview", "messages", "timeline", "sequence"]) {
    await tab.click(`#tab-${tabName}`);
    await tab.waitForTimeout(100);
    await picture(tab, `${tabName}-dark`);
    await accessible(tab, `${tabName}, dark`);
  }
  await tab.emulateMedia({ media: "print" });
  await tab.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.ok((await tab.locator("#print").textContent()).startsWith("Sequence"));
  assert.ok(!(await tab.locator("#filter-form").isVisible()));
  await tab.evaluate(() => document.getElementById("tab-messages").click());
  await tab.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await tab.locator("#print .row:not(.heading)").count(), 9);
  assert.equal(await tab.evaluate(() => getComputedStyle(document.body).color), "rgb(31, 35, 40)", "paper is white, also in the dark theme");
  await picture(tab, "print");
  assert.equal(await tab.evaluate(() => window.owned), undefined, "no text of the session ran");
  assert.deepEqual(faults, []);
  await tab.close();
}

async function zoom(tab) {
  const range = () => tab.locator("#range").textContent();
  const whole = await range();
  await tab.getByRole("button", { name: "Zoom in" }).click();
  const zoomed = await range();
  assert.notEqual(zoomed, whole);
  await tab.locator("canvas").focus();
  await tab.keyboard.press("ArrowRight");
  assert.notEqual(await range(), zoomed);
  await tab.getByRole("button", { name: "Whole session" }).click();
  assert.equal(await range(), whole);
}

async function large(context) {
  const file = page("large", many());
  const { tab, faults, ready } = await open(context, file);
  const total = Number((await count(tab)).replace(/\D/g, ""));
  assert.ok(total >= MESSAGES, `${total}`);
  await tab.click("#tab-messages");
  await tab.evaluate(() => (window.tasks.length = 0));
  const list = tab.locator("#list");
  for (let step = 0; step < 40; step += 1) {
    await list.evaluate((element, part) => (element.scrollTop = part * element.scrollHeight), (step * 7919 % 1000) / 1000);
    await tab.waitForTimeout(16);
  }
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.ok((await rows(tab, "list").count()) < 200, "only the rows on screen are in the document");
  await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
  await tab.waitForSelector(`#list-${total - 1}`);
  await setFilter(tab, "slow:>1s", `1 of ${total.toLocaleString("en")} events`);
  await setFilter(tab, "text:\"the needle\"", `1 of ${total.toLocaleString("en")} events`);
  await setFilter(tab, "method:tools/* not kind:request", `33,334 of ${total.toLocaleString("en")} events`);
  const tasks = await tab.evaluate(() => window.tasks);
  for (const tabName of ["sequence", "timeline"]) {
    await tab.click(`#tab-${tabName}`);
    await tab.waitForTimeout(300);
    await picture(tab, `large-${tabName}`);
  }
  await tab.click("#tab-messages");
  await picture(tab, "large-messages");
  const session = await context.newCDPSession(tab);
  await session.send("HeapProfiler.collectGarbage");
  const { jsHeapUsedSize: _, ...heap } = await session.send("Runtime.getHeapUsage");
  const figures = {
    messages: total, file_MB: Math.round(statSync(file).size / 1e5) / 10, ready_ms: Math.round(ready),
    longest_task_ms: Math.max(0, ...tasks), heap_MB: Math.round(heap.usedSize / 1e6),
  };
  console.log(JSON.stringify(figures));
  assert.deepEqual(faults, []);
  assert.ok(ready < READY_MS, `interactive after ${ready} ms`);
  assert.ok(figures.longest_task_ms <= LONGEST_TASK_MS, `a task took ${figures.longest_task_ms} ms`);
  assert.ok(heap.usedSize < MEMORY_BYTES, `${heap.usedSize} bytes of heap`);
  await tab.close();
}

async function compared(context) {
  const other = hostile();
  other[3].message.result.content[0].text = `changed ${HOSTILE}`;
  page("a", hostile());
  page("b", other);
  let made;
  try {
    made = run("diff", "a.reel", "b.reel", "--format", "html");
  } catch (error) {
    assert.equal(error.status, 1, "they differ");
    made = error.stdout;
  }
  writeFileSync(join(home, "diff.html"), made);
  const tab = await context.newPage();
  const faults = [];
  tab.on("console", (line) => line.type() === "error" && faults.push(line.text()));
  await tab.goto(pathToFileURL(join(home, "diff.html")).href);
  assert.ok((await tab.locator("main").textContent()).includes("changed"));
  assert.equal(await tab.evaluate(() => window.owned), undefined);
  await picture(tab, "diff");
  await accessible(tab, "diff");
  assert.deepEqual(faults, []);
}

if (pictures) mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: false });
  await small(context);
  await large(context);
  await compared(context);
  console.log("the pages do what they should");
} finally {
  await browser.close();
  if (!process.env.KEEP) rmSync(home, { recursive: true, force: true });
}
