//! Run it in the repository's root. `facts PROBE` prints what the crate does
//! with exports and host functions that misbehave; without it, the contract's
//! transcripts are replayed.

use outlast_rust_host::{facts, plugin::Plugin, replay};
use std::{env, error::Error, process};

fn main() -> Result<(), Box<dyn Error>> {
    if let [_, verb, probe] = &env::args().collect::<Vec<_>>()[..] {
        if verb == "facts" {
            return Ok(facts::print(probe)?);
        }
    }
    let mut plugin = Plugin::new("plugin/outlast.wasm")?;
    let (mut passed, mut failed) = (0, 0);
    for exchange in replay::load("abi/transcripts/transcripts.jsonl.gz")? {
        let problems = replay::replay(&mut plugin, &exchange);
        if problems.is_empty() {
            passed += 1;
            continue;
        }
        failed += 1;
        let (case, door) = (replay::text(&exchange, "case"), replay::text(&exchange, "door"));
        println!("{case} {door}: {}", problems.join("; "));
    }
    println!("{passed} passed, {failed} failed");
    process::exit(if failed == 0 && passed > 0 { 0 } else { 1 })
}
