// One look for all processes of a user: who looks, and in which turn they go to the server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { closedPort, folder, ROOT, until } from "../helpers.js";

const dist = (file: string) => new URL(`../../dist/watch/${file}.js`, import.meta.url).href;
const { directory, nameOf, parse, Place } = await import(dist("meeting"));
const { Share } = await import(dist("share"));
const { Caller, Callers, Window } = await import(dist("callers"));
const { watcherOf } = await import(dist("watcher"));
const { nameTarget, parseTarget, Level } = await import(dist("target"));

const skip = process.platform !== "linux" && "nothing is shared elsewhere";
const cases = JSON.parse(
  readFileSync(join(ROOT, "../ready/meeting/testdata/protocol.json"), "utf8"),
);

test("lines are read as other languages read them", () => {
  for (const line of cases.lines) {
    assert.equal(parse(line)?.join(" "), line);
  }
  for (const line of cases.none) {
    assert.equal(parse(line), undefined, line);
  }
});

test("targets have the names that other languages give them", () => {
  for (const [text, name] of Object.entries(cases.targets)) {
    assert.equal(nameTarget(parseTarget(text)), name);
  }
});

const targetAt = (port: number, scheme = "tcp") => `${scheme}://127.0.0.1:${port}`;

/** Where those meet who look at a port of this machine. */
function placeOf(port: number, scheme = "tcp") {
  const target = nameTarget(parseTarget(targetAt(port, scheme)));
  return new Place(directory(), nameOf(target, "direct", "127.0.0.1"));
}

/** Who says that it looks at a port for others, and does with each of them what it is told. */
function pretend(
  t: TestContext,
  port: number,
  accept: (socket: Socket) => void,
  scheme = "tcp",
): void {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    accept(socket.on("error", () => {}));
  }).listen(placeOf(port, scheme).path(1));
  t.after(() => server.close());
}

/** A call of this process that waits for a port. */
function waitFor(t: TestContext, port: number) {
  const watch = watcherOf(targetAt(port)).watch(true, () => {});
  t.after(() => watch.stop());
  return watch;
}

/** A call that waits in a process of its own, goes in its turn, and says when. */
const WAITS = `
  const { watcherOf } = await import(${JSON.stringify(dist("watcher"))});
  const watch = watcherOf(process.argv[1]).watch(true, () => {
    if (watch.seen().rose && !watch.gone) {
      watch.gone = true;
      console.log("goes", Date.now());
      watch.stop();
      setTimeout(() => { watch.went("answered"); setTimeout(() => process.exit(), 20); }, 50);
    }
  });
  watch.waits("accepting", 0, 3_600_000);
  setInterval(() => watch.gone || console.log(watch.seen().down ? "down" : "blind"), 100);
`;

/** Begins such a process.
 *
 * @param files How many files it may have open; as many as this one unless given. */
function waiting(t: TestContext, port: number, files?: number) {
  const own = [process.execPath, "--input-type=module", "-e", WAITS, targetAt(port)];
  const few = ["sh", "-c", `ulimit -n ${files}; exec "$0" "$@"`];
  const [program = "", ...args] = files ? [...few, ...own] : own;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface(child.stdout);
  return { child, lines };
}

test("one looks for all, and they go in turn", { skip }, async (t) => {
  const port = await closedPort();
  const callers = Array.from({ length: 6 }, () => {
    const { child, lines } = waiting(t, port);
    const caller = { last: "", went: 0, ended: once(child, "exit") };
    lines.on("line", (line) => {
      const [word = "", at] = line.split(" ");
      caller.last = word;
      caller.went = Number(at ?? 0);
    });
    return caller;
  });
  await until(() => callers.every(({ last }) => last !== ""));
  await until(() => callers.filter(({ last }) => last === "down").length === 1);
  const server = createServer().listen(port, "127.0.0.1");
  t.after(() => server.close());
  await Promise.all(callers.map(({ ended }) => ended));
  const times = callers.map(({ went }) => went).sort((one, other) => one - other);
  const [first = 0, second = 0] = times;
  assert.ok(first > 0 && second - first >= 40, `${second - first} ms between the first two`);
  assert.ok(times.at(-1)! - first < 10_000);
});

