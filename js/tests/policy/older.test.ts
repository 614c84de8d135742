// What documents and plugins are told that have no words for what was seen of a request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, Plugin, PluginError, Policy, type PolicyDocument, type Result } from "outlast";
import type { WireResult } from "../../dist/wire/types.js";
import { READ, WRITE } from "../helpers.js";

/** A plugin that tells what it was asked, of an older contract if need be. */
class Listening extends Plugin {
  asked: { call: object; event: { result: WireResult } } | undefined;

  constructor(readonly minor?: number) {
    super();
  }

  override async ask(name: string, request: string): Promise<unknown> {
    if (name === "decide") {
      this.asked = JSON.parse(request);
    }
    const answer = await super.ask(name, request);
    return name === "describe" && this.minor !== undefined
      ? { ...(answer as object), abi: { major: 1, minor: this.minor, patch: 0 } }
      : answer;
  }
}

/** What a plugin is told of a result, and the kind of failure that it is to the policy. */
async function told(source: string | PolicyDocument, call: Call, result: Result, minor?: number) {
  const plugin = new Listening(minor);
  const policy = await Policy.load(source, { plugin });
  const session = policy.session(call, { seed: 1 });
  const action = await session.next(result, { now: 0 }).finally(() => plugin.close());
  const kind = action.type === "retry" ? action.kind : action.outcome.kind;
  const outcome = action.type === "retry" ? "retry" : action.outcome.type;
  return { ...plugin.asked!.event.result, kind, outcome, call: plugin.asked!.call };
}

const refused: Result = { failure: "unconnected", sent: "no", message: "no\n   1: way" };

/** A document that asks, or does not ask, for what was seen. */
const document = (failures?: string[]): PolicyDocument => ({
  version: 1,
  name: "mine",
  budgets: { b: { attempts: 2, backoff: { type: "linear", base: "1s", cap: "1s" } } },
  rules: [
    { kind: "away", when: [failures ? { failures } : { sent: ["no"] }], then: [{ retry: "b" }] },
    { kind: "failed", then: [{ stop: { effects: "unknown" } }] },
  ],
});

test("a policy that asks for failures is told of them, with the client's own words", async () => {
  for (const source of ["network", document(["unconnected"])]) {
    const { failure, message, stderr, outcome } = await told(source, WRITE, refused);
    assert.deepEqual([failure, message, stderr], ["unconnected", refused.message, undefined]);
    assert.equal(outcome, "retry");
  }
});

test("an older one is told what omnigraph's command would print", async () => {
  for (const [failure, kind] of [
    ["unresolved", "unavailable"],
    ["unconnected", "unavailable"],
    ["untrusted", "failed"],
    ["broke", "interrupted"],
    ["stale", "interrupted"],
    ["cut", "interrupted"],
    ["malformed", "unreadable"],
  ] as const) {
    for (const call of [READ, WRITE]) {
      const sent = failure.startsWith("un") ? "no" : "unknown";
      const said = await told("omnigraph", call, { failure, sent, message: "no\n  way" });
      assert.equal(said.kind, kind);
      assert.deepEqual([said.failure, said.message, said.sent], [undefined, undefined, sent]);
      assert.match(said.stderr!, /^Error: \n {3}0: e.*\n(.*\n)* {3}\d: no way\n\n$/);
    }
  }
  const { stderr } = await told(document(), READ, refused);
  assert.match(stderr!, /client error \(Connect\)/);
});

test("to an older one, a connection that could not be made would prove that nothing was sent", async () => {
  const result = { ...refused, sent: "unknown" } as const;
  assert.equal((await told("omnigraph", WRITE, result)).outcome, "indeterminate");
  assert.equal((await told("omnigraph", READ, result)).kind, "unavailable");
});

test("what an older plugin has no word for is left out", async () => {
  const call = { ...WRITE, refusesBeforeActing: true, oneRequest: true };
  const result: Result = { httpStatus: 429, onlyRequest: true };
  const seen = async (minor: number) => {
    const { call: asked, only_request } = await told("omnigraph", call, result, minor);
    return [only_request, asked];
  };
  const wire = ({ seed: _, ...members }: Record<string, unknown>) => members;
  const [only, asked] = await seen(3);
  assert.equal(only, true);
  const full = {
    ...WRITE,
    one_request: true,
    refuses_before_acting: true,
    connect_retry: undefined,
  };
  assert.deepEqual(wire(asked as never), JSON.parse(JSON.stringify(full)));
  const [only2, asked2] = await seen(2);
  assert.deepEqual([only2, wire(asked2 as never)], [undefined, { ...WRITE, one_request: true }]);
  const [only1, asked1] = await seen(1);
  assert.deepEqual([only1, wire(asked1 as never)], [undefined, { ...WRITE }]);
  const cut = await told("omnigraph", READ, { httpStatus: 200, failure: "cut" }, 2);
  assert.deepEqual([cut.http_status, cut.kind], [undefined, "interrupted"]);
});

test("a write that such a plugin would repeat wrongly ends with its first failure", async () => {
  for (const claim of [{ oneRequest: false }, { repeatable: true }]) {
    const failing = told("omnigraph", { ...WRITE, ...claim }, { exitCode: 1 }, 1);
    await assert.rejects(failing, (error) => {
      assert.ok(error instanceof PluginError);
      assert.match(error.message, /of contract 1\.1, which has no word for a write/);
      return true;
    });
    assert.equal(
      (await told("omnigraph", { ...READ, ...claim }, { exitCode: 1 }, 1)).kind,
      "failed",
    );
  }
});
