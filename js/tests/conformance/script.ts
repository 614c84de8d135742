/** Hosts that play a case. */

import type { Host } from "outlast";
import type { Case, Json } from "./cases.js";
import { differences, stateProblems } from "./compare.js";

/** What asks for a call's first attempt. */
export const FIRST_ACTION = { type: "retry", attempt: 1, delay_us: 0 };

/** Whether the step's event comes in a wait, if there is one. */
export function cutsShort(step: Json): boolean {
  return Boolean(step.woken) || step.cancelled === true;
}

export function withRandom(step: Json, members: Json): Json {
  return "random" in step ? { ...members, random: step.random } : members;
}

/** The step's event, seen at a time. */
export function eventOf(step: Json, now_us: number): Json {
  if ("attempt" in step) {
    return withRandom(step, { type: "attempted", now_us, result: step.attempt });
  }
  if ("repair" in step) {
    return withRandom(step, { type: "repaired", now_us, result: step.repair });
  }
  if (step.woken) {
    return withRandom(step, { type: "woken", now_us, by: step.woken });
  }
  if (step.down) {
    return withRandom(step, { type: "down", now_us });
  }
  return cutsShort(step)
    ? { type: "cancelled", now_us }
    : { type: "cancelled", now_us, result: step.cancelled };
}

/** A host that fails. */
export class Silent implements Host {
  outlast_now(_: string): string {
    return "";
  }
  outlast_sleep(_: string): string {
    return "";
  }
  outlast_attempt(_: string): string {
    return "";
  }
}

/** A host whose plugin is lost in the first host call after an event: the event of the
 * request, or the one that it answers to an attempt. */
export class Dying extends Silent {
  asked: Json | undefined;
  action: Json | undefined;
  #event: Json | undefined;

  constructor(event?: Json) {
    super();
    this.#event = event;
  }

  override outlast_sleep(action: string): string {
    this.action ??= JSON.parse(action);
    return "";
  }

  override outlast_attempt(action: string): string {
    const event = this.#event;
    if (!event) {
      return this.outlast_sleep(action);
    }
    this.#event = undefined;
    this.asked = JSON.parse(action);
    return JSON.stringify(event);
  }
}

/** A host that plays a case's steps. It compares each action that it is given with what the
 * step before wants, and after the last step answers nothing, which ends the loop. */
export class Script extends Silent {
  readonly steps: Json[];
  readonly problems: string[] = [];
  next: number;
  clock: number;
  pending = 0;
  states = false;
  #want: Json | undefined;

  constructor(script: Case, first = 0, now = script.clock) {
    super();
    this.steps = script.steps;
    this.next = first;
    this.clock = now;
    this.#want = first === 0 ? FIRST_ACTION : this.steps[first - 1]!.want;
  }

  override outlast_now(): string {
    return this.#broken("outlast_now") ?? JSON.stringify({ now_us: this.clock });
  }

  override outlast_sleep(action: string): string {
    this.compare(action);
    this.pending = JSON.parse(action).delay_us ?? 0;
    if (this.pending <= 0) {
      this.problems.push("asked to sleep without a delay");
      return "";
    }
    return this.#broken("outlast_sleep") ?? this.#slept();
  }

  #slept(): string {
    const step = this.steps[this.next];
    if (!step) {
      return "";
    }
    if (!cutsShort(step)) {
      this.clock += this.#wait(step);
      if (!step.down) {
        return JSON.stringify({ wait: "full", now_us: this.clock });
      }
      this.pending = 0;
      this.#play();
      return JSON.stringify(withRandom(step, { wait: "down", now_us: this.clock }));
    }
    this.pending = 0;
    this.clock += step.after_us ?? 0;
    this.#play();
    const now_us = this.clock;
    const woken = withRandom(step, { wait: "woken", by: step.woken, now_us });
    return JSON.stringify(step.woken ? woken : { wait: "cancelled", now_us });
  }

  override outlast_attempt(action: string): string {
    this.compare(action);
    const broken = this.#broken("outlast_attempt");
    const step = this.steps[this.next];
    if (broken !== undefined || !step) {
      return broken ?? "";
    }
    if (cutsShort(step)) {
      this.clock += step.after_us ?? 0;
    } else if (this.pending === 0) {
      this.clock += this.#wait(step); // there was no wait, yet the clock may have moved
    }
    return JSON.stringify(this.#event(step));
  }

  /** Plays the next step without the plugin. */
  firstEvent(): Json {
    const step = this.steps[this.next]!;
    this.clock += cutsShort(step) ? (step.after_us ?? 0) : this.#wait(step);
    return this.#event(step);
  }

  /** Checks an action against the one that is due. */
  compare(text: string): void {
    const { state = "", ...action } = JSON.parse(text);
    if (!this.#want) {
      this.problems.push(`after step ${this.next}: an action, where an error is due`);
      return;
    }
    this.problems.push(...differences(`after step ${this.next}: action`, this.#want, action));
    if (this.states && this.next > 0) {
      this.problems.push(...stateProblems(state, true));
    }
  }

  #event(step: Json): Json {
    this.clock += step.takes_us ?? 0;
    this.pending = 0;
    this.#play();
    return eventOf(step, this.clock);
  }

  #play(): void {
    this.#want = this.steps[this.next]!.want;
    this.next++;
  }

  #wait(step: Json): number {
    return step.wait_us ?? this.pending;
  }

  /** What the next step's broken function answers, if it is the one called. */
  #broken(name: string): string | undefined {
    const broken = this.steps[this.next]?.broken;
    if (broken?.function !== name) {
      return undefined;
    }
    this.#play();
    return broken.answer ?? "";
  }
}

/** A host in virtual time, with a server that is away until a moment. */
export class World extends Silent {
  readonly starts: number[] = [];
  readonly #outage: Json;
  #clock: number;

  constructor(outage: Case) {
    super();
    this.#outage = outage.outage!;
    this.#clock = outage.clock;
  }

  override outlast_now(): string {
    return JSON.stringify({ now_us: this.#clock });
  }

  override outlast_sleep(action: string): string {
    const { wake, delay_us } = JSON.parse(action);
    const { notices, up_us } = this.#outage;
    const enough = wake && (notices === "ready" || notices === wake.by);
    if (enough && up_us !== undefined) {
      const now_us = Math.max(up_us, this.#clock + (wake.after_us ?? 0));
      if (now_us < this.#clock + delay_us) {
        this.#clock = now_us;
        const woken = { wait: "woken", by: notices, now_us };
        return JSON.stringify(withRandom(this.#outage, woken));
      }
    }
    this.#clock += delay_us;
    const watched = this.#outage.watches && wake && this.#clock < (up_us ?? Infinity);
    const full = { wait: "full", now_us: this.#clock };
    return JSON.stringify(watched ? withRandom(this.#outage, { ...full, wait: "down" }) : full);
  }

  override outlast_attempt(): string {
    const outage = this.#outage;
    this.starts.push(this.#clock);
    const down = outage.up_us === undefined || this.#clock < outage.up_us;
    const first = this.starts.length === 1 ? outage.first_takes_us : undefined;
    this.#clock += down ? (first ?? outage.takes_us ?? 0) : (outage.up_takes_us ?? 0);
    const result = down ? outage.down : outage.up;
    const event = { type: "attempted", now_us: this.#clock, result };
    return JSON.stringify(withRandom(outage, event));
  }
}
