// What is evidence: a write of which it was seen that nothing was sent is tried again, whatever
// else this process does.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { Agent, createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { Exhausted, Indeterminate, outcomeOf, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import { closedPort, listen, READ, serve, shut, until, WRITE } from "../helpers.js";
import { ASKING, plain, post } from "./clients.js";

/** A refused write beside something else, on a virtual clock. */
async function refused(beside: () => unknown, options = {}): Promise<unknown> {
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  const ask = async () => {
    await beside();
    return fetch(nowhere, post);
  };
  return virtualTime(() => retry(ask, WRITE, options).catch((error: unknown) => error));
}

test("a connection on which nothing is written, and this process's own output", async (t) => {
  const port = await listen(t, () => {});
  const idle = connect(port, "127.0.0.1");
  await once(idle, "connect");
  t.after(() => idle.destroy());
  const ended = await refused(() => process.stdout.write("# a line\n"));
  assert.ok(ended instanceof Exhausted, String(ended));
});

test("answers of a server in this process", async (t) => {
  let answered = 0;
  const url = await serve(t, (_, answer) => {
    answered++;
    answer.end("x");
  });
  const program = `setInterval(() => fetch(${JSON.stringify(url)}), 1)`;
  const others = spawn(process.execPath, ["-e", program]);
  t.after(() => others.kill());
  await until(() => answered > 0);
  const ended = await refused(() => until(() => answered % 5 === 0));
  assert.ok(ended instanceof Exhausted, String(ended));
  assert.ok(answered > 20);
});

test("what this process does beside it may be a part of it, unless the caller says that it is not", async (t) => {
  const port = await listen(t, (socket) => socket.resume());
  const beating = connect(port, "127.0.0.1");
  await once(beating, "connect");
  const heart = setInterval(() => beating.write("still here"), 1);
  t.after(() => {
    clearInterval(heart);
    beating.destroy();
  });
  const written = () => {
    const before = beating.bytesWritten;
    return until(() => beating.bytesWritten > before);
  };
  const ended = await refused(written);
  assert.ok(ended instanceof Indeterminate, String(ended));
  const why =
    /meanwhile this process wrote on a connection that is not watched, to 127.0.0.1 port \d+ \(onlyRequest: true says/;
  assert.match(ended.message, why);
  const claimed = await refused(written, { onlyRequest: true });
  assert.ok(claimed instanceof Exhausted, String(claimed));
});

test("what a hook sends is no part of an attempt", async (t) => {
  let told = 0;
  const url = await serve(t, (_, answer) => {
    told++;
    answer.end("x");
  });
  const send = () => void fetch(url).catch(() => {});
  const around = (_number: number, _at: number, make: () => Promise<unknown>) => {
    send();
    make().then(send, send);
  };
  const ofCall = { begin: () => ({ tell: send, attempt: around, end: send }) };
  for (const observe of [send, ofCall]) {
    told = 0;
    const ended = await refused(() => {}, { observe });
    assert.ok(ended instanceof Exhausted, String(ended));
    await until(() => told > 0);
  }
});

test("messages that cannot be understood, where Node tells of requests", async () => {
  const names = ["created", "start", "error"].map((name) => `http.client.request.${name}`);
  const undicis = ["request:create", "client:sendHeaders", "request:error", "client:connectError"];
  names.push("http.client.response.finish", ...undicis.map((name) => `undici:${name}`));
  const tell = () => {
    for (const message of [null, undefined, 1, {}, { request: null }, { socket: 1 }]) {
      for (const name of names) {
        channel(name).publish(message);
      }
    }
  };
  await refused(() => {}); // so that they are heard
  tell();
  const between = await refused(() => {});
  assert.ok(between instanceof Exhausted, String(between));
  const within = await refused(tell);
  assert.ok(within instanceof Indeterminate, String(within));
});

test("a claim does not outweigh what was seen of the attempt itself", async (t) => {
  const port = await listen(t, (socket) => socket.resume());
  const kept = connect(port, "127.0.0.1");
  await once(kept, "connect");
  t.after(() => kept.destroy());
  const ended = await refused(() => kept.write("INCR x"), { onlyRequest: true });
  assert.ok(ended instanceof Indeterminate, String(ended));
});

test("a pool of connections that are all gone does not fail a read while the server is up", async (t) => {
  const used = new WeakSet<Socket>();
  const url = await serve(t, (_, answer) => {
    const { socket } = answer;
    if (used.has(socket!)) {
      socket!.destroy();
    } else {
      used.add(socket!);
      setTimeout(() => answer.end("x"), 50); // so that each request has a connection of its own
    }
  });
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const method = "GET";
  await Promise.all(
    Array.from({ length: 40 }, () => plain(url, { agent, method, body: undefined })),
  );
  await until(() => Object.values(agent.freeSockets).flat().length === 40);
  await virtualTime(async (clock) => {
    assert.equal(
      await retry(() => plain(url, { agent, method, body: undefined }), READ),
      "answered",
    );
    assert.equal(clock.slept.length, 40);
    assert.ok(clock.now() < 1000, `${clock.now()} ms`);
  });
});

test("a plain refused write rides out two seconds, by every client", {
  timeout: 60_000,
}, async (t) => {
  const port = await closedPort();
  let got = 0;
  const server = createServer((asked, answer) => {
    got++;
    asked.resume();
    answer.end("x");
  });
  t.after(() => shut(server));
  setTimeout(() => server.listen({ port, host: "127.0.0.1" }), 2000);
  const clients = Object.values(ASKING);
  const calls = clients.map((client) => {
    const ask = client();
    return retry(() => ask(`http://localhost:${port}/`, "POST"), WRITE);
  });
  await Promise.all(calls);
  assert.equal(got, clients.length);
});

test("an answer that was the attempt's only request proves something, and else nothing", async (t) => {
  const url = await serve(t, (asked, answer) => {
    asked.resume();
    answer.writeHead(asked.url === "/" ? 400 : 200).end();
  });
  const only = await retry(() => fetch(url, post), WRITE);
  assert.deepEqual([outcomeOf(only)?.type, outcomeOf(only)?.effects], ["failed", "none"]);
  const two = async () => {
    await fetch(`${url}first`, post);
    return fetch(url, post);
  };
  const second = await retry(two, WRITE);
  assert.equal(outcomeOf(second)?.type, "indeterminate");
});

test("a server that refuses before it acts is waited for, where the caller says so", async (t) => {
  let got = 0;
  const url = await serve(t, (asked, answer) => {
    asked.resume();
    answer.writeHead(++got < 3 ? 503 : 200, { "retry-after": "1" }).end();
  });
  await virtualTime(async () => {
    const first = await retry(() => fetch(url, post), WRITE);
    assert.equal(outcomeOf(first)?.type, "indeterminate");
    assert.equal(got, 1);
    const answer = await retry(() => fetch(url, post), { ...WRITE, refusesBeforeActing: true });
    assert.equal(answer.status, 200);
  });
});
