// The examples run as they are.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./helpers.js";

for (const [name, shown] of [
  ["survive-a-restart.mjs", /there: hello\n.*three seconds\nasked, and answered after .*: hello\n/],
  [
    "loop-of-ones-own.mjs",
    /unavailable; attempt 2 in [\d.]+ ms\n(.|\n)*ok: succeeded after .*: hello\n/,
  ],
] as const) {
  test(name, { timeout: 120_000 }, () => {
    const path = join(ROOT, "examples", name);
    assert.match(execFileSync(process.execPath, [path], { encoding: "utf8" }), shown);
  });
}
