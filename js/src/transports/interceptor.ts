/** Requests by undici that ride out a restart. */

import { onAbort } from "../time/abort.js";
import { type Body, constant, isConstant, keeping } from "./bodies.js";
import { type Answer, isWithin, pass } from "./passing.js";
import { type Asked, Settings, type TransportOptions } from "./settings.js";
import { type Caller, type Controller, callerOf, type Handler, type Hearer } from "./tongues.js";

/** What undici is asked for. */
interface Options {
  readonly origin?: string | URL | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly upgrade?: unknown;
  /** Other options of outlast's for this request. */
  readonly outlast?: TransportOptions;
}

// biome-ignore lint/suspicious/noExplicitAny: whichever version's
type Dispatch = (options: any, handler: any) => boolean;

/**
 * Lets the requests of an undici dispatcher ride out a server's restart, as `retryingFetch` does:
 *
 *     const agent = new Agent().compose(retryInterceptor());
 *     await request("http://graph:8080/people", { dispatcher: agent });
 *
 * For undici 6 to 8; nothing of it is imported. An answer is passed on as it comes, unless its
 * status, from 400 on, is one that the policy tries again.
 *
 * @param options The member `outlast` of what a request is given says otherwise for that one.
 */
export function retryInterceptor(
  options: TransportOptions = {},
): <D extends Dispatch>(dispatch: D) => D {
  const settings = new Settings(options);
  return <D extends Dispatch>(dispatch: D) => {
    const retrying = (asked: Options, handler: Handler) => {
      const { outlast: own, ...bare } = asked;
      const chosen = settings.for(own);
      const url = urlOf(asked);
      if (!url || isWithin() || asked.upgrade || asked.method === "CONNECT") {
        return dispatch(bare, handler);
      }
      void new Exchange(dispatch, bare, url, callerOf(handler)).go(chosen);
      return true;
    };
    return retrying as D;
  };
}

function urlOf({ origin, path }: Options): URL | undefined {
  return URL.canParse(path, origin) ? new URL(path, origin) : undefined;
}

/** One request, as often as it takes. */
class Exchange {
  readonly #dispatch: Dispatch;
  readonly #options: Options;
  readonly #url: URL;
  readonly #caller: Caller;
  readonly #given = new Given();
  #isStarted = false;

  constructor(dispatch: Dispatch, options: Options, url: URL, caller: Caller) {
    this.#dispatch = dispatch;
    this.#options = options;
    this.#url = url;
    this.#caller = caller;
  }

  async go(settings: Settings): Promise<void> {
    const { method } = this.#options;
    const asked: Asked = {
      method: method.toUpperCase(),
      url: this.#url,
      headers: () => headersOf(this.#options.headers),
      signal: this.#given.signal,
    };
    try {
      const handOver = await pass(settings, asked, bodyOf(this.#options.body), this.#send);
      handOver();
    } catch (error) {
      this.#caller.fail(this.#given, error);
    }
  }

  /** Makes one attempt. What the caller gets of it is a function that hands it over. */
  readonly #send = (body: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<Answer<() => void>>((resolve, reject) => {
      const attempt = new Attempt(this.#given, resolve, (error) => {
        this.#start(undefined); // so that the caller can give up while it is waited
        reject(error);
      });
      attempt.onStart = (context) => this.#start(context);
      attempt.fail = (error) => this.#caller.fail(this.#given, error);
      attempt.forget = onAbort(signal, () => attempt.abort(signal.reason));
      const options = body === this.#options.body ? this.#options : { ...this.#options, body };
      try {
        this.#dispatch(options, this.#caller.handlerFor(attempt, this.#given));
      } catch (error) {
        attempt.forget();
        reject(error);
      }
    });

  /** Tells the caller, once, that the request has begun, and how it can be given up. */
  #start(context: unknown): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#caller.start(this.#given, context);
    }
  }
}

/** What the caller gets to end the request, or to slow it down, whichever attempt it is in. */
class Given implements Controller {
  paused = false;
  readonly #controller = new AbortController();
  /** The attempt whose answer the caller gets. */
  attempt: Attempt | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get reason(): unknown {
    return this.aborted ? this.signal.reason : null;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.attempt?.abort(reason);
  }

