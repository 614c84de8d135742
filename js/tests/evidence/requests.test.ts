// A write that a server may have got before the request that failed: never again.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import {
  type AttemptContext,
  Cancelled,
  Indeterminate,
  outcomeOf,
  Policy,
  resultOf,
  retry,
} from "outlast";
import { virtualTime } from "outlast/testing";
import * as undici from "undici";
import { closedPort, counting, listen, READ, reset, serve, WRITE } from "../helpers.js";
import { CLIENTS, plain, post } from "./clients.js";

/** A server that reads requests and sends them to a port where nobody listens. */
async function redirect(t: TestContext, status: number): Promise<[string, () => number]> {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  let got = 0;
  const url = await serve(t, (asked, answer) => {
    got++;
    asked.resume();
    asked.on("end", () => {
      answer.writeHead(status, { location: nowhere });
      answer.end();
    });
  });
  return [url, () => got];
}

for (const [name, client] of Object.entries(CLIENTS)) {
  for (const status of [303, 307]) {
    test(`${name}: a ${status} redirect to nowhere`, async (t) => {
      const [url, got] = await redirect(t, status);
      const write = virtualTime(() => retry((context) => client(url, context), WRITE));
      await assert.rejects(write, Indeterminate);
      assert.equal(got(), 1);
    });
  }

  test(`${name}: a plain refused connection is tried again`, async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    await virtualTime(async (clock) => {
      await assert.rejects(
        retry((context) => client(url, context), WRITE),
        { name: "Exhausted" },
      );
      assert.equal(clock.now(), 150_000);
    });
  });

  test(`${name}: a connection that broke, and then a refused one`, async (t) => {
    let got = 0;
    const port = await listen(t, (socket) => {
      socket.once("data", () => {
        got++;
        socket.resetAndDestroy();
      });
    });
    const nowhere = `http://127.0.0.1:${await closedPort()}/`;
    const both = async () => {
      try {
        return await client(`http://127.0.0.1:${port}/`);
      } catch {
        return client(nowhere);
      }
    };
    await assert.rejects(
      virtualTime(() => retry(both, WRITE)),
      Indeterminate,
    );
    assert.equal(got, 1);
  });

  test(`${name}: a refused connection, and then one that breaks`, async (t) => {
    let got = 0;
    const port = await listen(t, (socket) => {
      socket.once("data", () => {
        got++;
        socket.end();
      });
    });
    const nowhere = `http://127.0.0.1:${await closedPort()}/`;
    const both = async () => {
      try {
        return await client(nowhere);
      } catch {
        return client(`http://127.0.0.1:${port}/`);
      }
    };
    await assert.rejects(
      virtualTime(() => retry(both, WRITE)),
      Indeterminate,
    );
    assert.equal(got, 1);
  });
}

test("what was seen to be sent counts, whatever is said of it", async (t) => {
  const [url, got] = await redirect(t, 307);
  const claim = (error: unknown) => resultOf(error, { onlyRequest: true });
  const claiming = async () => {
    try {
      await fetch(url, post);
    } catch (error) {
      return claim(error)!;
    }
    return { exitCode: 0 };
  };
  const policy = await Policy.load("omnigraph");
  const outcome = await virtualTime(() => policy.run(claiming, WRITE));
  assert.equal(outcome.type, "indeterminate");
  assert.equal(got(), 1);
});

test("a redirect that is not followed says what it says", async (t) => {
  const [url, got] = await redirect(t, 307);
  const answer = await retry(() => fetch(url, { ...post, redirect: "manual" }), WRITE);
  assert.equal(answer.status, 307);
  assert.equal(got(), 1);
});

test("a read after a redirect to nowhere is waited for", async (t) => {
  const [url, got] = await redirect(t, 307);
  await virtualTime(async (clock) => {
    const failed = await retry(() => fetch(url), READ).catch((error: unknown) => error);
    assert.equal(outcomeOf(failed)?.reason, "window");
    assert.equal(clock.now(), 150_000);
    assert.equal(got(), outcomeOf(failed)?.attempts);
  });
});

