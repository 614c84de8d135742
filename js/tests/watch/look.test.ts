import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { createServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { certificate, closedPort, folder, listen, serve } from "../helpers.js";

const { addressesOf, look } = await import(
  new URL("../../dist/watch/look.js", import.meta.url).href
);
const { Level, parseTarget } = await import(
  new URL("../../dist/watch/target.js", import.meta.url).href
);

const seen = async (target: string) => Level[await look(parseTarget(target))];

test("a port: refused, accepted, closed at once", async (t) => {
  const accepting = await listen(t, () => {});
  const closing = await listen(t, (socket) => socket.end());
  assert.equal(await seen(`tcp://127.0.0.1:${await closedPort()}`), "Down");
  assert.equal(await seen(`tcp://127.0.0.1:${accepting}`), "Accepting");
  assert.equal(await seen(`tcp://127.0.0.1:${closing}`), "Unanswered");
});

test("no such name, and one of which not every address is refused", async (t) => {
  const port = await listen(t, () => {});
  assert.equal(await seen("tcp://nowhere.invalid:1"), "Down");
  assert.equal(await seen(`tcp://localhost:${port}`), "Accepting");
});

test("a name with more addresses than a look tries is named by all, whatever their order", async (t) => {
  const many = Array.from({ length: 16 }, (_, n) => `127.0.0.${n}`);
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  t.mock.method(dns, "lookup", async () => {
    many.push(many.shift()!);
    return many.map((address) => ({ address, family: 4 }));
  });
  syncBuiltinESMExports();
  const first = await addressesOf("many.example");
  assert.equal(first, [...many].sort().join(","));
  assert.equal(await addressesOf("many.example"), first);
});

test("a health check: its status, its path, and nothing that tells who asks", async (t) => {
  const asked: unknown[] = [];
  const url = await serve(t, ({ url, headers }, answer) => {
    asked.push([url, Object.keys(headers).sort()]);
    answer.writeHead(
      url === "/up?x=1" ? 204 : url === "/moved" ? 302 : url === "/sick" ? 500 : 503,
      { location: "/up" },
    );
    answer.end();
  });
  assert.equal(await seen(url), "Loading");
  assert.equal(await seen(`${url}up?x=1`), "Healthy");
  assert.equal(await seen(`${url}up?x=1#200`), "Accepting");
  assert.equal(await seen(`${url}healthz#503,204`), "Healthy");
  assert.equal(await seen(`${url}moved`), "Accepting");
  assert.equal(await seen(`${url}sick`), "Accepting");
  const headers = ["connection", "host", "user-agent"];
  assert.deepEqual(asked[0], ["/healthz", headers]);
  assert.equal(asked.length, 6); // no redirect was followed
});

test("a health check that is not answered, or not by HTTP, accepts and no more", async (t) => {
  const silent = await listen(t, () => {});
  const other = await listen(t, (socket) => socket.once("data", () => socket.end("SSH-2.0-x\r\n")));
  const began = performance.now();
  assert.equal(await seen(`http://127.0.0.1:${silent}`), "Accepting");
  assert.ok(performance.now() - began < 1500);
  assert.equal(await seen(`http://127.0.0.1:${other}`), "Accepting");
});

test("by TLS, the certificate must be trusted", async (t) => {
  const server = createServer(certificate(folder(t)), (_, answer) => answer.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.equal(await seen(`https://localhost:${port}/`), "Accepting");
});

test("what is no target is refused, and no secret of it is shown", () => {
  for (const [wrong, why] of [
    ["graph:8080", /none of the forms tcp:/],
    ["tcp://graph", /has no port/],
    ["tcp://graph:1/x", /more than a host and a port/],
    ["http://me:hunter2@graph/", /"…", and has a user name/],
    ["http://graph/?key=hunter2#77", /not from 200 to 599/],
  ] as const) {
    assert.throws(
      () => parseTarget(wrong),
      (error: Error) => why.test(error.message) && !error.message.includes("hunter2"),
      wrong,
    );
  }
  assert.equal(parseTarget("https://graph").port, 443);
  assert.equal(parseTarget("tcp://[::1]:80").host, "::1");
});

test("an answer is waited for no longer than it takes", async (t) => {
  const url = await serve(t, (_, answer) => answer.end());
  const took = [];
  for (let i = 0; i < 10; i++) {
    const began = performance.now();
    assert.equal(await seen(url), "Healthy");
    took.push(performance.now() - began);
  }
  assert.ok(Math.min(...took) < 15, `${took} ms`);
});
