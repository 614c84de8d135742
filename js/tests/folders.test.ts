// Which folders of the source there are, and who imports whom: each imports only what stands
// before it. (Within a folder the linter finds cycles.)

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path/posix";
import { test } from "node:test";
import { ROOT } from "./helpers.js";

const ORDER = [
  "arguments", // what callers may give
  "wire", // values as they cross to the plugin
  "time", // clocks, and waits that can be given up
  "call", // what a call is, how its attempts and itself end: data
  "process", // runs a command once
  "plugin", // the plugin's file, and what runs it
  "policy", // a policy as data, and a session, which decides by it
  "evidence", // what errors, answers and requests prove
  "watch", // whether a server is back
  "hooks", // what others are told of a call
  "run", // carries out a call
  "policy.ts",
  "retry.ts",
  "transports", // clients' requests that are retried by themselves
  "wrap.ts",
  "attempts.ts",
  "command.ts",
  "testing.ts",
  "index.ts",
];

/** Of each file, the files that it imports. */
function imports(): Map<string, string[]> {
  const source = join(ROOT, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const typescript = files.filter((file) => file.endsWith(".ts"));
  return new Map(
    typescript.map((file) => {
      const text = readFileSync(join(source, file), "utf8");
      const found = text.matchAll(/(?:from|import\() ?"(\..*?)\.js"/g);
      return [file, [...found].map(([, to]) => normalize(join(file, "..", `${to}.ts`)))];
    }),
  );
}

test("each folder imports only folders before it", () => {
  const wrong = [...imports()].flatMap(([file, all]) => {
    const place = (path: string) => ORDER.indexOf(path.split("/")[0]!);
    assert.ok(place(file) >= 0, `${file} is in no folder that is listed`);
    const allowed = (to: string) =>
      place(to) < place(file) || to.split("/")[0] === file.split("/")[0];
    return all.filter((to) => !allowed(to)).map((to) => `${file} imports ${to}`);
  });
  assert.deepEqual(wrong, []);
});

test("imports are found", () => {
  assert.ok(imports().get("policy.ts")?.includes("run/run.ts"));
});
