/** A `fetch` that rides out a restart. */

import { discard } from "../evidence/response.js";
import { type Body, constant, isConstant, keeping, streamOf } from "./bodies.js";
import { type Answer, isWithin, type Passed, pass } from "./passing.js";
import { Settings, type TransportOptions } from "./settings.js";

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
  const send = (input: Input, init?: Init) =>
    ((base ?? globalThis.fetch) as unknown as Fetch)(input, init);
  const retrying = (input: Input, init?: Init & { outlast?: TransportOptions }) => {
    if (isWithin()) {
      return send(input, bare(init));
    }
    const chosen = settings.for(init?.outlast);
    return pass(chosen, passed(chosen, input, bare(init), send));
  };
  return retrying as unknown as RetryingFetch<F>;
}

/** What `fetch` knows of what it is given. */
function bare(init: (Init & { outlast?: TransportOptions }) | undefined): Init | undefined {
  if (!init || !("outlast" in init)) {
    return init;
  }
  const { outlast: _, ...rest } = init;
  return rest;
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
      const url = request ? request.url : String(input);
      return URL.canParse(url)
        ? {
            method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
            url: new URL(url),
            headers: () => new Headers(init?.headers ?? request?.headers),
            signal: init?.signal ?? request?.signal,
          }
        : undefined;
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
  if (body instanceof ReadableStream) {
    const pieces = keeping(body);
    return {
      get isSpent() {
        return pieces.isSpent;
      },
      next: () => [undefined, { body: streamOf(pieces.next()) }],
      end: (failed) => pieces.end?.(failed),
    };
  }
  return { isSpent: true, next: () => undefined }; // what only the client knows how to read
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
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    value: response,
    drop: () => discard(response),
  };
}
