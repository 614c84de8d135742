/** What a transport is told, and what it makes of that for each request. */

import { AsyncLocalStorage } from "node:async_hooks";
import { anything, checkMembers, flag, type Members, optional } from "../arguments/members.js";
import { CALL, type Call } from "../call/call.js";
import { isAnybodyTold } from "../hooks/hooks.js";
import { Secrets } from "../hooks/secrets.js";
import type { Policy } from "../policy.js";
import { policyOf } from "../retry.js";
import {
  CALL_OPTIONS,
  type CallOptions,
  FAILURE_OPTIONS,
  type FailureOptions,
  type RunOptions,
} from "../run/options.js";
import { hooksFor } from "../run/task.js";
import { Telling } from "../run/telling.js";
import { either } from "../time/abort.js";
import { currentClock, systemClock } from "../time/clock.js";
import { isWatcher, type Ready, ready } from "../watch/readiness.js";
import { parseTarget } from "../watch/target.js";
import { OwnAddress } from "./address.js";
import { type ClientRequest, chosenBy, type Routes, routes } from "./routes.js";

/** What a transport, or one request by it, can be told. */
export interface TransportOptions
  extends Omit<CallOptions, "ready" | "repair">,
    Pick<FailureOptions, "attemptTimeout" | "on" | "onlyRequest"> {
  /** Decides: a policy, or the name of a built-in one. `network` unless given. */
  readonly policy?: Policy | string | undefined;
  /** The time for a request with all its attempts and waits, in milliseconds, above 0. It never
   * ends an attempt. */
  readonly budget?: number | undefined;
  /** What is looked at while a request waits, so that it need not sleep through its server's
   * return. A path, such as `/healthz`, is asked of the request's own address; a URL stands for
   * requests to its host; `false`: nobody looks. Else the request's own address is, unless a proxy
   * is in the way: that wakes reads, and never a write. */
  readonly ready?: Ready | false | undefined;
  /** Writes that may be applied twice without harm: they are tried again as reads are. A PUT that
   * is repeated can overwrite what another has written meanwhile. None unless given. */
  readonly repeatable?: Routes | undefined;
  /** Writes whose server applies those of one Idempotency-Key once: they are repeatable if they
   * have that header. None unless given. */
  readonly honoursKey?: Routes | undefined;
  /** Requests whose server answers 409, 410, 412, 422, 429 and 503 before it does anything. None
   * unless given. */
  readonly refusesBeforeActing?: Routes | undefined;
  /** A name for messages, or what makes one of a request. Its method and host unless given. */
  readonly label?: string | ((request: ClientRequest) => string) | undefined;
  /** Throw the client's own error when the policy stops, as `outcomeOf(error)` tells. False: a
   * {@link CallError}, whose cause that is. True unless given. */
  readonly reraise?: boolean | undefined;
}

const label: typeof anything = (value, name) => {
  if (typeof value !== "function") {
    CALL.label(value, name);
  }
};

const OPTIONS: Members<TransportOptions> = {
  ...{ signal: CALL_OPTIONS.signal, clock: CALL_OPTIONS.clock, seed: CALL_OPTIONS.seed },
  ...{ maxWait: CALL_OPTIONS.maxWait, spread: CALL_OPTIONS.spread },
  attempts: CALL_OPTIONS.attempts,
  ...{ observe: anything, secrets: CALL_OPTIONS.secrets },
  ...{ attemptTimeout: FAILURE_OPTIONS.attemptTimeout, on: FAILURE_OPTIONS.on },
  onlyRequest: anything,
  policy: anything,
  budget: CALL.budget,
  ready: (value, name) => value !== false && optional(ready)(value, name),
  repeatable: optional(routes),
  honoursKey: optional(routes),
  refusesBeforeActing: optional(routes),
  label,
  reraise: optional(flag),
};

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE: readonly string[] = ["GET", "HEAD", "OPTIONS", "TRACE"];

const KEY = "idempotency-key";

/** How a request's call is carried out. */
export interface Way {
  readonly options: RunOptions;
  /** Its own address, if that is what is watched. */
  readonly address: OwnAddress | undefined;
}

/** What is asked for a request before its headers and its URL are looked at. */
export interface Asked {
  readonly method: string;
  readonly url: URL;
  /** That the URL's host is where the request goes. */
  readonly isHostKnown: boolean;
  headers(): Headers;
  readonly signal: AbortSignal | undefined;
}

/** What a client knows of what it is given for a request. */
export function bare<T extends object | undefined>(given: T): T {
  if (!given || !("outlast" in given)) {
    return given;
  }
  const { outlast: _, ...rest } = given;
  return rest as T;
}

const given = new AsyncLocalStorage<TransportOptions>();

/**
 * Does something whose requests by outlast's transports have other options than these.
 *
 * @param options As for one request. They do not reach what runs outside, such as a queue.
 */
export function withOptions<T>(options: TransportOptions, work: () => T): T {
  new Settings(options); // what is wrong is told here
  return given.run({ ...given.getStore(), ...options }, work);
}

