import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { type CallEvent, retryingFetch, type TransportOptions } from "outlast";
import { Agent, ProxyAgent } from "undici";
import { closedPort, folder, patient, returning, shut } from "../helpers.js";
import { TRANSPORTS } from "./clients.js";

for (const name of ["retryingFetch", "undici 6", "undici 7"]) {
  test(`${name}: the address that a request goes to is watched by itself`, async (t) => {
    const { url, types, observe } = await returning(t);
    const ask = TRANSPORTS[name]!({ observe, policy: await patient() });
    await ask(url, { method: "GET" });
    assert.ok(types.has("woken"));
  });
}

test("a write is woken by a path of its server's, or by a URL", async (t) => {
  for (const of of [() => "/readyz", (url: string) => new URL("healthz", url)]) {
    const { url, asked, types, observe } = await returning(t);
    const fetch = retryingFetch({ ready: of(url), policy: await patient(), observe });
    await fetch(url, { method: "POST", body: "x" });
    assert.ok(types.has("woken"));
    assert.match(asked[0]!, /^GET \/(readyz|healthz)$/);
    assert.equal(asked.at(-1), "POST /");
  }
});

test("a read waits until its server's path is not answered 503", async (t) => {
  const { url, asked, types, observe, isReady } = await returning(t);
  let isEarly = true;
  const base: typeof fetch = (...request) => {
    isEarly = !isReady();
    return fetch(...request);
  };
  const options = { ready: "/readyz", policy: await patient(), observe, fetch: base };
  await retryingFetch(options)(url);
  assert.ok(types.has("woken") && !isEarly);
  assert.equal(asked.filter((each) => each === "GET /").length, 1);
});

test("a connection that broke tells the address too", async (t) => {
  const port = await closedPort();
  const types = new Set<string>();
  const server = createServer((asked, answer) => {
    if (types.has("waiting")) {
      answer.end("well");
    } else {
      asked.socket.destroy();
      server.close();
    }
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  t.after(() => shut(server));
  const observe = ({ type }: CallEvent) => {
    types.add(type);
    if (type === "waiting" && !server.listening) {
      setTimeout(() => server.listen(port, "127.0.0.1"), 500);
    }
  };
  const answer = await retryingFetch({ observe, policy: await patient() })(
    `http://localhost:${port}/`,
  );
  assert.equal(await answer.text(), "well");
  assert.ok(types.has("woken"));
});

async function unwatched(ask: (url: string, options: TransportOptions) => Promise<unknown>) {
  const port = await closedPort();
  const types = new Set<string>();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const observed = (event: CallEvent) => {
    types.add(event.type);
    timer ??= event.type === "waiting" ? setTimeout(() => over.abort(), 1200) : undefined;
  };
  await ask(`http://127.0.0.1:${port}/`, { observe: observed, signal: over.signal }).catch(
    () => {},
  );
  clearTimeout(timer);
  assert.ok(types.has("waiting"));
  assert.ok(!types.has("leftOut") && !types.has("woken"), [...types].join());
}

test("nobody looks where a request goes elsewhere than to its address, or it is not wanted", async (t) => {
  const proxy = new ProxyAgent(`http://127.0.0.1:${await closedPort()}`);
  const path = join(folder(t), "socket");
  const local = new Agent({ connect: { socketPath: path } });
  await Promise.all([
    unwatched((url, options) => retryingFetch(options)(url, { dispatcher: proxy } as never)),
    unwatched((url, options) => retryingFetch(options)(url, { dispatcher: local } as never)),
    unwatched((url, options) => retryingFetch({ ...options, ready: false })(url)),
  ]);
});

test("nobody looks past a proxy that answers for a server which is away", async (t) => {
  const server = createServer().on("connect", (_, socket) => {
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => shut(server));
  const { port } = server.address() as { port: number };
  const proxy = new ProxyAgent(`http://127.0.0.1:${port}`);
  await unwatched((url, options) => retryingFetch(options)(url, { dispatcher: proxy } as never));
});
