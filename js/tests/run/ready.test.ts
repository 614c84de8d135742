import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type CallEvent, outcomeOf, Policy, type RunOptions, retry, runCommand } from "outlast";
import { virtualTime } from "outlast/testing";
import {
  after,
  always,
  nowhere,
  patient,
  READ,
  refused,
  returning,
  serve,
  thrown,
  WRITE,
} from "../helpers.js";

test("a read goes on as soon as its server accepts", async (t) => {
  const { url, port, observe: hear } = await returning(t);
  const told: CallEvent[] = [];
  const observe = (event: CallEvent) => {
    hear(event);
    told.push(event);
  };
  const ready = `tcp://127.0.0.1:${port}`;
  await retry(() => fetch(url), READ, { ready, observe, policy: await patient(), attempts: 2 });
  assert.ok(told.some((event) => event.type === "woken" && event.by === "accepting"));
  assert.ok(told.some((event) => event.type === "waiting" && event.watched === "accepting"));
});

test("a write goes on when its server is ready, and not before", async (t) => {
  const { url, observe, isReady, asked } = await returning(t);
  const post = async () => {
    assert.ok(asked.length === 0 || isReady(), "before it was ready");
    return fetch(url, { method: "POST", body: "x" });
  };
  const ready = new URL(url);
  const options = { ready, observe, policy: await patient(), onlyRequest: true };
  const answer = await retry(post, WRITE, options);
  assert.equal(await answer.text(), "POST");
  assert.ok(asked.filter((each) => each === "GET /healthz").length >= 2);
});

for (const call of [READ, WRITE]) {
  const what = call.write ? "write" : "read";
  test(`a ${what} goes on when a health check that was 503 is good, and not before`, async (t) => {
    const { url, types, observe, isReady, asked } = await returning(t);
    const attempts: boolean[] = [];
    const work = () => {
      attempts.push(isReady());
      return fetch(url);
    };
    const answer = await retry(work, call, { ready: url, observe, policy: await patient() });
    await answer.text();
    assert.deepEqual(attempts, [false, true]);
    assert.ok(types.has("woken"));
    assert.ok(asked.filter((each) => each === "GET /healthz").length > 2);
  });

  test(`a health check that is 503 for good delays a ${what} by a cap of the backoff`, async (t) => {
    const ready = await serve(t, (_, answer) => void answer.writeHead(503).end());
    const {
      name: _,
      budgets,
      ...rest
    } = (await (await Policy.load("network")).document()) as {
      name: string;
      budgets: { unavailable: object };
    };
    const backoff = { type: "linear", base: "100ms", cap: "1s" };
    const unavailable = { ...budgets.unavailable, max_wait: "30s", backoff };
    const policy = await Policy.load({
      ...{ ...rest, name: "short" },
      budgets: { ...budgets, unavailable },
    });
    let isLeftOut = false;
    const observe = (event: CallEvent) => {
      isLeftOut ||= event.type === "leftOut" && event.notReady;
    };
    const work = () => {
      if (!isLeftOut) {
        throw refused();
      }
      return "done";
    };
    const began = performance.now();
    assert.equal(await retry(work, call, { ready, observe, policy, onlyRequest: true }), "done");
    assert.ok(performance.now() - began < 15_000);
  });
}

test("looks take no evidence away from the attempts beside them", async (t) => {
  const { url, observe } = await returning(t);
  const post = () => fetch(url, { method: "POST", body: "x" });
  const asked = retry(post, WRITE, { ready: url, observe });
  const [answer] = await Promise.all([
    asked,
    retry(() => fetch(url), READ, { ready: `${url}healthz` }),
  ]);
  assert.equal(answer.status, 200);
});

test("what woke a call in vain leaves the schedule as it is", async () => {
  await virtualTime(async (clock) => {
    const ready = always("ready");
    const attempts: number[] = [];
    const outcome = await (await Policy.load("network")).run(
      () => {
        attempts.push(clock.now());
        return { failure: "unconnected", sent: "no" };
      },
      WRITE,
      { ready, seed: 3 },
    );
    assert.equal(outcome.type, "exhausted");
    assert.equal(outcome.budget, "unavailable");
    assert.ok(attempts[1]! < 200, "woken at once");
    const vain = ready.watches.filter(([eager]) => !eager).length;
    assert.ok(vain > 0, "after a vain wake it is looked seldom");
    assert.ok(ready.watches.every(([, stopped]) => stopped));
    assert.equal(attempts.at(-1), 150_000);
  });
});

test("accepting is too little for a write", async () => {
  await virtualTime(async (clock) => {
    const ready = always("accepting");
    const attempt = after(1, () => ({ failure: "unconnected", sent: "no" }));
    await (await Policy.load("network")).run(attempt, WRITE, { ready });
    assert.ok(clock.now() >= 500);
  });
});

