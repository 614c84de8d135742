// A policy in a folder that others keep.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type CallEvent,
  logTo,
  Policy,
  PolicyError,
  type PolicyInForce,
  type Result,
  retry,
  runCommand,
  setHooks,
} from "outlast";
import { VirtualClock, virtualTime } from "outlast/testing";
import { after, folder, READ, ROOT, refused } from "../helpers.js";

const AWAY: Result = { failure: "unconnected", sent: "no", onlyRequest: true };
const OK: Result = { httpStatus: 200 };
const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));
const READING = join(CHECKOUT, "followed/testdata");
const NETWORK = readFileSync(join(CHECKOUT, "plugin/policy/builtin/network.json"), "utf8");

function policies(t: TestContext): string {
  const path = join(folder(t), "policies");
  mkdirSync(path, { mode: 0o755 });
  return path;
}

/** Puts a policy into a folder: network's rules with another window and first delay. */
function release(path: string, serial: number, maxWait = "150s", base = "500ms"): void {
  const document = JSON.parse(NETWORK);
  document.budgets.unavailable.max_wait = maxWait;
  document.budgets.unavailable.backoff.base = base;
  const time = "2026-03-03T10:00:00Z";
  const envelope = JSON.stringify({ version: 1, name: "network", serial, time, document });
  const digest = `sha256:${createHash("sha256").update(envelope).digest("hex")}`;
  const source = "https://policies.example/network.json";
  put(path, JSON.stringify({ version: 1, envelope, digest, source }));
}

function put(path: string, text: string): void {
  writeFileSync(join(path, ".new"), text, { mode: 0o644 });
  renameSync(join(path, ".new"), join(path, "network.json"));
}

/** What a call says that it goes by. */
async function told(policy: Policy): Promise<PolicyInForce> {
  const events: CallEvent[] = [];
  await virtualTime(() =>
    policy.run(
      after(1, () => AWAY),
      READ,
      { observe: (event) => events.push(event) },
    ),
  );
  const found = events.filter((event) => event.type === "policyInForce");
  assert.equal(found.length, 1);
  return found[0]!;
}

interface Case {
  file: string;
  mode?: string;
  folder_mode?: string;
  owner?: number;
  folder_owner?: number;
  serial?: number;
  expired?: boolean;
  why?: string;
}

const cases: Case[] = JSON.parse(readFileSync(join(READING, "reading.json"), "utf8"));
for (const one of cases) {
  test(`every host reads alike: ${JSON.stringify(one)}`, async (t) => {
    const dir = policies(t);
    const path = join(dir, "orders.json");
    copyFileSync(join(READING, "reading", `${one.file}.json`), path);
    chmodSync(path, Number.parseInt(one.mode ?? "0644", 8));
    chmodSync(dir, Number.parseInt(one.folder_mode ?? "0755", 8));
    give(t, path, one.owner);
    give(t, dir, one.folder_owner);
    if (one.why !== undefined) {
      const error = await Policy.follow(dir, "orders").catch((e: unknown) => e);
      assert.ok(error instanceof PolicyError, String(error));
      assert.match(error.message, /no such policy comes with outlast/);
      assert.ok(String(error.cause).includes(one.why), String(error.cause));
      return;
    }
    const policy = await Policy.follow(dir, "orders");
    const found = await policy.release();
    assert.equal(found?.serial, one.serial);
    assert.equal(found?.since?.toISOString(), "2026-03-04T08:30:00.000Z");
    assert.equal(found?.expires !== undefined, one.expired ?? false);
    const again = await Policy.load((await policy.document())!);
    assert.equal(await policy.digest(), await again.digest());
  });
}

/** Gives a file to somebody else; who is not root becomes somebody else. */
function give(t: TestContext, path: string, owner: number | undefined): void {
  if (owner === undefined) {
    return;
  }
  if (process.geteuid!() === 0) {
    chownSync(path, owner, 0);
  } else {
    t.mock.method(process as { geteuid(): number }, "geteuid", () => owner);
  }
}

test("neither a link nor a pipe nor too much is read", async (t) => {
  const dir = policies(t);
  const path = join(dir, "orders.json");
  const why = async (at = dir) => {
    const error = await Policy.follow(at, "orders").catch((e: unknown) => e);
    assert.ok(error instanceof PolicyError, String(error));
    return String(error.cause);
  };
  symlinkSync(join(READING, "reading/valid.json"), path);
  assert.match(await why(), /ELOOP/);
  unlinkSync(path);
  execFileSync("mkfifo", ["-m", "0644", path]);
  assert.match(await why(), /no regular file/);
  unlinkSync(path);
  writeFileSync(path, "", { mode: 0o644 });
  truncateSync(path, 2 ** 40);
  assert.match(await why(), /longer than/);
  symlinkSync(dir, join(dir, "link"));
  assert.match(await why(join(dir, "link")), /no directory/);
  await assert.rejects(Policy.follow(dir, "../network"), /by its name, not a path/);
});

