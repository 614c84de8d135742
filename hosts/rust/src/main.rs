//! Run it in the repository's root. `facts PROBE` prints what the crate does
//! with exports and host functions that misbehave; without it, the cases are
//! played.

use outlast_rust_host::{cases, doors, facts, plugin::Plugin};
use serde_json::Value;
use std::{collections::BTreeSet, env, error::Error, fs, path::Path, process};

fn main() -> Result<(), Box<dyn Error>> {
    if let [_, verb, probe] = &env::args().collect::<Vec<_>>()[..] {
        if verb == "facts" {
            return Ok(facts::print(probe)?);
        }
    }
    let excepted = exceptions()?;
    let mut plugin = Plugin::new("plugin/outlast.wasm")?;
    let (mut passed, mut failed, mut met) = (0, 0, BTreeSet::new());
    for case in cases::load(Path::new("abi/vectors"))? {
        for door in case.doors() {
            let key = format!("{} {door}", case.name());
            let mut problems = doors::check(&mut plugin, &case, door);
            if excepted.contains(&key) {
                problems = if problems.is_empty() { vec!["it passes, and is an exception".into()] } else { vec![] };
                met.insert(key);
            }
            if problems.is_empty() {
                passed += 1;
                continue;
            }
            failed += 1;
            println!("{} {}, {door}: {}", case.file, case.name(), problems.join("; "));
        }
    }
    for stale in excepted.difference(&met) {
        failed += 1;
        println!("exceptions.json: there is no {stale}");
    }
    println!("{passed} passed, {failed} failed");
    process::exit(if failed == 0 && passed > 0 { 0 } else { 1 })
}

/// The cases that this host is known not to pass, each with its door.
fn exceptions() -> Result<BTreeSet<String>, Box<dyn Error>> {
    let file: Value = serde_json::from_slice(&fs::read("hosts/rust/exceptions.json")?)?;
    let mut keys = BTreeSet::new();
    for (name, exception) in file["exceptions"].as_object().ok_or("exceptions.json has no exceptions")? {
        if exception["reason"].as_str().unwrap_or_default().len() < 20 {
            return Err(format!("exceptions.json: {name} has no reason").into());
        }
        for door in exception["doors"].as_array().into_iter().flatten() {
            keys.insert(format!("{name} {}", door.as_str().unwrap_or_default()));
        }
    }
    Ok(keys)
}
