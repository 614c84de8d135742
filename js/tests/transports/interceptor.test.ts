import assert from "node:assert/strict";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  type CallEvent,
  type ClientRequest,
  currentAttempt,
  outcomeOf,
  retryInterceptor,
  type TransportOptions,
  withOptions,
} from "outlast";
import { virtualTime } from "outlast/testing";
import * as undici7 from "undici";
import * as undici6 from "undici6";
import {
  closedPort,
  counting,
  nowhere,
  opening,
  patient,
  returning,
  serve,
  shut,
  slowToConnect,
  until,
} from "../helpers.js";
import { undici8 } from "./clients.js";

type Undici = typeof undici7;

const VERSIONS: [string, Undici][] = [
  ["6", undici6 as unknown as Undici],
  ["7", undici7],
  ...(undici8 ? [["8", undici8] as [string, Undici]] : []),
];

/** A server that is away for the first attempts, and an agent for it. */
async function away(t: TestContext, { Agent }: Undici, attempts: number, options = {}) {
  const { url, sent, open } = await opening(t);
  let made = 0;
  const leading: undici7.Dispatcher.DispatcherComposeInterceptor =
    (dispatch) => (asked, handler) => {
      if (++made === attempts + 1) {
        open().then(() => dispatch(asked, handler));
        return true;
      }
      return dispatch(asked, handler);
    };
  const dispatcher = new Agent().compose(leading, retryInterceptor(options));
  return { dispatcher, url, sent, made: () => made };
}

/** An agent for a server that is there. */
const agent = ({ Agent }: Undici, options?: TransportOptions) =>
  new Agent().compose(retryInterceptor(options));

