import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, type TestContext, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { type CallEvent, defaultPlugin, info, Plugin, PluginError, Policy, warmUp } from "outlast";
import { bundledPolicies, readKernel, readWasm } from "../../dist/plugin/file.js";
import { Instance } from "../../dist/plugin/instance.js";
import { FAILED, folder, READ, ROOT, WRITE } from "../helpers.js";
import { type Body, module } from "./wasm-builder.js";

function fileOf(t: TestContext, bytes: Uint8Array): string {
  const path = join(folder(t), "plugin.wasm");
  writeFileSync(path, bytes);
  return path;
}

test("info tells what the package carries", async () => {
  const recorded = readFileSync(join(ROOT, "../plugin/outlast.wasm.sha256"), "utf8");
  const said = await info();
  assert.equal(said.sha256, recorded.trim());
  assert.match(said.abi, /^1\.\d+\.\d+$/);
  assert.deepEqual(Object.keys(said.policies), ["omnigraph", "witan-core", "network"]);
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(said.version, version);
});

test("nothing is loaded before the first failure", async () => {
  const plugin = new Plugin();
  const policy = await Policy.load("omnigraph", { plugin });
  await policy.run(() => ({ exitCode: 0 }), WRITE);
  assert.equal(plugin.loaded, false);
  await policy.run(() => ({ exitCode: 2 }), WRITE);
  assert.equal(plugin.loaded, true);
  await plugin.close();
  assert.equal(plugin.loaded, false);
  assert.match((await info(plugin)).abi, /^1\./);
  await plugin.close();
});

test("a plugin that was changed is not run", (t) => {
  const copy = folder(t);
  cpSync(join(ROOT, "dist"), join(copy, "dist"), { recursive: true });
  writeFileSync(join(copy, "package.json"), '{"type":"module"}');
  const carried = join(copy, "dist/plugin/inlined.js");
  const text = readFileSync(carried, "utf8");
  const small = brotliCompressSync(module("traps")).toString("base64");
  const program = `
    import { warmUp } from "./dist/index.js";
    await warmUp().catch((e) => console.log(e.name, e.message));
  `;
  for (const [wasm, says] of [
    [small, /^PluginError .*has the SHA-256 .*, and was built with /],
    ["c3BvaWx0", /^PluginError .*reading the plugin: .*/],
  ] as const) {
    writeFileSync(carried, text.replace(/WASM = ".*?"/, `WASM = "${wasm}"`));
    const args = ["--input-type=module", "-e", program];
    assert.match(String(execFileSync(process.execPath, args, { cwd: copy })), says);
  }
});

test("what the package carries is what was built", async () => {
  const plugin = join(ROOT, "../plugin");
  assert.ok(readFileSync(join(plugin, "outlast.wasm")).equals((await readWasm()).bytes));
  assert.ok(readFileSync(join(plugin, "kernel.wasm")).equals(await readKernel()));
  const curl = readFileSync(join(ROOT, "../commands/curl/policy.json"), "utf8");
  assert.equal((await bundledPolicies()).curl, curl);
});

test("warming up loads and decides", async () => {
  const plugin = new Plugin();
  await plugin.warmUp();
  assert.equal(plugin.loaded, true);
  await warmUp();
  assert.equal(defaultPlugin().loaded, true);
});

test("where there is no engine, who asks is told at the start", () => {
  const program = `
    import { warmUp } from "outlast";
    await warmUp().catch((error) => console.log(String(error)));
  `;
  // As where no memory may become executable.
  const args = ["--jitless", "--input-type=module", "-e", program];
  const said = execFileSync(process.execPath, args, { cwd: ROOT, stdio: "pipe" });
  assert.match(String(said), /^PluginError: .*compiling the plugin: .*WebAssembly is not defined/);
});

test("2 GiB of address space are enough for Node, if it is told so", (t) => {
  const flag = "--disable-wasm-trap-handler";
  if (process.platform === "win32" || !process.allowedNodeEnvironmentFlags.has(flag)) {
    t.skip("this Node has no such option, or the system no such limit");
    return;
  }
  const program = `
    import { warmUp } from "outlast";
    await warmUp().then(() => console.log("up"), (error) => console.log(String(error)));
  `;
  const start = (...flags: string[]) => {
    const limited = 'ulimit -v 2097152; exec "$@"';
    const args = [process.execPath, ...flags, "--input-type=module", "-e", program];
    return String(execFileSync("bash", ["-c", limited, "bash", ...args], { cwd: ROOT }));
  };
  assert.equal(start(flag), "up\n");
  assert.match(start(), /^PluginError: .*starting the plugin: .*Out of memory/);
});

test("a plugin that answers an error is told at the start", async (t) => {
  const said = '{"v":1,"error":{"code":"bad_request","message":"nothing is right"}}';
  const ask = Instance.prototype.call;
  const mocked = mock.method(Instance.prototype, "call", function (this: Instance, name: string) {
    return name === "decide" ? said : ask.call(this, name, "");
  });
  t.after(() => mocked.mock.restore());
  const failed = { name: "PluginError", code: "bad_request", text: "nothing is right" };
  await assert.rejects(new Plugin().warmUp(), failed);
});

