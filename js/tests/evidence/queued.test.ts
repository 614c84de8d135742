// Requests that wait for a connection of a pool, and are sent by whoever frees one.

import assert from "node:assert/strict";
import { Agent } from "node:http";
import { type TestContext, test } from "node:test";
import { Exhausted, Indeterminate, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import * as undici from "undici";
import { closedPort, serve, until, WRITE } from "../helpers.js";
import { plain, post } from "./clients.js";

type Ask = (url: string) => Promise<unknown>;

/** By each client with a pool of at most so many connections. */
const POOLED: Record<string, (t: TestContext, connections: number) => Ask> = {
  "node:http": (t, maxSockets) => {
    const agent = new Agent({ keepAlive: true, maxSockets });
    t.after(() => agent.destroy());
    return (url) => plain(url, { agent });
  },
  "undici's fetch": (t, connections) => {
    const dispatcher = pool(t, connections);
    return async (url) => (await undici.fetch(url, { ...post, dispatcher })).text();
  },
  "undici's request": (t, connections) => {
    const dispatcher = pool(t, connections);
    return async (url) => (await undici.request(url, { ...post, dispatcher })).body.text();
  },
  fetch: (t, connections) => {
    const dispatcher = pool(t, connections);
    return async (url) => (await fetch(url, { ...post, dispatcher } as RequestInit)).text();
  },
  "Node's own pool": (t, connections) => {
    const own = (globalThis as never)[Symbol.for("undici.globalDispatcher.1")] as undici.Agent;
    const Own = own.constructor as typeof undici.Agent;
    const dispatcher = new Own({ connections });
    t.after(() => dispatcher.destroy());
    return async (url) => (await fetch(url, { ...post, dispatcher } as RequestInit)).text();
  },
};

function pool(t: TestContext, connections: number): undici.Agent {
  const dispatcher = new undici.Agent({ connections });
  t.after(() => dispatcher.destroy());
  return dispatcher;
}

for (const [name, client] of Object.entries(POOLED)) {
  for (const who of ["attempts", "other code"]) {
    test(`${name}: a request that waits while ${who} use the pool, beside a refused one`, async (t) => {
      const got: Record<string, number> = {};
      const url = await serve(t, (asked, answer) => {
        got[asked.url!] = (got[asked.url!] ?? 0) + 1;
        asked.resume();
        setTimeout(() => answer.end("x"), asked.url === "/other" ? 150 : 0);
      });
      await retry(() => fetch(url, post), WRITE); // so that fetch is there, and watched
      const ask = client(t, 2);
      const others = [1, 2].map(() =>
        who === "attempts" ? retry(() => ask(`${url}other`), WRITE) : ask(`${url}other`),
      );
      await until(() => got["/other"] === 2);
      const nowhere = `http://127.0.0.1:${await closedPort()}/`;
      const both = () => Promise.all([ask(`${url}mine`), fetch(nowhere, post)]);
      await assert.rejects(
        virtualTime(() => retry(both, WRITE)),
        Indeterminate,
      );
      await Promise.all(others);
      await until(() => got["/mine"] !== undefined);
      assert.equal(got["/mine"], 1);
    });
  }

  for (const onlyRequest of [false, true]) {
    const claimed = onlyRequest ? ", claimed to be the only ones" : "";
    test(`${name}: refused requests that share a pool are tried again${claimed}`, async (t) => {
      const nowhere = `http://127.0.0.1:${await closedPort()}/`;
      const ask = client(t, 2);
      await virtualTime(async () => {
        const calls = Array.from({ length: 6 }, () =>
          retry(() => ask(nowhere), WRITE, { onlyRequest }).catch((error: unknown) => error),
        );
        for (const ended of await Promise.all(calls)) {
          assert.ok(ended instanceof Exhausted, String(ended));
        }
      });
    });
  }
}
