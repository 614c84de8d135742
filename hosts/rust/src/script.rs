//! Hosts that play a case.

use crate::cases::{us, Case};
use crate::compare::{differences, state_problems, text};
use crate::plugin::Host;
use serde_json::{json, Value};

/// What asks for a call's first attempt.
pub fn first_action() -> Value {
    json!({"type": "retry", "attempt": 1, "delay_us": 0})
}

pub fn decoded(text: &str) -> Value {
    serde_json::from_str(text).expect("the plugin gives JSON")
}

/// Whether the step's event comes in a wait, if there is one.
fn cuts_short(step: &Value) -> bool {
    !text(step, "woken").is_empty() || step["cancelled"] == json!(true)
}

fn with_random(step: &Value, mut members: Value) -> Value {
    if let Some(random) = step.get("random") {
        members["random"] = random.clone();
    }
    members
}

/// The step's event, seen at a time.
pub fn event_of(step: &Value, now_us: i64) -> Value {
    if let Some(result) = step.get("attempt") {
        with_random(step, json!({"type": "attempted", "now_us": now_us, "result": result}))
    } else if let Some(result) = step.get("repair") {
        with_random(step, json!({"type": "repaired", "now_us": now_us, "result": result}))
    } else if let Some(by) = step.get("woken") {
        with_random(step, json!({"type": "woken", "now_us": now_us, "by": by}))
    } else if step.get("down").is_some() {
        with_random(step, json!({"type": "down", "now_us": now_us}))
    } else if cuts_short(step) {
        json!({"type": "cancelled", "now_us": now_us})
    } else {
        json!({"type": "cancelled", "now_us": now_us, "result": step["cancelled"]})
    }
}

/// A host whose plugin is lost in the first host call after an event: the event
/// of the request, or the one that it answers to an attempt.
pub struct Dying {
    event: Option<Value>,
    pub asked: Option<Value>,
    pub action: Option<Value>,
}

impl Dying {
    pub fn new(event: Option<Value>) -> Self {
        Dying { event, asked: None, action: None }
    }
}

impl Host for Dying {
    fn sleep(&mut self, action: &str) -> String {
        self.action.get_or_insert_with(|| decoded(action));
        String::new()
    }

    fn attempt(&mut self, action: &str) -> String {
        let Some(event) = self.event.take() else { return self.sleep(action) };
        self.asked = Some(decoded(action));
        event.to_string()
    }
}

/// A host that plays a case's steps. It compares each action that it is given
/// with what the step before wants, and after the last step answers nothing,
/// which ends the loop.
pub struct Script {
    pub steps: Vec<Value>,
    pub next: usize,
    pub clock: i64,
    pub pending: i64,
    pub states: bool,
    pub problems: Vec<String>,
    want: Option<Value>,
}

impl Script {
    /// Begins at a step, as though the steps before had been played.
    pub fn new(case: &Case, next: usize, clock: i64) -> Self {
        let steps = case.steps().to_vec();
        let want = if next == 0 { Some(first_action()) } else { steps[next - 1].get("want").cloned() };
        Script { steps, next, clock, pending: 0, states: false, problems: vec![], want }
    }

    /// Plays the next step without the plugin.
    pub fn first_event(&mut self) -> Value {
        let step = self.steps[self.next].clone();
        self.clock += if cuts_short(&step) { us(&step, "after_us") } else { self.wait(&step) };
        self.event(&step)
    }

    /// Checks an action against the one that is due.
    pub fn compare(&mut self, mut action: Value) {
        let state = action.as_object_mut().and_then(|a| a.remove("state"));
        let after = format!("after step {}: action", self.next);
        match &self.want {
            None => self.problems.push(format!("{after}, where an error is due")),
            Some(want) => self.problems.extend(differences(&after, want, &action, false)),
        }
        if self.states && self.next > 0 {
            let state = state.as_ref().and_then(Value::as_str).unwrap_or_default();
            self.problems.extend(state_problems(state, true));
        }
    }

    fn event(&mut self, step: &Value) -> Value {
        self.clock += us(step, "takes_us");
        self.play();
        event_of(step, self.clock)
    }

    /// Moves to the next step, and remembers what answers this one.
    fn play(&mut self) {
        self.pending = 0;
        self.want = self.steps[self.next].get("want").cloned();
        self.next += 1;
    }