test("attempts beside each other do not see each other's requests", async (t) => {
  const url = await serve(t, (_, answer) => answer.end("x"));
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const answered = async () => (await fetch(url, post)).text();
  await virtualTime(async () => {
    const calls = Array.from({ length: 20 }, (_, n) =>
      retry<unknown>(n % 2 ? answered : () => fetch(nowhere, post), WRITE).catch(
        (e: Error) => e.name,
      ),
    );
    const got = await Promise.all(calls);
    assert.deepEqual(
      got,
      Array.from({ length: 20 }, (_, n) => (n % 2 ? "x" : "Exhausted")),
    );
  });
});

test("what an attempt inside of an attempt has sent counts for both", async (t) => {
  const url = await serve(t, (_, answer) => answer.end("x"));
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const outer = async () => {
    await retry(() => fetch(url, post), WRITE);
    return fetch(nowhere, post);
  };
  await assert.rejects(
    virtualTime(() => retry(outer, WRITE)),
    Indeterminate,
  );
});

/** Aborts a write in the handshake: nothing of the request has been sent by then. */
async function abortedEarly(t: TestContext, ask: (url: string, signal: AbortSignal) => unknown) {
  const controller = new AbortController();
  const port = await listen(t, (socket) => {
    socket.once("data", () => controller.abort());
  });
  const { signal } = controller;
  const work = (context: AttemptContext) => ask(`https://127.0.0.1:${port}/`, context.signal);
  const error = await retry(work, WRITE, { signal }).catch((e: unknown) => e);
  assert.ok(error instanceof Cancelled, String(error));
  return error.outcome.effects;
}

test("a request that was aborted before it was sent has had no effects", async (t) => {
  const byHttp = (url: string, signal: AbortSignal) =>
    new Promise((_, reject) => {
      httpsRequest(url, { method: "POST", signal }).on("error", reject).end("x");
    });
  assert.equal(await abortedEarly(t, byHttp), "none");
  const byFetch = (url: string, signal: AbortSignal) => fetch(url, { ...post, signal });
  assert.equal(await abortedEarly(t, byFetch), "none");
});

test("a request that was aborted after it was sent may have been applied", async (t) => {
  const controller = new AbortController();
  const port = await listen(t, (socket) => {
    socket.once("data", () => controller.abort());
  });
  const url = `http://127.0.0.1:${port}/`;
  const { signal } = controller;
  const asked = retry((context) => fetch(url, { ...post, signal: context.signal }), WRITE, {
    signal,
  });
  const error = await asked.catch((e: unknown) => e);
  assert.ok(error instanceof Cancelled, String(error));
  assert.equal(error.outcome.effects, "unknown");
});

