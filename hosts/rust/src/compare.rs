//! What is equal once decoded, and what is not.

use crate::cases::whole;
use serde_json::{json, Value};

/// Where `got` is not what is wanted, by the member's path. If `open`, members
/// that are not wanted may be there.
pub fn differences(path: &str, want: &Value, got: &Value, open: bool) -> Vec<String> {
    let (Value::Object(wanted), Value::Object(given)) = (want, got) else {
        return if same(want, got) { vec![] } else { vec![format!("{path}: want {want}, got {got}")] };
    };
    let mut found = Vec::new();
    for (name, value) in wanted {
        match given.get(name) {
            Some(other) => found.extend(differences(&format!("{path}.{name}"), value, other, open)),
            None => found.push(format!("{path}.{name}: want {value}, got nothing")),
        }
    }
    for (name, value) in given.iter().filter(|(name, _)| !open && !wanted.contains_key(*name)) {
        found.push(format!("{path}.{name}: want nothing, got {value}"));
    }
    found
}

/// Numbers are equal whatever their form.
fn same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(_), Value::Number(_)) => want.as_f64() == got.as_f64() && whole(want) == whole(got),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(_), Value::Object(_)) => differences("", want, got, false).is_empty(),
        _ => want == got,
    }
}

/// An envelope, which has either an ok or an error that says why.
pub fn opened(answer: &[u8]) -> Result<Value, String> {
    let said = String::from_utf8_lossy(answer);
    let envelope: Value = serde_json::from_slice(answer).map_err(|e| format!("{e}: {said}"))?;
    let error = envelope.get("error");
    let says_why = error.is_none_or(|e| !text(e, "code").is_empty() && !text(e, "message").is_empty());
    if whole(&envelope["v"]) != Some(1) || envelope.get("ok").is_some() == error.is_some() || !says_why {
        return Err(format!("no envelope: {said}"));
    }
    Ok(envelope)
}

/// A member that is a text, "" where it is left out.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Compares an envelope's error with the one wanted; `None` wants none.
pub fn mismatch(want: Option<&Value>, got: Option<&Value>) -> Vec<String> {
    let key = |e: &Value| (text(e, "code").to_string(), text(e, "field").to_string());
    if want.map(key) != got.map(key) {
        return vec![format!("want the error {want:?}, got {got:?}")];
    }
    let (Some(faults), Some(got)) = (want.and_then(|w| w.get("faults")), got) else { return vec![] };
    let fields: Vec<&str> = got["faults"].as_array().into_iter().flatten().map(|f| text(f, "field")).collect();
    differences("faults", faults, &json!(fields), false)
}

/// What the contract says of every state.
pub fn state_problems(state: &str, wanted: bool) -> Vec<String> {
    let odd = |b: u8| !(b'!'..=b'~').contains(&b) || b == b'"' || b == b'\\';
    match (wanted, state.len()) {
        (false, 0) => vec![],
        (false, _) => vec!["a state comes with a stop".into()],
        (true, 1..=1024) if !state.bytes().any(odd) => vec![],
        (true, n) => vec![format!("a state of {n} bytes comes with a retry: {state:?}")],
    }
}
