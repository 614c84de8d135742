/** First attempts, most of which succeed and need nothing of what a call is. */

import type { Result } from "../call/result.js";
import { putBack } from "../evidence/methods.js";
import { Requests } from "../evidence/requests.js";
import { startWatching } from "../evidence/watch.js";
import { NEVER } from "../time/abort.js";
import type { AttemptContext } from "./options.js";
import type { Telling } from "./telling.js";

/** A first attempt that is made before its call is anything: most succeed, and need nothing of
 * that. */
export interface First {
  readonly requests: Requests;
  /** When it began, on the call's clock. */
  readonly started: number;
  /** How it ended. */
  readonly result: Promise<Result>;
  /** Who was told that it began; none: nobody is told of the call. */
  readonly telling?: Telling | undefined;
}

const FIRST: AttemptContext = { attempt: 1, signal: NEVER };

/** Begins such an attempt; none if what it sends would not be watched. */
export function beginFirst(): Requests | undefined {
  if (startWatching()) {
    return undefined;
  }
  putBack();
  const requests = new Requests(performance.now());
  requests.told = FIRST;
  return requests;
}

/** Ends one that has succeeded. */
export function endFirst(requests: Requests): void {
  putBack();
  requests.end();
}
