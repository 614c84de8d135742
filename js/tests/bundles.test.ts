// The package in bundles, and in runtimes besides Node: each rides out a real outage.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { folder, ROOT } from "./helpers.js";

/** Bundlers and runtimes, which ./check.sh installs. They find this package among them. */
const BUNDLES = join(ROOT, "bundles");
const SELF = join(BUNDLES, "node_modules/outlast");

if (!existsSync(SELF)) {
  symlinkSync(ROOT, SELF);
}

/** Milliseconds that the server is away: it takes more than one attempt to notice. */
const AWAY = 1200;

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Runs a program whose server is away at first, and expects it to get its answers. */
async function ridesOut(t: TestContext, command: string[], cwd: string): Promise<void> {
  const port = await freePort();
  const [program, ...args] = [...command, `http://127.0.0.1:${port}/`];
  const child = spawn(program!, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const said = { out: "", err: "" };
  child.stdout.on("data", (more) => {
    said.out += more;
  });
  child.stderr.on("data", (more) => {
    said.err += more;
  });
  const ended = once(child, "close");
  while (!said.out && child.exitCode === null) {
    await pause(10);
  }
  await pause(AWAY);
  assert.deepEqual([said, child.exitCode], [{ out: "up\n", err: "" }, null]);
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end("answer");
  }).listen(port, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const [code] = await ended;
  assert.deepEqual([said, code], [{ out: "up\nanswer answer answer\n", err: "" }, 0]);
  assert.equal(requests, 3);
}

for (const bundler of ["esbuild-esm", "esbuild-cjs", "webpack", "vite"]) {
  test(`a bundle of ${bundler}`, { timeout: 120_000 }, async (t) => {
    const home = folder(t);
    await promisify(execFile)(process.execPath, ["build.mjs", bundler, home], { cwd: BUNDLES });
    const [program] = readdirSync(home).filter((name) => name.startsWith("ride."));
    await ridesOut(t, [process.execPath, join(home, program!)], home);
  });
}

const RUNTIMES = { node: [], bun: [], deno: ["run", "--quiet", "--allow-all"] };

for (const [runtime, args] of Object.entries(RUNTIMES)) {
  test(`the package in ${runtime}`, { timeout: 120_000 }, async (t) => {
    const bin = join(BUNDLES, "node_modules/.bin", runtime);
    const program = runtime === "node" ? process.execPath : bin;
    await ridesOut(t, [program, ...args, "ride.mjs"], BUNDLES);
  });
}