/** What a transport was told. */
export class Settings {
  readonly reraise: boolean;
  /** Attempts may be ended from here. */
  readonly endsAttempts: boolean;
  readonly #options: TransportOptions;
  readonly #secrets: Secrets;
  #policy: Policy | undefined; // once it was asked for
  readonly #repeatable: ReturnType<typeof chosenBy>;
  readonly #keyed: ReturnType<typeof chosenBy>;
  readonly #refuses: ReturnType<typeof chosenBy>;
  readonly #others = new WeakMap<object, Settings>();

  constructor(options: TransportOptions) {
    checkMembers(options, OPTIONS, "the options of a transport");
    this.#options = options;
    this.#secrets = new Secrets(options.secrets);
    this.reraise = options.reraise ?? true;
    this.endsAttempts = Boolean(options.signal ?? options.attemptTimeout);
    this.#repeatable = chosenBy(options.repeatable ?? false);
    this.#keyed = chosenBy(options.honoursKey ?? false);
    this.#refuses = chosenBy(options.refusesBeforeActing ?? false);
    if (options.ready && !isWatcher(options.ready) && !isPath(options.ready)) {
      parseTarget(options.ready);
    }
  }

  /** The settings of a request that has options of its own, or whose surroundings have. */
  for(own: TransportOptions | undefined): Settings {
    const around = given.getStore();
    return (around ? this.#with(around) : this).#with(own);
  }

  #with(own: TransportOptions | undefined): Settings {
    if (!own) {
      return this;
    }
    let other = this.#others.get(own);
    if (!other) {
      other = new Settings({ ...this.#options, ...own });
      this.#others.set(own, other);
    }
    return other;
  }

  /** The time that a call lives by. */
  now(): number {
    return (this.#options.clock ?? currentClock()).now();
  }

  /** Decides. It is loaded with the first request. */
  async policy(): Promise<Policy> {
    this.#policy ??= await policyOf(this.#options.policy ?? "network");
    return this.#policy;
  }

  /** Whether anybody is told of a request that is made now. */
  get isTold(): boolean {
    return this.#options.observe !== undefined || isAnybodyTold();
  }

  /** Whether {@link telling} can be, if anybody is told: the policy was asked for before. */
  get isReady(): boolean {
    return this.#policy !== undefined || !this.isTold;
  }

  /** Begins to tell of a call. */
  telling(call: Call): Telling {
    const told = { call: this.#secrets.call(call), command: "", policy: this.#policy!.name };
    return new Telling(hooksFor(this.#options.observe), told);
  }

  /** The call that a request is. */
  call(asked: Asked): Call {
    const { method, url, isHostKnown } = asked;
    const { budget, label: named } = this.#options;
    const write = !SAFE.includes(method);
    let request: ClientRequest | undefined;
    const known = () => {
      request ??= { method, url, headers: asked.headers() };
      return request;
    };
    const label = typeof named === "function" ? named(known()) : named;
    const own = isHostKnown ? `${method} ${url.hostname}` : method;
    return {
      remote: true,
      write,
      budget,
      label: label ?? own.slice(0, 256),
      repeatable: write && this.#isRepeatable(known),
      refusesBeforeActing: write && this.#refuses?.(known()) === true,
    };
  }

  /** How that is carried out. */
  way({ url, isHostKnown, signal: own }: Asked): Way {
    const { maxWait, spread, attempts, attemptTimeout, on, ...others } = this.#options;
    const { onlyRequest, signal, observe, secrets, clock, seed } = others;
    const { ready, address } = this.#lookedAt(isHostKnown ? url : undefined);
    const options: RunOptions = {
      ...{ maxWait, spread, attempts, attemptTimeout, on },
      ...{ onlyRequest, observe, secrets, clock, seed },
      ...{ signal: either(signal, own), ready },
    };
    return { options, address };
  }

  #isRepeatable(known: () => ClientRequest): boolean {
    return (
      this.#repeatable?.(known()) === true ||
      (this.#keyed !== undefined && Boolean(known().headers.get(KEY)) && this.#keyed(known()))
    );
  }

  /** What is looked at for requests to a host: what the caller said, if that is for this one, or
   * their own address.
   *
   * @param url None: they are a pool's, which has but one host. */
  #lookedAt(url: URL | undefined): { ready?: Ready; address?: OwnAddress } {
    const { ready } = this.#options;
    const isSaid = ready && !isPath(ready);
    if (isSaid && (isWatcher(ready) || !url || new URL(ready).hostname === url.hostname)) {
      return { ready };
    }
    if (ready === false || !this.#isReal) {
      return {};
    }
    const address = new OwnAddress(url, isPath(ready) ? ready : undefined);
    return { ready: address, address };
  }

  /** No look belongs to a time that is not real. */
  get #isReal(): boolean {
    return (this.#options.clock ?? currentClock()) === systemClock;
  }
}

function isPath(ready: unknown): ready is string {
  return typeof ready === "string" && ready.startsWith("/");
}
