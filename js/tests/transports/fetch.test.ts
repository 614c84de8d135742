import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import nodeFetch from "node-fetch";
import {
  type CallEvent,
  type ClientRequest,
  Exhausted,
  Indeterminate,
  outcomeOf,
  Policy,
  retry,
  retryingFetch,
  type TransportOptions,
  withOptions,
} from "outlast";
import { noRetries, virtualTime } from "outlast/testing";
import { Agent } from "undici";
import {
  always,
  document,
  nowhere,
  opening,
  READ,
  refused,
  serve,
  slowToConnect,
  until,
  WRITE,
} from "../helpers.js";

/** A server that answers with these statuses, the last one for ever, and what it was sent. */
async function answering(t: TestContext, ...statuses: number[]) {
  const sent: string[] = [];
  const url = await serve(t, async (asked, answer) => {
    sent.push(`${asked.method} ${await text(asked)}`);
    const status = statuses[Math.min(sent.length, statuses.length) - 1]!;
    answer.writeHead(status, { "x-number": sent.length }).end(`answer ${sent.length}`);
  });
  return { url, sent };
}

/** A `fetch` to a server that is away for the first attempts. */
async function away(t: TestContext, attempts: number) {
  const { url, sent, open } = await opening(t);
  let made = 0;
  const led: typeof fetch = async (input, init) => {
    if (++made === attempts + 1) {
      await open();
    }
    return fetch(input, init);
  };
  return { fetch: retryingFetch({ fetch: led }), url, sent };
}

/** A POST of a stream. */
const streaming = (body: unknown) => ({ method: "POST", body, duplex: "half" }) as RequestInit;

const form = new FormData();
form.set("name", "Zoë");

test("each body that can be sent again is, whole", async (t) => {
  await virtualTime(async () => {
    for (const [body, whole] of [
      ["text", "text"],
      [Buffer.from("bytes"), "bytes"],
      [new Uint16Array([0x6968]).buffer, "hi"],
      [new URLSearchParams({ a: "1" }), "a=1"],
      [new Blob(["blob"]), "blob"],
      [form, undefined],
    ] as const) {
      const { fetch, url, sent } = await away(t, 2);
      const answer = await fetch(url, { method: "POST", body: body as BodyInit });
      assert.equal(await answer.text(), "well");
      assert.equal(outcomeOf(answer)?.attempts, 3);
      if (whole) {
        assert.deepEqual(sent, [`POST ${whole}`]);
      } else {
        assert.match(sent[0]!, /name="name"\r\n\r\nZoë/);
      }
    }
  });
});

test("a stream is sent again as long as no more of it was read than is kept", async (t) => {
  const piece = "pieces of 20 bytes; ";
  const streamed = (count: number) =>
    streaming(Readable.toWeb(Readable.from(Array(count).fill(Buffer.from(piece)))));
  await virtualTime(async () => {
    const { fetch, url, sent } = await away(t, 2);
    assert.equal(await (await fetch(url, streamed(10_000))).text(), "well");
    assert.deepEqual(sent, [`POST ${piece.repeat(10_000)}`]);

    const repeatable = retryingFetch({ repeatable: true });
    const { url: busy, sent: twice } = await answering(t, 503, 200);
    assert.equal(await (await repeatable(busy, streamed(100))).text(), "answer 2");
    assert.deepEqual(twice, [`POST ${piece.repeat(100)}`, `POST ${piece.repeat(100)}`]);

    const { url: broken, sent: once } = await answering(t, 503, 200);
    const answer = await repeatable(broken, streamed(10_000));
    assert.equal(await answer.text(), "answer 1");
    const outcome = outcomeOf(answer);
    assert.deepEqual([outcome?.reason, outcome?.attempts, once.length], ["streamed", 1, 1]);
    assert.match(outcome!.message, /its body was a stream, which cannot be sent again/);
  });
});

test("what is read in pieces is sent again, of whatever kind it is", async (t) => {
  const pieces = [Buffer.from("in "), Buffer.from("pieces")];
  async function* generated() {
    yield* pieces;
  }
  await virtualTime(async () => {
    for (const body of [Readable.from(pieces), generated()]) {
      const { fetch, url, sent } = await away(t, 2);
      assert.equal(await (await fetch(url, streaming(body))).text(), "well");
      assert.deepEqual(sent, ["POST in pieces"]);
    }
    const { url, sent } = await answering(t, 503, 200);
    const fetch = retryingFetch({ fetch: nodeFetch, repeatable: true });
    const answer = await fetch(url, { method: "PUT", body: Readable.from(pieces) });
    assert.equal(await answer.text(), "answer 2");
    assert.deepEqual(sent, ["PUT in pieces", "PUT in pieces"]);
  });
});

