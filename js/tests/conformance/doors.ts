/** Plays the cases through the doors of the plugin. */

import type { Host } from "outlast";
import type { Case, Door, Json } from "./cases.js";
import { differences, mismatch, opened, stateProblems } from "./compare.js";
import { Dying, eventOf, FIRST_ACTION, Script, Silent, World } from "./script.js";

/** The plugin as a host calls it. */
export interface Door1 {
  call(name: string, data: string | Uint8Array, host?: Host): Promise<string>;
}

/** Runs one case through one door, and says what is wrong. */
export async function check(plugin: Door1, each: Case, door: Door | "request"): Promise<string[]> {
  if (door === "request") {
    return request(plugin, each);
  }
  if (each.outage) {
    return outage(plugin, each, door);
  }
  if (door === "resumed") {
    return resumed(plugin, each);
  }
  const script = new Script(each);
  if (door === "decide") {
    const loop = new Loop(plugin, script, each);
    const answer = await loop.run();
    return [...script.problems, ...loop.problems, ...ended(script, answer)];
  }
  const asked = each.request;
  if (door === "first") {
    asked.first = script.firstEvent();
  }
  script.states = true;
  const answer = await plugin.call("run", JSON.stringify(asked), script);
  return [...script.problems, ...ended(script, answer)];
}

/** Calls an export once. Of an ok, the members that the case has are compared. */
async function request(plugin: Door1, { members, raw }: Case): Promise<string[]> {
  const envelope = opened(await plugin.call(members.export, raw, new Silent()));
  const problems = mismatch(members.want_error, envelope.error);
  if (problems.length > 0 || members.want_error) {
    return problems;
  }
  return differences("ok", members.want, envelope.ok, true);
}

/** A loop around decide, as a simple host has it. It gives what run would give. */
class Loop {
  readonly problems: string[] = [];
  readonly #plugin: Door1;
  readonly #host: Script | World;
  readonly #request: Json;

  constructor(plugin: Door1, host: Script | World, each: Case) {
    this.#plugin = plugin;
    this.#host = host;
    this.#request = each.request;
    if (each.members.explain) {
      this.#request.explain = true;
    }
  }

  async run(): Promise<string> {
    const first = this.#host.outlast_attempt(JSON.stringify(FIRST_ACTION));
    if (!first) {
      return hostFailed("outlast_attempt");
    }
    this.#request.event = JSON.parse(first);
    for (;;) {
      const answer = await this.#plugin.call("decide", JSON.stringify(this.#request));
      const { ok, error } = opened(answer);
      if (error) {
        return answer;
      }
      const { action, state = "" } = ok;
      this.problems.push(...stateProblems(state, action.type === "retry"));
      if (action.type !== "retry") {
        if (this.#host instanceof Script) {
          this.#host.compare(JSON.stringify(action));
        }
        return JSON.stringify({ v: 1, ok: { outcome: action.outcome } });
      }
      this.#request.state = state;
      const failed = this.#follow(action);
      if (failed) {
        return hostFailed(failed);
      }
    }
  }

  /** Does what a retry asks for, and names the host function that fails, if one does. */
  #follow(action: Json): string | undefined {
    const asked = JSON.stringify(action);
    if (action.delay_us > 0) {
      const answer = this.#host.outlast_sleep(asked);
      if (!answer) {
        return "outlast_sleep";
      }
      const { wait, by, now_us, ...rest } = JSON.parse(answer);
      const cut: Json = {
        woken: { woken: by },
        down: { down: true },
        cancelled: { cancelled: true },
      };
      const step = { ...cut[wait], ...rest };
      if (wait !== "full") {
        this.#request.event = eventOf(step, now_us);
        return undefined;
      }
    }
    const event = this.#host.outlast_attempt(asked);
    if (!event) {
      return "outlast_attempt";
    }
    this.#request.event = JSON.parse(event);
    return undefined;
  }
}

/** The envelope that run answers where a host function fails. */
function hostFailed(field: string): string {
  return JSON.stringify({ v: 1, error: { code: "host_failed", message: "no answer", field } });
}

/** Checks how run ended after the script: with the last step's outcome or error, or, where
 * the last step wants a retry, because nothing answered it. */
