// One look for all processes of a user: who looks, and in which turn they go to the server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { closedPort, ROOT, until } from "../helpers.js";

const dist = (file: string) => new URL(`../../dist/watch/${file}.js`, import.meta.url).href;
const { directory, nameOf, parse, Place } = await import(dist("meeting"));
const { Share } = await import(dist("share"));
const { Caller, Callers } = await import(dist("callers"));
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

test("one looks for all, and they go in turn", { skip }, async (t) => {
  const port = await closedPort();
  const children = Array.from({ length: 6 }, () => {
    const args = ["--input-type=module", "-e", WAITS, `tcp://127.0.0.1:${port}`];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    const seen = { last: "", went: 0, child };
    createInterface(child.stdout).on("line", (line) => {
      const [word = "", at] = line.split(" ");
      seen.last = word;
      seen.went = Number(at ?? 0);
    });
    return seen;
  });
  const end = performance.now() + 20_000;
  const sees = () => children.filter(({ last }) => last === "down").length;
  while (sees() !== 1 || children.some(({ last }) => last === "")) {
    assert.ok(performance.now() < end, `${sees()} look`);
    await pause(50);
  }
  const server = createServer().listen(port, "127.0.0.1");
  t.after(() => server.close());
  await Promise.all(children.map(({ child }) => once(child, "exit")));
  const [first = 0, second = 0, ...others] = children.map(({ went }) => went).sort();
  assert.ok(first > 0 && second - first >= 40, `${second - first} ms between the first two`);
  assert.ok(others.at(-1)! - first < 10_000);
});

/** Where those meet who look at a port of this machine. */
function placeOf(port: number) {
  const target = nameTarget(parseTarget(`tcp://127.0.0.1:${port}`));
  return new Place(directory(), nameOf(target, "direct", "127.0.0.1"));
}

test("a call that ends while its process finds its place leaves nothing", { skip }, async () => {
  const port = await closedPort();
  const target = parseTarget(`tcp://127.0.0.1:${port}`);
  const server = { target, callers: new Callers(), over: false, lookAnew: () => {} };
  for (const looker of [undefined, createServer()]) {
    server.over = false;
    looker?.listen(placeOf(port).path(1));
    const share = new Share(server);
    const ran = share.run();
    server.over = true;
    share.stop();
    const how = await Promise.race([ran, pause(5_000, "goes on", { ref: false })]);
    assert.equal(how, undefined);
    assert.equal(placeOf(port).highest(), looker ? 1 : 0);
    looker?.close();
  }
});