test("what only the client can read is sent once", async (t) => {
  await virtualTime(async () => {
    const { fetch, url, sent } = await away(t, 1);
    const error = await fetch(url, streaming({ toString: () => "own" })).catch((e) => e);
    assert.deepEqual([outcomeOf(error)?.reason, sent], ["streamed", []]);
  });
});

test("a file that nobody reads any more is closed", async () => {
  const url = await nowhere();
  for (const of of [(file: Readable) => file, (file: Readable) => Readable.toWeb(file)]) {
    const file = createReadStream(fileURLToPath(import.meta.url));
    const asked = retryingFetch({ attempts: 1 })(url, streaming(of(file)));
    await assert.rejects(asked, TypeError);
    await until(() => file.destroyed);
  }
  const none = createReadStream("/there/is/none");
  const asked = retryingFetch({ attempts: 2 })(url, streaming(none));
  await assert.rejects(asked, /fetch failed|ENOENT/);
  assert.ok(none.errored); // which nobody else has heard
});

test("the fetch of a process may be replaced: by this one, around it, and by a mock", async (t) => {
  const own = globalThis.fetch;
  t.after(() => {
    globalThis.fetch = own;
  });
  const { url, sent } = await answering(t, 200);
  const one = retryingFetch();
  const other = retryingFetch();
  const around: typeof fetch = async (...all) => {
    await pause(1);
    return other(...all);
  };
  for (const now of [one, around]) {
    globalThis.fetch = now;
    for (const ask of [fetch, one, other, () => retry(() => fetch(url), READ)]) {
      sent.length = 0;
      assert.equal(await (await ask(url)).text(), "answer 1");
      assert.equal(sent.length, 1);
    }
    await assert.rejects(fetch("no url"), TypeError);
  }
  globalThis.fetch = async () => new Response("mocked");
  assert.equal(await (await one(url)).text(), "mocked");
  assert.equal(await (await retry(() => one(url), READ)).text(), "mocked");
});

test("a mock's answer may lack whatever its caller does not look at", async () => {
  for (const answer of [{ ok: true }, { status: 200 }, { status: 500 }]) {
    assert.equal(await retryingFetch({ fetch: async (_: string) => answer })("http://a/"), answer);
  }
});

test("a claim makes up for a client that is not seen", async () => {
  await virtualTime(async () => {
    for (const [onlyRequest, answer] of [
      [true, "well"],
      [undefined, "indeterminate"],
    ] as const) {
      let made = 0;
      const unseen = async (_: string, __?: RequestInit) => {
        if (++made < 3) {
          throw refused();
        }
        return new Response("well");
      };
      const asked = retryingFetch({ fetch: unseen, onlyRequest })("http://a/", { method: "POST" });
      const got = await asked.then(
        (response) => response.text(),
        (error) => outcomeOf(error)?.type,
      );
      assert.equal(got, answer);
    }
  });
});

test("a Request and its body, as often as it takes", async (t) => {
  await virtualTime(async () => {
    const { fetch, url, sent } = await away(t, 2);
    const request = new Request(url, { method: "PUT", body: "text", headers: { "x-a": "b" } });
    assert.equal(await (await fetch(request)).text(), "well");
    assert.deepEqual(sent, ["PUT text"]);
    assert.ok(request.bodyUsed);
    await assert.rejects(fetch(request), TypeError);
  });
});

test("an answer at which the policy stops comes back, readable; those before are let go", async (t) => {
  const { url } = await answering(t, 503, 503, 404);
  const given: Response[] = [];
  const base: typeof fetch = async (...all) => {
    given.push(await fetch(...all));
    return given.at(-1)!;
  };
  await virtualTime(async () => {
    const answer = await retryingFetch({ fetch: base })(url);
    assert.deepEqual([answer.status, await answer.text()], [404, "answer 3"]);
    assert.deepEqual([outcomeOf(answer)?.type, outcomeOf(answer)?.attempts], ["failed", 3]);
    assert.deepEqual(
      given.map(({ bodyUsed }) => bodyUsed),
      [true, true, true],
    );
    const refusing = await answering(t, 503);
    const last = await retryingFetch({ attempts: 2 })(refusing.url);
    assert.equal(await last.text(), "answer 2");
    assert.equal(outcomeOf(last)?.reason, "attempts");
  });
});

test("a status that no rule tries again is the caller's, and loads nothing", async (t) => {
  const types: string[] = [];
  const observe = ({ type }: CallEvent) => void types.push(type);
  for (const [policy, status, outcome] of [
    ["network", 404, "ok"],
    ["network", 409, "ok"],
    ["network", 503, "indeterminate"],
    [document(), 404, "ok"],
    [{ ...document(), rules: [{ kind: "any", then: [{ stop: { effects: "none" } }] }] }, 503, "ok"],
  ] as const) {
    const { url } = await answering(t, status);
    const loaded = await Policy.load(policy, { check: false });
    const answer = await retryingFetch({ policy: loaded, observe })(url, { method: "PUT" });
    assert.equal(await answer.text(), "answer 1");
    assert.equal(outcomeOf(answer)?.type, outcome, `${status}`);
  }
  assert.deepEqual(types.slice(0, 4), ["attemptEnded", "stopped", "attemptEnded", "stopped"]);
});

