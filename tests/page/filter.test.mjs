// The filter of the page decides as the program does: both run tests/page/filters.json.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FilterError, globTest, lowerAscii, parseFilter } from "../../src/page/assets/filter.mjs";

const EXTENSIONS = ["conversation", "reminder", "mcpl", "hooks", "mcpe"];
const { rows, cases } = JSON.parse(readFileSync(new URL("filters.json", import.meta.url), "utf8"));

function row(found) {
  const bits = (found.extensions ?? []).reduce((sum, name) => sum | (1 << EXTENSIONS.indexOf(name)), 0);
  return { injected: false, toolError: false, failed: false, ...found, extensions: bits };
}

for (const { filter, matches } of cases) {
  test(`filter ${JSON.stringify(filter)}`, () => {
    if (matches === undefined) {
      assert.throws(() => parseFilter(filter, EXTENSIONS), FilterError);
      return;
    }
    const decide = parseFilter(filter, EXTENSIONS);
    const found = rows.flatMap((one, at) => (decide(row(one), lowerAscii(one.text)) ? [at] : []));
    assert.deepEqual(found, matches);
    for (const one of rows) {
      const without = decide(row(one));
      assert.ok(without === null || without === decide(row(one), lowerAscii(one.text)), "a text changes no decision");
    }
  });
}

test("what is nested too deep is refused", () => {
  assert.throws(() => parseFilter("(".repeat(100_000)), /100 levels/);
  assert.throws(() => parseFilter("not ".repeat(100_000)), /100 levels/);
});

test("a pattern never means more than its wildcards", () => {
  assert.ok(globTest("a.b+c$|d")("a.b+c$|d"));
  assert.ok(!globTest("a.b")("axb"));
  assert.ok(globTest("*")("two\nlines"));
});
