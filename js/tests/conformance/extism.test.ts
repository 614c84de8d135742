// Extism's SDK loads the same file, and decides alike. This package does without it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../helpers.js";

test("Extism's SDK replays the transcripts", { timeout: 300_000 }, () => {
  const said = execFileSync(process.execPath, ["--no-warnings", "hosts/node/replay.mjs"], {
    cwd: join(ROOT, ".."),
    env: { ...process.env, OUTLAST_NODE_MODULES: ROOT },
    encoding: "utf8",
  });
  assert.match(said, /^[1-9][0-9]+ passed, 0 failed\n$/);
});
