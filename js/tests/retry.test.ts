import assert from "node:assert/strict";
import { test } from "node:test";
import nodeFetch from "node-fetch";
import {
  Cancelled,
  Exhausted,
  Failed,
  Indeterminate,
  outcomeOf,
  Policy,
  resultOfResponse,
  retry,
} from "outlast";
import { virtualTime } from "outlast/testing";
import { READ, refused, reset, serve, WRITE } from "./helpers.js";

test("a function's value comes back, after as many attempts as it takes", async () => {
  await virtualTime(async (clock) => {
    let left = 3;
    const ask = async () => {
      if (left-- > 0) {
        throw refused();
      }
      return { answer: 42 };
    };
    assert.deepEqual(await retry(ask, WRITE, { onlyRequest: true }), { answer: 42 });
    assert.equal(clock.slept.length, 3);
  });
});

test("when the policy stops, the class says how, and the cause is the function's own", async () => {
  await virtualTime(async () => {
    for (const [error, call, kind] of [
      [refused(), WRITE, Exhausted],
      [reset(), WRITE, Indeterminate],
      [reset(), READ, Exhausted],
      [Object.assign(new Error("x"), { response: { status: 404 } }), READ, Failed],
    ] as const) {
      const failing = () => {
        throw error;
      };
      const got = await retry(failing, call, { onlyRequest: true }).catch((e: unknown) => e);
      assert.ok(got instanceof kind, String(got));
      assert.equal(got.cause, error);
      assert.equal(outcomeOf(got), got.outcome);
      const own = await retry(failing, call, {
        reraise: true,
        onlyRequest: true,
      }).catch((e: unknown) => e);
      assert.equal(own, error);
      assert.equal(outcomeOf(own)?.type, got.outcome.type);
    }
  });
});

test("any other error comes out at once", async () => {
  const error = new TypeError("a bug");
  let made = 0;
  const buggy = () => {
    made++;
    throw error;
  };
  assert.equal(await retry(buggy, READ).catch((e: unknown) => e), error);
  assert.equal(made, 1);
  assert.equal(outcomeOf(error), undefined);
});

test("an answer of fetch with a bad status is tried again as the policy says", async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => {
    asked++;
    answer.writeHead(asked < 3 ? 503 : 200).end(`answer ${asked}`);
  });
  await virtualTime(async () => {
    const answer = await retry(() => fetch(url), READ);
    assert.equal(await answer.text(), "answer 3");
    assert.equal(outcomeOf(answer)?.attempts, 3);
  });
});

test("a write that a proxy may have passed on is not repeated; its answer comes back whole", async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => {
    asked++;
    answer.writeHead(502).end(`answer ${asked}`);
  });
  const answer = await retry(() => fetch(url, { method: "POST" }), WRITE);
  assert.equal(await answer.text(), "answer 1");
  assert.equal(outcomeOf(answer)?.type, "indeterminate");
  assert.equal(asked, 1);
});

test("a body tells more than a status: the graph is loading, so nothing was applied", async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => {
    asked++;
    const error = JSON.stringify({ error: "graph is loading: people" });
    answer.writeHead(asked < 4 ? 503 : 200, { "content-type": "application/json" }).end(error);
  });
  await virtualTime(async () => {
    const policy = "omnigraph";
    const answer = await retry(() => fetch(url, { method: "POST" }), WRITE, { policy });
    assert.equal(answer.status, 200);
    assert.equal(asked, 4);
  });
});

test("Retry-After is heard, in seconds and as a date", async (t) => {
  for (const [header, least, most] of [
    ["7", 7000, 7700],
    [new Date(Date.now() + 9000).toUTCString(), 7000, 10_000],
  ] as const) {
    let asked = 0;
    const url = await serve(t, (_, answer) => {
      answer.writeHead(asked++ ? 200 : 429, { "retry-after": header }).end();
    });
    await virtualTime(async (clock) => {
      await retry(() => fetch(url), READ);
      assert.ok(clock.slept[0]! >= least && clock.slept[0]! <= most, `${header}: ${clock.slept}`);
    });
  }
});

test("an endless body of a bad answer is not read to its end", async (t) => {
  const url = await serve(t, (_, answer) => {
    answer.writeHead(500);
    const more = () =>
      answer.writable && answer.write("x".repeat(1 << 16), () => setImmediate(more));
    more();
  });
  const answer = await retry(() => fetch(url), READ);
  assert.equal(answer.status, 500);
  await answer.body?.cancel();
});

test("values can be judged", async () => {
  await virtualTime(async () => {
    const values = [{ busy: true }, { busy: true }, { busy: false }];
    const judge = (value: { busy: boolean }) => (value.busy ? { httpStatus: 429 } : undefined);
    assert.deepEqual(await retry(() => values.shift()!, READ, { judge }), { busy: false });
    const stubborn = await retry(() => ({ busy: true }), READ, { judge });
    assert.equal(outcomeOf(stubborn)?.type, "exhausted");
  });
});

test("an abort throws Cancelled, with its reason", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const policy = await Policy.load("omnigraph");
  const asked = retry(() => Promise.reject(refused()), WRITE, {
    signal,
    policy,
    onlyRequest: true,
  });
  setTimeout(() => controller.abort("enough"), 50);
  const error = await asked.then(
    () => assert.fail(),
    (e: unknown) => e,
  );
  assert.ok(error instanceof Cancelled);
  assert.equal(error.cause, "enough");
  assert.equal(error.outcome.effects, "none");
});

test("the text of a failed answer that does not end is not waited for", async (t) => {
  const url = await serve(t, (_, answer) => {
    answer.writeHead(404).write("no such thing");
  });
  const part = await resultOfResponse(await fetch(url), { timeout: 100 });
  assert.deepEqual([part.httpStatus, String(part.message)], [404, "no such thing"]);
  const controller = new AbortController();
  const { signal } = controller;
  const asked = retry(() => fetch(url), READ, { signal });
  setTimeout(() => controller.abort(), 200);
  await assert.rejects(asked, Cancelled);
});

test("options that there are not are refused, with those that there are", async () => {
  for (const [wrong, text] of [
    [retry(() => 1, READ, { retries: 3 } as never), /"retries"; it has .*policy, judge, reraise/],
    [retry(() => 1, READ, { check: true } as never), /no member "check"/],
    [Policy.load("omnigraph", { chek: false } as never), /"chek"; it has check, plugin/],
    [retry(() => 1, READ, { signal: { aborted: false } as never }), /signal is an object/],
    [retry(() => 1, READ, { clock: {} as never }), /clock is an object, and must be a clock/],
  ] as const) {
    await assert.rejects(wrong, text);
  }
});

test("an answer of node-fetch, whose body is Node's stream", async (t) => {
  const long = "x".repeat(100_000);
  let asked = 0;
  const url = await serve(t, (_, answer) => {
    answer.writeHead(++asked < 3 ? 503 : 400).end(long);
  });
  await virtualTime(async () => {
    const began = performance.now();
    const answer = await retry(() => nodeFetch(url), READ);
    assert.deepEqual([answer.status, asked], [400, 3]);
    assert.equal(await answer.text(), long);
    const { result } = outcomeOf(answer)!;
    assert.ok((result!.message as Uint8Array).length >= 16_384);
    assert.ok(performance.now() - began < 5000); // no body was waited for in vain
  });
});
