import assert from "node:assert/strict";
import { test } from "node:test";
import { randomSeed } from "../../dist/policy/session.js";
import { micros, randomNumber, retryAfterMicros, seed } from "../../dist/wire/values.js";

test("milliseconds are whole microseconds", () => {
  assert.equal(micros(0.0004, "x"), 0);
  assert.equal(micros(1.5, "x"), 1500);
  assert.ok(Object.is(micros(-0, "x"), 0));
  assert.equal(micros(-3, "x"), -3000);
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 1e13, "5" as never, 5n as never]) {
    assert.throws(() => micros(wrong, "budget"), /outlast: budget is .*must be/);
  }
});

test("any Retry-After is safe, and never earlier than asked", () => {
  assert.equal(retryAfterMicros(undefined), undefined);
  assert.equal(retryAfterMicros(Number.NaN), undefined);
  assert.equal(retryAfterMicros(1.0000001), 1001);
  assert.equal(retryAfterMicros(Number.POSITIVE_INFINITY), Number.MAX_SAFE_INTEGER);
  assert.equal(retryAfterMicros(-1e300), -Number.MAX_SAFE_INTEGER);
});

test("chance is from 0 to 1, both included", () => {
  assert.equal(randomNumber(0), 0);
  assert.equal(randomNumber(1), 2 ** 32 - 1);
  for (const wrong of [-0.1, 1.1, Number.NaN]) {
    assert.throws(() => randomNumber(wrong), /random is/);
  }
});

test("a seed is an integer, and random unless given", () => {
  assert.doesNotThrow(() => seed(0, "seed"));
  for (const wrong of [-1, 0.5, 2 ** 53, "1"]) {
    assert.throws(() => seed(wrong, "seed"), /seed is/);
  }
  const seeds = Array.from({ length: 100 }, randomSeed);
  assert.ok(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0));
  assert.equal(new Set(seeds).size, 100);
});
