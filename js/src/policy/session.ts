/** One call, event by event. */

import { randomInt } from "node:crypto";
import { anything, checkMembers, type Members, optional, show } from "../arguments/members.js";
import { type Action, type Readiness, readAction, type Stop } from "../call/action.js";
import { type Call, callMembers } from "../call/call.js";
import { OutlastError, PluginError } from "../call/errors.js";
import { checkResult, type Result } from "../call/result.js";
import { AnswerError } from "../plugin/envelope.js";
import { currentClock } from "../time/clock.js";
import type { WireCall, WireEvent } from "../wire/types.js";
import { micros, randomNumber, seed } from "../wire/values.js";
import type { Decider } from "./decider.js";
import { callFor, resultFor } from "./older.js";

/** When something happened. */
export interface When {
  /** When it was seen, in milliseconds of a clock of the caller's that is the same for the
   * whole call; the clock in force unless given. A delay counts from there. */
  readonly now?: number | undefined;
  /** The caller's own chance for the next delay, from 0 to 1; from the seed unless given. */
  readonly random?: number | undefined;
}

/** When something happened, and what else is asked. */
export interface WhenExplained extends When {
  /** Say in the action how the result was recognised. */
  readonly explain?: boolean | undefined;
}

/** How a session begins. */
export interface SessionOptions {
  /** Of the jitter, from 0 to 2^53 - 1; a random one unless given. */
  readonly seed?: number | undefined;
  /** Of a session to be continued, as that had it; it must have had the same policy. */
  readonly state?: string | undefined;
}

const OPTIONS: Members<SessionOptions> = { seed: optional(seed), state: anything };

/**
 * One call, event by event, for a loop of the caller's. It holds nothing of the plugin
 * between events, and needs no close. Made by {@link Policy.session}.
 */
export class Session<P extends Decider = Decider> {
  /** What the call is. */
  readonly call: Call;
  /** Told of an instance of the plugin that failed and was replaced. */
  onReplaced: ((error: Error) => void) | undefined;
  #policy: P;
  readonly #members: WireCall;
  #state: string;
  #repairing = false;
  #over = false;
  #busy = false;
  #last: Result | undefined;

  /** @internal */
  constructor(policy: P, call: Call, options: SessionOptions = {}) {
    checkMembers(options, OPTIONS, "the options of a session");
    this.#policy = policy;
    this.call = call;
    this.#members = callMembers(call, options.seed ?? randomSeed());
    this.#state = options.state ?? "";
  }

  /** The policy that decides. Of one that is followed, what was in force at the first event,
   * from that on. */
  get policy(): P {
    return this.#policy;
  }

  /** What the call has spent so far, as text: at most 1 KiB of ASCII. It is empty before
   * the first event and after the last. A session can be continued from it, in another
   * process too. */
  get state(): string {
    return this.#state;
  }

  /** Whether the policy has said to stop. */
  get over(): boolean {
    return this.#over;
  }

  /**
   * Tells how an attempt ended, or the repair that was asked for, and gets what to do next.
   * The plugin is loaded by the first call of this.
   *
   * @throws PluginError if the plugin cannot be used, or refuses the event. The call must
   *     stop then.
   * @throws PolicyError if the policy's document has faults.
   * @throws TypeError or RangeError if an argument is wrong.
   */
  async next(result: Result, when: WhenExplained = {}): Promise<Action> {
    const event = this.#event(this.#repairing ? "repaired" : "attempted", when, result);
    return this.#answer(event, result, when.explain ?? false);
  }

  /**
   * Tells that a wait was cut short because the server answered, and gets what to do next:
   * often to wait a little more.
   *
   * @param by How much of an answer was seen.
   * @throws PluginError as {@link next} does; there must have been a wait.
   */
  async woken(by: Readiness, when: When = {}): Promise<Action> {
    if (by !== "accepting" && by !== "ready") {
      throw new TypeError(`outlast: by is ${show(by)}, and must be "accepting" or "ready"`);
    }
    return this.#answer({ ...this.#event("woken", when), by });
  }

