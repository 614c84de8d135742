//! The contract's cases, call by call, as the plugin must answer them.

use crate::plugin::{Host, Plugin};
use base64::{engine::general_purpose::STANDARD, Engine};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex};
use std::{error::Error, mem};

/// All exchanges, in their order.
pub fn load(path: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let lines = BufReader::new(GzDecoder::new(File::open(path)?)).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// Makes the call again, and says what is not as it was.
pub fn replay(plugin: &mut Plugin, exchange: &Value) -> Vec<String> {
    let input = match exchange["input_base64"].as_str() {
        Some(binary) => STANDARD.decode(binary).expect("base64"),
        None => text(exchange, "input").as_bytes().to_vec(),
    };
    let left = exchange["calls"].as_array().cloned().unwrap_or_default().into();
    let host = Arc::new(Mutex::new(Replayed { left, problems: vec![] }));
    let answer = plugin.call(text(exchange, "export"), &input, &host);
    let mut host = host.lock().unwrap();
    let mut problems = mem::take(&mut host.problems);
    problems.extend(host.left.iter().map(|call| format!("{} is not called", text(call, "function"))));
    match answer {
        Ok(answer) => compare("answer", text(exchange, "output"), &answer, &mut problems),
        Err(error) => problems.push(error.to_string()),
    }
    problems
}

/// Answers the host functions as they were answered.
struct Replayed {
    left: VecDeque<Value>,
    problems: Vec<String>,
}

impl Replayed {
    fn answer(&mut self, function: &str, action: &str) -> String {
        let call = self.left.pop_front().unwrap_or_default();
        if text(&call, "function") != function {
            self.problems.push(format!("{function} is called, and not '{}'", text(&call, "function")));
            return String::new();
        }
        if !text(&call, "input").is_empty() {
            compare(function, text(&call, "input"), action.as_bytes(), &mut self.problems);
        }
        text(&call, "answer").to_string()
    }
}

impl Host for Replayed {
    fn now(&mut self) -> String {
        self.answer("outlast_now", "")
    }
    fn sleep(&mut self, action: &str) -> String {
        self.answer("outlast_sleep", action)
    }
    fn attempt(&mut self, action: &str) -> String {
        self.answer("outlast_attempt", action)
    }
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Says where an answer lacks what is wanted. It may have members that are new.
fn compare(path: &str, want: &str, got: &[u8], problems: &mut Vec<String>) {
    match (serde_json::from_str(want), serde_json::from_slice(got)) {
        (Ok(want), Ok(got)) => lacks(path, &want, &got, problems),
        _ => problems.push(format!("{path} is no JSON")),
    }
}

fn lacks(path: &str, want: &Value, got: &Value, problems: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(want), Value::Object(_)) => {
            want.iter().for_each(|(name, value)| lacks(&format!("{path}.{name}"), value, &got[name], problems))
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            want.iter().zip(got).for_each(|(want, got)| lacks(path, want, got, problems))
        }
        _ if want == got => {}
        _ => problems.push(format!("{path}: want {want}, got {got}")),
    }
}
