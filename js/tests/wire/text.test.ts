import assert from "node:assert/strict";
import { test } from "node:test";
import { textMembers, utf8 } from "../../dist/wire/text.js";

const HALF = 32768;

test("a byte that is no UTF-8 becomes one U+FFFD each", () => {
  for (const [bytes, want] of [
    [[0x61, 0xff, 0x62], "a\ufffdb"],
    [[0xe2, 0x82], "\ufffd\ufffd"], // the start of a character
    [[0xe2, 0x82, 0x41], "\ufffd\ufffdA"],
    [[0xc0, 0x80], "\ufffd\ufffd"], // overlong
    [[0xe0, 0x9f, 0x80], "\ufffd\ufffd\ufffd"],
    [[0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"], // a surrogate
    [[0xf4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"], // beyond Unicode
    [[0xf0, 0x8f, 0xbf, 0xbf], "\ufffd\ufffd\ufffd\ufffd"],
    [[0xff, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa9], "\ufffd😀é"],
    [[0xef, 0xbb, 0xbf, 0x41], "\ufeffA"], // what looks like a byte order mark stays
  ] as const) {
    assert.equal(utf8(Uint8Array.from(bytes)), want, String(bytes));
  }
});

test("every character goes through as it is", () => {
  let text = "";
  for (let code = 1; code < 0x110000; code += 997) {
    if (code < 0xd800 || code > 0xdfff) {
      text += String.fromCodePoint(code);
    }
  }
  const broken = Buffer.concat([Buffer.from(text), Buffer.from([0xff])]);
  assert.equal(utf8(broken), `${text}\ufffd`);
});

test("a half of a surrogate pair becomes U+FFFD", () => {
  assert.deepEqual(textMembers("stderr", "a\ud800b"), { stderr: "a\ufffdb" });
});

test("no text is no member", () => {
  assert.deepEqual(textMembers("stderr", undefined), {});
  assert.deepEqual(textMembers("stderr", new Uint8Array()), {});
});

test("a view of a larger buffer is its own bytes only", () => {
  const view = Buffer.from("secret, shown, secret").subarray(8, 13);
  assert.deepEqual(textMembers("stdout", view), { stdout: "shown" });
});

test("a text of 64 KiB is whole, and one more byte is two parts", () => {
  const whole = "x".repeat(2 * HALF);
  assert.deepEqual(textMembers("stderr", whole), { stderr: whole });
  const cut = textMembers("stderr", `a${"x".repeat(2 * HALF - 1)}z`);
  assert.deepEqual(Object.keys(cut), ["stderr_head", "stderr_tail"]);
  assert.equal(cut.stderr_head?.length, HALF);
  assert.equal(cut.stderr_head?.[0], "a");
  assert.equal(cut.stderr_tail?.length, HALF);
  assert.equal(cut.stderr_tail?.at(-1), "z");
});

test("no cut splits a character, wherever it falls, in a long text and a very long one", () => {
  for (const count of [40_000, 90_000]) {
    for (let shift = 0; shift < 4; shift++) {
      const text = "x".repeat(shift) + "😀".repeat(count);
      const parts = textMembers("stderr", Buffer.from(text));
      for (const part of Object.values(parts)) {
        assert.ok(!part.includes("\ufffd"));
        assert.ok(Buffer.byteLength(part) <= HALF && Buffer.byteLength(part) > HALF - 4);
      }
      assert.ok(text.startsWith(parts.stderr_head!));
      assert.ok(text.endsWith(parts.stderr_tail!));
    }
  }
});

test("replaced bytes count as the three that they become", () => {
  const parts = textMembers("stderr", Buffer.alloc(30_000, 0xff));
  assert.deepEqual(Object.keys(parts), ["stderr_head", "stderr_tail"]);
  for (const count of [60_000, 2_000_000]) {
    for (const part of Object.values(textMembers("stderr", Buffer.alloc(count, 0xff)))) {
      assert.ok(Buffer.byteLength(part) <= HALF && Buffer.byteLength(part) > HALF - 3);
    }
  }
});