  /**
   * Tells that a wait which the server might have cut short is over and the server was seen to
   * be down, so that an attempt would fail; and gets what to do next: the schedule's next wait,
   * or no delay, and then the attempt is to be made all the same.
   *
   * @throws PluginError as {@link next} does; the action before must have had `wake`.
   */
  async down(when: When = {}): Promise<Action> {
    return this.#answer(this.#event("down", when));
  }

  /**
   * Tells what {@link down} does, of a server that is there and says that it is not ready yet,
   * because it loads. Attempts are left out for no longer than one cap of the backoff.
   *
   * @throws PluginError as {@link next} does; the action before must have had `wake`.
   */
  async notReady(when: When = {}): Promise<Action> {
    return this.#answer(this.#event("not_ready", when));
  }

  /**
   * Tells that the caller gave up, and gets the outcome.
   *
   * @param result Of the attempt or the repair that was running; none if none was.
   * @throws PluginError as {@link next} does.
   */
  async cancelled(result?: Result, when: Pick<When, "now"> = {}): Promise<Stop> {
    const action = await this.#answer(this.#event("cancelled", when, result), result);
    if (action.type !== "stop") {
      throw new PluginError("deciding", "the plugin goes on with a cancelled call");
    }
    return action;
  }

  #event(type: WireEvent["type"], when: When, result?: Result): WireEvent {
    if (this.#over) {
      throw new Error("outlast: the session is over: its policy has said to stop");
    }
    if (this.#busy) {
      throw new Error("outlast: the session is deciding: one event comes after another");
    }
    const event: WireEvent = { type, now_us: micros(when.now ?? currentClock().now(), "now") };
    if (when.random !== undefined) {
      event.random = randomNumber(when.random);
    }
    if (result) {
      checkResult(result);
      this.#last = this.#repairing ? this.#last : result;
    }
    return event;
  }

  async #answer(event: WireEvent, result?: Result, explain = false): Promise<Action> {
    this.#busy = true;
    try {
      this.#policy = (await this.#policy.inForce()).policy as P;
      const request = await this.#request(event, result, explain);
      const { action, state = "" } = await this.#policy.decide(request, this.onReplaced);
      const read = readAction(action);
      this.#state = state;
      if (read.type === "stop") {
        this.#over = true;
        return { ...read, outcome: { ...read.outcome, result: this.#last } };
      }
      this.#repairing = read.repair;
      return read;
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#busy = false;
    }
  }

  async #request(event: WireEvent, result: Result | undefined, explain: boolean): Promise<string> {
    const dialect = await this.#policy.dialect();
    const call = JSON.stringify(callFor(this.#members, dialect));
    const told = result && { result: resultFor(result, this.call.write, dialect) };
    const state = this.#state && `,"state":${JSON.stringify(this.#state)}`;
    const asked = explain ? ',"explain":true' : "";
    return `"call":${call}${state},"event":${JSON.stringify({ ...event, ...told })}${asked}`;
  }

  /** The error of a decision. It has what the last attempt said, so that nothing is lost. */
  #failure(error: unknown): OutlastError {
    const failure = error instanceof OutlastError ? error : unusable(error);
    if (failure instanceof PluginError) {
      failure.result = this.#last;
    }
    return failure;
  }
}

function unusable(error: unknown): PluginError {
  if (error instanceof AnswerError) {
    const { text, code, field } = error;
    return new PluginError("deciding", text, { code, field, cause: error });
  }
  const text = `the plugin's answer cannot be used: ${(error as Error).message}`;
  return new PluginError("deciding", text, { code: "internal", cause: error });
}

/** A seed of the jitter of its own for each call: else all callers that a restart met
 * together would come back together. */
export function randomSeed(): number {
  return randomInt(2 ** 47) * 64 + randomInt(64); // randomInt goes to 2^48 - 1
}
