//! The cases that come with the contract, made whole.

use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Map, Value};
use std::{error::Error, fs, path::Path};

/// One case. Its members are as in its file, with names put in place.
pub struct Case {
    pub file: String,
    pub members: Value,
}

impl Case {
    pub fn name(&self) -> &str {
        self.members["name"].as_str().unwrap_or_default()
    }

    pub fn steps(&self) -> &[Value] {
        self.members["steps"].as_array().map_or(&[], Vec::as_slice)
    }

    pub fn outage(&self) -> Option<&Value> {
        self.members.get("outage")
    }

    /// What it is played through; `request` stands for one call of an export.
    pub fn doors(&self) -> Vec<&str> {
        if self.members.get("export").is_some() {
            return vec!["request"];
        }
        match (self.members["doors"].as_array(), self.outage()) {
            (Some(doors), _) => doors.iter().filter_map(Value::as_str).collect(),
            (None, Some(_)) => vec!["decide", "run"],
            (None, None) => vec!["decide", "run", "first", "resumed"],
        }
    }

    pub fn clock(&self) -> i64 {
        us(&self.members, "clock_us")
    }

    /// A request without anything that has happened yet.
    pub fn request(&self) -> Value {
        json!({"policy": self.members["policy"], "call": self.members["call"]})
    }

    /// What the export is called with.
    pub fn raw(&self) -> Vec<u8> {
        let m = &self.members;
        if let Some(text) = m["raw"].as_str() {
            return text.into();
        }
        if let Some(text) = m["raw_base64"].as_str() {
            return STANDARD.decode(text).expect("raw_base64 is base64");
        }
        let mut text = String::new();
        for part in m["raw_parts"].as_array().into_iter().flatten() {
            let times = part["times"].as_u64().unwrap_or(1).max(1);
            text += &part["text"].as_str().unwrap_or_default().repeat(times as usize);
        }
        if let Some(input) = m.get("input") {
            text += &input.to_string();
        }
        text.into()
    }
}

/// A member that is a whole number, 0 where it is left out.
pub fn us(value: &Value, name: &str) -> i64 {
    whole(&value[name]).unwrap_or(0)
}

/// A whole number in whatever form.
pub fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or(value.as_f64().map(|f| f as i64))
}

/// All cases, by file and in order.
pub fn load(folder: &Path) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.retain(|p| p.extension().is_some_and(|e| e == "json"));
    paths.sort();
    let (mut results, mut policies, mut cases) = (Map::new(), Map::new(), Vec::new());
    for path in paths {
        let file: Value = serde_json::from_slice(&fs::read(&path)?)?;
        for (named, more) in [(&mut results, "results"), (&mut policies, "policies")] {
            named.extend(file[more].as_object().cloned().unwrap_or_default());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for members in file["cases"].as_array().into_iter().flatten() {
            cases.push(Case { file: name.to_string(), members: members.clone() });
        }
    }
    for case in &mut cases {
        finish(&mut case.members, &results, &policies);
    }
    Ok(cases)
}

fn finish(members: &mut Value, results: &Map<String, Value>, policies: &Map<String, Value>) {
    resolve(members, "policy", policies);
    if let Some(outage) = members.get_mut("outage") {
        resolve(outage, "down", results);
        resolve(outage, "up", results);
    }
    for step in members.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
        for key in ["attempt", "repair", "cancelled"] {
            resolve(step, key, results);
        }
    }
}

/// Puts the named value in a reference's place, if it is one.
fn resolve(members: &mut Value, key: &str, named: &Map<String, Value>) {
    if let Some(value) = members[key].as_str().and_then(|name| named.get(name)) {
        members[key] = value.clone();
    }
}