test("what is no plugin says why", async (t) => {
  const exported = ["describe", "check", "decide", "run"];
  const kernel = "extism:host/env";
  for (const [bytes, text] of [
    [Buffer.from("no wasm"), /compiling the plugin: .*magic/],
    [
      module("traps", exported),
      /no export "outlast_abi_1", so it is not a plugin of this contract/,
    ],
    [module("traps", ["outlast_abi_1", "decide"]), /no export "describe"/],
    [
      module("traps", undefined, kernel, "http_request"),
      /imports "http_request" from "extism:host\/env"/,
    ],
    [module("traps", undefined, "env", "abort"), /imports "abort" from "env", which this package/],
  ] as const) {
    const plugin = new Plugin(fileOf(t, bytes));
    await assert.rejects(plugin.load(), (error: Error) => {
      assert.ok(error instanceof PluginError);
      assert.match(error.message, text);
      return true;
    });
    assert.equal(plugin.loaded, false);
  }
  await assert.rejects(new Plugin("/nowhere/plugin.wasm").load(), /reading the plugin: .*ENOENT/);
});

for (const body of ["traps", "exits", "answers nothing", "loops in memory"] as Body[]) {
  test(`a plugin that ${body} ends the call, which keeps its last result`, async (t) => {
    const plugin = new Plugin(fileOf(t, module(body)));
    const policy = await Policy.load("omnigraph", { plugin });
    await assert.rejects(
      policy.run(() => ({ exitCode: 9, stderr: "mine" }), WRITE),
      (e: Error) => {
        assert.ok(e instanceof PluginError, String(e));
        assert.ok(!e.message.includes("mine"));
        assert.equal(e.result?.exitCode, 9);
        return true;
      },
    );
    await plugin.close();
  });
}

/** Lets so many calls of the plugin fail before the next one. */
function failing(t: TestContext, times: number, how: () => unknown): void {
  const call = Instance.prototype.call;
  const mocked = mock.method(
    Instance.prototype,
    "call",
    function (this: Instance, name: string, data: string) {
      if (name === "decide" && times-- > 0) {
        throw how();
      }
      return call.call(this, name, data);
    },
  );
  t.after(() => mocked.mock.restore());
}

test("an instance that fails is replaced, and the call goes on with its state", async (t) => {
  const plugin = new Plugin();
  const policy = await Policy.load("omnigraph", { plugin });
  const session = policy.session(READ, { seed: 7 });
  const untouched = (await Policy.load("omnigraph")).session(READ, { seed: 7 });
  await session.next(FAILED, { now: 0 });
  await untouched.next(FAILED, { now: 0 });
  const told: Error[] = [];
  session.onReplaced = (error) => told.push(error);
  failing(t, 1, () => new Error("unreachable"));
  const [got, want] = [
    await session.next(FAILED, { now: 600 }),
    await untouched.next(FAILED, { now: 600 }),
  ];
  assert.deepEqual(got, want);
  assert.equal(plugin.replaced, 1);
  assert.deepEqual(told.map(String), ["Error: unreachable"]);
  await plugin.close();
});

test("a plugin that fails twice ends the call, and the next call has a new instance", async (t) => {
  const plugin = new Plugin();
  await plugin.load();
  const session = (await Policy.load("omnigraph", { plugin })).session(READ, { seed: 7 });
  failing(t, 2, () => new Error("unreachable"));
  await assert.rejects(session.next(FAILED), /unreachable \(and again: unreachable\)/);
  assert.equal((await session.next(FAILED, { now: 0 })).type, "retry");
  assert.equal(plugin.replaced, 2);
  await plugin.close();
});

test("hooks are told of an instance that was replaced, and of the loading", async (t) => {
  const plugin = new Plugin();
  const policy = await Policy.load("omnigraph", { plugin });
  const told: CallEvent[] = [];
  const observe = (event: CallEvent) => told.push(event);
  failing(t, 1, () => new Error("lost"));
  await policy.run(() => ({ exitCode: 2 }), WRITE, { observe });
  assert.deepEqual(
    told.map((event) => event.type),
    ["attemptEnded", "loaded", "instanceReplaced", "stopped"],
  );
  await plugin.close();
});

test("the program's stderr stays its own, and it ends by itself", () => {
  const program = `
    import { Policy } from "outlast";
    const policy = await Policy.load("omnigraph");
    const outcome = await policy.run(
      () => ({ exitCode: 2, stderr: "error: unexpected argument\\n" }),
      { remote: true, write: true },
    );
    console.log(outcome.type);
  `;
  const args = ["--input-type=module", "-e", program];
  const said = execFileSync(process.execPath, args, { cwd: ROOT, stdio: "pipe", timeout: 60_000 });
  assert.equal(String(said), "failed\n");
});

test("the default plugin is the packaged one", async () => {
  const built = new Plugin(join(ROOT, "../plugin/outlast.wasm"));
  assert.equal(await defaultPlugin().sha256(), await built.sha256());
});
