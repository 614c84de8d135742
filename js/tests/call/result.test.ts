import assert from "node:assert/strict";
import { test } from "node:test";
import { type Result, succeeded } from "outlast";
import { resultMembers } from "../../dist/call/result.js";

test("which results succeeded", () => {
  for (const [result, want] of [
    [{ exitCode: 0 }, true],
    [{ exitCode: 0, message: "x" }, true],
    [{ exitCode: 0, timedOut: true }, false],
    [{ exitCode: null, signal: "SIGTERM" }, false],
    [{ exitCode: 3 }, false],
    [{ httpStatus: 204 }, true],
    [{ httpStatus: 200, message: "cut" }, false],
    [{ httpStatus: 304 }, false],
    [{}, false],
  ] as [Result, boolean][]) {
    assert.equal(succeeded(result), want, JSON.stringify(result));
  }
});

test("a result that is none is refused", () => {
  for (const [result, text] of [
    [{ exit_code: 1 }, /result has no member "exit_code"/],
    [{ exitCode: 1.5 }, /result\.exitCode is 1\.5/],
    [{ httpStatus: -1 }, /result\.httpStatus is -1/],
    [{ stderr: 5 }, /result\.stderr is 5, and must be a string or a Uint8Array/],
    [{ sent: "maybe" }, /"no", "yes" or "unknown"/],
    [{ signal: "x".repeat(33) }, /must be a name such as "SIGKILL"/],
    [{ retryAfter: "5" }, /result\.retryAfter/],
    ["failed", /result is "failed", and must be an object/],
  ] as const) {
    assert.throws(() => resultMembers(result as never as Result), text);
  }
});