    fn wait(&self, step: &Value) -> i64 {
        if step.get("wait_us").is_some() {
            us(step, "wait_us")
        } else {
            self.pending
        }
    }

    /// What the next step's broken function answers, if it is the one called.
    fn broken(&mut self, function: &str) -> Option<String> {
        let broken = self.steps.get(self.next)?.get("broken")?.clone();
        if text(&broken, "function") != function {
            return None;
        }
        let pending = self.pending;
        self.play();
        self.pending = pending;
        Some(text(&broken, "answer").to_string())
    }

    /// How the wait before the next step ends.
    fn slept(&mut self, step: &Value) -> Value {
        if !cuts_short(step) {
            self.clock += self.wait(step);
            if step.get("down").is_none() {
                return json!({"wait": "full", "now_us": self.clock});
            }
            self.play();
            return with_random(step, json!({"wait": "down", "now_us": self.clock}));
        }
        self.clock += us(step, "after_us");
        self.play();
        match step.get("woken") {
            None => json!({"wait": "cancelled", "now_us": self.clock}),
            Some(by) => with_random(step, json!({"wait": "woken", "by": by, "now_us": self.clock})),
        }
    }
}

impl Host for Script {
    fn now(&mut self) -> String {
        self.broken("outlast_now").unwrap_or_else(|| json!({"now_us": self.clock}).to_string())
    }

    fn sleep(&mut self, action: &str) -> String {
        let action = decoded(action);
        self.pending = us(&action, "delay_us");
        self.compare(action);
        if self.pending <= 0 {
            self.problems.push("asked to sleep without a delay".into());
            return String::new();
        }
        if let Some(answer) = self.broken("outlast_sleep") {
            return answer;
        }
        match self.steps.get(self.next).cloned() {
            None => String::new(),
            Some(step) => self.slept(&step).to_string(),
        }
    }

    fn attempt(&mut self, action: &str) -> String {
        self.compare(decoded(action));
        if let Some(answer) = self.broken("outlast_attempt") {
            return answer;
        }
        let Some(step) = self.steps.get(self.next).cloned() else { return String::new() };
        if cuts_short(&step) {
            self.clock += us(&step, "after_us");
        } else if self.pending == 0 {
            self.clock += self.wait(&step); // there was no wait, yet the clock may have moved
        }
        self.event(&step).to_string()
    }
}

/// A host in virtual time, with a server that is away until a moment.
pub struct World {
    outage: Value,
    clock: i64,
    back: i64,
    pub starts: Vec<i64>,
}

impl World {
    pub fn new(case: &Case) -> Self {
        let outage = case.outage().cloned().unwrap_or_default();
        let back = if outage.get("up_us").is_some() { us(&outage, "up_us") } else { i64::MAX };
        World { outage, clock: case.clock(), back, starts: vec![] }
    }
}

impl Host for World {
    fn now(&mut self) -> String {
        json!({"now_us": self.clock}).to_string()
    }

    fn sleep(&mut self, action: &str) -> String {
        let action = decoded(action);
        let (delay, wake) = (us(&action, "delay_us"), action.get("wake"));
        let notices = text(&self.outage, "notices").to_string();
        if let Some(wake) = wake.filter(|w| notices == "ready" || notices == text(w, "by")) {
            let seen = self.back.max(self.clock + us(wake, "after_us"));
            if seen < self.clock + delay {
                self.clock = seen;
                return with_random(&self.outage, json!({"wait": "woken", "by": notices, "now_us": seen})).to_string();
            }
        }
        self.clock += delay;
        if wake.is_some() && self.outage["watches"] == json!(true) && self.clock < self.back {
            return with_random(&self.outage, json!({"wait": "down", "now_us": self.clock})).to_string();
        }
        json!({"wait": "full", "now_us": self.clock}).to_string()
    }

    fn attempt(&mut self, _action: &str) -> String {
        self.starts.push(self.clock);
        let away = self.clock < self.back;
        let (result, takes) = if away { ("down", "takes_us") } else { ("up", "up_takes_us") };
        let first = away && self.starts.len() == 1 && self.outage.get("first_takes_us").is_some();
        self.clock += us(&self.outage, if first { "first_takes_us" } else { takes });
        let event = json!({"type": "attempted", "now_us": self.clock, "result": self.outage[result]});
        with_random(&self.outage, event).to_string()
    }
}
