//! Plays the cases through the doors of the plugin.

use crate::cases::{us, Case};
use crate::compare::{differences, mismatch, opened, state_problems, text};
use crate::plugin::{Host, Plugin, Shared, Silent};
use crate::script::{decoded, event_of, first_action, Dying, Script, World};
use serde_json::{json, Value};
use std::sync::{Arc, Mutex};

/// What is wrong; as an error, what kept it from being found out.
type Problems = Result<Vec<String>, String>;

fn shared<H>(host: H) -> Shared<H> {
    Arc::new(Mutex::new(host))
}

fn call<H: Host + 'static>(
    plugin: &mut Plugin,
    export: &str,
    request: &Value,
    host: &Shared<H>,
) -> Result<Vec<u8>, String> {
    plugin.call(export, request.to_string().as_bytes(), host).map_err(|e| format!("{e:#}"))
}

/// Runs one case through one door, and says what is wrong.
pub fn check(plugin: &mut Plugin, case: &Case, door: &str) -> Vec<String> {
    let problems = match (door, case.outage()) {
        ("request", _) => request(plugin, case),
        (_, Some(_)) => outage(plugin, case, door),
        ("resumed", _) => resumed(plugin, case),
        _ => script(plugin, case, door),
    };
    problems.unwrap_or_else(|problem| vec![problem])
}

/// Calls an export once. Of an ok, the members that the case has are compared.
fn request(plugin: &mut Plugin, case: &Case) -> Problems {
    let export = text(&case.members, "export");
    let answer = plugin.call(export, &case.raw(), &shared(Silent)).map_err(|e| format!("{e:#}"))?;
    let envelope = opened(&answer)?;
    let want_error = case.members.get("want_error");
    let problems = mismatch(want_error, envelope.get("error"));
    if want_error.is_some() || !problems.is_empty() {
        return Ok(problems);
    }
    Ok(differences("ok", &case.members["want"], &envelope["ok"], true))
}

fn script(plugin: &mut Plugin, case: &Case, door: &str) -> Problems {
    let mut script = Script::new(case, 0, case.clock());
    let mut asked = case.request();
    if door == "first" {
        asked["first"] = script.first_event();
    }
    script.states = door != "decide";
    let host = shared(script);
    let mut problems = vec![];
    let answer = if door == "decide" {
        let stopped = |action| host.lock().unwrap().compare(action);
        driven(plugin, case, &host, &mut problems, stopped)?
    } else {
        call(plugin, "run", &asked, &host)?
    };
    let script = host.lock().unwrap();
    problems.extend(script.problems.clone());
    problems.extend(ended(&script, &answer)?);
    Ok(problems)
}

/// A loop around decide, as a simple host has it. It gives what run would give.
fn driven<H: Host>(
    plugin: &mut Plugin,
    case: &Case,
    host: &Shared<H>,
    problems: &mut Vec<String>,
    stopped: impl Fn(Value),
) -> Result<Vec<u8>, String> {
    let mut asked = case.request();
    if case.members["explain"] == json!(true) {
        asked["explain"] = json!(true);
    }
    let first = host.lock().unwrap().attempt(&first_action().to_string());
    if first.is_empty() {
        return Ok(host_failed("outlast_attempt"));
    }
    asked["event"] = decoded(&first);
    loop {
        let answer = plugin.decide(asked.to_string().as_bytes()).map_err(|e| format!("{e:#}"))?;
        let envelope = opened(&answer)?;
        if envelope.get("error").is_some() {
            return Ok(answer);
        }
        let action = envelope["ok"]["action"].clone();
        let state = text(&envelope["ok"], "state");
        problems.extend(state_problems(state, action["type"] == "retry"));
        if action["type"] != "retry" {
            let outcome = action["outcome"].clone();
            stopped(action);
            return Ok(json!({"v": 1, "ok": {"outcome": outcome}}).to_string().into());
        }
        asked["state"] = json!(state);
        match follow(&mut *host.lock().unwrap(), &action) {
            Ok(event) => asked["event"] = event,
            Err(function) => return Ok(host_failed(function)),
        }
    }
}

/// Does what a retry asks for, and names the host function that fails, if one does.
fn follow(host: &mut dyn Host, action: &Value) -> Result<Value, &'static str> {
    if us(action, "delay_us") > 0 {
        let answer = host.sleep(&action.to_string());
        let mut slept: Value = serde_json::from_str(&answer).map_err(|_| "outlast_sleep")?;
        let step = match text(&slept, "wait") {
            "woken" => Some(json!({"woken": slept["by"]})),
            "down" => Some(json!({"down": true})),
            "cancelled" => Some(json!({"cancelled": true})),
            _ => None,
        };
        if let Some(mut step) = step {
            if let Some(random) = slept.as_object_mut().and_then(|s| s.remove("random")) {
                step["random"] = random;
            }
            return Ok(event_of(&step, us(&slept, "now_us")));
        }
    }
    serde_json::from_str(&host.attempt(&action.to_string())).map_err(|_| "outlast_attempt")
}

/// The envelope that run answers where a host function fails.
fn host_failed(function: &str) -> Vec<u8> {
    json!({"v": 1, "error": {"code": "host_failed", "message": "no answer", "field": function}}).to_string().into()
}

