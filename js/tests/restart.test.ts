// A real server on a real socket that is closed for three seconds, and a real command that
// prints what omnigraph prints. Nothing is virtual here.

import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Outcome, outcomeOf, retry, runCommand } from "outlast";
import { closedPort, folder, shut, WRITE } from "./helpers.js";

/** Milliseconds that the server is away. */
const AWAY = 3000;

/** Takes a port, and serves on it after a while: an answer is what was sent. */
async function comingBack(t: TestContext): Promise<number> {
  const port = await closedPort();
  let server: Server | undefined;
  const timer = setTimeout(() => {
    server = createServer((asked, answer) => asked.pipe(answer));
    server.listen({ port, host: "127.0.0.1", backlog: 511 });
  }, AWAY);
  t.after(() => {
    clearTimeout(timer);
    if (server) {
      shut(server);
    }
  });
  return port;
}

/** Attempts are at 0, 0.5, 1.5 and 3.5 s, each wait at most a tenth longer; fewer on a machine
 * on which each takes long. */
function assertRodeOut(outcome: Outcome): void {
  assert.equal(outcome.type, "ok");
  assert.ok(outcome.attempts >= 2 && outcome.attempts <= 6, `${outcome.attempts} attempts`);
}

test("two hundred writes by fetch", { timeout: 120_000 }, async (t) => {
  const port = await comingBack(t);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const body = `row ${n}`;
      const post = () => fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
      const answer = await retry(post, WRITE);
      assert.equal(await answer.text(), body);
      return answer;
    }),
  );
  for (const answer of answers) {
    assertRodeOut(outcomeOf(answer)!);
  }
});

const COMMAND = `#!${process.execPath}
const { request } = require("node:http");
const asked = request({ port: Number(process.argv[2]), host: "127.0.0.1", method: "POST" });
asked.on("response", (answer) => answer.pipe(process.stdout));
asked.on("error", () => {
  process.stdout.write("half a row");
  process.stderr.write(
    "Error: \\n   0: \\x1b[91merror sending request for url (http://127.0.0.1/)\\x1b[0m\\n" +
      "   1: \\x1b[91mclient error (Connect)\\x1b[0m\\n   2: \\x1b[91mtcp connect error\\x1b[0m\\n\\n" +
      "Location:\\n   crates/omnigraph-cli/src/client.rs:1\\n",
  );
  process.exitCode = 1;
});
process.stdin.pipe(asked);
`;

test("a command", { timeout: 120_000 }, async (t) => {
  const program = join(folder(t), "omnigraph");
  writeFileSync(program, COMMAND);
  chmodSync(program, 0o755);
  const port = await comingBack(t);
  const input = Buffer.from([0x61, 0xff, 0x0d, 0x0a]);
  const done = await runCommand([program, String(port)], WRITE, { input, check: true });
  assertRodeOut(done.outcome);
  assert.deepEqual(done.stdout, input); // once, whole, of the last attempt only
  assert.equal(done.stderr.length, 0);
});

test("the event loop goes on meanwhile", { timeout: 120_000 }, async (t) => {
  const port = await comingBack(t);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  await retry(() => fetch(`http://127.0.0.1:${port}/`), WRITE);
  clearInterval(timer);
  assert.ok(ticks > 20, `${ticks} ticks`); // 300 on a quiet machine
});

test("the server that is there again is asked once", { timeout: 120_000 }, async (t) => {
  let got = 0;
  const port = await closedPort();
  const server = createServer((_, answer) => {
    got++;
    answer.end("x");
  });
  t.after(() => shut(server));
  setTimeout(() => server.listen(port, "127.0.0.1"), 700);
  await retry(() => fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" }), WRITE);
  assert.equal(got, 1);
});