test("a call that ends while its process finds its place leaves nothing", { skip }, async (t) => {
  const port = await closedPort();
  const target = parseTarget(targetAt(port));
  const server = { target, callers: new Callers(), over: false, lookAnew: () => {} };
  const ends = async () => {
    server.over = false;
    const share = new Share(server);
    const ran = share.run();
    server.over = true;
    share.stop();
    assert.equal(await Promise.race([ran, pause(5_000, "goes on", { ref: false })]), undefined);
    return placeOf(port).highest();
  };
  assert.equal(await ends(), 0);
  pretend(t, port, () => {});
  assert.equal(await ends(), 1); // the looker's
});

test("who finds no place is told so, and may be gone already", { skip }, async (t) => {
  const port = await closedPort();
  const { child } = waiting(t, port, 200);
  const place = placeOf(port);
  await until(() => {
    assert.equal(child.exitCode, null);
    return place.highest() > 0;
  });
  const enter = async () => {
    const socket = connect(place.path(1)).on("error", () => {});
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const seated = await Promise.all(Array.from({ length: 50 }, enter));
  for (let i = 0; i < 20; i++) {
    (await enter()).end("ask\n").destroy();
  }
  const [said] = await once(await enter(), "data");
  assert.equal(String(said), "full\n");
  seated[0]!.write("ask\n");
  const [here] = await once(seated[0]!, "data");
  assert.match(String(here), /^here /);
});

test("who was told that there is no place looks alone, and asks again much later", {
  skip,
}, async (t) => {
  const port = await closedPort();
  let asked = 0;
  pretend(t, port, (socket) => {
    asked++;
    socket.end("full\n");
  });
  const watch = waitFor(t, port);
  await until(() => asked > 0);
  await pause(300);
  assert.equal(asked, 1);
  assert.ok(watch.seen().down);
});

test("a turn that comes to a call that is held off is given back", { skip }, async (t) => {
  const port = await closedPort();
  let heard = "";
  pretend(t, port, (socket) => {
    socket.on("data", (data) => {
      heard += data;
      const asked = /^wait (\d+) /m.exec(String(data));
      if (asked) {
        setTimeout(() => socket.write(`turn ${asked[1]} accepting ${2 ** 52}\n`), 100);
      }
    });
  });
  const watch = waitFor(t, port);
  await until(() => heard.includes("wait"));
  watch.waits("accepting", 60_000, 3_600_000);
  await until(() => /^done \d+ left$/m.test(heard));
  assert.equal(watch.seen().rose, undefined);
});

/** A looker of this process for a server that is away, and how to connect to it. */
async function looker(t: TestContext) {
  const port = await closedPort();
  waitFor(t, port);
  const place = placeOf(port);
  await until(() => place.highest() > 0);
  return async () => {
    const socket = connect(place.path(1)).on("error", () => {});
    t.after(() => socket.destroy());
    await once(socket, "connect");
    const heard: string[] = [];
    createInterface(socket).on("line", (line) => heard.push(line));
    return { socket, heard };
  };
}

/** What calls say that wait. */
const waits = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, id) => `wait ${from + id} ready down seldom\n`).join("");

test("a looker keeps so many calls of others, and no more", { skip }, async (t) => {
  const enter = await looker(t);
  const [many, other] = [await enter(), await enter()];
  many.socket.write(`${waits(0, 10_000)}ask\n`);
  await until(() => many.heard.length > 0);
  assert.match(many.heard[0]!, /^here /);
  many.socket.write(`${waits(9_999, 10_000)}ask\n`); // in the place of what it said before
  await until(() => many.heard.length > 1);
  assert.match(many.heard[1]!, /^here /);
  other.socket.write(`${waits(7, 8)}ask\n`);
  await until(() => other.socket.destroyed);
  assert.deepEqual(other.heard, ["full"]);
});

