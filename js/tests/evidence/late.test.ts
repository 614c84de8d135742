// What leaves after the attempt has ended: no further attempt is made.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { Cancelled, Indeterminate, retry } from "outlast";
import { closedPort, serve, until, WRITE } from "../helpers.js";
import { post } from "./clients.js";

const outside = AsyncLocalStorage.snapshot();

const LATER: Record<string, (send: () => void) => unknown> = {
  "in the next tick": (send) => process.nextTick(send),
  "in the next turn": (send) => setImmediate(send),
  "by a timer": (send) => setTimeout(send, 20),
  "by a batcher that is no part of it": (send) => outside(() => setTimeout(send, 3)),
};

for (const [name, later] of Object.entries(LATER)) {
  test(`a request that is sent ${name}`, async (t) => {
    let applied = 0;
    const url = await serve(t, (_, answer) => {
      applied++;
      answer.end("x");
    });
    const nowhere = `http://127.0.0.1:${await closedPort()}/`;
    let made = 0;
    const ask = async () => {
      made++;
      try {
        return await fetch(nowhere, post);
      } catch (error) {
        later(() => void fetch(url, post));
        throw error;
      }
    };
    const ended = await retry(ask, WRITE).catch((error: unknown) => error);
    assert.ok(ended instanceof Indeterminate, String(ended));
    assert.match(ended.message, /that nothing was sent was not seen/);
    await until(() => applied > 0);
    assert.deepEqual([made, applied], [1, 1]);
  });
}

test("a call that is given up in the wait after it", async (t) => {
  const url = await serve(t, (_, answer) => answer.end("x"));
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const controller = new AbortController();
  const ask = async () => {
    setTimeout(async () => {
      await fetch(url, post);
      controller.abort();
    }, 20);
    await fetch(nowhere, post);
  };
  const { signal } = controller;
  const ended = await retry(ask, WRITE, { signal }).catch((error: unknown) => error);
  assert.ok(ended instanceof Cancelled, String(ended));
  assert.equal(ended.outcome.effects, "unknown");
});
