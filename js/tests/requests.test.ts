// A write that a server may have got before the request that failed: never again.

import assert from "node:assert/strict";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
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
import { closedPort, listen, READ, serve, WRITE } from "./helpers.js";

type Client = (url: string, context?: AttemptContext) => Promise<unknown>;

const post = { method: "POST", body: "x" } as const;

/** Makes a request with node:http, and follows redirects as clients on it do. */
function plain(url: string, options: { agent?: HttpAgent } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method: "POST", ...options }, (answer) => {
      answer.resume();
      const { location } = answer.headers;
      if (location) {
        plain(location, options).then(resolve, reject);
      } else {
        answer.on("end", () => resolve("answered"));
      }
    });
    asked.on("error", reject);
    asked.end("x");
  });
}

const redirecting = new undici.Agent().compose(
  undici.interceptors.redirect({ maxRedirections: 3 }),
);

const CLIENTS: Record<string, Client> = {
  fetch: (url) => fetch(url, post),
  "undici's fetch": (url) => undici.fetch(url, post),
  "undici's request": (url) => undici.request(url, { ...post, dispatcher: redirecting }),
  "node:http": (url) => plain(url),
  "node:http, kept alive": (url) => plain(url, { agent: new HttpAgent({ keepAlive: true }) }),
  "a client that wraps errors": async (url) => {
    try {
      return await fetch(url, post);
    } catch (cause) {
      throw new Error("asking failed", { cause });
    }
  },
};

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
  const policy = await Policy.load();
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

test("a read after a redirect to nowhere is a broken connection: twice, and no more", async (t) => {
  const [url, got] = await redirect(t, 307);
  await virtualTime(async () => {
    const failed = await retry(() => fetch(url), READ).catch((error: unknown) => error);
    assert.equal(outcomeOf(failed)?.reason, "broken_connections");
  });
  assert.equal(got(), 3);
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

test("a request that was aborted before it was sent has had no effects", async (t) => {
  // A server that does not answer the handshake: nothing of the request is sent meanwhile.
  const controller = new AbortController();
  const port = await listen(t, (socket) => {
    socket.once("data", () => controller.abort());
  });
  const url = `https://127.0.0.1:${port}/`;
  const { signal } = controller;
  const asked = retry((context) => fetch(url, { ...post, signal: context.signal }), WRITE, {
    signal,
  });
  const error = await asked.catch((e: unknown) => e);
  assert.ok(error instanceof Cancelled, String(error));
  assert.equal(error.outcome.effects, "none");
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
