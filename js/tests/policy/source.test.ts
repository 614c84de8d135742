import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Plugin, Policy, PolicyError } from "outlast";
import { document, folder, READ, REFUSED } from "../helpers.js";

test("a policy by name, by path, by address and as an object", async (t) => {
  const path = join(folder(t), "mine.json");
  writeFileSync(path, JSON.stringify(document()));
  const marked = join(folder(t), "marked.json"); // as editors on Windows write it
  writeFileSync(marked, `\ufeff${JSON.stringify(document())}`);
  const object = await Policy.load(document());
  for (const source of [path, pathToFileURL(path), marked]) {
    const policy = await Policy.load(source);
    assert.equal(policy.name, "mine");
    assert.equal(await policy.digest(), await object.digest());
    assert.deepEqual(await policy.document(), await object.document());
  }
  const builtIn = await Policy.load("witan-core");
  assert.match(await builtIn.digest(), /^[0-9a-f]{32}$/);
  assert.equal((await builtIn.document()).name, builtIn.name);
});

test("a document has every default filled in", async () => {
  const policy = await Policy.load(document());
  const { budgets } = (await policy.document()) as { budgets: { away: { call_budget: string } } };
  assert.equal(budgets.away.call_budget, "clamp");
});

test("all faults of a document show at once", async () => {
  const wrong = { ...document(), colours: "blue", more: 1 };
  const error = await Policy.load(wrong).catch((e: unknown) => e);
  assert.ok(error instanceof PolicyError);
  assert.equal(error.code, "invalid_policy");
  assert.deepEqual(error.faults.map((fault) => fault.field).sort(), ["colours", "more"]);
  assert.match(error.message, /outlast: policy mine: the document has 2 faults\n {2}/);
});

test("a check can be put off to the first failure", async () => {
  const plugin = new Plugin();
  const policy = await Policy.load({ name: "bad" }, { check: false, plugin });
  assert.equal(plugin.loaded, false);
  await policy.run(() => ({ exitCode: 0 }), READ);
  await assert.rejects(
    policy.run(() => ({ exitCode: 1, stderr: REFUSED }), READ),
    PolicyError,
  );
  await plugin.close();
});

const COMMANDS = new URL("../../../commands/", import.meta.url);

test("each policy for a common command waits through its own sample", async () => {
  const names = readdirSync(COMMANDS).filter((name) =>
    existsSync(new URL(`${name}/policy.json`, COMMANDS)),
  );
  assert.ok(names.length > 5, String(names));
  for (const name of names) {
    const policy = await Policy.load(name);
    assert.equal(policy.name, name);
    const text = readFileSync(new URL(`${name}/policy.json`, COMMANDS), "utf8");
    assert.equal(await policy.digest(), await (await Policy.load(JSON.parse(text))).digest());
    const sample = JSON.parse(readFileSync(new URL(`${name}/sample.json`, COMMANDS), "utf8"));
    const action = await policy
      .session(READ)
      .next({ exitCode: sample.exit_code, stderr: sample.stderr, sent: sample.sent });
    assert.equal(action.type, "retry", name);
  }
});

test("what is no policy says what would be", async (t) => {
  const empty = join(folder(t), "empty.json");
  writeFileSync(empty, "");
  const broken = join(folder(t), "broken.json");
  writeFileSync(broken, Buffer.from([0x7b, 0xff, 0x7d]));
  const circle: Record<string, unknown> = { name: "circle" };
  circle.self = circle;
  for (const [source, code, text] of [
    ["omnigraf", "unknown_policy", /no such policy; built in are omnigraph, witan-core, network/],
    ["capture", "unknown_policy", /for common commands there are curl, git, kubectl/],
    ["..", "unknown_policy", /no such policy/],
    ["", "unknown_policy", /no such policy/],
    ["./nowhere.json", "unreadable", /cannot read the document: ENOENT/],
    [broken, "unreadable", /cannot read the document/],
    [empty, "invalid_policy", /empty\.json: the document has 1 fault/],
    [circle, "invalid_policy", /policy circle: the document is not JSON/],
    [
      { name: "long", description: "x".repeat(300_000) },
      "invalid_policy",
      /more than 262144 bytes/,
    ],
  ] as const) {
    const error = await Policy.load(source as string).catch((e: unknown) => e);
    assert.ok(error instanceof PolicyError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
  }
  await assert.rejects(Policy.load(5 as never), /policy is 5, and must be a name/);
});
