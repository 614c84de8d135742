// Runs a command until its server is back:
//
//	cargo run --release --example ride_out -- ../../plugin/outlast.wasm COMMAND…

use extism::{Function, Manifest, Plugin, UserData, Wasm, PTR};
use serde_json::{json, Value};
use std::io::{self, Write};
use std::{env, error::Error, process, thread, time::Duration, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let mut plugin = load(&args[1])?;
    let origin = Instant::now();
    let now = || origin.elapsed().as_micros() as u64;
    // A seed of this process's own, so that callers do not march in step.
    let seed = u64::from(process::id()) << 20 ^ u64::from(std::time::UNIX_EPOCH.elapsed()?.subsec_nanos());
    let mut request = json!({
        "policy": "omnigraph",
        "call": {"remote": true, "write": false, "started_us": now(), "seed": seed},
    });
    loop {
        let output = process::Command::new(&args[2]).args(&args[3..]).output()?;
        let seen = Instant::now();
        // Without an exit code a signal ended it, and no such attempt succeeded.
        let mut result = output.status.code().map_or(json!({}), |code| json!({"exit_code": code}));
        put(&mut result, "stdout", &output.stdout);
        put(&mut result, "stderr", &output.stderr);
        request["event"] = json!({"type": "attempted", "now_us": now(), "result": result});
        let answer: Value = serde_json::from_slice(&plugin.call::<_, Vec<u8>>("decide", request.to_string())?)?;
        let Some(action) = answer["ok"].get("action") else { return Err(answer["error"].to_string().into()) };
        if action["type"] != "retry" {
            io::stdout().write_all(&output.stdout)?;
            io::stderr().write_all(&output.stderr)?;
            eprintln!("{}", action["outcome"]["message"].as_str().unwrap_or_default());
            process::exit(output.status.code().unwrap_or(1));
        }
        request["state"] = answer["ok"]["state"].clone();
        // The delay counts from the failure, so that deciding is part of it.
        let delay = Duration::from_micros(action["delay_us"].as_u64().unwrap_or(0));
        thread::sleep(delay.saturating_sub(seen.elapsed()));
    }
}

/// A text, or what is at the two ends of a long one.
fn put(result: &mut Value, name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= 65_536 {
        result[name] = json!(text);
        return;
    }
    result[format!("{name}_head")] = json!(text[..text.floor_char_boundary(32_768)]);
    result[format!("{name}_tail")] = json!(text[text.ceil_char_boundary(text.len() - 32_768)..]);
}

/// Only `run` calls the host functions, yet each must be there.
fn load(path: &str) -> Result<Plugin, extism::Error> {
    let functions = ["outlast_now", "outlast_sleep", "outlast_attempt"].map(|name| {
        let none = |_: &mut _, _: &[_], outputs: &mut [_], _| {
            outputs[0] = extism::Val::I64(0);
            Ok(())
        };
        Function::new(name, [PTR], [PTR], UserData::new(()), none).with_namespace("extism:host/user")
    });
    Plugin::new(Manifest::new([Wasm::file(path)]), functions, true)
}
