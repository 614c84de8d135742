/** What an error can mean, for the files that know errors. */

import type { Failure } from "../call/result.js";

/** What an error means. */
export interface Meaning {
  /** How the attempt failed; none at a time limit. */
  readonly failure?: Failure;
  /** Nothing was sent of the request that failed. */
  readonly early?: boolean;
  /** So of a handshake's failure, unless it came later. */
  readonly handshake?: boolean;
  /** The server answered that it takes no request now, and has acted on nothing of the one that
   * failed. Something was written on its connection for that. */
  readonly refused?: boolean;
  /** The error is the same if another server said so in an answer, or if something was sent
   * before. So the claim of one request counts only if the attempt's own connection was seen. */
  readonly unsure?: boolean;
  /** The status that it is as good as, unless nothing was sent. */
  readonly answer?: number;
}

/** The members of errors that tell. */
export interface Details {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly erroredSysCall?: unknown; // node-fetch's name for it
  readonly errors?: unknown;
  readonly cause?: unknown;
  readonly config?: { readonly signal?: AbortSignal } | null;
}

/** What an error means by itself, nothing if it is another's. A code that is no text is "". */
export type Known = (error: Details, code: string, message: string) => Meaning | undefined;

export const UNRESOLVED: Meaning = { failure: "unresolved", early: true };
export const UNCONNECTED: Meaning = { failure: "unconnected", early: true };
export const UNTRUSTED: Meaning = { failure: "untrusted", early: true };
export const REFUSED: Meaning = { failure: "unconnected", refused: true };
export const BROKE: Meaning = { failure: "broke" };
