// A refused connection beside a request that is still on its way.

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { connect, type LookupFunction, type Socket } from "node:net";
import { test } from "node:test";
import { Indeterminate, retry } from "outlast";
import { closedPort, counting, until, WRITE } from "../helpers.js";
import { CLIENTS } from "./clients.js";

const answer = (socket: Socket) =>
  socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");

/** Sends to a name that is looked up so slowly that the request outlives the attempt. */
function slowly(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const lookup: LookupFunction = (_, { all }, tell) => {
      const found = () =>
        all ? tell(null, [{ address: "127.0.0.1", family: 4 }]) : tell(null, "127.0.0.1", 4);
      setTimeout(found, 300);
    };
    const asked = httpRequest({ host: "slow.test", port, method: "POST", lookup }, (got) => {
      got.resume().on("end", () => resolve("answered"));
    });
    asked.on("error", reject).end("x");
  });
}

const BESIDE: Record<string, (port: number, ask: () => Promise<unknown>) => Promise<unknown>> = {
  "Promise.all": (port, ask) => Promise.all([slowly(port), ask()]),
  "Promise.race": (port, ask) => Promise.race([slowly(port), ask()]),
  "not awaited": (port, ask) => {
    slowly(port).catch(() => {});
    return ask();
  },
  "a plain connection": (port, ask) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("x"));
    socket.on("error", () => {});
    return ask();
  },
  "a time limit that ends nothing": (port) =>
    Promise.race([
      slowly(port),
      Promise.reject(new DOMException("it took too long", "TimeoutError")),
    ]),
};

for (const [name, client] of [
  ["fetch", CLIENTS.fetch!],
  ["node:http", CLIENTS["node:http"]!],
] as const) {
  for (const [how, beside] of Object.entries(BESIDE)) {
    test(`${name}: a refused connection beside a request on its way, ${how}`, async (t) => {
      const [port, got] = await counting(t, answer);
      const nowhere = `http://127.0.0.1:${await closedPort()}/`;
      const asked = retry(() => beside(port, () => client(nowhere)), WRITE);
      await assert.rejects(asked, Indeterminate);
      await until(() => got() > 0);
      assert.equal(got(), 1);
    });
  }
}
