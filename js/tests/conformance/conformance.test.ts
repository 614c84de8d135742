// The contract's cases, all of them, through every door that they have, on one instance.
// `run` can be played too, since a transcript answers at once: only attempts that take time
// cannot be made in a host function on Node's main thread.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readWasm } from "../../dist/plugin/file.js";
import { Instance } from "../../dist/plugin/instance.js";
import { compile } from "../../dist/plugin/module.js";
import { load, replay } from "./transcripts.js";

const exchanges = load();

async function instance(): Promise<Instance> {
  return Instance.of(await compile((await readWasm()).bytes));
}

test("conformance", { timeout: 600_000 }, async () => {
  const plugin = await instance();
  const problems: string[] = [];
  const cases = new Set<string>();
  for (const each of exchanges) {
    const name = `${each.case} ${each.door}`;
    cases.add(name);
    problems.push(...(await replay(plugin, each)).map((problem) => `${name}: ${problem}`));
  }
  console.log(`conformance: ${cases.size} passed, ${problems.length} failed`);
  assert.deepEqual(problems, []);
  assert.ok(cases.size > 1000);
});

test("a difference is noticed", { timeout: 600_000 }, async () => {
  const plugin = await instance();
  for (const door of ["decide", "run", "first", "resumed"]) {
    const delayed = exchanges.filter(
      (each) => each.door === door && JSON.stringify([each.output, each.calls]).includes(DELAY),
    );
    assert.ok(delayed.length > 20, door);
    for (const each of delayed.slice(0, 20)) {
      const calls = each.calls?.map((call) => ({ ...call, input: longer(call.input) }));
      const spoilt = { ...each, output: longer(each.output), ...(calls && { calls }) };
      assert.notDeepEqual(await replay(plugin, spoilt), [], each.case);
    }
  }
});

const DELAY = 'delay_us\\":5';

function longer(text: string): string {
  return text.replaceAll('"delay_us":5', '"delay_us":6');
}