test("a proxy that has no way to the server: nothing but the tunnel was asked for", async (t) => {
  let asked = 0;
  const port = await listen(t, (socket) => {
    socket.once("data", () => {
      asked++;
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
  });
  const dispatcher = new undici.ProxyAgent(`http://127.0.0.1:${port}`);
  t.after(() => dispatcher.destroy());
  const write = () => undici.fetch("https://nowhere.invalid/", { ...post, dispatcher });
  await virtualTime(async () => {
    const call = { ...WRITE, budget: 5000 };
    await assert.rejects(retry(write, call), { name: "Exhausted" });
  });
  assert.ok(asked > 2);
});

test("several requests that are all refused are tried again", async () => {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  await virtualTime(async () => {
    const both = () => Promise.allSettled([fetch(nowhere, post), plain(nowhere)]);
    const ask = async () => {
      const [one] = await both();
      if (one.status === "rejected") {
        throw one.reason;
      }
    };
    await assert.rejects(retry(ask, WRITE), { name: "Exhausted" });
  });
});

test("a request that is answered before it is ended has been sent", async (t) => {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const [port, got] = await counting(t, (socket) => {
    socket.end(`HTTP/1.1 307 Away\r\nLocation: ${nowhere}\r\nContent-Length: 0\r\n\r\n`);
  });
  const ask = () =>
    new Promise((resolve, reject) => {
      const asked = httpRequest({ port, host: "127.0.0.1", method: "POST" }, (redirect) => {
        redirect.resume();
        plain(redirect.headers.location!).then(resolve, reject);
      });
      asked.on("error", () => {}).write("a part");
    });
  await assert.rejects(
    virtualTime(() => retry(ask, WRITE)),
    Indeterminate,
  );
  assert.equal(got(), 1);
});

test("a request that is never ended, and refused, is tried again", async () => {
  const port = await closedPort();
  const ask = () =>
    new Promise((_, reject) => {
      httpRequest({ port, host: "127.0.0.1", method: "POST" }).on("error", reject).write("x");
    });
  await assert.rejects(
    virtualTime(() => retry(ask, WRITE)),
    { name: "Exhausted" },
  );
});

/** A driver of its own: no client that tells of its requests. */
function driver(port: number): Promise<never> {
  return new Promise((_, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("SET x"));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed")));
  });
}

test("a driver's refused connection is waited for", async () => {
  const port = await closedPort();
  for (const call of [READ, WRITE]) {
    await virtualTime(async (clock) => {
      await assert.rejects(
        retry(() => driver(port), call),
        { name: "Exhausted" },
      );
      assert.equal(clock.now(), 150_000);
    });
  }
});

test("a connection that is refused outside of the attempt proves nothing, unless it is claimed", async () => {
  const port = await closedPort();
  const outside = AsyncLocalStorage.snapshot();
  const ask = () => outside(() => driver(port));
  await virtualTime(async () => {
    const refused = retry(ask, WRITE);
    await assert.rejects(
      refused,
      /no request and no connection of the attempt was seen.*onlyRequest/,
    );
    await assert.rejects(retry(ask, READ), { name: "Exhausted" });
    await assert.rejects(retry(ask, WRITE, { onlyRequest: true }), { name: "Exhausted" });
  });
});

test("a driver that has sent and connects again, whatever is said of it", async (t) => {
  const [port, got] = await counting(t, (socket) => socket.destroy());
  const nowhere = await closedPort();
  const ask = () => driver(port).catch(() => driver(nowhere));
  await assert.rejects(
    virtualTime(() => retry(ask, WRITE, { onlyRequest: true })),
    Indeterminate,
  );
  assert.equal(got(), 1);
});

test("a queue's worker that began before the attempt is not seen, and taken for the worst", async (t) => {
  const [port, got] = await counting(t, (socket) => socket.destroy());
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const jobs: (() => void)[] = [];
  const worker = setInterval(() => jobs.shift()?.(), 5);
  t.after(() => clearInterval(worker));
  const twice = () => plain(`http://127.0.0.1:${port}/`).catch(() => plain(nowhere));
  const ask = () =>
    new Promise((resolve, reject) => {
      jobs.push(() => twice().then(resolve, reject));
    });
  await assert.rejects(retry(ask, WRITE), Indeterminate);
  assert.equal(got(), 1);
});

for (const [how, end] of [
  ["closed", (socket: Socket) => socket.end()],
  ["reset", (socket: Socket) => socket.resetAndDestroy()],
] as const) {
  for (const [name, ask] of [
    ["fetch", (url: string) => fetch(url, post)],
    ["undici", (url: string) => undici.request(url, post)],
    [
      "node:https",
      (url: string) =>
        new Promise((_, reject) => {
          httpsRequest(url, { method: "POST" }).on("error", reject).end("x");
        }),
    ],
  ] as const) {
    test(`${name}: a connection that is ${how} in the handshake is waited for`, async (t) => {
      const [port, got] = await counting(t, end);
      const work = async (): Promise<unknown> => ask(`https://127.0.0.1:${port}/`);
      await virtualTime(async () => {
        for (const call of [READ, WRITE]) {
          const before = got();
          const error = await retry(work, { ...call, budget: 5000 }).catch((e: unknown) => e);
          assert.equal(outcomeOf(error)?.kind, "unavailable", String(error));
          assert.ok(got() - before > 2);
        }
      });
    });
  }
}

test("a refused request that is seen proves nothing of another connection that broke", async () => {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  let made = 0;
  const ask = async () => {
    made++;
    await fetch(nowhere).catch(() => {});
    throw reset(); // such as of a driver whose connection was made long before
  };
  await assert.rejects(
    virtualTime(() => retry(ask, WRITE)),
    Indeterminate,
  );
  assert.equal(made, 1);
});
