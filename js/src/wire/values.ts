/**
 * Values as they cross the boundary to the plugin.
 *
 * Times are whole microseconds there, random numbers integers below 2^32, and no
 * fraction is ever sent: two readers of the same fraction need not agree on it.
 */

import { type Check, show, wants } from "../arguments/members.js";

/** The largest magnitude of an integer on the wire (RFC 8259, section 6). */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** The most that a policy document may have, in bytes of UTF-8. */
export const MAX_DOCUMENT_BYTES = 256 << 10;

/** Random numbers on the wire are from 0 to one less than this. */
const RANDOM_RANGE = 2 ** 32;

const MICROS = 1000; // in a millisecond

/**
 * Milliseconds as whole microseconds, to the nearest.
 *
 * @param ms A finite number of at most 2^53 - 1 microseconds either way.
 * @param field What the number is, for the error.
 */
export function micros(ms: number, field: string): number {
  if (typeof ms !== "number") {
    throw new TypeError(`outlast: ${field} is ${show(ms)}, and must be a number of milliseconds`);
  }
  const us = Math.round(ms * MICROS);
  if (!Number.isSafeInteger(us)) {
    throw new RangeError(
      `outlast: ${field} is ${ms} ms, and must be finite and at most ${MAX_INTEGER} microseconds`,
    );
  }
  return us + 0; // there is no -0 on the wire
}

/** The same of a time that may be left out. */
export function microsIfGiven(ms: number | undefined, field: string): number | undefined {
  return ms === undefined ? undefined : micros(ms, field);
}

/** Wants a number of milliseconds that the wire can say. */
export const time: Check = (value, name) => {
  micros(value as number, name);
};

/** Wants a number of milliseconds above 0 that the wire can say. */
export const duration: Check = (value, name) => {
  if (micros(value as number, name) < 1) {
    throw new RangeError(`outlast: ${name} is ${value} ms, and must be above 0`);
  }
};

/** The widest spread that a policy can be given, in milliseconds (a choice: far above any that
 * keeps a fleet apart). */
const MAX_SPREAD = 3_600_000;

/** Wants a spread of woken callers, in milliseconds. */
export const spread: Check = (value, name) => {
  const us = micros(value as number, name);
  if (us < 1 || us > MAX_SPREAD * MICROS) {
    const bounds = `above 0 and at most ${MAX_SPREAD}`;
    throw new RangeError(`outlast: ${name} is ${value} ms, and must be ${bounds}`);
  }
};

/** Wants a seed of the jitter. */
export const seed = wants(
  `an integer from 0 to ${MAX_INTEGER}`,
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  RangeError,
);

/** Wants a random fraction, from 0 to 1, both included. */
const fraction = wants(
  "from 0 to 1",
  (value) => typeof value === "number" && value >= 0 && value <= 1,
  RangeError,
);

/** Microseconds of the wire as milliseconds. */
export function millis(us: number): number {
  return us / MICROS;
}

/**
 * A server's Retry-After as microseconds, never less than it asked for. It is the
 * server's word and not the caller's, so nothing is an error: what is too large is
 * cut, and what is no number is as good as nothing.
 */
export function retryAfterMicros(ms: number | null | undefined): number | undefined {
  if (ms === undefined || ms === null || Number.isNaN(ms)) {
    return undefined;
  }
  const us = Math.round(ms * MICROS);
  const never = us / MICROS >= ms ? us : us + 1;
  return Math.max(-MAX_INTEGER, Math.min(never, MAX_INTEGER));
}

/**
 * A random fraction as the wire has it, an integer below 2^32.
 *
 * @param random From 0 to 1, both included.
 */
export function randomNumber(random: number): number {
  fraction(random, "random");
  return Math.min(Math.floor(random * RANDOM_RANGE), RANDOM_RANGE - 1);
}