test("attempts that would fail are left out, but never the deadline's", async () => {
  await virtualTime(async (clock) => {
    const ready = always(undefined, { down: true });
    const work = thrown(refused());
    const error = await retry(work, READ, { ready }).catch((e: unknown) => e);
    assert.deepEqual([outcomeOf(error)?.attempts, clock.now()], [2, 150_000]);
  });
});

test("of a server that is not ready they are left out for a cap of the backoff", async () => {
  await virtualTime(async (clock) => {
    const ready = always(undefined, { notReady: true });
    const attempts: number[] = [];
    const told = new Set<boolean>();
    const observe = (event: CallEvent) => {
      if (event.type === "leftOut") {
        told.add(event.notReady);
      }
    };
    const work = () => {
      attempts.push(clock.now());
      throw refused();
    };
    await retry(work, READ, { ready, observe }).catch((e: unknown) => e);
    const between = attempts.slice(1).map((at, before) => at - attempts[before]!);
    assert.ok(
      between.every((wait) => wait <= 10_001),
      String(between),
    );
    assert.ok(between[0]! > 9_000, String(between));
    assert.deepEqual([...told], [true]);
  });
});

test("of a call that may make so many attempts none is left out", async () => {
  await virtualTime(async (clock) => {
    const told = new Set<string>();
    const observe = ({ type }: CallEvent) => void told.add(type);
    const ended = async (options: RunOptions) => {
      const began = clock.now();
      const error = await retry(thrown(refused()), READ, {
        ...options,
        attempts: 3,
        seed: 1,
      }).catch((e: unknown) => e);
      const { attempts, reason } = outcomeOf(error)!;
      return [attempts, reason, Math.round(clock.now() - began)];
    };
    const [attempts, reason, took] = await ended({});
    assert.deepEqual([attempts, reason], [3, "attempts"]);
    const watched = { ready: always(undefined, { down: true }), observe };
    assert.deepEqual(await ended(watched), [attempts, reason, took]);
    assert.ok(!told.has("leftOut"));
  });
});

test("why less is looked at than was asked for is told once", async () => {
  await virtualTime(async () => {
    const why = "the health check is answered 404";
    const ready = { watch: () => ({ seen: () => ({ down: false, why }), stop() {} }) };
    const told: string[] = [];
    const observe = (event: CallEvent) => event.type === "unwatched" && told.push(event.why);
    await retry(thrown(refused()), READ, { ready, observe }).catch(() => {});
    assert.deepEqual(told, [why]);
  });
});

test("an abort ends a wait that is watched", async () => {
  const url = await nowhere();
  const signal = AbortSignal.timeout(300);
  const began = performance.now();
  const error = await retry(() => fetch(url), READ, { ready: url, signal }).catch((e) => e);
  assert.equal(outcomeOf(error)?.type, "cancelled");
  assert.ok(performance.now() - began < 500);
});

test("a command's server can be watched; a URL is not looked at in virtual time", async (t) => {
  const { port, observe } = await returning(t);
  const ready = `tcp://127.0.0.1:${port}`;
  const script = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null || { echo away >&2; exit 7; }`;
  const policy = await Policy.load({
    version: 1,
    name: "mine",
    budgets: {
      away: {
        max_wait: "60s",
        backoff: { type: "exponential", base: "30s", multiplier: 2, cap: "60s" },
        wake: {
          ...{ reads: "accepting", writes: "ready", spread: "30ms", hold_off: "1s", max_vain: 3 },
        },
      },
    },
    rules: [
      { kind: "away", when: [{ exit_codes: [7] }], then: [{ retry: "away" }] },
      { kind: "failed", then: [{ stop: { effects: "unknown" } }] },
    ],
  });
  const done = await runCommand(["bash", "-c", script], READ, { policy, ready, observe });
  assert.ok(done.ok && done.outcome.elapsed < 30_000);
  await virtualTime(async (clock) => {
    let asked = 0;
    const url = await serve(t, (_, answer) => {
      asked++;
      answer.end();
    });
    await policy.run(
      after(2, () => ({ exitCode: 7 })),
      READ,
      { ready: url },
    );
    await pause(100);
    assert.deepEqual([clock.slept.length, asked], [2, 0]);
  });
});

test("what cannot be watched is refused at once", async () => {
  for (const [ready, text] of [
    ["graph", /none of the forms/],
    [{}, /ready is an object, and must be a URL/],
  ] as const) {
    await assert.rejects(
      retry(() => 1, READ, { ready: ready as never }),
      text,
    );
  }
});
