import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { closedPort, shut, until } from "../helpers.js";

const { watcherOf } = await import(new URL("../../dist/watch/watcher.js", import.meta.url).href);

/** A watch of a server that is seen to be away, and the server. */
async function watched(t: TestContext) {
  const port = await closedPort();
  const watch = watcherOf(`http://127.0.0.1:${port}`).watch(true, () => {});
  t.after(() => watch.stop());
  await until(() => watch.seen().down);
  let asked = 0;
  return {
    watch,
    asked: () => asked,
    /** The server is there, and answers its health check with a status. */
    async serve(status: number) {
      const server = createServer((_, answer) => {
        asked++;
        answer.writeHead(status).end();
      }).listen(port, "127.0.0.1");
      t.after(() => shut(server));
      await once(server, "listening");
      return server;
    },
  };
}

test("a health check that is answered 500 is asked for until its server is ready", async (t) => {
  const { watch, asked, serve } = await watched(t);
  await serve(500);
  await until(() => watch.seen().rose === "accepting");
  await until(() => asked() > 6);
  assert.equal(watch.seen().why, undefined);
});

for (const status of [401, 403, 404]) {
  test(`a health check that is answered ${status} is told of, and asked for after the next outage`, async (t) => {
    const { watch, asked, serve } = await watched(t);
    const server = await serve(status);
    await until(() => watch.seen().rose === "accepting");
    await until(() => watch.seen().why?.includes(`is answered ${status}`));
    const before = asked(); // others may have been under way
    await pause(500);
    assert.ok(asked() === before && before <= 8, `asked ${before} times, then ${asked()}`);
    shut(server);
    await until(() => watch.seen().down);
    await serve(200);
    await until(() => watch.seen().rose === "ready");
    assert.equal(watch.seen().why, undefined);
  });
}