test("the client's own error comes out, or how the call ended", async () => {
  const url = await nowhere();
  await virtualTime(async () => {
    const own = await retryingFetch()(url).catch((e) => e);
    assert.ok(own instanceof TypeError && own.message === "fetch failed");
    assert.equal(outcomeOf(own)?.type, "exhausted");
    const told = await retryingFetch({ reraise: false, label: "people" })(url).catch((e) => e);
    assert.ok(told instanceof Exhausted && told.cause instanceof TypeError);
    assert.match(told.message, /^outlast: people: /);
  });
  await assert.rejects(retryingFetch()("no url"), TypeError);
  await assert.rejects(retryingFetch()(url, { headers: { "a b": "c" } }), TypeError);
});

test("a write that may have been applied is repeated only if its caller says so", async (t) => {
  await virtualTime(async () => {
    const key = { "Idempotency-Key": "k" };
    const asks = async (options: TransportOptions, path: string, init: RequestInit) => {
      const { url, sent } = await answering(t, 503, 200);
      await retryingFetch(options)(url + path, { method: "PUT", ...init });
      return sent.length;
    };
    assert.equal(await asks({}, "items/1", { headers: key }), 1);
    assert.equal(await asks({ honoursKey: true }, "items/1", { headers: key }), 2);
    assert.equal(await asks({ honoursKey: true }, "items/1", {}), 1);
    assert.equal(await asks({ honoursKey: "POST /items/*" }, "items/1", { headers: key }), 1);
    assert.equal(await asks({ repeatable: "PUT /items/*" }, "items/1", {}), 2);
    assert.equal(await asks({ repeatable: "PUT /items/*" }, "items/1/x", {}), 1);
    assert.equal(await asks({ repeatable: ["PUT /items/**"] }, "items/1/x", {}), 2);
    assert.equal(await asks({ refusesBeforeActing: "PUT /items/1" }, "items/1", {}), 2);
    const few = ({ method, url, headers }: { method: string; url: URL; headers: Headers }) =>
      method === "PUT" && url.search === "?a=1" && headers.get("x-safe") === "1";
    assert.equal(await asks({ repeatable: few }, "?a=1", { headers: [["X-Safe", "1"]] }), 2);
    assert.equal(await asks({ repeatable: few }, "?a=1", {}), 1);
  });
});

test("one request may have other options, and so may what is around it", async (t) => {
  const { url, sent } = await answering(t, 503);
  const labels: unknown[] = [];
  const observe = ({ type, call }: CallEvent) => type === "stopped" && labels.push(call.label);
  const fetch = retryingFetch({ attempts: 3, observe });
  const attempts = async (ask: () => Promise<unknown>) => {
    sent.length = 0;
    await ask();
    return sent.length;
  };
  await virtualTime(async () => {
    const own = { attempts: 2, label: ({ url }: ClientRequest) => `get ${url.pathname}` };
    assert.equal(await attempts(() => fetch(url)), 3);
    assert.equal(await attempts(() => fetch(url, { outlast: own })), 2);
    assert.equal(await attempts(() => withOptions({ attempts: 1 }, () => fetch(url))), 1);
    const within = () => withOptions({ attempts: 5 }, () => fetch(url, { outlast: own }));
    assert.equal(await attempts(within), 2);
    assert.equal(await attempts(() => noRetries(() => fetch(url))), 1);
  });
  const plain = "GET 127.0.0.1";
  assert.deepEqual(labels, [plain, "get /", plain, "get /", plain]);
});

test("a watcher, a seed and a spread are passed on", async () => {
  const url = await nowhere();
  await virtualTime(async (clock) => {
    const options = { ready: always("ready"), seed: 1, spread: 2000, attempts: 2 };
    await retryingFetch(options)(url).catch(() => {});
    assert.equal(Math.round(clock.now()), 1492); // the seed's second number is three quarters
  });
});

test("within an attempt of retry a request is made once: that tries again", async (t) => {
  const { url, sent } = await answering(t, 503);
  const fetch = retryingFetch();
  await virtualTime(async () => {
    await retry(() => fetch(url), READ, { attempts: 2 });
    assert.equal(sent.length, 2);
  });
});

