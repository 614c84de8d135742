/** The two ways in which undici tells a handler what becomes of its request: one has been there
 * since version 7, the other until then. A request is passed on in the way it came in. */

/** What undici gives a handler to end a request, or to slow it down. */
export interface Controller {
  readonly paused?: boolean;
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

/** How a handler is spoken to. */
export interface Tongue {
  start(to: Handler, controller: Controller, context: unknown): void;
  fail(to: Handler, controller: Controller, error: unknown): void;
  /**
   * A handler for one attempt, which passes on what comes of it.
   *
   * @param to The caller's.
   * @param own What the caller has got to end the request.
   */
  new (to: Handler, own: Controller, hearer: Hearer): Handler;
}

/** How a handler is to be spoken to. */
export function tongueOf(handler: Handler): Tongue {
  return "onRequestStart" in handler ? Newer : Older;
}

class Both {
  constructor(
    readonly to: Handler,
    readonly own: Controller,
    readonly hearer: Hearer,
  ) {}

  // These tell only of the request's own body.

  onBodySent(...all: unknown[]): unknown {
    return this.to.onBodySent?.(...all);
  }

  onRequestSent(...all: unknown[]): unknown {
    return this.to.onRequestSent?.(...all);
  }

  onResponseStarted(...all: unknown[]): unknown {
    return this.to.onResponseStarted?.(...all);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

class Newer extends Both {
  static start(to: Handler, controller: Controller, context: unknown): void {
    to.onRequestStart?.(controller, context);
  }

  static fail(to: Handler, controller: Controller, error: unknown): void {
    to.onResponseError?.(controller, error);
  }

  onRequestStart(theirs: Controller, context: unknown): void {
    this.hearer.started(theirs, context);
  }

  onRequestUpgrade(_: unknown, ...rest: unknown[]): void {
    this.to.onRequestUpgrade?.(this.own, ...rest);
  }

  onResponseStart(theirs: Handler, status: number, headers: Headers, text: string): void {
    this.hearer.headed(status, [headers["retry-after"]].flat()[0] ?? null, () => {
      this.#take(theirs);
      this.to.onResponseStart?.(this.own, status, headers, text);
    });
  }

  onResponseData(_: unknown, data: unknown): void {
    this.hearer.came(() => this.to.onResponseData?.(this.own, data));
  }

  onResponseEnd(theirs: Handler, trailers: unknown): void {
    this.hearer.ended(() => {
      this.#take(theirs);
      this.to.onResponseEnd?.(this.own, trailers);
    });
  }

  onResponseError(_: unknown, error: unknown): void {
    this.hearer.failed(error);
  }

  /** Some read the headers as they came. */
  #take({ rawHeaders, rawTrailers }: Handler): void {
    Object.assign(this.own, { rawHeaders, rawTrailers });
  }
}

class Older extends Both {
  #resume: (() => void) | undefined;

  static start(to: Handler, controller: Controller, context: unknown): void {
    to.onConnect?.((reason: unknown) => controller.abort(reason), context);
  }

  static fail(to: Handler, _: Controller, error: unknown): void {
    to.onError?.(error);
  }

  onConnect(abort: (reason: unknown) => void, context: unknown): void {
    const resume = () => this.#resume?.();
    this.hearer.started({ abort, pause() {}, resume }, context);
  }

  onUpgrade(...all: unknown[]): void {
    this.to.onUpgrade?.(...all);
  }

  onHeaders(status: number, raw: unknown[], resume: () => void, text: string): boolean {
    this.#resume = resume;
    this.hearer.headed(status, retryAfterIn(raw), () =>
      this.#heed(this.to.onHeaders?.(status, raw, () => this.own.resume(), text)),
    );
    return !this.own.paused;
  }

  onData(data: unknown): boolean {
    this.hearer.came(() => this.#heed(this.to.onData?.(data)));
    return !this.own.paused;
  }

  onComplete(trailers: unknown): void {
    this.hearer.ended(() => this.to.onComplete?.(trailers));
  }

  onError(error: unknown): void {
    this.hearer.failed(error);
  }

  /** Whether more may come is the answer to each piece. */
  #heed(more: unknown): void {
    if (more === false) {
      this.own.pause();
    }
  }
}

function retryAfterIn(raw: readonly unknown[]): string | null {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as Buffer | string;
    if (name.length === 11 && String(name).toLowerCase() === "retry-after") {
      return String(raw[at + 1]);
    }
  }
  return null;
}