test("who finds no place is told so, and may be gone already", { skip }, async (t) => {
  const port = await closedPort();
  const few = 'ulimit -n 200; exec "$0" "$@"';
  const args = ["--input-type=module", "-e", WAITS, `tcp://127.0.0.1:${port}`];
  const child = spawn("sh", ["-c", few, process.execPath, ...args], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  const place = placeOf(port);
  while (place.highest() === 0) {
    assert.equal(child.exitCode, null);
    await pause(20);
  }
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
  const looker = createServer((socket) => {
    asked++;
    socket.end("full\n").on("error", () => {});
  }).listen(placeOf(port).path(1));
  t.after(() => looker.close());
  const watch = watcherOf(`tcp://127.0.0.1:${port}`).watch(true, () => {});
  t.after(() => watch.stop());
  await until(() => asked > 0);
  await pause(300);
  assert.equal(asked, 1);
  assert.ok(watch.seen().down);
});

test("a turn that comes to a call that is held off is given back", { skip }, async (t) => {
  const port = await closedPort();
  let heard = "";
  const looker = createServer((socket) => {
    t.after(() => socket.destroy());
    socket
      .on("error", () => {})
      .on("data", (data) => {
        heard += data;
        const asked = /^wait (\d+) /m.exec(String(data));
        if (asked) {
          setTimeout(() => socket.write(`turn ${asked[1]} accepting ${2 ** 52}\n`), 100);
        }
      });
  }).listen(placeOf(port).path(1));
  t.after(() => looker.close());
  const watch = watcherOf(`tcp://127.0.0.1:${port}`).watch(true, () => {});
  t.after(() => watch.stop());
  await until(() => heard.includes("wait"));
  watch.waits("accepting", 60_000, 3_600_000);
  await until(() => /^done \d+ left$/m.test(heard));
  assert.equal(watch.seen().rose, undefined);
});

/** A looker of this process for a server that is away, and how to connect to it. */
async function looker(t: TestContext) {
  const port = await closedPort();
  const watch = watcherOf(`tcp://127.0.0.1:${port}`).watch(true, () => {});
  t.after(() => watch.stop());
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
async function liar(t: TestContext, says: (line: string) => string) {
  const port = await closedPort();
  const heard: string[] = [];
  const conns: Socket[] = [];
  const server = createServer((socket) => {
    conns.push(socket);
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    createInterface(socket).on("line", (line) => {
      heard.push(line);
      socket.write(says(line));
    });
  }).listen(placeOf(port).path(1));
  t.after(() => server.close());
  return { port, heard, conns };
}

const FOREVER = 2 ** 52;
const here = (line: string) => (line === "ask" ? `here down ${FOREVER}\n` : "");

test("a call whose turn comes too late waits again, but not at once", { skip }, async (t) => {
  const turn = (line: string) => line.replace(/^wait (\d+) .*/, "turn $1 accepting 1\n");
  const { port, heard, conns } = await liar(t, (line) =>
    line.startsWith("wait") ? turn(line) : here(line),
  );
  const watch = watcherOf(`tcp://127.0.0.1:${port}`).watch(true, () => {});
  t.after(() => watch.stop());
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

for (const [what, more] of [
  ["answers", `here down ${FOREVER}\n`],
  ["turns", "turn 7 accepting 1\n"],
] as const) {
  test(`who says more ${what} than it is asked for is left`, { skip }, async (t) => {
    const { port, conns } = await liar(t, (line) => here(line) + more.repeat(200));
    const watch = watcherOf(`tcp://127.0.0.1:${port}`).watch(true, () => {});
    t.after(() => watch.stop());
    await until(() => conns[0]?.destroyed === true);
    await pause(500);
    assert.equal(conns.length, 1);
    assert.equal(placeOf(port).highest(), 1); // nor does it take the place
    assert.ok(watch.seen().down);
  });
}

test("a call of another process has one turn for each time that it says that it waits", () => {
  const line = new Callers();
  const caller = new Caller(true, () => {}, 0, true);
  caller.saw(1, Level.Down);
  line.enter(caller);
  const given = [Level.Accepting, Level.Healthy, Level.Down, Level.Accepting].map((level) => {
    line.anew(level > Level.Down);
    caller.rise(level);
    return line.deal().length;
  });
  assert.deepEqual(given, [1, 0, 0, 0]);
});

test("the directory is the user's alone", { skip }, (t) => {
  const root = mkdtempSync("/tmp/look");
  t.after(() => rmSync(root, { recursive: true }));
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
  const line = new Callers();
  const callers = Array.from({ length: 20 }, () => {
    const caller = new Caller(true, () => {}, 0);
    caller.saw(1, Level.Down);
    line.enter(caller);
    return caller;
  });
  line.anew(true);
  for (const caller of callers) {
    caller.rise(Level.Accepting);
  }
  const [first, ...none] = line.deal();
  assert.deepEqual([first, none], [callers[0], []]);
  line.leave(first);
  line.window.went(first, "answered", performance.now() + 10);
  const two = line.deal();
  assert.equal(two.length, 2);
  line.window.went(two[0], "failed", performance.now());
  line.window.went(two[1], "failed", performance.now());
  assert.deepEqual(line.deal(), []); // for a second
  assert.ok(line.window.isFree(performance.now() + 1001));
});
