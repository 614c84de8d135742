import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";
import { Cancelled, Policy, type PolicyDocument, runCommand } from "outlast";
import { virtualTime } from "outlast/testing";
import { document, folder, READ, ROOT, until, WRITE } from "./helpers.js";

const LOCAL = { remote: false, write: true };

const policy = await Policy.load(document());

const shell = (script: string, ...args: string[]) => ["/bin/sh", "-c", script, "sh", ...args];

/** Whether a process runs. One that has ended may still have its number. */
function isAlive(pid: number): boolean {
  try {
    const proc = process.platform === "linux" && readFileSync(`/proc/${pid}/stat`, "latin1");
    return process.kill(pid, 0) && !(proc && /\) [ZX] [^)]*$/.test(proc));
  } catch {
    return false;
  }
}

/** The number of a process, once its file is there and whole. */
async function pidIn(file: string): Promise<number> {
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return Number(readFileSync(file, "utf8"));
}

test("output is held, apart, as bytes, of the last attempt only; input is given again", async (t) => {
  const count = join(folder(t), "count");
  const script = `echo x >> "$1"; cat; echo "err $(wc -l < "$1")" >&2; [ "$(wc -l < "$1")" -ge 3 ] || exit 7`;
  const input = Buffer.from([0x61, 0xff, 0x0d, 0x0a, 0]);
  await virtualTime(async (clock) => {
    const done = await runCommand(shell(script, count), WRITE, { policy, input });
    assert.deepEqual([done.ok, done.exitCode, done.signal], [true, 0, null]);
    assert.deepEqual(done.stdout, input);
    assert.equal(String(done.stderr), "err 3\n");
    assert.deepEqual(clock.slept.length, 2);
    assert.deepEqual(done.argv[0], "/bin/sh");
  });
});

test("the exit code and the signal are the command's own", async () => {
  const failed = await runCommand(shell("exit 9"), LOCAL, { policy });
  assert.deepEqual(
    [failed.exitCode, failed.signal, failed.outcome.type],
    [9, null, "indeterminate"],
  );
  const killed = await runCommand(shell("kill -9 $$"), LOCAL, { policy });
  assert.deepEqual([killed.exitCode, killed.signal], [null, "SIGKILL"]);
});

test("a text as input, more of it than a pipe holds, and a command that reads none", async () => {
  const input = "é".repeat(300_000);
  const read = await runCommand(["/bin/cat"], LOCAL, { policy, input });
  assert.equal(String(read.stdout), input);
  const unread = await runCommand(["/bin/true"], LOCAL, { policy, input });
  assert.equal(unread.exitCode, 0);
  const none = await runCommand(["/bin/cat"], LOCAL, { policy });
  assert.equal(none.stdout.length, 0);
});

test("a command that cannot be started is the caller's error, at once", async () => {
  await assert.rejects(runCommand(["/nowhere/omnigraph"], READ), { code: "ENOENT" });
  await assert.rejects(runCommand(["/bin/true"], READ, { policy, cwd: "/nowhere" }), {
    code: "ENOENT",
  });
});

test("the environment, the folder, and the number of the attempt", async (t) => {
  const cwd = folder(t);
  const env = { PATH: process.env.PATH, MINE: "yes" };
  const script = 'echo "$MINE $(pwd -P) $OUTLAST_ATTEMPT"';
  const done = await runCommand(shell(script), READ, { policy, cwd, env });
  assert.match(String(done.stdout), /^yes \/.*outlast-\S+ 1\n$/);
});

test("a policy must be named for a command that none knows", async () => {
  await assert.rejects(runCommand(["/bin/true"], READ), /the command is "true", .*name a policy/);
  assert.equal((await runCommand(["/bin/true"], READ, { policy: "omnigraph" })).ok, true);
  for (const [argv, options, text] of [
    ["ls -l", {}, /argv must be an array of strings; no shell splits it/],
    [[], {}, /argv is empty/],
    [["ls"], { killAfter: 0 }, /killAfter is 0/],
    [["ls"], { attemptTimeout: Number.NaN }, /attemptTimeout is NaN/],
    [["ls"], { stdin: "x" }, /no member "stdin"/],
  ] as const) {
    await assert.rejects(runCommand(argv as never, READ, { policy, ...options }), text);
  }
});

test("an abort ends the whole group, before the call is over", async (t) => {
  const file = join(folder(t), "pid");
  const controller = new AbortController();
  const script = 'echo begun; sleep 1000 & echo $! > "$1.part"; mv "$1.part" "$1"; wait';
  const run = runCommand(shell(script, file), LOCAL, { policy, signal: controller.signal });
  const grandchild = await pidIn(file);
  controller.abort();
  const done = await run;
  assert.deepEqual([done.outcome.type, done.outcome.effects], ["cancelled", "unknown"]);
  assert.equal(done.signal, "SIGTERM");
  assert.equal(String(done.stdout), "begun\n");
  assert.equal(isAlive(grandchild), false);
});

