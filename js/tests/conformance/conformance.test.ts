// The contract's cases, all of them, through every door that they have. One instance plays
// them, as the package has it. `run` can be played too, since a script answers at once: only
// attempts that take time cannot be made in a host function on Node's main thread.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Instance } from "../../dist/engine.js";
import { compile } from "../../dist/module.js";
import { readWasm } from "../../dist/wasm.js";
import { type Door, load } from "./cases.js";
import { check } from "./doors.js";

interface Exception {
  doors: string[];
  reason: string;
}

const cases = load();
const listed = new URL("../../tests/conformance/exceptions.json", import.meta.url);
const exceptions: Record<string, Exception> = JSON.parse(readFileSync(listed, "utf8")).exceptions;

test("conformance", { timeout: 600_000 }, async () => {
  const instance = await Instance.of(await compile((await readWasm()).bytes));
  const problems: string[] = [];
  let passed = 0;
  for (const each of cases) {
    const doors: (Door | "request")[] = each.members.export ? ["request"] : each.doors;
    for (const door of doors) {
      const found = await check(instance, each, door);
      const excepted = exceptions[each.name]?.doors.includes(door) ?? false;
      if (found.length > 0 === excepted) {
        passed++;
      } else {
        const said = excepted ? ["it passes, and is listed as an exception"] : found;
        problems.push(
          `${each.file} ${each.name}, ${door}: ${said.join("; ")}\n  ${each.members.why}`,
        );
      }
    }
  }
  await instance.close();
  console.log(`conformance: ${passed} passed, ${problems.length} failed`);
  assert.deepEqual(problems, []);
});

test("there are cases, and each exception is one and has its reason", () => {
  assert.ok(cases.length > 500);
  const names = new Set(cases.map((each) => each.name));
  assert.equal(names.size, cases.length);
  for (const [name, { reason }] of Object.entries(exceptions)) {
    assert.ok(names.has(name), `no case is called ${name}`);
    assert.ok(reason.length > 20, `${name} needs a reason`);
  }
});
