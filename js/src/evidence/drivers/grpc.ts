/** @grpc/grpc-js, tried with 1.14.7. */

import { BROKE, type Known, type Meaning } from "../meaning.js";

const UNAVAILABLE = 14;

/** A server that calls another one often hands on the error that it got: the same text then
 * comes as an answer, which is as good as a 503. */
const AWAY: Meaning = { failure: "unconnected", early: true, unsure: true, answer: 503 };

export const grpc: Known = (error) => {
  const { code, details, metadata } = error as Record<string, unknown>;
  if (code !== UNAVAILABLE || typeof details !== "string" || typeof metadata !== "object") {
    return undefined;
  }
  if (/^Name resolution failed for target /.test(details)) {
    return { ...AWAY, failure: "unresolved" };
  }
  if (/^((weighted_)?round_robin: )?No connection established/.test(details)) {
    return AWAY;
  }
  return details === "Connection dropped" ? BROKE : undefined;
};
