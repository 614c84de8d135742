// An attempt that does something which is not seen as a request, and then makes one that is
// refused: what it did is never done again.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync, fork, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { Worker } from "node:worker_threads";
import { Indeterminate, retry } from "outlast";
import { virtualTime } from "outlast/testing";
import { certificate, closedPort, folder, listen, serve, until, WRITE } from "../helpers.js";
import { post } from "./clients.js";

/** Something that has an effect, and how often it had it. */
type Effect = [act: () => unknown, applied: () => number];

/** A server that answers each of its clients' lines, as redis does. */
async function counter(t: TestContext): Promise<[port: number, applied: () => number]> {
  let applied = 0;
  const port = await listen(t, (socket) => {
    socket.on("data", () => socket.write(`:${++applied}\r\n`));
  });
  return [port, () => applied];
}

/** A connection that was made long before. */
async function driver(t: TestContext): Promise<[incr: () => Promise<unknown>, () => number]> {
  const [port, applied] = await counter(t);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  t.after(() => socket.destroy());
  return [
    () => {
      socket.write("INCR x\r\n");
      return once(socket, "data");
    },
    applied,
  ];
}

/** A program that makes a request, of another process or thread. */
const program = (url: string) => `fetch(${JSON.stringify(url)}, { method: "POST" })`;

/** An HTTP server that counts its requests. */
async function server(t: TestContext): Promise<[url: string, applied: () => number]> {
  let applied = 0;
  const url = await serve(t, (asked, answer) => {
    applied++;
    asked.resume();
    answer.end("x");
  });
  return [url, () => applied];
}

