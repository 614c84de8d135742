// Hosts that play a case.

import { differences, stateProblems } from "./cases.js";

/** What asks for a call's first attempt. */
export const FIRST_ACTION = { type: "retry", attempt: 1, delay_us: 0 };

/** Whether the step's event comes in a wait, if there is one. */
function cutsShort(step) {
  return Boolean(step.woken) || step.cancelled === true;
}

function withRandom(step, members) {
  return "random" in step ? { ...members, random: step.random } : members;
}

/** The step's event, seen at a time. */
export function eventOf(step, now_us) {
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
  const cancelled = { type: "cancelled", now_us };
  return cutsShort(step) ? cancelled : { ...cancelled, result: step.cancelled };
}

/** A host whose plugin is lost in the first host call after an event: the event of the
 * request, or the one that it answers to an attempt. */
export class Dying {
  #event;

  constructor(event) {
    this.#event = event;
  }

  outlast_sleep(action) {
    this.action ??= JSON.parse(action);
    return "";
  }

  outlast_attempt(action) {
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
export class Script {
  problems = [];
  pending = 0;
  states = false;
  #want;

  /** Begins at a step, as though the steps before had been played. */
  constructor({ steps, clock_us = 0 }, next = 0, clock = clock_us) {
    this.steps = steps;
    this.next = next;
    this.clock = clock;
    this.#want = next === 0 ? FIRST_ACTION : steps[next - 1].want;
  }

  outlast_now() {
    return this.#broken("outlast_now") ?? JSON.stringify({ now_us: this.clock });
  }

  outlast_sleep(action) {
    this.compare(JSON.parse(action));
    this.pending = JSON.parse(action).delay_us ?? 0;
    if (this.pending <= 0) {
      this.problems.push("asked to sleep without a delay");
      return "";
    }
    const step = this.steps[this.next];
    return this.#broken("outlast_sleep") ?? (step ? JSON.stringify(this.#slept(step)) : "");
  }

  #slept(step) {
    if (!cutsShort(step)) {
      this.clock += this.#wait(step);
      if (!step.down) {
        return { wait: "full", now_us: this.clock };
      }
      this.#play();
      return withRandom(step, { wait: "down", now_us: this.clock });
    }
    this.clock += step.after_us ?? 0;
    this.#play();
    const now_us = this.clock;
    return step.woken
      ? withRandom(step, { wait: "woken", by: step.woken, now_us })
      : { wait: "cancelled", now_us };
  }

  outlast_attempt(action) {
    this.compare(JSON.parse(action));
    const step = this.steps[this.next];
    const broken = this.#broken("outlast_attempt");
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
  firstEvent() {
    const step = this.steps[this.next];
    this.clock += cutsShort(step) ? (step.after_us ?? 0) : this.#wait(step);
    return this.#event(step);
  }

  /** Checks an action against the one that is due. */
  compare({ state = "", ...action }) {
    const after = `after step ${this.next}: action`;
    const wrong = this.#want
      ? differences(after, this.#want, action)
      : [`${after}, where an error is due`];
    this.problems.push(...wrong);
    if (this.states && this.next > 0) {
      this.problems.push(...stateProblems(state, true));
    }
  }

  #event(step) {
    this.clock += step.takes_us ?? 0;
    this.#play();
    return eventOf(step, this.clock);
  }

  /** Moves to the next step, and remembers what answers this one. */
  #play() {
    this.pending = 0;
    this.#want = this.steps[this.next].want;
    this.next++;
  }

  #wait(step) {
    return step.wait_us ?? this.pending;
  }

  /** What the next step's broken function answers, if it is the one called. */
  #broken(name) {
    const broken = this.steps[this.next]?.broken;
    if (broken?.function !== name) {
      return undefined;
    }
    const { pending } = this;
    this.#play();
    this.pending = pending;
    return broken.answer ?? "";
  }
}

/** A host in virtual time, with a server that is away until a moment. */
export class World {
  starts = [];
  #outage;
  #back;

  constructor({ outage, clock_us = 0 }) {
    this.#outage = outage;
    this.#back = outage.up_us ?? Infinity;
    this.clock = clock_us;
  }

  outlast_now() {
    return JSON.stringify({ now_us: this.clock });
  }

  outlast_sleep(action) {
    const { wake, delay_us } = JSON.parse(action);
    const { notices, watches } = this.#outage;
    if (wake && (notices === "ready" || notices === wake.by)) {
      const seen = Math.max(this.#back, this.clock + (wake.after_us ?? 0));
      if (seen < this.clock + delay_us) {
        this.clock = seen;
        return this.#slept({ wait: "woken", by: notices });
      }
    }
    this.clock += delay_us;
    if (watches && wake && this.clock < this.#back) {
      return this.#slept({ wait: "down" });
    }
    return JSON.stringify({ wait: "full", now_us: this.clock });
  }

  #slept(how) {
    return JSON.stringify(withRandom(this.#outage, { ...how, now_us: this.clock }));
  }

  outlast_attempt() {
    const { down, up, takes_us = 0, first_takes_us = takes_us, up_takes_us = 0 } = this.#outage;
    this.starts.push(this.clock);
    const away = this.clock < this.#back;
    const takes = this.starts.length === 1 ? first_takes_us : takes_us;
    this.clock += away ? takes : up_takes_us;
    const event = { type: "attempted", now_us: this.clock, result: away ? down : up };
    return JSON.stringify(withRandom(this.#outage, event));
  }
}
