// Plays the cases through the doors of the plugin.

import { differences, mismatch, opened, rawOf, stateProblems } from "./cases.js";
import { Dying, eventOf, FIRST_ACTION, Script, World } from "./script.js";

/** Runs one case through one door, and says what is wrong. */
export function check(plugin, each, door) {
  try {
    if (door === "request") {
      return request(plugin, each);
    }
    if (each.outage) {
      return outage(plugin, each, door);
    }
    return door === "resumed" ? resumed(plugin, each) : script(plugin, each, door);
  } catch (error) {
    return [String(error)];
  }
}

/** Calls an export once. Of an ok, the members that the case has are compared. */
function request(plugin, each) {
  const { ok, error } = opened(plugin.call(each.export, rawOf(each)));
  const problems = mismatch(each.want_error, error);
  return problems.length || each.want_error ? problems : differences("ok", each.want, ok, true);
}

function script(plugin, each, door) {
  const host = new Script(each);
  const { policy, call } = each;
  if (door === "decide") {
    const problems = [];
    const answer = driven(plugin, each, host, problems);
    return [...problems, ...host.problems, ...ended(host, answer)];
  }
  const first = door === "first" ? { first: host.firstEvent() } : {};
  host.states = true;
  const answer = plugin.call("run", JSON.stringify({ policy, call, ...first }), host);
  return [...host.problems, ...ended(host, answer)];
}

/** A loop around decide, as a simple host has it. It gives what run would give. */
function driven(plugin, { policy, call, explain }, host, problems) {
  const asked = { policy, call, ...(explain && { explain }) };
  const first = host.outlast_attempt(JSON.stringify(FIRST_ACTION));
  if (!first) {
    return hostFailed("outlast_attempt");
  }
  asked.event = JSON.parse(first);
  for (;;) {
    const answer = plugin.call("decide", JSON.stringify(asked));
    const { ok, error } = opened(answer);
    if (error) {
      return answer;
    }
    const { action, state = "" } = ok;
    problems.push(...stateProblems(state, action.type === "retry"));
    if (action.type !== "retry") {
      host.compare?.(action);
      return JSON.stringify({ v: 1, ok: { outcome: action.outcome } });
    }
    asked.state = state;
    const { event, failed } = follow(host, action);
    if (failed) {
      return hostFailed(failed);
    }
    asked.event = event;
  }
}

/** Does what a retry asks for, and names the host function that fails, if one does. */
function follow(host, action) {
  const asked = JSON.stringify(action);
  if (action.delay_us > 0) {
    const answer = host.outlast_sleep(asked);
    if (!answer) {
      return { failed: "outlast_sleep" };
    }
    const { wait, by, now_us, ...rest } = JSON.parse(answer);
    const cut = { woken: { woken: by }, down: { down: true }, cancelled: { cancelled: true } };
    if (wait in cut) {
      return { event: eventOf({ ...cut[wait], ...rest }, now_us) };
    }
  }
  const event = host.outlast_attempt(asked);
  return event ? { event: JSON.parse(event) } : { failed: "outlast_attempt" };
}

/** The envelope that run answers where a host function fails. */
function hostFailed(field) {
  return JSON.stringify({ v: 1, error: { code: "host_failed", message: "no answer", field } });
}

/** Checks how run ended after the script: with the last step's outcome or error, or, where
 * the last step wants a retry, because nothing answered it. */
function ended({ steps, next }, answer) {
  const { ok, error } = opened(answer);
  if (next < steps.length) {
    return [`it ended after step ${next} of ${steps.length}`, ...mismatch(undefined, error)];
  }
  const { want, want_error } = steps.at(-1);
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
function resumed(plugin, each) {
  const { policy, call } = each;
  let before;
  let now = each.clock_us ?? 0;
  for (const [i, step] of each.steps.entries()) {
    const host = new Script(each, i, now);
    host.pending = before?.delay_us ?? 0;
    const asked = { policy, call, ...(before && { state: before.state }) };
    const first = host.firstEvent();
    const lost = new Dying();
    const answer = plugin.call("run", JSON.stringify({ ...asked, first }), lost);
    const problems = lostAfter(each.steps, i, lost, host, answer);
    if (!problems.length && "attempt" in step && before && !before.repair) {
      problems.push(...withStateAlone(plugin, asked, first, before, lost));
    }
    if (problems.length || !lost.action) {
      return problems;
    }
    before = lost.action;
    now = host.clock;
  }
  return [];
}

/** Checks what came after step i. */
function lostAfter(steps, i, lost, host, answer) {
  if (!lost.action) {
    const early = i < steps.length - 1 ? [`it ended after step ${i + 1} of ${steps.length}`] : [];
    return [...early, ...ended(host, answer)];
  }
  const { want } = steps[i];
  if (!want) {
    return [`after step ${i + 1} there is an action, where an error is wanted`];
  }
  const { state = "", ...action } = lost.action;
  return [
    ...differences(`after step ${i + 1}: action`, want, action),
    ...stateProblems(state, true),
  ];
}

/** Has run make the attempt of which there is the event, and compares what comes next with
 * what came of the event. */
function withStateAlone(plugin, asked, event, { attempt, state }, want) {
  const lost = new Dying(event);
  const answer = plugin.call("run", JSON.stringify(asked), lost);
  const first = { type: "retry", attempt, delay_us: 0, state };
  const problems = differences("the attempt's action, with the state alone", first, lost.asked);
  if (Boolean(lost.action) !== Boolean(want.action)) {
    return [...problems, `with the state alone it ends otherwise: ${answer}`];
  }
  const next = "the next action, with the state alone";
  return [...problems, ...(lost.action ? differences(next, want.action, lost.action) : [])];
}

/** Plays an outage, and continues run as often as it asks for it. */
function outage(plugin, each, door) {
  const { policy, call, want } = each;
  const world = new World(each);
  const problems = [];
  let answer;
  if (door === "decide") {
    answer = driven(plugin, each, world, problems);
  } else {
    let continues = 0;
    answer = plugin.call("run", JSON.stringify({ policy, call }), world);
    for (let more = opened(answer).ok?.continue; more; more = opened(answer).ok?.continue) {
      continues++;
      answer = plugin.call("run", JSON.stringify({ policy, call, ...more }), world);
    }
    problems.push(...differences("continues", want.continues ?? 0, continues));
  }
  const { ok, error } = opened(answer);
  problems.push(...mismatch(undefined, error));
  if (want.starts_us) {
    problems.push(...differences("starts", want.starts_us, world.starts));
  }
  return [...problems, ...differences("outcome", want.outcome, ok?.outcome)];
}