test("a call under way counts too, until its end is told", { skip }, async (t) => {
  const { socket, heard } = await (await looker(t))();
  const each = (id: number) => `wait ${id} ready down seldom\ngo ${id}\n`;
  for (let i = 0; i < 10_000; i++) {
    socket.write(each(i));
  }
  socket.write("done 3 answered\nwait 3 ready down seldom\nask\n");
  await until(() => heard.length > 0);
  assert.match(heard[0]!, /^here /);
  socket.write(each(10_000));
  await until(() => socket.destroyed);
  assert.equal(heard.at(-1), "full");
});

test("the turns are given once for all the calls that a connection ends with", {
  skip,
}, async (t) => {
  const { socket, heard } = await (await looker(t))();
  socket.write(`${waits(0, 2_000)}ask\n`);
  await until(() => heard.length > 0);
  const given = t.mock.method(Callers.prototype, "deal");
  const left = t.mock.method(Callers.prototype, "leave");
  const ended = waits(0, 1_000).replaceAll(/wait (\d+) .*/g, "done $1 left");
  socket.end(ended);
  await until(() => left.mock.callCount() >= 2_000);
  await pause(50);
  assert.ok(given.mock.callCount() < 20, `${given.mock.callCount()} times`);
});

/** Who looks, but for nobody: says what it is told to say to what it hears. */
async function liar(t: TestContext, says: (line: string) => string, scheme = "tcp") {
  const port = await closedPort();
  const heard: string[] = [];
  const conns: Socket[] = [];
  const accept = (socket: Socket) => {
    conns.push(socket);
    createInterface(socket).on("line", (line) => {
      heard.push(line);
      socket.write(says(line));
    });
  };
  pretend(t, port, accept, scheme);
  return { port, heard, conns };
}

const FOREVER = 2 ** 52;
const here = (line: string) => (line === "ask" ? `here down ${FOREVER}\n` : "");

test("a call whose turn comes too late waits again, but not at once", { skip }, async (t) => {
  const turn = (line: string) => line.replace(/^wait (\d+) .*/, "turn $1 accepting 1\n");
  const { port, heard, conns } = await liar(t, (line) =>
    line.startsWith("wait") ? turn(line) : here(line),
  );
  const watch = waitFor(t, port);
  watch.waits("accepting", 0, 3_600_000);
  const waited = () => heard.filter((line) => line.startsWith("wait")).length;
  await until(() => waited() > 0);
  const before = waited();
  await pause(1_000);
  const times = waited() - before;
  assert.ok(times >= 1 && times <= 4, `${times} times`);
  assert.equal(conns.length, 1);
  assert.ok(heard.includes("done 1 left"));
});

for (const [what, status, by] of [
  ["is away", 0, "accepting"],
  ["is not ready yet", 503, "accepting"],
  ["is not healthy", 500, "ready"],
] as const) {
  test(`a turn at a server that ${what} wakes nobody, and is given back`, { skip }, async (t) => {
    const { watch, heard } = await turned(t, status, by);
    watch.waits(by, 0, 3_600_000);
    const waited = () => heard.filter((line) => line.startsWith("wait")).length;
    await until(() => heard.includes("done 1 left") && waited() > 2);
    const before = waited();
    await pause(1_000);
    assert.equal(watch.seen().rose, undefined);
    assert.ok(waited() - before <= 4);
  });
}

test("a turn at a server that is up is taken after one look", { skip }, async (t) => {
  const { asked, watch, heard, news } = await turned(t, 200, "ready");
  const before = asked();
  watch.waits("ready", 0, 3_600_000);
  await until(() => news() > 0);
  assert.equal(watch.seen().rose, "ready");
  assert.equal(asked() - before, 1);
  assert.ok(!heard.includes("done 1 left"));
});

/** A call that is held off where a looker says to each wait that it is its turn, at a server that
 * answers its health check with a status; 0: that is away. */
