// The log of many calls in one outage.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallEvent,
  type LogOptions,
  logTo,
  type Outcome,
  type OutcomeType,
  Policy,
} from "outlast";
import { virtualTime } from "outlast/testing";
import { after, FAILED, READ } from "../helpers.js";

/** A hook whose lines are kept, on a clock that the test moves. */
function kept(options: LogOptions = {}) {
  const lines: unknown[][] = [];
  let time = 0;
  const taken = () => lines.splice(0).map(([text]) => text);
  const write = (...line: unknown[]) => void lines.push(line);
  const logger = { debug: write, info: write, warn: write, error: write };
  const hook = logTo(logger, { now: () => time, ...options });
  const at = (ms: number) => {
    time = ms;
  };
  return { lines, taken, hook, at };
}

const TOLD = { call: READ, policy: "p", command: "" };

const waiting = (kind = "unavailable", again = false): CallEvent => ({
  ...{ type: "waiting", kind, budget: "b", attempt: 2, delay: 1000, again, at: 0, ...TOLD },
});

const leftOut: CallEvent = { type: "leftOut", notReady: false, at: 0, ...TOLD };

const stopped = (type: OutcomeType): CallEvent => {
  const said = { type, ok: type === "ok", attempts: 2, elapsed: 0, message: `it is ${type}` };
  return { type: "stopped", outcome: said as Outcome, at: 0, ...TOLD };
};

const FIRST = "outlast: unavailable; attempt 2 in 1.00 s";

test("an attempt that is left out is told once, and what follows says still", () => {
  const { hook, taken } = kept();
  const [first, other] = [hook.begin(READ, "p", "")!, hook.begin(READ, "p", "")!];
  for (const call of [first, other]) {
    const still = waiting("unavailable", true);
    for (const event of [waiting(), leftOut, still, leftOut, still]) {
      call.tell(event);
    }
  }
  const next = "the next attempt is made when it is back, or when one is due all the same";
  assert.deepEqual(taken(), [
    FIRST,
    `outlast: the server is seen to be down: ${next}`,
    "outlast: still unavailable; attempt 2 in 1.00 s",
    "outlast: still unavailable; attempt 2 in 1.00 s",
  ]);
});

test("the first call has its lines, and the others are counted", () => {
  const { hook, taken, at } = kept();
  const calls = [0, 1, 2, 3].map(() => hook.begin(READ, "p", "")!);
  for (const call of [...calls, ...calls]) {
    call.tell(waiting());
  }
  assert.deepEqual(taken(), [FIRST, FIRST]);
  at(6000);
  calls[1]!.tell(waiting());
  calls[2]!.tell(waiting());
  assert.deepEqual(taken(), ["outlast: 3 more calls have waited, 3 of them still do"]);
  for (const [index, how] of (["ok", "ok", "exhausted", "cancelled"] as const).entries()) {
    calls[index]!.tell(stopped(how));
    calls[index]!.end!();
  }
  // The first call's own, that of the one which needs a person, and that of all.
  const all = "outlast: 3 more calls waited; 1 cancelled, 1 exhausted, 1 ok";
  assert.deepEqual(taken(), ["outlast: it is ok", "outlast: it is exhausted", all]);
  hook.begin(READ, "p", "")!.tell(waiting());
  assert.deepEqual(taken(), [FIRST]); // the next outage
});

test("a call alone has no line on all; policies and kinds are told apart", () => {
  const { hook, taken } = kept();
  const call = hook.begin(READ, "p", "")!;
  call.tell(waiting());
  hook.begin(READ, "p", "")!.tell(waiting("busy"));
  call.tell(stopped("indeterminate"));
  call.end!();
  assert.deepEqual(taken(), [
    ...[FIRST, "outlast: busy; attempt 2 in 1.00 s", "outlast: it is indeterminate"],
  ]);
});

test("a call that has no outcome is no longer waited for", () => {
  const { hook, taken } = kept();
  const calls = [hook.begin(READ, "p", "")!, hook.begin(READ, "p", "")!];
  for (const call of calls) {
    call.tell(waiting());
    call.tell({ type: "repairing", kind: "k", force: false, at: 0, ...TOLD });
  }
  calls[0]!.end!(new Error());
  calls[1]!.end!(new RangeError());
  assert.deepEqual(taken(), [
    ...[FIRST, "outlast: k; repairing", "outlast: 1 more calls waited; 1 RangeError"],
  ]);
});

test("three hundred calls in one outage", async () => {
  const { hook: observe, lines } = kept({ fields: "last" });
  const policy = await Policy.load("omnigraph");
  const call = (seed: number) =>
    virtualTime(() =>
      policy.run(
        after(3, () => FAILED),
        READ,
        { observe, seed },
      ),
    );
  await Promise.all(Array.from({ length: 300 }, (_, seed) => call(seed)));
  assert.ok(lines.length <= 12, String(lines.length));
  const fields = { kind: "unavailable", calls: 299, outcomes: { ok: 299 }, policy: "omnigraph" };
  assert.deepEqual(lines.at(-1), ["outlast: 299 more calls waited; 299 ok", fields]);
});

test("a logger gets the fields where it wants them", async () => {
  const policy = await Policy.load("omnigraph");
  const { hook: observe, lines } = kept({ fields: "first" });
  const call = { ...READ, label: "query" };
  await virtualTime(() =>
    policy.run(
      after(1, () => FAILED),
      call,
      { observe, seed: 7 },
    ),
  );
  const [fields, text] = lines.find(([, text]) => String(text).includes("attempt 2"))!;
  assert.match(String(text), /^outlast: query: unavailable; attempt 2 in 0.53 s/);
  const { delay, ...rest } = fields as { delay: number };
  assert.equal(delay.toFixed(2), "0.53");
  assert.deepEqual(rest, {
    ...{ kind: "unavailable", budget: "unavailable", attempt: 2, remaining: 150 },
    ...{ policy: "omnigraph", label: "query" },
  });
  const stopped = lines.at(-1)![0] as { outcome: string; attempts: number };
  assert.deepEqual([stopped.outcome, stopped.attempts], ["ok", 2]);
});
