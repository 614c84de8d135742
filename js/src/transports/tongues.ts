/** The two ways in which undici tells a handler what becomes of its request: one has been there
 * since version 7, the other until then. A request is passed on in the way it came in. */

/** What undici gives a handler to end a request, or to slow it down. */
export interface Controller {
  readonly aborted?: boolean;
  readonly paused?: boolean;
  readonly reason?: unknown;
  abort(reason: unknown): void;
  pause(): void;
  resume(): void;
}

/** What undici calls, in either way. */
// biome-ignore lint/suspicious/noExplicitAny: both ways
export type Handler = { [name: string]: any };

/** What is heard of one attempt. */
export interface Hearer {
  started(controller: Controller, context: unknown): void;
  /** An answer's head has come, or one before it (a status below 200).
   *
   * @param pass Tells the caller of it. */
  headed(status: number, retryAfter: string | null, pass: () => void): void;
  /** Something else has come. */
  came(pass: () => void): void;
  ended(pass: () => void): void;
  failed(error: unknown): void;
}

/** What the caller is told besides answers. */
export interface Caller {
  start(controller: Controller, context: unknown): void;
  fail(controller: Controller, error: unknown): void;
  /** A handler for one attempt, which passes on what comes of it. */
  handlerFor(hearer: Hearer, controller: Controller): Handler;
}

/** How a handler is to be spoken to. */
export function callerOf(handler: Handler): Caller {
  return "onRequestStart" in handler ? newer(handler) : older(handler);
}

function newer(to: Handler): Caller {
  return {
    start: (controller, context) => to.onRequestStart?.(controller, context),
    fail: (controller, error) => to.onResponseError?.(controller, error),
    handlerFor: (hearer, own) => {
      const take = (theirs: Handler) => {
        // Some read the headers as they came.
        const { rawHeaders, rawTrailers } = theirs;
        Object.assign(own, { rawHeaders, rawTrailers });
      };
      return {
        ...others(to),
        onRequestStart: (theirs: Controller, context: unknown) => hearer.started(theirs, context),
        onRequestUpgrade: (_: unknown, ...rest: unknown[]) => to.onRequestUpgrade?.(own, ...rest),
        onResponseStart: (theirs: Handler, status: number, headers: Headers, text: string) =>
          hearer.headed(status, first(headers["retry-after"]), () => {
            take(theirs);
            to.onResponseStart?.(own, status, headers, text);
          }),
        onResponseData: (_: unknown, data: unknown) =>
          hearer.came(() => to.onResponseData?.(own, data)),
        onResponseEnd: (theirs: Handler, trailers: unknown) =>
          hearer.ended(() => {
            take(theirs);
            to.onResponseEnd?.(own, trailers);
          }),
        onResponseError: (_: unknown, error: unknown) => hearer.failed(error),
      };
    },
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function first(values: string | string[] | undefined): string | null {
  return [values].flat()[0] ?? null;
}

function older(to: Handler): Caller {
  return {
    start: (controller, context) =>
      to.onConnect?.((reason: unknown) => controller.abort(reason), context),
    fail: (_, error) => to.onError?.(error),
    handlerFor: (hearer, own) => {
      let theirs: { resume: () => void } | undefined;
      /** Whether more may come is the answer to each piece; the own controller knows. */
      const told = (tell: () => unknown) => () => {
        if (tell() === false) {
          own.pause();
        }
      };
      const controller = (abort: (reason: unknown) => void): Controller => ({
        abort,
        pause() {},
        resume: () => theirs?.resume(),
      });
      return {
        ...others(to),
        onConnect: (abort: () => void, context: unknown) =>
          hearer.started(controller(abort), context),
        onUpgrade: (...all: unknown[]) => to.onUpgrade?.(...all),
        onHeaders(status: number, raw: unknown[], resume: () => void, text: string) {
          theirs = { resume };
          const tell = () => to.onHeaders?.(status, raw, () => own.resume(), text);
          hearer.headed(status, retryAfterIn(raw), told(tell));
          return !own.paused;
        },
        onData(data: unknown) {
          hearer.came(told(() => to.onData?.(data)));
          return !own.paused;
        },
        onComplete: (trailers: unknown) => hearer.ended(() => to.onComplete?.(trailers)),
        onError: (error: unknown) => hearer.failed(error),
      };
    },
  };
}

/** What tells only of the request's own body. */
function others(to: Handler): Handler {
  const names = ["onBodySent", "onRequestSent", "onResponseStarted"].filter((name) => to[name]);
  return Object.fromEntries(names.map((name) => [name, (...all: unknown[]) => to[name](...all)]));
}

function retryAfterIn(raw: readonly unknown[]): string | null {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (String(raw[at]).toLowerCase() === "retry-after") {
      return String(raw[at + 1]);
    }
  }
  return null;
}
