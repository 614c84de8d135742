// Which results errors stand for. Errors are made by real sockets wherever they can be.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { inspect, promisify } from "node:util";
import axios from "axios";
import { type Call, Policy, type Result, resultOf } from "outlast";
import { request as undiciRequest } from "undici";
import { closedPort, folder, listen, READ, refused, reset, serve, WRITE } from "../helpers.js";

async function caught(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** What the default policy makes of the result of an error: the kind, and what it does. */
async function judged(result: Result | undefined, call: Call): Promise<string> {
  assert.ok(result, "the error stands for no result");
  const session = (await Policy.load("omnigraph")).session(call, { seed: 1 });
  const action = await session.next(result, { now: 0 });
  return action.type === "retry"
    ? `${action.kind}: retry`
    : `${action.outcome.kind}: ${action.outcome.type}, ${action.outcome.effects}`;
}

async function assertJudged(error: unknown, read: string, write: string): Promise<void> {
  const result = resultOf(error, { onlyRequest: true });
  assert.ok(result, `stands for no result: ${inspect(error)}`);
  assert.deepEqual([await judged(result, READ), await judged(result, WRITE)], [read, write]);
}

const AWAY = ["unavailable: retry", "unavailable: retry"] as const;
const BROKEN = ["interrupted: retry", "interrupted: indeterminate, unknown"] as const;
const USELESS = ["failed: failed, none", "failed: failed, none"] as const;

function plain(port: number, options: object = {}): Promise<unknown> {
  return caught(async () => {
    const asked = request({ port, host: "127.0.0.1", method: "POST", ...options });
    asked.end("x");
    const [answer] = await once(asked, "response");
    for await (const _ of answer) {
      // its end matters
    }
  });
}

test("a refused connection, by every client", async () => {
  const port = await closedPort();
  const errors = [
    await caught(() => once(connect(port, "127.0.0.1"), "connect")),
    await caught(() => once(connect(port, "localhost"), "connect")), // both families
    await plain(port),
    await caught(() => fetch(`http://127.0.0.1:${port}/`)),
    await caught(() => fetch(`http://localhost:${port}/`, { method: "POST", body: "x" })),
    await caught(() => undiciRequest(`http://127.0.0.1:${port}/`)),
    await caught(() => once(connectTls(port, "127.0.0.1"), "secureConnect")),
  ];
  for (const error of errors) {
    await assertJudged(error, ...AWAY);
  }
});

test("a name that there is not", async () => {
  for (const error of [
    await caught(() => fetch("http://nowhere.invalid/")),
    await plain(80, { host: "nowhere.invalid" }),
  ]) {
    await assertJudged(error, ...AWAY);
  }
});

test("a socket's file that there is not", async (t) => {
  const path = `${folder(t)}/socket`;
  await assertJudged(await plain(0, { socketPath: path, port: undefined }), ...AWAY);
});

test("a connection that is closed before the answer", async (t) => {
  const port = await listen(t, (socket) => {
    socket.once("data", () => socket.end());
  });
  for (const error of [await plain(port), await caught(() => fetch(`http://127.0.0.1:${port}/`))]) {
    await assertJudged(error, ...BROKEN);
  }
});

test("a connection that is reset", async (t) => {
  const port = await listen(t, (socket) => {
    socket.once("data", () => socket.resetAndDestroy());
  });
  for (const error of [await plain(port), await caught(() => fetch(`http://127.0.0.1:${port}/`))]) {
    await assertJudged(error, ...BROKEN);
  }
});

test("an answer that breaks off", async (t) => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
  const port = await listen(t, (socket) => {
    socket.once("data", () => socket.end(head));
  });
  const byFetch = await caught(async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
  for (const error of [await plain(port), byFetch]) {
    await assertJudged(error, ...BROKEN);
  }
});

test("something that does not speak HTTP", async (t) => {
  const port = await listen(t, (socket) => {
    socket.once("data", () => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  });
  const want = ["unreadable: failed, none", "unreadable: indeterminate, unknown"] as const;
  for (const error of [await plain(port), await caught(() => fetch(`http://127.0.0.1:${port}/`))]) {
    await assertJudged(error, ...want);
  }
});

test("no answer in time", async (t) => {
  const port = await listen(t, () => {});
  const url = `http://127.0.0.1:${port}/`;
  const errors = [
    await caught(() => fetch(url, { signal: AbortSignal.timeout(50) })),
    await caught(() => undiciRequest(url, { headersTimeout: 50 })),
  ];
  for (const error of errors) {
    const result = resultOf(error);
    assert.equal(result?.timedOut, true);
    assert.equal(result?.sent, "unknown");
    assert.match(await judged(result, WRITE), /: indeterminate, unknown/);
  }
});

test("a connection that nobody answers", async () => {
  const error = Object.assign(new Error("connect timeout"), { code: "UND_ERR_CONNECT_TIMEOUT" });
  await assertJudged(new TypeError("fetch failed", { cause: error }), ...AWAY);
  await assertJudged(Object.assign(refused(), { code: "ETIMEDOUT" }), ...AWAY);
});

test("a certificate that nobody trusts", async (t) => {
  const path = folder(t);
  const key = `${path}/key.pem`;
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-days", "1"];
  try {
    const more = ["-out", `${path}/cert.pem`, "-subj", "/CN=localhost"];
    execFileSync("openssl", [...made, ...more], { stdio: "ignore" });
  } catch {
    t.skip("there is no openssl to make one with");
    return;
  }
  const { createServer } = await import("node:https");
  const { readFileSync } = await import("node:fs");
  const pem = { key: readFileSync(key), cert: readFileSync(`${path}/cert.pem`) };
  const server = createServer(pem, (_, answer) => answer.end("x")).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as { port: number };
  const error = await caught(() => fetch(`https://localhost:${port}/`));
  await assertJudged(error, ...USELESS);
  // A server that does not speak TLS: without knowing what was sent, the careful side.
  const clear = await listen(t, (socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  });
  const wrong = await caught(() => fetch(`https://localhost:${clear}/`));
  assert.match(await judged(resultOf(wrong, { onlyRequest: true }), WRITE), /indeterminate/);
  // A proxy that accepts and closes before it has agreed on keys.
  const closing = await listen(t, (socket) => {
    socket.once("data", () => socket.end());
  });
  const early = await caught(() => fetch(`https://localhost:${closing}/`));
  await assertJudged(early, ...AWAY);
});

test("outside of an attempt, fetch's refused connection may be a redirect's", async () => {
  const port = await closedPort();
  const error = await caught(() => fetch(`http://127.0.0.1:${port}/`));
  assert.equal(resultOf(error)?.sent, "unknown");
  assert.deepEqual(await judged(resultOf(error), WRITE), BROKEN[1]);
  assert.equal(resultOf(error, { onlyRequest: true })?.sent, "no");
  const any = await caught(() => Promise.any([fetch(`http://127.0.0.1:${port}/`)]));
  assert.equal(resultOf(any)?.sent, "unknown");
  const plainly = await plain(port); // who knows what else its caller has asked
  assert.equal(resultOf(plainly)?.sent, "unknown");
  assert.equal(resultOf(plainly, { onlyRequest: true })?.sent, "no");
});

test("of several attempts to connect, the one that says the least of nothing being sent", () => {
  const several = (...errors: unknown[]) =>
    resultOf(new AggregateError(errors), { onlyRequest: true });
  assert.equal(several(refused(), refused())?.sent, "no");
  assert.equal(several(refused(), reset())?.sent, "unknown");
  assert.equal(several(reset(), refused())?.sent, "unknown");
  assert.equal(several(refused(), new Error("what?")), undefined);
});

test("an error is found among the causes, and a circle of them ends", () => {
  const error = new Error("asking failed", { cause: new Error("x", { cause: reset() }) });
  assert.equal(resultOf(error)?.sent, "unknown");
  const circle = new Error("a");
  circle.cause = new Error("b", { cause: circle });
  assert.equal(resultOf(circle), undefined);
});

test("errors of proxies", async () => {
  const tunnel = (status: number) => {
    const text = `Proxy response (${status}) !== 200 when HTTP Tunneling`;
    return new TypeError("fetch failed", { cause: new Error(text) });
  };
  await assertJudged(tunnel(502), ...AWAY);
  await assertJudged(tunnel(407), ...USELESS);
});

test("an error's text in several lines does not change what it is", async () => {
  const error = Object.assign(reset(), { message: "broke\n   1: client error (Connect)\n" });
  await assertJudged(error, ...BROKEN);
});

test("errors with a status", () => {
  const answer = { status: 503, headers: { "retry-after": "7" }, data: { error: "busy" } };
  const axios = Object.assign(new Error("failed"), { response: answer });
  assert.deepEqual(resultOf(axios), {
    httpStatus: 503,
    message: '{"error":"busy"}',
    retryAfter: 7000,
  });
  const headers = new Headers({ "retry-after": "1.5" });
  const got = { statusCode: 429, headers, body: Buffer.from("slow") };
  const result = resultOf(Object.assign(new Error("failed"), { response: got }));
  assert.deepEqual([result?.httpStatus, String(result?.message)], [429, "slow"]);
  assert.equal(result?.retryAfter, 1500);
  const undici = { statusCode: 503, headers: { "retry-after": "1" }, code: "UND_ERR_REQ_RETRY" };
  const retried = resultOf(Object.assign(new Error("Request failed"), undici));
  assert.deepEqual([retried?.httpStatus, retried?.retryAfter], [503, 1000]);
  const partial = resultOf(Object.assign(new Error("failed"), { ...undici, statusCode: 200 }));
  assert.equal(partial?.failure, "cut");
  const broken = Object.assign(reset(), { response: { statusCode: 200 } });
  assert.equal(resultOf(broken)?.httpStatus, undefined);
});

test("the errors of fetch in Deno and Bun", () => {
  const url = "error sending request for url (http://127.0.0.1:2/)";
  const from = "error sending request from 127.0.0.1:3 for http://127.0.0.1:2/ (127.0.0.1:2)";
  const deno = (text: string) => new TypeError("fetch failed", { cause: new Error(text) });
  const bun = (code: string) => Object.assign(new TypeError(`${code}: a text`), { code });
  for (const [error, failure] of [
    [deno(`${url}: client error (Connect): dns error: failed to lookup`), "unresolved"],
    [deno(`${url}: client error (Connect): tcp connect error: refused`), "unconnected"],
    [deno(`${url}: client error (Connect): tls handshake eof`), "unconnected"],
    [deno(`${url}: client error (Connect): invalid peer certificate: UnknownIssuer`), "untrusted"],
    [deno(`${from}: client error (SendRequest): connection error`), "broke"],
    [deno(`${from}: client error (SendRequest): invalid HTTP version parsed`), "malformed"],
    [new TypeError("error reading a body from connection"), "cut"],
    [bun("ECONNREFUSED"), "unconnected"],
    [bun("ENETUNREACH"), "unconnected"],
    [bun("ECONNRESET"), "broke"],
  ] as const) {
    assert.equal(resultOf(error)?.failure, failure, inspect(error));
  }
});

test("a Retry-After that is none is not heard", () => {
  const retryAfter = (header: string) => {
    const response = { status: 503, headers: { "retry-after": header } };
    return resultOf(Object.assign(new Error("busy"), { response }))?.retryAfter;
  };
  for (const header of ["in 5", "5 s", "May 5", "Monday", "-1", "0x10", ""]) {
    assert.equal(retryAfter(header), undefined, header);
  }
  // The three forms of a date, the last two of them obsolete.
  for (const date of [
    "Sun, 06 Nov 2994 08:49:37 GMT",
    "Sunday, 06-Nov-49 08:49:37 GMT",
    "Sun Nov  6 08:49:37 2994",
  ]) {
    assert.ok(retryAfter(date)! > 0, date);
  }
  assert.equal(retryAfter("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
});

test("a time limit, by axios", async (t) => {
  const port = await listen(t, () => {});
  const url = `http://127.0.0.1:${port}/`;
  for (const limit of [{ signal: AbortSignal.timeout(50) }, { timeout: 50 }]) {
    const late = await caught(() => axios.get(url, limit));
    assert.equal(resultOf(late)?.timedOut, true, String(late));
  }
  const controller = new AbortController();
  const asked = axios.get(url, { signal: controller.signal });
  controller.abort();
  assert.equal(resultOf(await caught(() => asked)), undefined); // its caller gave up
});

test("an error's line has what its causes say, once", async () => {
  const port = await closedPort();
  const error = await caught(() => fetch(`http://127.0.0.1:${port}/`));
  const message = `TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`;
  assert.equal(resultOf(error)?.message, message);
  const both = await caught(() => fetch(`http://localhost:${port}/`));
  assert.match(
    String(resultOf(both)?.message),
    /^TypeError: fetch failed: connect ECONNREFUSED \S+$/,
  );
  const wrapped = new Error("asking\n  failed", { cause: reset() });
  assert.equal(resultOf(wrapped)?.message, "Error: asking failed: read ECONNRESET");
});

test("errors of processes", async () => {
  const program = "process.stdout.write('o'); process.stderr.write('e'); process.exit(3)";
  const asynchronous = await caught(() => promisify(execFile)(process.execPath, ["-e", program]));
  const synchronous = await caught(() =>
    execFileSync(process.execPath, ["-e", program], { stdio: "pipe" }),
  );
  for (const error of [asynchronous, synchronous]) {
    const { exitCode, stdout, stderr, timedOut } = resultOf(error)!;
    assert.deepEqual([exitCode, String(stdout), String(stderr)], [3, "o", "e"]);
    assert.equal(timedOut, false);
  }
  const late = await caught(() =>
    promisify(execFile)(process.execPath, ["-e", "setInterval(() => {}, 9)"], { timeout: 100 }),
  );
  assert.equal(resultOf(late)?.timedOut, true);
  assert.equal(resultOf(late)?.signal, "SIGTERM");
  const missing = await caught(() => promisify(execFile)("/nowhere/program"));
  assert.equal(resultOf(missing), undefined);
  const spawned = await caught(() => once(spawn("/nowhere/program"), "spawn"));
  assert.equal(resultOf(spawned), undefined);
});

test("what a caller aborted stands for no result", async (t: TestContext) => {
  const port = await listen(t, () => {});
  const controller = new AbortController();
  const asked = fetch(`http://127.0.0.1:${port}/`, { signal: controller.signal });
  controller.abort();
  assert.equal(resultOf(await caught(() => asked)), undefined);
});

test("a wrong address comes out as it is", async (t) => {
  assert.equal(resultOf(await caught(() => fetch("http://"))), undefined);
  const url = await serve(t, (_, answer) => answer.end("{"));
  assert.equal(resultOf(await caught(async () => (await fetch(url)).json())), undefined);
});

test("whatever an error is, asking what it stands for does not throw", () => {
  const trap = () => {
    throw new Error("a trap");
  };
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const failed = (data: unknown) =>
    Object.assign(new Error("failed"), { response: { status: 503, headers: null, data } });
  for (const error of [
    new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap }),
    Object.defineProperty(new Error("x"), "code", { get: trap }),
    Object.create(null),
    Symbol("x"),
    undefined,
  ]) {
    assert.equal(resultOf(error), undefined);
  }
  assert.equal(resultOf(failed(circle))?.httpStatus, 503);
  assert.equal(resultOf(failed({ id: 1n }))?.message, '{"id":"1"}');
  const odd = { code: "ECONNRESET", toString: trap };
  assert.equal(resultOf(odd)?.sent, "unknown");
});

test("what is no failure of a connection stands for no result", () => {
  for (const error of [new Error("x"), new TypeError("y"), "text", undefined, null, 5, {}]) {
    assert.equal(resultOf(error), undefined);
  }
});