test("the last good one is in force", async (t) => {
  const dir = policies(t);
  const policy = await Policy.follow(dir, "network");
  const inForce = async (serial: number | undefined, why?: RegExp) => {
    const event = await told(policy);
    assert.equal(event.release?.serial, serial);
    assert.equal(event.why === undefined, why === undefined, String(event.why));
    assert.match(String(event.why), why ?? /undefined/);
  };
  await inForce(undefined, /ENOENT/);
  release(dir, 3);
  await inForce(3);
  release(dir, 4, "200s", "1s");
  await inForce(4);
  assert.equal((await policy.release())?.source, "https://policies.example/network.json");
  assert.match(JSON.stringify(await policy.document()), /"max_wait":"200s"/);
  const delay = async () =>
    JSON.stringify(await (await policy.withMaxWait(60_000)).document()).match(/"base":"\w+"/)?.[0];
  assert.equal(await delay(), '"base":"1s"');
  release(dir, 3);
  await inForce(4, /serial 3 is lower than 4/);
  put(dir, "{}");
  await inForce(4, /version: is missing/);
  rmSync(dir, { recursive: true });
  await inForce(4, /ENOENT/);
  mkdirSync(dir, { mode: 0o755 });
  release(dir, 5);
  await inForce(5);
  assert.equal(await delay(), '"base":"500ms"');
  chmodSync(dir, 0o777);
  release(dir, 6);
  await inForce(5, /can be written by others/);
  chmodSync(dir, 0o755);
  await inForce(6);
});

test("wherever a policy may be", async (t) => {
  const dir = policies(t);
  release(dir, 1, "150s", "2s");
  const policy = await Policy.follow(dir, "network", { check: false });
  await virtualTime(async (clock) => {
    const ask = async () => {
      let left = 1;
      const work = async () => {
        if (left-- > 0) {
          throw refused();
        }
        return "there";
      };
      assert.equal(await retry(work, READ, { policy }), "there");
      return clock.slept.pop()!;
    };
    assert.ok((await ask()) >= 2000);
    release(dir, 2, "150s", "4s");
    assert.ok((await ask()) >= 4000);
  });
  const failing = [process.execPath, "-e", "process.exit(7)"];
  assert.equal((await runCommand(failing, READ, { policy })).outcome.type, "failed");

  const session = policy.session(READ);
  release(dir, 3, "150s", "8s");
  const first = await session.next(AWAY, { now: 0 }); // what is in force now decides
  assert.ok(first.type === "retry" && first.delay >= 8000);
  const own = await session.policy.digest();
  release(dir, 4, "150s", "1s");
  assert.equal((await session.next(AWAY, { now: 10_000 })).type, "retry");
  assert.equal(await session.policy.digest(), own);
  assert.notEqual(await policy.digest(), own);
});

test("the page's example", async () => {
  const page = readFileSync(join(CHECKOUT, "docs/fleet.md"), "utf8");
  const [, code] = /```js\n(.*?)```/s.exec(page)!;
  const shown = `${code}process.stdout.write(answer);`;
  const command = ["--input-type=module", "-e", shown];
  assert.equal(execFileSync(process.execPath, command, { cwd: ROOT, encoding: "utf8" }), "there");
});

test("lines of a log", async (t) => {
  const dir = policies(t);
  const lines: string[] = [];
  const write = (level: string) => (text: string) => {
    if (text.includes("policy in force")) {
      lines.push(level);
    }
  };
  const policy = await Policy.follow(dir, "network");
  setHooks([
    logTo({ debug: write("debug"), info: write("?"), warn: write("warn"), error: write("?") }),
  ]);
  t.after(() => setHooks(undefined));
  await told(policy);
  release(dir, 9);
  await told(policy);
  put(dir, "{}");
  await told(policy);
  assert.deepEqual(lines, ["debug", "debug", "warn"]);
});

/** A call through an outage, on a clock of its own, by whatever is in force. */
class Ride {
  readonly starts: number[] = [];
  readonly digests: string[] = []; // of the policies that it says it goes by
  type = "";

  async run(policy: Policy, seed: number, hold: () => unknown): Promise<void> {
    const clock = new VirtualClock();
    const attempt = async () => {
      this.starts.push(clock.now());
      if (this.starts.length === 2) {
        await hold();
      }
      return clock.now() >= 60_000 ? OK : AWAY;
    };
    const observe = (event: CallEvent) => {
      if (event.type === "policyInForce") {
        this.digests.push(event.digest);
      }
    };
    this.type = (await policy.run(attempt, READ, { clock, seed, observe })).type;
  }
}

// Each of a thousand waiting calls goes on by its own policy, to the microsecond as if nothing
// had happened, and those that begin afterwards go by the new one.
test("a policy changes under waiting calls", async (t) => {
  const [CALLS, SEEDS] = [1000, 10];
  const dir = policies(t);
  release(dir, 1);
  const policy = await Policy.follow(dir, "network");
  const alone = async () => {
    const rides = Array.from({ length: SEEDS }, () => new Ride());
    await Promise.all(rides.map((ride, seed) => ride.run(policy, seed, () => {})));
    return rides;
  };
  const before = await alone();
  const rides = Array.from({ length: CALLS }, () => new Ride());
  let inside = 0;
  let goOn = () => {};
  const changed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let allIn = () => {};
  const all = new Promise<void>((resolve) => {
    allIn = resolve;
  });
  const hold = () => {
    if (++inside === CALLS) {
      allIn();
    }
    return changed;
  };
  const running = rides.map((ride, number) => ride.run(policy, number % SEEDS, hold));
  await all;
  release(dir, 2, "300s", "3s");
  const later = await alone();
  rmSync(dir, { recursive: true }); // and then the folder goes away
  const gone = await alone();
  goOn();
  await Promise.all(running);

  for (const [seed, own] of before.entries()) {
    assert.equal(own.digests.length, 1);
    assert.notDeepEqual(own.digests, later[seed]!.digests);
    assert.notDeepEqual(own.starts, later[seed]!.starts);
    assert.deepEqual(gone[seed], later[seed]);
  }
  for (const [number, ride] of rides.entries()) {
    assert.equal(ride.type, "ok");
    assert.deepEqual(ride, before[number % SEEDS]);
  }
});