test("what does not end when asked to is killed", async (t) => {
  const file = join(folder(t), "pid");
  const controller = new AbortController();
  const script =
    'trap "" TERM; echo $$ > "$1.part"; mv "$1.part" "$1"; while :; do sleep 0.05; done';
  const options = { policy, signal: controller.signal, killAfter: 200, check: true };
  const run = runCommand(shell(script, file), LOCAL, options);
  const child = await pidIn(file);
  controller.abort(new Error("enough"));
  const error = await run.catch((e: unknown) => e);
  assert.ok(error instanceof Cancelled);
  assert.equal(error.result?.signal, "SIGKILL");
  assert.equal(isAlive(child), false);
});

test("an attempt that takes too long is ended, and says so", async () => {
  const timed: PolicyDocument = {
    ...document(),
    rules: [
      { kind: "late", when: [{ timed_out: true }], then: [{ retry: "away" }] },
      { kind: "failed", then: [{ stop: { effects: "unknown" } }] },
    ],
  };
  await virtualTime(async () => {
    const options = { policy: await Policy.load(timed), attemptTimeout: 50 };
    const call = { ...READ, budget: 1000 };
    const done = await runCommand(["/bin/sleep", "1000"], call, options);
    assert.deepEqual([done.outcome.kind, done.outcome.type], ["late", "exhausted"]);
    assert.ok(done.outcome.attempts >= 2);
    assert.equal(done.outcome.result?.timedOut, true);
  });
});

test("a command that may not be signalled does not hold the call", {
  timeout: 30_000,
}, async (t) => {
  const file = join(folder(t), "pid");
  const refused = mock.method(process, "kill", () => {
    throw Object.assign(new Error("kill EPERM"), { code: "EPERM" }); // it is another user's
  });
  const options = { policy, attemptTimeout: 200, killAfter: 100 };
  const run = runCommand(shell('echo $$ > "$1"; exec sleep 60', file), LOCAL, options);
  const [[warned], done] = await Promise.all([once(process, "warning"), run]);
  refused.mock.restore();
  process.kill(await pidIn(file));
  assert.match(warned.message, /process \d+ may not be signalled, and goes on/);
  assert.deepEqual([done.exitCode, done.signal], [null, null]);
  assert.equal(done.outcome.result?.timedOut, true);
});

test("a child that holds the output does not hold the call", async (t) => {
  const file = join(folder(t), "pid");
  const script = 'sleep 30 & echo $! > "$1"; echo printed';
  const done = await runCommand(shell(script, file), LOCAL, { policy });
  assert.equal(String(done.stdout), "printed\n");
  const left = Number(readFileSync(file, "utf8"));
  assert.equal(isAlive(left), true); // it is nobody's business
  process.kill(left);
});

test("a signal that ends this process ends the command too", async (t) => {
  const home = folder(t);
  const file = join(home, "pid");
  writeFileSync(join(home, "mine.json"), JSON.stringify(document()));
  const program = `
    import { Policy, runCommand } from "outlast";
    const policy = await Policy.load(${JSON.stringify(join(home, "mine.json"))}, { check: false });
    const script = 'echo $$ > "$1.part"; mv "$1.part" "$1"; exec sleep 1000';
    const argv = ["/bin/sh", "-c", script, "sh", ${JSON.stringify(file)}];
    await runCommand(argv, { remote: false, write: true }, { policy });
  `;
  const args = ["--input-type=module", "-e", program];
  const parent = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: "inherit",
  });
  const child = await pidIn(file);
  parent.kill("SIGTERM");
  const [, signal] = await once(parent, "exit");
  assert.equal(signal, "SIGTERM");
  await until(() => !isAlive(child));
});

test("nothing is left of a command on this process", async () => {
  await runCommand(["/bin/true"], LOCAL, { policy });
  for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "exit"] as const) {
    assert.equal(process.listenerCount(event), 0, event);
  }
});

/** Leaves a process of the group that has ended, and whose parent, outside of the group,
 * never asks how: as the first process of a container does. */
const ORPHAN = `
  use strict; $| = 1; my $group = $$; my $file = shift;
  if (my $outside = fork) { sleep 1000; exit }
  setpgrp(0, 0);
  if (my $orphan = fork) {
    open(my $pid, ">", "$file.part"); print $pid "$$\\n"; close $pid;
    sleep 1 while -d "/proc/$orphan" && !grep { /\\) Z / } do { open(my $s, "<", "/proc/$orphan/stat"); <$s> };
    rename("$file.part", $file);
    sleep 1000; exit;
  }
  setpgrp(0, $group);
  exit;
`;

test("an abort does not wait for what has ended and is only not forgotten", async (t) => {
  if (process.platform !== "linux" || !existsSync("/usr/bin/perl")) {
    t.skip("needs Linux, and perl to make an orphan with");
    return;
  }
  const file = join(folder(t), "pid");
  const controller = new AbortController();
  const killAfter = 120_000;
  const run = runCommand(["/usr/bin/perl", "-e", ORPHAN, file], LOCAL, {
    policy,
    signal: controller.signal,
    killAfter,
  });
  const outside = await pidIn(file);
  const began = performance.now();
  controller.abort();
  const done = await run;
  process.kill(outside, "SIGKILL");
  assert.equal(done.signal, "SIGTERM");
  assert.ok(performance.now() - began < killAfter / 2);
});