/// Checks how run ended after the script: with the last step's outcome or error,
/// or, where the last step wants a retry, because nothing answered it.
fn ended(script: &Script, answer: &[u8]) -> Problems {
    let envelope = opened(answer)?;
    let error = envelope.get("error");
    if script.next < script.steps.len() {
        let mut early = vec![format!("it ended after step {} of {}", script.next, script.steps.len())];
        early.extend(mismatch(None, error));
        return Ok(early);
    }
    let last = &script.steps[script.next - 1];
    if let Some(want) = last.get("want_error") {
        return Ok(mismatch(Some(want), error));
    }
    let want = &last["want"];
    if want["type"] != "stop" {
        let function = if us(want, "delay_us") > 0 { "outlast_sleep" } else { "outlast_attempt" };
        return Ok(mismatch(Some(&json!({"code": "host_failed", "field": function})), error));
    }
    let problems = mismatch(None, error);
    if !problems.is_empty() {
        return Ok(problems);
    }
    Ok(differences("outcome", &want["outcome"], &envelope["ok"]["outcome"], false))
}

/// Loses the instance after every step: each event goes into a new run with the
/// state of the action before, and the first host call that follows is not
/// answered. An attempt is also made by a run that has the state alone.
fn resumed(plugin: &mut Plugin, case: &Case) -> Problems {
    let (mut before, mut now): (Option<Value>, i64) = (None, case.clock());
    for (i, step) in case.steps().iter().enumerate() {
        let mut script = Script::new(case, i, now);
        let mut asked = case.request();
        if let Some(before) = &before {
            script.pending = us(before, "delay_us");
            asked["state"] = before["state"].clone();
        }
        let event = script.first_event();
        let mut with_event = asked.clone();
        with_event["first"] = event.clone();
        let host = shared(Dying::new(None));
        let answer = call(plugin, "run", &with_event, &host)?;
        let action = host.lock().unwrap().action.take();
        let mut problems = lost(case, i, action.as_ref(), &script, &answer)?;
        let repairs = before.as_ref().is_none_or(|b| b["repair"] == json!(true));
        if let (true, Some(before), Some(_)) = (problems.is_empty() && !repairs, &before, step.get("attempt")) {
            problems = with_state_alone(plugin, &asked, event, before, action.as_ref())?;
        }
        if !problems.is_empty() || action.is_none() {
            return Ok(problems);
        }
        (before, now) = (action, script.clock);
    }
    Ok(vec![])
}

/// Checks what came after step `i`.
fn lost(case: &Case, i: usize, action: Option<&Value>, script: &Script, answer: &[u8]) -> Problems {
    let steps = case.steps();
    let Some(action) = action else {
        let mut problems = vec![];
        if i < steps.len() - 1 {
            problems.push(format!("it ended after step {} of {}", i + 1, steps.len()));
        }
        problems.extend(ended(script, answer)?);
        return Ok(problems);
    };
    let Some(want) = steps[i].get("want") else {
        return Ok(vec![format!("after step {} there is an action, where an error is wanted", i + 1)]);
    };
    let mut plain = action.clone();
    plain.as_object_mut().map(|a| a.remove("state"));
    let mut problems = differences(&format!("after step {}: action", i + 1), want, &plain, false);
    problems.extend(state_problems(text(action, "state"), true));
    Ok(problems)
}

/// Has run make the attempt of which there is the event, and compares what comes
/// next with what came of the event.
fn with_state_alone(
    plugin: &mut Plugin,
    asked: &Value,
    event: Value,
    before: &Value,
    want: Option<&Value>,
) -> Problems {
    let host = shared(Dying::new(Some(event)));
    let answer = call(plugin, "run", asked, &host)?;
    let host = host.lock().unwrap();
    let first = json!({"type": "retry", "attempt": before["attempt"], "delay_us": 0, "state": before["state"]});
    let said = host.asked.clone().unwrap_or_default();
    let mut problems = differences("the attempt's action, with the state alone", &first, &said, false);
    match (want, &host.action) {
        (Some(want), Some(got)) => {
            problems.extend(differences("the next action, with the state alone", want, got, false))
        }
        (None, None) => {}
        _ => problems.push(format!("with the state alone it ends otherwise: {}", String::from_utf8_lossy(&answer))),
    }
    Ok(problems)
}

/// Plays an outage, and continues run as often as it asks for it.
fn outage(plugin: &mut Plugin, case: &Case, door: &str) -> Problems {
    let (want, host, mut problems) = (&case.members["want"], shared(World::new(case)), vec![]);
    let answer = if door == "decide" {
        driven(plugin, case, &host, &mut problems, |_| {})?
    } else {
        let (mut asked, mut continues) = (case.request(), 0);
        loop {
            let answer = call(plugin, "run", &asked, &host)?;
            let envelope = opened(&answer)?;
            let Some(more) = envelope.get("ok").and_then(|ok| ok.get("continue")) else {
                problems.extend(differences("continues", &json!(us(want, "continues")), &json!(continues), false));
                break answer;
            };
            continues += 1;
            asked["state"] = more["state"].clone();
            asked["first"] = more["first"].clone();
        }
    };
    let envelope = opened(&answer)?;
    problems.extend(mismatch(None, envelope.get("error")));
    if let Some(starts) = want.get("starts_us") {
        problems.extend(differences("starts", starts, &json!(host.lock().unwrap().starts), false));
    }
    problems.extend(differences("outcome", &want["outcome"], &envelope["ok"]["outcome"], false));
    Ok(problems)
}
