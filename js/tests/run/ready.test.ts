import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type CallEvent, outcomeOf, Policy, type Readiness, retry, runCommand } from "outlast";
import { virtualTime } from "outlast/testing";
import { after, closedPort, READ, refused, serve, shut, thrown, WRITE } from "../helpers.js";

/** A server that comes to a port later, and is healthy later still. */
async function returning(t: TestContext, accepting: number, ready = accepting) {
  const port = await closedPort();
  const began = performance.now();
  const server: Server = createServer(({ method, url }, answer) => {
    const well = url !== "/healthz" || performance.now() - began >= ready;
    answer.writeHead(well ? 200 : 503).end(method);
  });
  const timer = setTimeout(() => server.listen(port, "127.0.0.1"), accepting);
  t.after(() => {
    clearTimeout(timer);
    shut(server);
  });
  const since = () => performance.now() - began;
  return { url: `http://127.0.0.1:${port}/`, port, since };
}

/** What a watcher that always says the same sees. */
const always = (rose: Readiness | undefined, down = false) => {
  const watches: [eager: boolean, stopped: boolean][] = [];
  return {
    watches,
    watch(eager: boolean) {
      const place = watches.push([eager, false]) - 1;
      return {
        seen: () => ({ rose, down }),
        stop: () => {
          watches[place]![1] = true;
        },
      };
    },
  };
};

test("a read goes on as soon as its server accepts", async (t) => {
  const { url, port, since } = await returning(t, 1700);
  const told: CallEvent[] = [];
  const observe = (event: CallEvent) => void told.push(event);
  const ready = `tcp://127.0.0.1:${port}`;
  const answer = await retry(() => fetch(url), READ, { ready, observe, seed: 1 });
  const took = since();
  assert.equal(await answer.text(), "GET");
  assert.ok(took < 1700 + 400, `after ${took} ms`); // the schedule's would be at 3.5 s
  assert.ok(told.some((event) => event.type === "woken" && event.by === "accepting"));
  assert.ok(told.some((event) => event.type === "waiting" && event.watched === "accepting"));
  assert.ok(told.some((event) => event.type === "leftOut"));
});

test("a write goes on when its server is ready, and not before", async (t) => {
  const { url, since } = await returning(t, 600, 1000);
  const post = async () => {
    assert.ok(since() < 600 || since() >= 1000, "before it was ready");
    return fetch(url, { method: "POST", body: "x" });
  };
  // Without jitter the schedule's attempts would be at 0.5 and 1.5 s.
  const answer = await retry(post, WRITE, { ready: new URL(url), onlyRequest: true });
  assert.equal(await answer.text(), "POST");
  assert.ok(since() >= 1000 + 50 && since() < 1450, `after ${since()} ms`);
});

test("looks take no evidence away from the attempts beside them", async (t) => {
  const { url } = await returning(t, 500, 900);
  const asked = retry(() => fetch(url, { method: "POST", body: "x" }), WRITE, { ready: url });
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
    const ready = always(undefined, true);
    const work = thrown(refused());
    const error = await retry(work, READ, { ready }).catch((e: unknown) => e);
    assert.deepEqual([outcomeOf(error)?.attempts, clock.now()], [2, 150_000]);
  });
});

test("an abort ends a wait that is watched", async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const signal = AbortSignal.timeout(300);
  const began = performance.now();
  const error = await retry(() => fetch(url), READ, { ready: url, signal }).catch((e) => e);
  assert.equal(outcomeOf(error)?.type, "cancelled");
  assert.ok(performance.now() - began < 500);
});

test("a command's server can be watched; a URL is not looked at in virtual time", async (t) => {
  const { port, since } = await returning(t, 700);
  const ready = `tcp://127.0.0.1:${port}`;
  const script = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null || { echo away >&2; exit 7; }`;
  const policy = await Policy.load({
    version: 1,
    name: "mine",
    budgets: {
      away: {
        max_wait: "60s",
        backoff: { type: "exponential", base: "5s", multiplier: 2, cap: "10s" },
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
  const done = await runCommand(["bash", "-c", script], READ, { policy, ready });
  assert.ok(done.ok && since() < 3000, `after ${since()} ms`);
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