for (const [version, undici] of VERSIONS) {
  const { request, stream, fetch, FormData } = undici;
  const does = (what: string, work: (t: TestContext) => Promise<void>) =>
    test(`undici ${version}: ${what}`, work);

  does(
    "each body that can be sent again is, and a stream as long as little was read",
    async (t) => {
      const form = new FormData();
      form.set("name", "Zoë");
      await virtualTime(async () => {
        for (const [body, whole] of [
          ["text", /^POST text$/],
          [Buffer.from("bytes"), /^POST bytes$/],
          [form, /name="name"\r\n\r\nZoë/],
          [Readable.from(["in ", "pieces"]), /^POST in pieces$/],
        ] as const) {
          const { dispatcher, url, sent } = await away(t, undici, 2);
          const { statusCode, body: answer } = await request(url, {
            method: "POST",
            body,
            dispatcher,
          });
          assert.deepEqual([statusCode, await answer.text()], [200, "well"]);
          assert.equal(sent.length, 1);
          assert.match(sent[0]!, whole);
        }
      });
    },
  );

  does("a stream of which more was read than is kept is not sent again", async (t) => {
    const url = await serve(t, (asked, answer) => {
      asked.resume().on("end", () => answer.writeHead(503).end("busy"));
    });
    await virtualTime(async (clock) => {
      const dispatcher = agent(undici, { repeatable: true });
      const body = Readable.from(Array(10).fill("x".repeat(10_000)));
      const answer = await request(url, { method: "PUT", body, dispatcher });
      assert.deepEqual([answer.statusCode, await answer.body.text()], [503, "busy"]);
      assert.deepEqual(clock.slept, []);
    });
  });

  does("fetch and stream go by it too", async (t) => {
    await virtualTime(async () => {
      const one = await away(t, undici, 1);
      const posted = { method: "POST", body: "text", dispatcher: one.dispatcher };
      assert.equal(await (await fetch(one.url, posted)).text(), "well");
      assert.deepEqual(one.sent, ["POST text"]);
      const two = await away(t, undici, 1);
      const parts: string[] = [];
      await stream(two.url, { method: "GET", dispatcher: two.dispatcher }, () => {
        return new Writable({
          write(chunk, _, done) {
            parts.push(String(chunk));
            done();
          },
        });
      });
      assert.deepEqual(parts, ["well"]);
    });
  });

  does("an answer at which the policy stops is passed on, with its body and headers", async (t) => {
    let asked = 0;
    const url = await serve(t, (_, answer) => {
      const status = ++asked < 3 ? 503 : 404;
      answer.writeHead(status, { "x-number": asked }).end("x".repeat(300_000));
    });
    await virtualTime(async () => {
      const dispatcher = agent(undici);
      const answer = await request(url, { dispatcher });
      assert.deepEqual([answer.statusCode, answer.headers["x-number"], asked], [404, "3", 3]);
      assert.equal((await answer.body.text()).length, 300_000);
      const raw = await request(url, { dispatcher, responseHeaders: "raw" } as never);
      assert.ok(JSON.stringify(raw.headers).includes("x-number"));
      await raw.body.dump();
    });
  });

  does(
    "an answer that is read slowly is waited for, and one that is cut breaks there",
    async (t) => {
      const url = await serve(t, (_, answer) => {
        answer.end("x".repeat(5_000_000));
      });
      const { body } = await request(url, { dispatcher: agent(undici) });
      let length = 0;
      for await (const chunk of body) {
        length += (chunk as Buffer).length;
        if (length < 500_000) {
          await pause(5);
        }
      }
      assert.equal(length, 5_000_000);
      const [port] = await counting(t, (socket) =>
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"),
      );
      const cut = await request(`http://127.0.0.1:${port}/`, { dispatcher: agent(undici) });
      await assert.rejects(cut.body.text());
    },
  );

  does("undici's own error comes out, and its outcome is found", async () => {
    const url = await nowhere();
    await virtualTime(async () => {
      const error = await request(url, { dispatcher: agent(undici) }).catch((e) => e);
      assert.equal(error.code, "ECONNREFUSED");
      assert.deepEqual(
        [outcomeOf(error)?.type, outcomeOf(error)?.budget],
        ["exhausted", "unavailable"],
      );
    });
  });

  does("an abort ends a request, a wait, and an answer", async (t) => {
    const url = await nowhere();
    const hanging = await serve(t, ({ url }, answer) => {
      if (url === "/part") {
        answer.write("part");
      }
    });
    const dispatcher = agent(undici);
    for (const to of [url, hanging]) {
      const controller = new AbortController();
      const asked = request(to, { dispatcher, signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      const began = performance.now();
      const error = await asked.catch((e) => e);
      assert.match(String(error.name), /AbortError/);
      assert.ok(performance.now() - began < 1000);
    }
    const controller = new AbortController();
    const { signal } = controller;
    const { body } = await request(`${hanging}part`, { dispatcher, signal });
    controller.abort();
    await assert.rejects(body.text());
    const early = request(url, { dispatcher, signal: AbortSignal.abort() });
    await assert.rejects(early, /[Aa]bort/);
  });

  does("an attempt that takes too long is ended", async (t) => {
    let asked = 0;
    const url = await serve(t, (_, answer) => ++asked > 1 && answer.end("well"));
    await virtualTime(async () => {
      const { body } = await request(url, { dispatcher: agent(undici, { attemptTimeout: 100 }) });
      assert.deepEqual([await body.text(), asked], ["well", 2]);
    });
  });

  does("redirects inside of it are one attempt, and count", async (t) => {
    const dead = await closedPort();
    const url = await serve(t, (_, answer) => {
      answer.writeHead(307, { location: `http://127.0.0.1:${dead}/` }).end();
    });
    const redirecting =
      version === "6"
        ? new undici.Agent({ maxRedirections: 3 } as never)
        : new undici.Agent().compose(undici.interceptors.redirect({ maxRedirections: 3 }));
    const dispatcher = redirecting.compose(retryInterceptor());
    await virtualTime(async (clock) => {
      const error = await request(url, { method: "POST", dispatcher, body: "x" }).catch((e) => e);
      assert.deepEqual([outcomeOf(error)?.type, clock.slept], ["indeterminate", []]);
    });
  });

  does("redirects around of it are requests of their own", async (t) => {
    await virtualTime(async () => {
      const { dispatcher, url: next, sent, made } = await away(t, undici, 3);
      const url = await serve(t, (_, answer) => {
        answer.writeHead(307, { location: next }).end();
      });
      const redirecting = dispatcher.compose(undici.interceptors.redirect({ maxRedirections: 3 }));
      const { body } = await request(url, { method: "POST", dispatcher: redirecting, body: "x" });
      assert.deepEqual([await body.text(), sent, made()], ["well", ["POST x"], 4]);
    });
  });

  does("what an answer makes its caller do is no part of the attempt", async (t) => {
    const url = await serve(t, (_, answer) => {
      answer.end("well");
    });
    const within: unknown[] = [];
    const dispatcher = agent(undici);
    await stream(url, { method: "GET", dispatcher }, () => {
      within.push(currentAttempt());
      return new Writable({ write: (_, __, done) => done() });
    });
    assert.deepEqual(within, [undefined]);
  });

  does("a pool or a client has it itself, and its address is watched", async (t) => {
    for (const kind of ["Pool", "Client"] as const) {
      const { url, types, observe } = await returning(t);
      const told = new Set<string | undefined>();
      const options = {
        policy: await patient(),
        observe: (event: CallEvent) => {
          told.add(event.call.label);
          observe(event);
        },
      };
      const pool = new undici[kind](url).compose(retryInterceptor(options));
      const { body } = await pool.request({ path: "/", method: "GET" });
      await body.dump();
      assert.ok(types.has("woken"));
      assert.deepEqual([...told], [version === "8" ? "GET 127.0.0.1" : "GET"]);
      await pool.close();
    }
  });

  does("a path is one, with however many slashes it begins", async (t) => {
    const seen: string[] = [];
    const url = await serve(t, (_, answer) => {
      answer.writeHead(503).end();
    });
    const label = ({ url: { href } }: ClientRequest) => {
      seen.push(href);
      return "x";
    };
    const options = { origin: url, path: "//other/a", method: "POST" } as const;
    const { body } = await agent(undici, { label }).request(options);
    await body.dump();
    assert.deepEqual(seen, [`${url}/other/a`]);
  });

  does("a file is closed once its server has answered", async (t) => {
    const server = createServer((_, answer) => {
      answer.writeHead(413, { connection: "close" }).end("too much");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => shut(server));
    const { port } = server.address() as { port: number };
    const body = createReadStream("/dev/zero", { end: 50_000_000 });
    const url = `http://127.0.0.1:${port}/`;
    const asked = request(url, { method: "POST", body, dispatcher: agent(undici) });
    await asked.then(
      (answer) => answer.body.text().catch(() => {}),
      () => {}, // it is sent to a connection that is closed
    );
    await until(() => body.destroyed);
  });

  does("one request may have other options; headers come in each form", async (t) => {
    let asked = 0;
    const url = await serve(t, (_, answer) => {
      asked++;
      answer.writeHead(503).end();
    });
    const dispatcher = agent(undici, { honoursKey: true, attempts: 2 });
    const made = async (options: object) => {
      asked = 0;
      const { body } = await request(url, { method: "POST", dispatcher, ...options } as never);
      await body.dump();
      return asked;
    };
    await virtualTime(async () => {
      assert.equal(await made({}), 1);
      assert.equal(await made({ headers: { "Idempotency-Key": "k" } }), 2);
      assert.equal(await made({ headers: ["a", "b", "idempotency-key", "k"] }), 2);
      assert.equal(await made({ headers: new Headers({ "idempotency-key": "k" }) }), 2);
      assert.equal(await made({ outlast: { repeatable: true } }), 2);
      assert.equal(await withOptions({ repeatable: true, attempts: 3 }, () => made({})), 3);
    });
  });

  for (const how of ["close", "destroy"] as const) {
    does(`${how}() ends a wait, with undici's own error`, async () => {
      const url = await nowhere();
      const { Agent, Pool, Client } = undici;
      for (const base of [new Agent(), new Pool(url), new Client(url)]) {
        const types: string[] = [];
        const observe = ({ type }: CallEvent) => {
          if (types.push(type) && type === "waiting") {
            setTimeout(() => dispatcher[how](), 100);
          }
        };
        const options = { observe, policy: await patient() };
        const dispatcher = base.compose(retryInterceptor(options));
        const began = performance.now();
        const asked = dispatcher.request({ origin: url, path: "/", method: "POST", body: "x" });
        await assert.rejects(asked, { code: /^UND_ERR_(CLOSED|DESTROYED)$/ });
        assert.ok(performance.now() - began < 5000);
        assert.equal(types.filter((type) => type === "waiting").length, 1);
      }
    });
  }

  does("close() lets an attempt finish that is under way", async (t) => {
    const url = await serve(t, async (asked, answer) => {
      await closing;
      answer.writeHead(asked.url === "/busy" ? 503 : 200).end("well");
    });
    const dispatcher = agent(undici, { policy: await patient() });
    const asked = request(url, { dispatcher });
    const busy = request(`${url}busy`, { dispatcher });
    const closing = pause(100).then(() => void dispatcher.close());
    assert.equal(await (await asked).body.text(), "well");
    await assert.rejects(busy, { code: /^UND_ERR_(CLOSED|DESTROYED)$/ });
  });

  does("what is closed behind an interceptor shortens one wait, and no other", async () => {
    const url = await nowhere();
    let made = 0;
    let behind = new undici.Agent();
    const changing: undici7.Dispatcher.DispatcherComposeInterceptor = () => (asked, handler) => {
      made++;
      return behind.dispatch(asked, handler);
    };
    const observe = ({ type }: CallEvent) => {
      if (type === "waiting") {
        behind.destroy();
        behind = new undici.Agent();
      }
    };
    const options = { observe, policy: await patient(), signal: AbortSignal.timeout(500) };
    const dispatcher = new undici.Agent().compose(changing, retryInterceptor(options));
    await assert.rejects(request(url, { dispatcher }), { name: "TimeoutError" });
    assert.equal(made, 2);
  });

  does("a write that waits for a connection at its time limit is made again", async (t) => {
    const [url, sent] = await slowToConnect(t);
    const base = new undici.Agent({ connect: { rejectUnauthorized: false } });
    const dispatcher = base.compose(retryInterceptor({ attemptTimeout: 200, ready: false }));
    const asked = request(url, { method: "POST", body: "x", dispatcher });
    assert.equal(await (await asked).body.text(), "well");
    await base.close(); // what was left behind would have been sent by then
    assert.deepEqual(sent, ["POST x"]);
  });

  does("so is one that waits in the queue of a pool", async (t) => {
    const sent: string[] = [];
    const url = await serve(t, async (asked, answer) => {
      sent.push(`${asked.method} ${await text(asked)}`);
      setTimeout(() => answer.end("well"), sent.length === 2 ? 450 : 0);
    });
    const base = new undici.Pool(new URL(url).origin, { connections: 1 });
    const dispatcher = base.compose(retryInterceptor({ attemptTimeout: 200, ready: false }));
    await (await request(url, { dispatcher })).body.dump(); // from now on its queue is heard
    const others = [1, 2].map(() => request(url, { dispatcher: base }));
    await until(() => sent.length === 2);
    const asked = request(url, { method: "POST", body: "x", dispatcher });
    for (const other of others) {
      await (await other).body.dump();
    }
    assert.equal(await (await asked).body.text(), "well");
    await base.close();
    assert.deepEqual(sent, ["GET ", "GET ", "GET ", "POST x"]);
  });

  does("an upgrade is passed through as it is", async (t) => {
    const server = createServer().on("upgrade", (_, socket) => {
      socket.end("HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => shut(server));
    const { port } = server.address() as { port: number };
    const options = { protocol: "x", dispatcher: agent(undici) };
    const { socket } = await undici.upgrade(`http://127.0.0.1:${port}/`, options);
    socket.destroy();
  });
}

test("a bundle's copy of undici: that an agent closes a pool of its own shortens no wait", async (t) => {
  const require = createRequire(import.meta.url);
  for (const name of Object.keys(require.cache).filter((each) => each.includes("/undici/"))) {
    delete require.cache[name];
  }
  const { Agent, request } = require("undici") as Undici;
  for (const name of Object.keys(require.cache).filter((each) => each.includes("/undici/"))) {
    delete require.cache[name]; // so that nobody finds it
  }
  const types: string[] = [];
  const signal = AbortSignal.timeout(1500);
  const observe = ({ type }: CallEvent) => void types.push(type);
  const options = { observe, policy: await patient(), signal, ready: false } as const;
  const dispatcher = new Agent().compose(retryInterceptor(options));
  const url = await serve(t, (_, answer) => {
    answer.end("well");
  });
  await (await request(url, { dispatcher })).body.dump(); // its connection shows its pools
  types.length = 0;
  await assert.rejects(request(await nowhere(), { dispatcher }), { name: "TimeoutError" });
  assert.equal(types.filter((type) => type === "attemptEnded").length, 1);
});