async function turned(t: TestContext, status: number, by: "accepting" | "ready") {
  let asked = 0;
  let news = 0;
  const turn = (line: string) => line.replace(/^wait (\d+) .*/, `turn $1 ready ${FOREVER}\n`);
  const says = (line: string) => (line.startsWith("wait") ? turn(line) : here(line));
  const { port, heard, conns } = await liar(t, says, "http");
  if (status) {
    const server = createHttpServer((_, answer) => {
      asked++;
      answer.writeHead(status).end();
    }).listen(port, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
  }
  const watch = watcherOf(targetAt(port, "http")).watch(true, () => news++);
  t.after(() => watch.stop());
  watch.waits(by === "ready" ? "accepting" : "ready", 60_000, 3_600_000);
  await until(() => conns.length > 0);
  await pause(600); // what it looked by itself has ended
  return { watch, heard, asked: () => asked, news: () => news };
}

for (const [what, more] of [
  ["answers", `here down ${FOREVER}\n`],
  ["turns", "turn 7 accepting 1\n"],
] as const) {
  test(`who says more ${what} than it is asked for is left`, { skip }, async (t) => {
    const { port, conns } = await liar(t, (line) => here(line) + more.repeat(200));
    const watch = waitFor(t, port);
    await until(() => conns[0]?.destroyed === true);
    await pause(500);
    assert.equal(conns.length, 1);
    assert.equal(placeOf(port).highest(), 1); // nor does it take the place
    assert.ok(watch.seen().down);
  });
}

test("a call of another process has one turn for each time that it says that it waits", () => {
  const callers = new Callers();
  const caller = new Caller(true, () => {}, 0, true);
  caller.saw(1, Level.Down);
  callers.enter(caller);
  const given = [Level.Accepting, Level.Healthy, Level.Down, Level.Accepting].map((level) => {
    callers.anew(level > Level.Down);
    caller.rise(level);
    return callers.deal().length;
  });
  assert.deepEqual(given, [1, 0, 0, 0]);
});

test("the directory is the user's alone", { skip }, (t) => {
  const root = folder(t);
  const [run, temp] = [join(root, "run"), join(root, "tmp")];
  mkdirSync(run);
  mkdirSync(temp);
  chmodSync(temp, 0o1777);
  const own = join(temp, `outlast-${process.geteuid!()}`);
  assert.equal(directory(run, temp), own);
  chmodSync(own, 0o755);
  assert.throws(() => directory(run, temp));
  rmSync(own, { recursive: true });
  symlinkSync(run, own);
  assert.throws(() => directory(run, temp));
  const session = join(run, String(process.geteuid!()));
  mkdirSync(session, 0o700);
  assert.equal(directory(run, temp), join(session, "outlast"));
  chmodSync(session, 0o755);
  assert.throws(() => directory(run, temp));
});

test("turns: one at first, and more as they are answered", () => {
  const callers = new Callers();
  const all = Array.from({ length: 20 }, () => {
    const caller = new Caller(true, () => {}, 0);
    caller.saw(1, Level.Down);
    callers.enter(caller);
    return caller;
  });
  callers.anew(true);
  for (const caller of all) {
    caller.rise(Level.Accepting);
  }
  const [first, ...none] = callers.deal();
  assert.deepEqual([first, none], [all[0], []]);
  callers.leave(first);
  callers.window.went(first, "answered", performance.now() + 10);
  const two = callers.deal();
  assert.equal(two.length, 2);
  for (const caller of two) {
    callers.window.went(caller, "failed", performance.now());
  }
  assert.deepEqual(callers.deal(), []); // for a second
  assert.ok(callers.window.isFree(performance.now() + 1001));
});

test("turns: what passes between a turn and its attempt is not the server's", () => {
  const window = new Window();
  let now = 0;
  for (const before of [0, 100]) {
    const caller = new Caller(true, () => {}, 0);
    window.begin(caller, now);
    now += before;
    window.begin(caller, now);
    now += 5;
    window.went(caller, "answered", now);
  }
  assert.equal(window.size, 3);
});
