/**
 * Calls and attempts as spans of OpenTelemetry.
 *
 * @module outlast/opentelemetry
 */

import type { Call } from "../call/call.js";
import type { Result } from "../call/result.js";
import { VERSION } from "../plugin/inlined.js";
import type { CallEvent, Stopped } from "./events.js";
import { Figures } from "./figures.js";
import type { CallHook, PerCallHook } from "./hook.js";

/** What is used of `@opentelemetry/api`. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): Tracer;
    setSpan(context: unknown, span: Span): unknown;
  };
  readonly context: {
    active(): unknown;
    with(context: unknown, work: () => unknown): unknown;
  };
}

/** Makes spans. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions, context?: unknown): Span;
}

/** With what a span begins. */
export interface SpanOptions {
  attributes?: Record<string, string | number>;
  links?: { context: SpanContext }[];
}

/** Names a span for others. */
export interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

/** A span. */
export interface Span {
  spanContext(): SpanContext;
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { code: number }): unknown;
  isRecording(): boolean;
  end(time?: number): void;
}

/** `SpanStatusCode.ERROR` */
const ERROR = 2;

type Attributes = Readonly<Record<string, string | number | undefined>>;

/**
 * Makes a span `outlast.call` of each call, and in it a span `outlast.attempt` of each attempt,
 * which is active while the attempt runs, so that the client's own spans are in it. From the
 * second on they link to the one before. No span has an attempt's words. Where no SDK is
 * registered, or the trace is not sampled, it does nothing.
 *
 * ```ts
 * import * as api from "@opentelemetry/api";
 * setHooks([openTelemetry(api)]);
 * ```
 *
 * @param api The program's `@opentelemetry/api`.
 */
export function openTelemetry(api: OpenTelemetryApi): PerCallHook {
  return {
    begin(call, policy) {
      const tracer = api.trace.getTracer("outlast", VERSION);
      const attributes = defined({ "outlast.policy": policy, "outlast.label": call.label });
      const span = tracer.startSpan("outlast.call", { attributes });
      return span.isRecording() ? new TracedCall(api, tracer, span, call) : undefined;
    },
  };
}

/** The spans of one call. */
class TracedCall implements CallHook {
  readonly #within: unknown; // the context of the call's span
  readonly #figures = new Figures();
  #attempt: AttemptSpan | undefined; // the last one
  #stopped = false;

  constructor(
    readonly api: OpenTelemetryApi,
    readonly tracer: Tracer,
    readonly span: Span,
    readonly call: Call,
  ) {
    this.#within = api.trace.setSpan(api.context.active(), span);
  }

  attempt(number: number, at: number, make: () => Promise<unknown>): void {
    const { api, tracer } = this;
    this.#figures.attempt(at);
    const before = this.#attempt;
    before?.end(); // nothing was waited for
    const attributes = defined({
      "outlast.attempt": number,
      "http.request.resend_count": number > 1 ? number - 1 : undefined,
      "outlast.waited": this.#figures.wait,
      "outlast.woken": this.#figures.woken,
    });
    const links = before ? [{ context: before.span.spanContext() }] : [];
    const span = tracer.startSpan("outlast.attempt", { attributes, links }, this.#within);
    const made = new AttemptSpan(span);
    this.#attempt = made;
    api.context.with(api.trace.setSpan(this.#within, span), () => made.follow(make()));
  }

  tell(event: CallEvent): void {
    this.#figures.hear(event);
    const last = this.#attempt;
    if (event.type === "stopped") {
      this.#stop(event);
    } else if (event.type === "attemptEnded") {
      event.ok ? last?.end() : last?.fail(event.result);
    } else if (event.type === "waiting" && !event.again) {
      last?.note(event.kind, event.budget, event.delay / 1000);
    } else if (event.type === "repairing") {
      last?.note(event.kind);
    }
  }

  #stop({ outcome }: Stopped): void {
    const { ok, type, kind, budget, attempts, effects } = outcome;
    if (!ok) {
      this.#attempt?.note(kind, budget);
    }
    this.#end({
      "outlast.outcome": type,
      "outlast.kind": kind,
      "outlast.budget": budget,
      "outlast.attempts": attempts,
      "error.type": ok ? undefined : type,
      "outlast.effects": !ok && this.call.write ? effects : undefined,
    });
  }

  end(error?: unknown): void {
    if (!this.#stopped) {
      this.#end({ "error.type": typeOf(error) });
    }
  }

  #end(said: Attributes): void {
    this.#stopped = true;
    this.#attempt?.end();
    set(this.span, { ...said, "outlast.waited": this.#figures.waited });
    this.span.end();
  }
}

/** The span of an attempt. It ends when it is known what is done about the failure, with the
 * time at which the attempt did. */
class AttemptSpan {
  #over: number | undefined; // on the clock of the process, from which spans have their times
  #error = ""; // what the attempt threw, till it is noted
  #failed = false;

  constructor(readonly span: Span) {}

  follow(attempt: Promise<unknown>): void {
    const over = () => {
      this.#over = performance.now();
    };
    attempt.then(over, (error) => {
      over();
      this.#error = typeOf(error);
    });
  }

  /** Notes how the attempt failed. */
  fail({ httpStatus, failure, signal, timedOut }: Result): void {
    const word = this.#error || failure || signal || (timedOut ? "timed_out" : "_OTHER");
    const error = httpStatus === undefined ? word : String(httpStatus);
    set(this.span, { "error.type": error, "http.response.status_code": httpStatus });
    this.#error = "";
    this.#failed = true;
  }

  /** Notes what the policy makes of the failure, and ends it. */
  note(kind: string, budget?: string, wait?: number): void {
    if (this.#failed && this.span.isRecording()) {
      set(this.span, { "outlast.kind": kind, "outlast.budget": budget, "outlast.wait": wait });
      this.end();
    }
  }

  /** Ends it, if that is not done. An error that no event told of is noted. */
  end(): void {
    if (this.span.isRecording()) {
      set(this.span, { "error.type": this.#error });
      this.span.end(this.#over);
    }
  }
}

/** The attributes that say something. */
function defined(attributes: Attributes): Record<string, string | number> {
  const said = Object.entries(attributes).filter(
    ([, value]) => value !== undefined && value !== "",
  );
  return Object.fromEntries(said) as Record<string, string | number>;
}

/** Sets the attributes that say something. A span that has an error has failed. */
function set(span: Span, attributes: Attributes): void {
  for (const [name, value] of Object.entries(defined(attributes))) {
    span.setAttribute(name, value);
  }
  if (attributes["error.type"]) {
    span.setStatus({ code: ERROR });
  }
}

/** What an error is: its code, or that of what caused it, since most errors of Node's are of
 * one class; else its class. */
function typeOf(error: unknown): string {
  const { code, cause, name } = Object(error);
  const words = [code, Object(cause).code, error instanceof Error && name];
  return words.find((word) => word && typeof word === "string") ?? "_OTHER";
}