const EFFECTS: Record<string, (t: TestContext) => Promise<Effect>> = {
  "a connection that was made before": driver,

  "the same by a queue": async (t) => {
    const [incr, applied] = await driver(t);
    const jobs: (() => void)[] = [];
    const worker = setInterval(() => jobs.shift()?.(), 2);
    t.after(() => clearInterval(worker));
    const act = () => new Promise((resolve) => jobs.push(() => resolve(incr())));
    return [act, applied];
  },

  "a request in another context": async (t) => {
    const [url, applied] = await server(t);
    const outside = AsyncLocalStorage.snapshot();
    return [() => outside(async () => (await fetch(url, post)).text()), applied];
  },

  "the same of node:http": async (t) => {
    const [url, applied] = await server(t);
    const outside = AsyncLocalStorage.snapshot();
    const act = () =>
      new Promise((resolve) => {
        outside(() => httpRequest(url, post, (answer) => answer.resume().on("end", resolve)).end());
      });
    return [act, applied];
  },

  "a request that was begun before": async (t) => {
    let applied = 0;
    const url = await serve(t, (asked) => {
      asked.on("data", () => applied++);
    });
    const asked = httpRequest(url, post);
    asked.on("error", () => {});
    asked.write("begun");
    await until(() => applied === 1);
    const act = async () => {
      const before = applied;
      asked.write("more");
      await until(() => applied > before);
    };
    return [act, () => applied - 1];
  },

  "a connection that does not stand yet": async (t) => {
    const [port, applied] = await counter(t);
    const lookup: LookupFunction = (_, { all }, tell) => {
      const found = () =>
        all ? tell(null, [{ address: "127.0.0.1", family: 4 }]) : tell(null, "127.0.0.1", 4);
      setTimeout(found, 300);
    };
    const socket = connect({ port, host: "slow.test", lookup });
    t.after(() => socket.destroy());
    return [() => void socket.write("INCR x\r\n"), applied];
  },

  "a connection that is busy": async (t) => {
    let got = 0;
    const port = await listen(t, (socket) => {
      const read = (data: Buffer) => {
        got += data.length;
      };
      setTimeout(() => socket.on("data", read), 500);
    });
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    t.after(() => socket.destroy());
    const much = Buffer.alloc(20_000_000);
    socket.write(much);
    return [() => void socket.write("x"), () => Math.max(0, got - much.length)];
  },

  "a connection that was upgraded": async (t) => {
    let applied = 0;
    const upgrading = createServer().on("upgrade", (_, socket) => {
      socket.write("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
      socket.on("data", () => socket.write(`${++applied}`)).on("error", () => {});
      t.after(() => socket.destroy());
    });
    await once(upgrading.listen(0, "127.0.0.1"), "listening");
    t.after(() => upgrading.close());
    const headers = { connection: "upgrade", upgrade: "x" };
    const asked = httpRequest({ port: (upgrading.address() as AddressInfo).port, headers }).end();
    const [, socket] = await once(asked, "upgrade");
    const act = () => {
      socket.write("INCR x");
      return once(socket, "data");
    };
    return [act, () => applied];
  },

  "an encrypted connection that was made before": async (t) => {
    let applied = 0;
    const secure = createTlsServer(certificate(folder(t)), (socket) => {
      socket.on("data", () => socket.write(`${++applied}`)).on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(secure, "listening");
    const { port } = secure.address() as AddressInfo;
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    await once(socket, "secureConnect");
    t.after(() => {
      socket.destroy();
      secure.close();
    });
    const act = () => {
      socket.write("INCR x\r\n");
      return once(socket, "data");
    };
    return [act, () => applied];
  },

  "a session of HTTP/2": async (t) => {
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
    const act = async () => {
      const stream = session.request({ ":method": "POST" });
      stream.end("x");
      await once(stream.resume(), "end");
    };
    return [act, () => applied];
  },

  "a stream of HTTP/2 that was begun before": async (t) => {
    let applied = 0;
    const http2 = createHttp2Server((asked) => {
      asked.on("data", () => applied++);
    }).listen(0, "127.0.0.1");
    await once(http2, "listening");
    const session = connectHttp2(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`);
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    stream.on("error", () => {}).write("begun");
    await until(() => applied === 1);
    t.after(() => {
      session.destroy();
      http2.close();
    });
    const act = async () => {
      const before = applied;
      stream.write("more");
      await until(() => applied > before);
    };
    return [act, () => applied - 1];
  },

  "a stream of HTTP/2 that is only ended": async (t) => {
    let applied = 0;
    const http2 = createHttp2Server((asked, answer) => {
      asked.resume().on("end", () => {
        applied++;
        answer.end("x");
      });
    }).listen(0, "127.0.0.1");
    await once(http2, "listening");
    const session = connectHttp2(`http://127.0.0.1:${(http2.address() as AddressInfo).port}`);
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    await once(stream, "ready");
    t.after(() => {
      session.destroy();
      http2.close();
    });
    const act = () => {
      stream.end();
      return once(stream.resume(), "end");
    };
    return [act, () => applied];
  },

  "another process": async (t) => {
    const [url, applied] = await server(t);
    return [() => once(spawn(process.execPath, ["-e", program(url)]), "exit"), applied];
  },

  "another process that is waited for": async (t) => {
    const path = `${folder(t)}/applied`;
    const act = () => execFileSync("sh", ["-c", `echo >> ${path}`]);
    return [act, () => (existsSync(path) ? readFileSync(path).length : 0)];
  },

  "a process that was begun before": async (t) => {
    const [url, applied] = await server(t);
    const path = `${folder(t)}/child.cjs`;
    const answer = `${program(url)}.then(() => process.send("done"))`;
    writeFileSync(path, `process.on("message", () => ${answer})`);
    const child = fork(path);
    t.after(() => child.kill());
    return [
      () => {
        child.send("go");
        return once(child, "message");
      },
      applied,
    ];
  },

  "another thread": async (t) => {
    const [url, applied] = await server(t);
    return [() => once(new Worker(program(url), { eval: true }), "exit"), applied];
  },

  "a thread that was begun before": async (t) => {
    const [url, applied] = await server(t);
    const told = `const { parentPort: to } = require("node:worker_threads");`;
    const code = `${told} to.on("message", () => ${program(url)}.then(() => to.postMessage("done")))`;
    const worker = new Worker(code, { eval: true });
    await once(worker, "online");
    t.after(() => worker.terminate());
    return [
      () => {
        worker.postMessage("go");
        return once(worker, "message");
      },
      applied,
    ];
  },

  "a datagram": async (t) => {
    let applied = 0;
    const receiver = createSocket("udp4").bind(0, "127.0.0.1");
    receiver.on("message", () => applied++);
    await once(receiver, "listening");
    const sender = createSocket("udp4");
    t.after(() => {
      receiver.close();
      sender.close();
    });
    const act = async () => {
      const before = applied;
      sender.send("INCR x", receiver.address().port, "127.0.0.1");
      await until(() => applied > before);
    };
    return [act, () => applied];
  },
};

for (const [name, effect] of Object.entries(EFFECTS)) {
  test(`${name}, and then a refused request`, async (t) => {
    const [act, applied] = await effect(t);
    const nowhere = `http://127.0.0.1:${await closedPort()}/`;
    const ask = async () => {
      await act();
      return fetch(nowhere, post);
    };
    const write = virtualTime(() => retry(ask, WRITE));
    await assert.rejects(write, (error) => {
      assert.ok(error instanceof Indeterminate, String(error));
      assert.match(error.message, /that nothing was sent was not seen: .* (used|wrote|sent)/);
      return true;
    });
    await until(() => applied() > 0);
    assert.equal(applied(), 1);
  });
}

test("what one attempt hands to another that writes it", async (t) => {
  const [incr, applied] = await driver(t);
  const nowhere = `http://127.0.0.1:${await closedPort()}/`;
  let batch: { rows: number; done: Promise<unknown> } | undefined;
  const load = () => {
    batch ??= {
      rows: 0,
      done: pause(5).then(() => {
        batch = undefined;
        return incr();
      }),
    };
    batch.rows++;
    return batch.done;
  };
  const ask = async () => {
    await load();
    return fetch(nowhere, post);
  };
  await virtualTime(async () => {
    const calls = Array.from({ length: 10 }, () => retry(ask, WRITE));
    for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      assert.equal(status, "rejected");
      assert.ok(reason instanceof Indeterminate, String(reason));
    }
  });
  assert.equal(applied(), 1);
});