function ended(script: Script, answer: string): string[] {
  const { ok, error } = opened(answer);
  if (script.next < script.steps.length) {
    const early = `it ended after step ${script.next} of ${script.steps.length}`;
    return [early, ...mismatch(undefined, error)];
  }
  const { want, want_error } = script.steps.at(-1)!;
  if (want_error) {
    return mismatch(want_error, error);
  }
  if (want.type !== "stop") {
    const field = want.delay_us > 0 ? "outlast_sleep" : "outlast_attempt";
    return mismatch({ code: "host_failed", field }, error);
  }
  const problems = mismatch(undefined, error);
  return problems.length ? problems : differences("outcome", want.outcome, ok.outcome);
}

/** Loses the instance after every step: each event goes into a new run with the state of
 * the action before, and the first host call that follows is not answered. An attempt is
 * also made by a run that has the state alone. */
async function resumed(plugin: Door1, each: Case): Promise<string[]> {
  let before: Json | undefined;
  let now = each.clock;
  for (const [i, step] of each.steps.entries()) {
    const script = new Script(each, i, now);
    script.pending = before?.delay_us ?? 0;
    const asked = { ...each.request, ...(before && { state: before.state }) };
    const first = script.firstEvent();
    const lost = new Dying();
    const answer = await plugin.call("run", JSON.stringify({ ...asked, first }), lost);
    const problems = lostAfter(each, i, lost, script, answer);
    if (!problems.length && "attempt" in step && before && !before.repair) {
      problems.push(...(await withStateAlone(plugin, asked, first, before, lost)));
    }
    if (problems.length || !lost.action) {
      return problems;
    }
    before = lost.action;
    now = script.clock;
  }
  return [];
}

/** Checks what came after a step. */
function lostAfter(each: Case, i: number, lost: Dying, script: Script, answer: string): string[] {
  const { steps } = each;
  if (!lost.action) {
    const early = i < steps.length - 1 ? [`it ended after step ${i + 1} of ${steps.length}`] : [];
    return [...early, ...ended(script, answer)];
  }
  const { want } = steps[i]!;
  if (!want) {
    return [`after step ${i + 1} there is an action, where an error is wanted`];
  }
  const { state = "", ...action } = lost.action;
  const problems = differences(`after step ${i + 1}: action`, want, action);
  return [...problems, ...stateProblems(state, true)];
}

/** Has run make the attempt of which there is the event, and compares what comes next with
 * what came of the event. */
async function withStateAlone(
  plugin: Door1,
  asked: Json,
  event: Json,
  before: Json,
  want: Dying,
): Promise<string[]> {
  const lost = new Dying(event);
  const answer = await plugin.call("run", JSON.stringify(asked), lost);
  const { attempt, state } = before;
  const first = { type: "retry", attempt, delay_us: 0, state };
  const problems = differences("the attempt's action, with the state alone", first, lost.asked);
  if (Boolean(lost.action) !== Boolean(want.action)) {
    return [...problems, `with the state alone it ends otherwise: ${answer}`];
  }
  const next = "the next action, with the state alone";
  return [...problems, ...(lost.action ? differences(next, want.action, lost.action) : [])];
}

/** Plays an outage, and continues run as often as it asks for it. */
async function outage(plugin: Door1, each: Case, door: Door): Promise<string[]> {
  const { want } = each.members;
  const world = new World(each);
  const problems: string[] = [];
  let answer: string;
  if (door === "decide") {
    const loop = new Loop(plugin, world, each);
    answer = await loop.run();
    problems.push(...loop.problems);
  } else {
    let continues = 0;
    answer = await plugin.call("run", JSON.stringify(each.request), world);
    for (let more = opened(answer).ok?.continue; more; more = opened(answer).ok?.continue) {
      continues++;
      answer = await plugin.call("run", JSON.stringify({ ...each.request, ...more }), world);
    }
    problems.push(...differences("continues", want.continues ?? 0, continues));
  }
  const { ok, error } = opened(answer);
  problems.push(...mismatch(undefined, error));
  if (want.starts_us) {
    problems.push(...differences("starts", want.starts_us, world.starts));
  }
  return error ? problems : [...problems, ...differences("outcome", want.outcome, ok.outcome)];
}