  pause(): void {
    this.paused = true;
    this.attempt?.controller?.pause();
  }

  resume(): void {
    if (this.paused) {
      this.paused = false;
      this.attempt?.controller?.resume();
    }
  }
}

/** One attempt. What comes of it is passed on, held until it is known whether it shall be, or
 * dropped. */
class Attempt implements Hearer {
  controller: Controller | undefined;
  onStart!: (context: unknown) => void;
  fail!: (error: unknown) => void;
  forget!: () => void;
  readonly #given: Given;
  readonly #resolve: (answer: Answer<() => void>) => void;
  readonly #reject: (error: unknown) => void;
  #state: "asked" | "held" | "passed" | "dropped" = "asked";
  readonly #held: (() => void)[] = [];
  #isOver = false;
  #aborted: { reason: unknown } | undefined;

  constructor(
    given: Given,
    resolve: (answer: Answer<() => void>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#given = given;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    if (!this.#isOver) {
      this.controller?.abort(reason);
    }
  }

  started(controller: Controller, context: unknown): void {
    this.controller = controller;
    this.onStart(context);
    if (this.#aborted) {
      controller.abort(this.#aborted.reason);
    }
  }

  headed(status: number, retryAfter: string | null, passOn: () => void): void {
    if (status < 200 || this.#state !== "asked") {
      this.came(passOn);
      return;
    }
    this.forget();
    if (status < 400) {
      this.#hand();
      passOn();
      this.#resolve({ status, retryAfter, value: () => {}, drop: () => {} });
      return;
    }
    this.#state = "held";
    this.#held.push(passOn);
    this.#given.pause();
    this.controller?.pause();
    const value = () => this.#handOver();
    this.#resolve({ status, retryAfter, value, drop: () => this.#drop() });
  }

  came(passOn: () => void): void {
    if (this.#state === "held") {
      this.#held.push(passOn);
    } else if (this.#state !== "dropped") {
      passOn();
    }
  }

  ended(passOn: () => void): void {
    this.#isOver = true;
    this.came(passOn);
  }

  failed(error: unknown): void {
    this.#isOver = true;
    this.forget();
    if (this.#state === "asked") {
      this.#reject(error);
    } else {
      this.came(() => this.fail(error));
    }
  }

  #hand(): void {
    this.#state = "passed";
    this.#given.attempt = this;
  }

  /** The caller gets what has come so far, and what comes. */
  #handOver(): void {
    this.#hand();
    this.#given.paused = false;
    for (const passOn of this.#held.splice(0)) {
      passOn();
    }
    if (!this.#given.paused) {
      this.controller?.resume();
    }
  }

  #drop(): void {
    this.#state = "dropped";
    this.#given.paused = false;
    this.#held.length = 0;
    if (!this.#isOver) {
      this.controller?.abort(new DOMException("outlast tries it again", "AbortError"));
    }
  }
}

function bodyOf(body: unknown): Body<unknown> {
  if (isConstant(body)) {
    return constant(body);
  }
  // Nobody else hears of its failure until it is read.
  (body as { on?: (name: string, hear: () => void) => void }).on?.("error", () => {});
  return keeping(body as object);
}

/** Headers as undici takes them: names and values in turn, pairs, or an object. */
function headersOf(given: unknown): Headers {
  const headers = new Headers();
  for (const [name, value] of pairsOf(given)) {
    headers.append(String(name), String(value));
  }
  return headers;
}

function pairsOf(given: unknown): [unknown, unknown][] {
  if (Array.isArray(given) && !Array.isArray(given[0])) {
    return given.flatMap((name, at) => (at % 2 ? [] : [[name, given[at + 1]]]));
  }
  if (typeof given !== "object" || given === null) {
    return [];
  }
  const pairs = Symbol.iterator in given ? (given as Iterable<never>) : Object.entries(given);
  return [...pairs].filter(([, value]) => value !== undefined);
}