test("an abort ends a wait, with its reason", async () => {
  const url = await nowhere();
  for (const options of [{}, { attemptTimeout: 5000 }, { signal: new AbortController().signal }]) {
    const reason = new Error("enough");
    const controller = new AbortController();
    const asked = retryingFetch(options)(url, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 100);
    assert.equal(await asked.catch((e) => e), reason);
    assert.deepEqual([outcomeOf(reason)?.type, outcomeOf(reason)?.effects], ["cancelled", "none"]);
  }
});

test("a request whose signal is aborted already is not made", async (t) => {
  const { url, sent } = await answering(t, 200);
  for (const options of [{}, { observe: () => {} }]) {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    const asked = retryingFetch(options)(url, { method: "POST", signal });
    assert.equal(await asked.catch((e) => e), reason);
    assert.deepEqual([outcomeOf(reason)?.effects, sent], ["none", []]);
  }
});

test("an abort, by whichever signal, leaves a write that was sent in doubt", async (t) => {
  const url = await serve(t, () => {});
  const all = new AbortController();
  const asked = retryingFetch({ signal: all.signal })(url, { method: "POST", body: "x" });
  setTimeout(() => all.abort(), 100);
  const error = await asked.catch((e) => e);
  assert.deepEqual([error.name, outcomeOf(error)?.effects], ["AbortError", "unknown"]);
  const signal = AbortSignal.timeout(100);
  const own = await retryingFetch()(url, { method: "POST", signal }).catch((e) => e);
  const { type, effects, attempts } = outcomeOf(own)!;
  assert.deepEqual(
    [own.name, type, effects, attempts],
    ["TimeoutError", "cancelled", "unknown", 1],
  );
});

test("an abort reaches an answer that is being read, and a time limit does not", async (t) => {
  const url = await serve(t, async (_, answer) => {
    answer.write("first ");
    await pause(300);
    answer.end("second");
  });
  const whole = await retryingFetch({ attemptTimeout: 100 })(url);
  assert.equal(await whole.text(), "first second");
  const controller = new AbortController();
  const part = await retryingFetch({ attemptTimeout: 5000 })(url, { signal: controller.signal });
  controller.abort();
  await assert.rejects(part.text(), { name: "AbortError" });
});

test("a request that takes too long is ended: a read is made again, a write is in doubt", async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => ++asked % 2 === 0 && answer.end("well"));
  await virtualTime(async () => {
    const fetch = retryingFetch({ attemptTimeout: 100, reraise: false });
    assert.equal(await (await fetch(url)).text(), "well");
    await assert.rejects(fetch(url, { method: "POST" }), Indeterminate);
    assert.equal(asked, 3);
  });
});

test("a write that waits for a connection at its time limit is made again", async (t) => {
  const connect = { rejectUnauthorized: false };
  const ways = {
    retryingFetch: (url: string, init: RequestInit) =>
      retryingFetch({ attemptTimeout: 200, ready: false })(url, init),
    "retry, and fetch": (url: string, init: RequestInit) =>
      retry(({ signal }) => fetch(url, { ...init, signal }), WRITE, { attemptTimeout: 200 }),
  };
  for (const [name, ask] of Object.entries(ways)) {
    const [url, sent] = await slowToConnect(t);
    const dispatcher = new Agent({ connect });
    t.after(() => dispatcher.destroy());
    const answer = await ask(url, { method: "POST", body: "x", dispatcher } as RequestInit);
    assert.equal(await answer.text(), "well", name);
    await pause(300); // what was left behind would have been sent
    assert.deepEqual(sent, ["POST x"], name);
  }
});

test("secrets and a budget are as they are of retry", async () => {
  const url = await nowhere();
  const told: string[] = [];
  const observe = (event: CallEvent) => void told.push(JSON.stringify(event));
  const options = { observe, secrets: ["127.0.0.1"], budget: 5000 };
  await virtualTime(async (clock) => {
    const error = await retryingFetch(options)(url).catch((e) => e);
    assert.deepEqual([outcomeOf(error)?.reason, clock.now()], ["call", 5000]);
    assert.ok(told.length > 3 && !told.join().includes("127.0.0.1"), told.join("\n"));
  });
});

test("options that there are not, or that are none, are refused", async () => {
  for (const [options, what] of [
    [{ retries: 3 }, /no member "retries"/],
    [{ repeatable: "items" }, /repeatable must be .* and has "items"/],
    [{ honoursKey: ["POST /a", "post /b"] }, /honoursKey must be .* and has "post \/b"/],
    [{ refusesBeforeActing: 1 }, /refusesBeforeActing must be true, false/],
    [{ ready: "graph" }, /none of the forms/],
    [{ attempts: 0 }, /attempts is 0/],
    [{ budget: 0 }, /budget is 0/],
  ] as const) {
    assert.throws(() => retryingFetch(options as never), what);
    assert.throws(() => withOptions(options as never, () => {}), what);
    await assert.rejects(retryingFetch()("http://a/", { outlast: options as never }), what);
  }
});
