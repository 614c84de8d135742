// What an attempt threw is never lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Cancelled,
  outcomeOf,
  Plugin,
  PluginError,
  Policy,
  PolicyError,
  type resultOf,
  retry,
} from "outlast";
import { READ, refused, thrown, WRITE } from "../helpers.js";

// biome-ignore lint/suspicious/noExplicitAny: what was thrown is looked at
const caught = (call: Promise<unknown>): Promise<any> => call.catch((error: unknown) => error);

test("an abort does not hide what the attempt threw of its own", async () => {
  const controller = new AbortController();
  const bug = new TypeError("a bug");
  const buggy = () => {
    controller.abort("enough");
    throw bug;
  };
  const error = await caught(retry(buggy, WRITE, { signal: controller.signal }));
  assert.ok(error instanceof Cancelled);
  assert.deepEqual([error.cause, error.raised], ["enough", bug]);
});

test("a plugin or a policy that cannot be used does not hide it", async () => {
  const own = refused();
  const plugin = new Plugin("/nowhere/outlast.wasm");
  const without = await Policy.load("network", { plugin });
  const unloaded = await caught(retry(thrown(own), READ, { policy: without }));
  assert.ok(unloaded instanceof PluginError);
  assert.equal(unloaded.raised, own);
  assert.equal(unloaded.result?.failure, "unconnected");
  const faulty = await Policy.load({ version: 1 }, { check: false });
  const unread = await caught(retry(thrown(own), READ, { policy: faulty }));
  assert.ok(unread instanceof PolicyError);
  assert.equal(unread.raised, own);
});

test("a mapping that goes wrong has it as its cause", async () => {
  const own = refused();
  const bug = new RangeError("a bug");
  for (const [mapping, Wrong] of [
    [() => ({ retryAfter: "3" }), TypeError],
    [() => new Response("x"), TypeError],
    [thrown(bug), RangeError],
  ] as const) {
    const options = { resultOf: mapping as unknown as typeof resultOf };
    const error = await caught(retry(thrown(own), READ, options));
    assert.ok(error instanceof Wrong, String(error));
    assert.equal(error.cause, own);
  }
  const handedOn = { resultOf: thrown(own) };
  assert.equal(await caught(retry(thrown(own), READ, handedOn)), own);
});

test("an object whose every use throws comes out as it is", async () => {
  const trap = () => {
    throw new Error("a trap");
  };
  const own = new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap });
  for (const options of [{}, { reraise: true }, { resultOf: thrown(own) }]) {
    await retry(thrown(own), WRITE, options).then(
      () => assert.fail("it did not throw"),
      (error: unknown) => assert.ok(error === own),
    );
  }
  assert.equal(outcomeOf(own), undefined);
});
