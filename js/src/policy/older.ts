/** What older plugins and documents are told, which have no words for what was seen of a
 * request. */

import { PluginError } from "../call/errors.js";
import { type Failure, type Result, resultMembers } from "../call/result.js";
import { utf8 } from "../wire/text.js";
import type { WireCall, WireResult } from "../wire/types.js";

/** Which words are understood. */
export interface Dialect {
  /** The plugin's minor version of the contract. */
  readonly minor: number;
  /** The document asks for `failures`. */
  readonly failures: boolean;
}

/** The minor versions that brought words. */
export const DOWN = 1; // the event that the server was seen to be down
export const NOT_READY = 2; // the event that it is there, and not ready yet
const CLAIMS = 2; // the call's one_request and repeatable
const REQUESTS = 3; // failure, only_request, and the call's refuses_before_acting

/**
 * A call in words that the plugin has.
 *
 * @throws PluginError if one is missing without which a write may be repeated wrongly.
 */
export function callFor(call: WireCall, { minor }: Dialect): WireCall {
  if (minor >= REQUESTS) {
    return call;
  }
  const { refuses_before_acting: _, one_request: one, repeatable, ...known } = call;
  if (minor < CLAIMS && call.write && (one === false || repeatable)) {
    const text =
      `the plugin is of contract 1.${minor}, which has no word for a write that is repeatable ` +
      `or may make several requests: use one of 1.${CLAIMS} or later`;
    throw new PluginError("deciding", text);
  }
  return minor < CLAIMS ? known : { ...known, one_request: one, repeatable };
}

/** A result in words that the plugin and the document have. */
export function resultFor(
  result: Result,
  write: boolean,
  { minor, failures }: Dialect,
): WireResult {
  const { failure } = result;
  const told = resultMembers(failure && !failures ? reported(result, failure, write) : result);
  if (minor < REQUESTS) {
    delete told.only_request;
  }
  return told;
}

const FIRST = "error sending request for url ()";
const CONNECT = [FIRST, "client error (Connect)"];
const SEND = [FIRST, "client error (SendRequest)"];

/** The causes in omnigraph's report of each failure. */
const CAUSES: Readonly<Record<Failure, readonly string[]>> = {
  unresolved: [...CONNECT, "dns error"],
  unconnected: [...CONNECT, "tcp connect error"],
  untrusted: [...CONNECT, "invalid peer certificate or handshake"],
  broke: [...SEND, "connection error"],
  stale: [...SEND, "connection error"],
  cut: ["error decoding response body", "error reading a body from connection"],
  malformed: [...SEND, "invalid HTTP version parsed"],
};

/** A failure as omnigraph's report, the only way in which such a document knows it. To it a
 * connection that could not be made proves that nothing was sent. */
function reported(result: Result, failure: Failure, write: boolean): Result {
  const { message = "", sent, started, ended } = result;
  const said = failure.startsWith("un") && write && sent !== "no" ? "broke" : failure;
  const error = typeof message === "string" ? message : utf8(message);
  const causes = [...CAUSES[said], error.split(/\s+/).join(" ")];
  const lines = causes.map((cause, number) => `${String(number).padStart(4)}: ${cause}\n`);
  return { stderr: `Error: \n${lines.join("")}\n`, sent, started, ended };
}
