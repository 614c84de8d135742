/** A `fetch` that rides out a restart. */

import { AsyncLocalStorage } from "node:async_hooks";
import { Readable } from "node:stream";
import { Requests } from "../evidence/requests.js";
import { discard } from "../evidence/response.js";
import { urlOf } from "./address.js";
import { type Body, constant, isConstant, isRead, keeping, streamOf } from "./bodies.js";
import { type Answer, isWithin, type Passed, pass } from "./passing.js";
import { bare, Settings, type TransportOptions } from "./settings.js";

type Fetch = typeof globalThis.fetch;
type Input = Parameters<Fetch>[0];
type Init = NonNullable<Parameters<Fetch>[1]>;

/** What a `fetch` that rides out a restart is told. */
export interface FetchOptions extends TransportOptions {
  /** Makes a request; that of the process unless given. It must have the signature of `fetch`, and
   * answer as that does. */
  // biome-ignore lint/suspicious/noExplicitAny: whichever package's
  readonly fetch?: ((input: any, init?: any) => Promise<any>) | undefined;
}

/** A `fetch` that takes, besides what the one below it does, options for one request. */
export type RetryingFetch<F extends (...args: never[]) => unknown = Fetch> = (
  input: Parameters<F>[0],
  init?: Parameters<F>[1] & { readonly outlast?: TransportOptions },
) => ReturnType<F>;

/**
 * A `fetch` that rides out a server's restart, to be used in the place of `fetch`.
 *
 * The method decides: GET, HEAD, OPTIONS and TRACE read. Any other writes, and is repeated only if
 * nothing was sent, or `repeatable` or `honoursKey` say that it may be. When the policy stops at an
 * answer, that is given back, not read; else the error of `fetch` is thrown. `outcomeOf` tells
 * how the call ended.
 *
 * @param options The member `outlast` of what a request is given says otherwise for that one.
 */
export function retryingFetch<F extends (...args: never[]) => unknown = Fetch>(
  options: Omit<FetchOptions, "fetch"> & { readonly fetch?: F | undefined } = {},
): RetryingFetch<F> {
  const { fetch: base, ...rest } = options;
  const settings = new Settings(rest);
  const retrying = (input: Input, init?: Init & { outlast?: TransportOptions }) => {
    if (isWithin()) {
      return send(input, bare(init));
    }
    try {
      const chosen = settings.for(init?.outlast);
      return pass(chosen, passed(chosen, input, bare(init), send));
    } catch (error) {
      return Promise.reject(error); // of options that there are not
    }
  };
  const send = (base as unknown as Fetch | undefined) ?? processesOwn(retrying);
  return retrying as unknown as RetryingFetch<F>;
}

/** The requests that are made by the `fetch` of the process now, and for whom. */
const under = new AsyncLocalStorage<Under>();

interface Under {
  readonly by: unknown;
  readonly attempt: Requests | undefined;
  readonly around: Under | undefined;
}

/** The `fetch` of the process, also if it was replaced after this, as tests do. Where it leads
 * back, since `by` was put in its place, it is the one that was there before. */
function processesOwn(by: unknown): Fetch {
  const before = globalThis.fetch;
  return (input, init) => {
    const now = globalThis.fetch;
    if (now === before || now === by) {
      return before(input, init);
    }
    const around = under.getStore();
    if (isUnder(by, around)) {
      return before(input, init);
    }
    return under.run({ by, attempt: Requests.current(), around }, () => now(input, init));
  };
}

function isUnder(by: unknown, around: Under | undefined): boolean {
  const isIts = around?.by === by && (!around?.attempt || around.attempt.running !== undefined);
  return isIts || (around !== undefined && isUnder(by, around.around));
}

function isRequest(input: Input): input is Request {
  return typeof input === "object" && "clone" in input;
}

/** One request, and how it is sent. */
function passed(
  { endsAttempts }: Settings,
  input: Input,
  init: Init | undefined,
  send: (input: Input, init?: Init) => Promise<Response>,
): Passed<Response, Sent | undefined> {
  const request = isRequest(input) ? input : undefined;
  return {
    asked() {
      const url = urlOf(request ? request.url : String(input));
      return (
        url && {
          method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
          url,
          isHostKnown: true,
          headers: () => new Headers(init?.headers ?? request?.headers),
          signal: init?.signal ?? request?.signal,
        }
      );
    },
    get isGivenUp() {
      return (init?.signal ?? request?.signal)?.aborted === true;
    },
    body: bodyOf(request, init),
    async send(sent, context) {
      const [to, body] = sent ?? [];
      // The caller's own signal is there already.
      const heard = endsAttempts && context ? { signal: context.signal } : undefined;
      const all = body || heard ? { ...init, ...body, ...heard } : init;
      return answerOf(await send(to ?? input, all));
    },
  };
}

/** What is sent: a request of its own for each attempt, or a body. */
type Sent = [to: Request | undefined, init: { body?: BodyInit }];

const AS_GIVEN = constant(undefined);

function bodyOf(request: Request | undefined, init: Init | undefined): Body<Sent | undefined> {
  const body = init?.body;
  if (body === undefined && request?.body) {
    return cloned(request);
  }
  if (isConstant(body)) {
    return AS_GIVEN;
  }
  if (!isRead(body)) {
    return { isSpent: true, next: () => undefined }; // only the client knows how to read it
  }
  const pieces = keeping(body);
  // Of the kind that it was of: node-fetch, for one, knows Node's streams only.
  const again = "pipe" in body ? nodesStreamOf : streamOf;
  return {
    get isSpent() {
      return pieces.isSpent;
    },
    next: () => [undefined, { body: again(pieces.next()) as BodyInit }],
    end: (failed) => pieces.end?.(failed),
  };
}

function nodesStreamOf(pieces: AsyncIterable<unknown>): Readable {
  return Readable.from(pieces, { objectMode: false });
}

/** A request's own body can be had again only by a copy, which is in memory then. */
function cloned(request: Request): Body<Sent> {
  return {
    isSpent: false,
    next: () => [request.clone() as Request, {}],
    end() {
      if (!request.bodyUsed) {
        request.body?.cancel().catch(() => {});
      }
    },
  };
}

function answerOf(response: Response): Answer<Response> {
  const { status, headers } = response;
  return {
    status,
    // A mock may have no headers.
    retryAfter: status >= 400 ? headers?.get("retry-after") : undefined,
    value: response,
    drop: () => discard(response),
  };
}
