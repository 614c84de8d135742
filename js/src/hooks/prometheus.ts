/**
 * Events as metrics for Prometheus.
 *
 * @module outlast/prometheus
 */

import type { CallEvent, PolicyInForce, Stopped } from "./events.js";
import { Figures } from "./figures.js";
import type { CallHook, PerCallHook } from "./hook.js";

/** What is used of `prom-client`. */
export interface PromClient<Registry> {
  readonly Counter: new (form: Form<Registry>) => { inc(labels: Labels, value?: number): void };
  readonly Gauge: new (form: Form<Registry>) => { set(labels: Labels, value: number): void };
  readonly Histogram: new (
    form: Form<Registry> & { buckets: number[] },
  ) => { observe(labels: Labels, value: number): void };
}

/** What a metric is. */
export interface Form<Registry> {
  name: string;
  help: string;
  labelNames: string[];
  registers?: Registry[];
}

type Labels = Record<string, string>;

/** Seconds that a call took (a choice: up to twice the default window). */
const SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 180, 300];

/** Shares of its window that a call used (a choice). */
const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 1];

/** Labels that all metrics have. */
const COMMON = ["policy", "command"];

/**
 * Counts events. The metrics and their labels are the same in all of outlast. None has a call's
 * label as a label: it may have any number of values.
 *
 * ```ts
 * import * as client from "prom-client";
 * setHooks([prometheus(client)]);
 * ```
 *
 * @param client The program's `prom-client`.
 * @param registers Where to; the default registry unless given. One can have one such hook
 *     only.
 */
export function prometheus<Registry>(
  client: PromClient<Registry>,
  registers?: Registry[],
): PerCallHook {
  const metrics = metricsOf(client, registers);
  return { begin: (_call, policy, command) => new CountedCall(metrics, { policy, command }) };
}

type Metrics = ReturnType<typeof metricsOf>;

function metricsOf<Registry>(client: PromClient<Registry>, registers?: Registry[]) {
  const form = (name: string, help: string, labels: string[]) => {
    const labelNames = [...COMMON, ...labels];
    return { name: `outlast_${name}`, help, labelNames, ...(registers && { registers }) };
  };
  const counter = (name: string, help: string, ...labels: string[]) =>
    new client.Counter(form(name, help, labels));
  const gauge = (name: string, help: string) => new client.Gauge(form(name, help, []));
  const histogram = (name: string, help: string, buckets: number[], ...labels: string[]) =>
    new client.Histogram({ ...form(name, help, labels), buckets });
  return {
    calls: counter(
      "calls_total",
      "Calls that ended, by how and by the kind of their last failure.",
      "outcome",
      "kind",
    ),
    attempts: counter("attempts_total", "Attempts that ended.", "ok"),
    retries: counter(
      "retries_total",
      "Waits before a retry; a wait that goes on counts once.",
      "kind",
      "budget",
    ),
    wakes: counter("wakes_total", "Waits that the server's return cut short."),
    vainWakes: counter(
      "vain_wakes_total",
      "Of these, those whose attempt then failed in a way that was waited for again.",
    ),
    waited: counter(
      "wait_seconds_total",
      "Time waited, from the end of one attempt to the start of the next.",
    ),
    replaced: counter(
      "instances_replaced_total",
      "Instances of the plugin that failed and were replaced.",
    ),
    seconds: histogram(
      "retried_call_seconds",
      "How long calls took that did not succeed at once.",
      SECONDS,
      "outcome",
    ),
    used: histogram(
      "budget_used_ratio",
      "Share of its window that a call which waited had used when it ended, of the fullest of its budgets.",
      SHARES,
    ),
    serial: gauge(
      "policy_serial",
      "The serial of the followed policy in force; 0: the one that comes with outlast.",
    ),
    expires: gauge(
      "policy_expires_timestamp_seconds",
      "Until when the policy in force may be pulled, in seconds since 1970; 0: for ever.",
    ),
  };
}

/** Counts one call. */
class CountedCall implements CallHook {
  readonly #figures = new Figures();

  constructor(
    readonly metrics: Metrics,
    readonly labels: Labels,
  ) {}

  attempt(_number: number, at: number): void {
    this.#figures.attempt(at);
    this.#countWait();
    if (this.#figures.woken) {
      this.metrics.wakes.inc(this.labels);
    }
  }

  tell(event: CallEvent): void {
    const { metrics, labels } = this;
    this.#figures.hear(event);
    if (event.type === "attemptEnded") {
      metrics.attempts.inc({ ...labels, ok: String(event.ok) });
    } else if (event.type === "waiting" && !event.again) {
      metrics.retries.inc({ ...labels, kind: event.kind, budget: event.budget });
      if (this.#figures.vain) {
        metrics.vainWakes.inc(labels);
      }
    } else if (event.type === "stopped") {
      this.#stopped(event);
    } else if (event.type === "policyInForce") {
      this.#inForce(event);
    } else if (event.type === "instanceReplaced") {
      metrics.replaced.inc(labels);
    }
  }

  #stopped({ outcome }: Stopped): void {
    const { metrics, labels } = this;
    const { type, kind, ok, attempts, elapsed } = outcome;
    metrics.calls.inc({ ...labels, outcome: type, kind: kind || "none" });
    if (!ok || attempts > 1) {
      metrics.seconds.observe({ ...labels, outcome: type }, elapsed / 1000);
    }
    this.#countWait();
    if (this.#figures.used !== undefined) {
      metrics.used.observe(labels, this.#figures.used);
    }
  }

  #inForce({ release }: PolicyInForce): void {
    this.metrics.serial.set(this.labels, release?.serial ?? 0);
    this.metrics.expires.set(this.labels, (release?.expires?.getTime() ?? 0) / 1000);
  }

  #countWait(): void {
    if (this.#figures.wait !== undefined) {
      this.metrics.waited.inc(this.labels, this.#figures.wait);
    }
  }
}
