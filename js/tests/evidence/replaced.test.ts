// Methods that were taken before this process's first attempt, and used or put back after it.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, Socket } from "node:net";
import { Writable } from "node:stream";
import { test } from "node:test";
import { Indeterminate, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import { closedPort, listen, until, WRITE } from "../helpers.js";
import { post } from "./clients.js";

const { _write, _writev } = Socket.prototype;

/** As those do who have replaced methods, and restore them. */
function restore(): void {
  Object.assign(Socket.prototype, { write: Writable.prototype.write, _write, _writev });
}

/** A refused request after something with an effect. */
async function refusedAfter(act: () => unknown): Promise<unknown> {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const ask = async () => {
    await act();
    return fetch(nowhere, post);
  };
  return virtualTime(() => retry(ask, WRITE).catch((error: unknown) => error));
}

test("a request of HTTP/2 by a method that was taken before", async (t) => {
  let applied = 0;
  const http2 = createHttp2Server((asked, answer) => {
    applied++;
    asked.resume();
    answer.end("x");
  }).listen(0, "127.0.0.1");
  await once(http2, "listening");
  const session = connectHttp2(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`);
  await once(session, "connect");
  t.after(() => {
    session.destroy();
    http2.close();
  });
  const request = session.request.bind(session);
  for (const endStream of [true, false]) {
    applied = 0;
    const ended = await refusedAfter(() => {
      const stream = request({ ":method": "POST" }, { endStream });
      if (!endStream) {
        stream.end("x");
      }
    });
    assert.ok(ended instanceof Indeterminate, String(ended));
    await until(() => applied > 0);
    assert.equal(applied, 1);
  }
});

for (const [when, before, within] of [
  ["before an attempt", restore, () => {}],
  ["in an attempt", () => {}, restore],
] as const) {
  test(`methods of sockets that are restored ${when}`, async (t) => {
    let applied = 0;
    const port = await listen(t, (socket) => {
      socket.on("data", () => applied++);
    });
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    t.after(() => socket.destroy());
    before();
    const ended = await refusedAfter(() => {
      within();
      socket.write("INCR x\r\n");
    });
    assert.ok(ended instanceof Indeterminate, String(ended));
    await until(() => applied > 0);
    assert.equal(applied, 1);
  });
}
