/** Requests by undici that ride out a restart. */

import { context as current, inContext } from "../evidence/requests.js";
import type { AttemptContext } from "../run/options.js";
import { onAbort } from "../time/abort.js";
import { urlOf } from "./address.js";
import { type Body, constant, isConstant, keeping } from "./bodies.js";
import { type Answer, isWithin, type Passed, pass } from "./passing.js";
import { type Asked, bare, Settings, type TransportOptions } from "./settings.js";
import { type Controller, type Handler, type Hearer, type Tongue, tongueOf } from "./tongues.js";

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
      if (asked.upgrade || asked.method === "CONNECT" || isWithin()) {
        return dispatch(bare(asked), handler);
      }
      const chosen = settings.for(asked.outlast);
      const exchange = new Exchange(dispatch, bare(asked), handler);
      pass(chosen, exchange).then(
        (handOver) => handOver(),
        (error) => exchange.fail(error),
      );
      return true;
    };
    return retrying as D;
  };
}

const NOTHING = () => {};

/** Stands for the origin of a pool, which its requests need not say. */
const NO_HOST = "http://host.invalid";

/** A path may begin with two slashes, which alone would name another host. */
function whole(path: string, origin: string | URL): string {
  return /^https?:/.test(path) ? path : String(origin).replace(/\/$/, "") + path;
}

/** One request, as often as it takes. What its caller gets is a function that hands it over. */
class Exchange implements Passed<() => void, unknown> {
  readonly body: Body<unknown>;
  readonly isGivenUp = false; // undici does not tell of it before it has begun
  readonly #dispatch: Dispatch;
  readonly #options: Options;
  readonly #to: Handler;
  readonly #tongue: Tongue;
  readonly #given = new Given();
  readonly #around = current();
  #isStarted = false;

  constructor(dispatch: Dispatch, options: Options, to: Handler) {
    this.body = bodyOf(options.body);
    this.#dispatch = dispatch;
    this.#options = options;
    this.#to = to;
    this.#tongue = tongueOf(to);
  }

  asked(): Asked | undefined {
    const { origin, path, method, headers } = this.#options;
    const given = this.#given;
    const url = urlOf(whole(path, origin ?? NO_HOST));
    return (
      url && {
        method: method.toUpperCase(),
        url,
        isHostKnown: origin !== undefined,
        headers: () => headersOf(headers),
        get signal() {
          return given.signal;
        },
      }
    );
  }

  send(body: unknown, context: AttemptContext | undefined): Promise<Answer<() => void>> {
    return new Promise((resolve, reject) => {
      const attempt = new Attempt(this, this.#given, resolve, reject);
      this.#given.attempt = attempt;
      if (context) {
        const { signal } = context;
        attempt.forget = onAbort(signal, () => attempt.abort(signal.reason));
      }
      const options = body === this.#options.body ? this.#options : { ...this.#options, body };
      try {
        this.#dispatch(options, new this.#tongue(this.#to, this.#given, attempt));
      } catch (error) {
        attempt.failed(error);
      }
    });
  }

  /** Tells the caller, once, that the request has begun, and how it can be given up. */
  start(context: unknown): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#tongue.start(this.#to, this.#given, context);
    }
  }

  /** Tells the caller of something. What that makes it do, such as to follow a redirect, is no
   * part of the attempt. */
  tell(pass: () => void): void {
    inContext(this.#around, pass);
  }

  /** Tells the caller that the request has failed. */
  fail(error: unknown): void {
    this.#tongue.fail(this.#to, this.#given, error);
  }
}

/** What the caller gets to end the request, or to slow it down, whichever attempt it is in. */
class Given implements Controller {
  paused = false;
  /** The attempt that is made. */
  attempt: Attempt | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  #controller: AbortController | undefined;

  /** Is made only where a request has failed: most need none. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) {
      this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  get reason(): unknown {
    return this.#aborted?.reason ?? null;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
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
  forget = NOTHING;
  #state: "asked" | "held" | "passed" | "dropped" = "asked";
  readonly #held: (() => void)[] = [];
  #isOver = false;
  #aborted: { readonly reason: unknown } | undefined;
  readonly #exchange: Exchange;
  readonly #given: Given;
  readonly #resolve: (answer: Answer<() => void>) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    exchange: Exchange,
    given: Given,
    resolve: (answer: Answer<() => void>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#exchange = exchange;
    this.#given = given;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    if (this.#isOver) {
      return;
    }
    if (this.controller) {
      this.controller.abort(reason);
    } else {
      this.failed(reason); // undici tells of no abort before there is a connection
      this.#state = "dropped";
    }
  }

  started(controller: Controller, context: unknown): void {
    this.controller = controller;
    this.#exchange.start(context);
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
      this.#state = "passed";
      this.#exchange.tell(passOn);
      this.#resolve({ status, retryAfter, value: NOTHING, drop: NOTHING });
      return;
    }
    this.#state = "held";
    this.#held.push(passOn);
    this.#given.pause();
    const value = () => this.#handOver();
    this.#resolve({ status, retryAfter, value, drop: () => this.#drop() });
  }

  came(passOn: () => void): void {
    if (this.#state === "held") {
      this.#held.push(passOn);
    } else if (this.#state !== "dropped") {
      this.#exchange.tell(passOn);
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
      this.#exchange.start(undefined); // so that the caller can give up while it is waited
      this.#reject(error);
    } else {
      this.came(() => this.#exchange.fail(error));
    }
  }

  /** The caller gets what has come so far, and what comes. */
  #handOver(): void {
    this.#state = "passed";
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
  return isConstant(body) ? constant(body) : keeping(body as object);
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
