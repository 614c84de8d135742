import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { closedPort, shut } from "../helpers.js";

const { watcherOf } = await import(new URL("../../dist/watch/watcher.js", import.meta.url).href);

async function eventually(holds: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!holds()) {
    assert.ok(performance.now() < end, `it never comes: ${holds}`);
    await pause(5);
  }
}

for (const status of [401, 403, 404, 500]) {
  test(`a health check that is answered ${status}`, async (t) => {
    const port = await closedPort();
    const watch = watcherOf(`http://127.0.0.1:${port}`).watch(true, () => {});
    t.after(() => watch.stop());
    let asked = 0;
    const serve = async (answered: number) => {
      const server = createServer((_, answer) => {
        asked++;
        answer.writeHead(answered).end();
      }).listen(port, "127.0.0.1");
      t.after(() => shut(server));
      await once(server, "listening");
      return server;
    };
    await eventually(() => watch.seen().down);
    const server = await serve(status);
    await eventually(() => watch.seen().rose === "accepting");
    if (status === 500) {
      await eventually(() => asked > 6);
    } else {
      await eventually(() => watch.seen().why?.includes(`is answered ${status}`));
      const before = asked; // others may have been under way
      await pause(500);
      assert.ok(asked === before && asked <= 8, `asked ${before} times, then ${asked}`);
      shut(server);
      await eventually(() => watch.seen().down);
      await serve(200);
      await eventually(() => watch.seen().rose === "ready");
    }
    assert.equal(watch.seen().why, undefined);
  });
}
