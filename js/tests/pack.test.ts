// What is packed works in an empty folder, far from any checkout.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folder, ROOT } from "./helpers.js";

function run(cwd: string, program: string, ...args: string[]): string {
  // What npm tells its scripts is of this package.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name)),
  );
  return execFileSync(program, args, { cwd, env, encoding: "utf8", timeout: 240_000 });
}

/** A folder with a package that was packed and installed there, and what is in it. */
function installed(t: TestContext): { home: string; files: string[] } {
  const home = folder(t);
  // It is built already, and other tests are using that.
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", home];
  const [packed] = JSON.parse(run(ROOT, "npm", ...pack));
  writeFileSync(join(home, "package.json"), '{"private":true,"type":"module"}');
  run(
    home,
    "npm",
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    join(home, packed.filename),
  );
  return { home, files: packed.files.map((file: { path: string }) => file.path) };
}

const PROGRAM = `
import { info, Policy, retry } from "outlast";
import { virtualTime } from "outlast/testing";

let left = 3;
const ask = async () => {
  if (left-- > 0) {
    throw Object.assign(new Error("refused"), { code: "ECONNREFUSED", syscall: "connect" });
  }
  return "answer";
};
const [answer, slept] = await virtualTime(async (clock) => [
  await retry(ask, { remote: true, write: true }, { onlyRequest: true }),
  clock.slept,
]);
console.log(JSON.stringify({ answer, waits: slept.length, ...(await info()) }));
`;

/** A user's program in TypeScript, without the types of a browser. */
const TYPED = `
import {
  type Action, type CallEvent, logTo, Policy, type Result, resultOf, retry, retryingFetch, runCommand, setHooks, wrap,
} from "outlast";
import { openTelemetry, type OpenTelemetryApi } from "outlast/opentelemetry";
import { prometheus, type PromClient } from "outlast/prometheus";
import { VirtualClock } from "outlast/testing";

const policy: Policy = await Policy.load("omnigraph");
const session = policy.session({ remote: true, write: false }, { seed: 7 });
const result: Result = { exitCode: 1, stderr: new Uint8Array() };
const action: Action = await session.next(result, { now: 0, random: 0.5 });
if (action.type === "retry") {
  const delay: number = action.delay;
  console.log(delay);
} else {
  const effects: "none" | "unknown" = action.outcome.effects;
  console.log(effects);
}
const clock = new VirtualClock();
const observe = (event: CallEvent) => {
  if (event.type === "waiting") {
    console.log(event.kind, event.delay);
  }
};
await policy.run(({ attempt, signal }) => ({ exitCode: signal.aborted ? 1 : attempt }), {
  remote: true,
  write: true,
}, { clock, observe, resultOf: (error) => resultOf(error) });
const text: string = await retry(async () => "x", { remote: true, write: false });
const answer: Response = await retry(() => fetch(text), { remote: true, write: false });
const riding: typeof fetch = retryingFetch({ maxWait: 60_000 });
const people = wrap(riding, { remote: true, write: false });
console.log((await people.with({ attempts: 2 })(text)).status);
const done = await runCommand(["ls"], { remote: false, write: false }, { policy });
const printed: Buffer = done.stdout;
console.log(answer.status, printed);
declare const api: OpenTelemetryApi;
declare const client: PromClient<object>;
setHooks([logTo(console, { fields: "last" }), openTelemetry(api), prometheus(client)]);
// @ts-expect-error: write must be said
await policy.run(() => result, { remote: true });
// @ts-expect-error: there is no such member
await session.next({ exit_code: 1 });
`;

test("what is packed, installed in an empty folder", { timeout: 300_000 }, async (t) => {
  const { home, files } = installed(t);
  const plugin = join(ROOT, "../plugin");

  await t.test("has the plugin and its types, and nothing of the tests", () => {
    for (const name of ["README.md", "LICENSE", "dist/index.d.ts", "dist/plugin/inlined.js"]) {
      assert.ok(files.includes(name), `${name} is missing of ${files}`);
    }
    assert.ok(!files.some((name) => /test\.|^src|bench|\.map$/.test(name)));
    const main = JSON.parse(readFileSync(join(home, "node_modules/outlast/package.json"), "utf8"));
    assert.equal(main.dependencies, undefined);
  });

  await t.test("rides out a failure", () => {
    writeFileSync(join(home, "program.js"), PROGRAM);
    const said = JSON.parse(run(home, process.execPath, "program.js"));
    assert.deepEqual([said.answer, said.waits], ["answer", 3]);
    const recorded = readFileSync(join(plugin, "outlast.wasm.sha256"), "utf8").trim();
    assert.equal(said.sha256, recorded);
  });

  await t.test("has types that a user's program is checked with", () => {
    const modules = join(home, "node_modules");
    mkdirSync(join(modules, "@types"), { recursive: true });
    assert.ok(!existsSync(join(modules, "typescript")));
    writeFileSync(join(home, "typed.ts"), TYPED);
    const options = {
      strict: true,
      noEmit: true,
      target: "ES2022",
      lib: ["ES2023"],
      module: "NodeNext",
      skipLibCheck: false,
      typeRoots: [join(ROOT, "node_modules/@types")],
      types: ["node"],
    };
    writeFileSync(
      join(home, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["typed.ts"] }),
    );
    run(home, process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "-p", home);
  });
});
