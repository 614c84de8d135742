//! What the crate extism does with exports and host functions that misbehave.
//! Each fact is a line `fact: ROW: WORDS`, and WORDS come from what was seen.

use extism::{
    CompiledPlugin, CurrentPlugin, Error, Function, Manifest, Plugin, PluginBuilder, UserData, Val, Wasm, PTR,
};
use serde_json::{json, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const OURS: &str = "plugin/outlast.wasm";

/// How a host function of a fact answers.
#[derive(Clone, Copy)]
enum Answer {
    Boom,
    Loading,
    Cancelled,
    Slow,
}

const FAILED: &str = r#"{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"graph is loading"}}"#;

/// Whether a slow host function has begun to wait.
static WAITING: AtomicBool = AtomicBool::new(false);

impl Answer {
    fn text(self) -> Result<&'static str, Error> {
        match self {
            Answer::Boom => Err(Error::msg("boom")),
            Answer::Loading => Ok(FAILED),
            Answer::Cancelled => Ok(r#"{"wait":"cancelled","now_us":2}"#),
            Answer::Slow => {
                WAITING.store(true, Ordering::SeqCst);
                thread::sleep(Duration::from_secs(1));
                Ok(r#"{"wait":"full","now_us":500001}"#)
            }
        }
    }
}

fn function(name: &str, answer: Answer) -> Function {
    let body = move |plugin: &mut CurrentPlugin, _: &[Val], outputs: &mut [Val], _: UserData<()>| {
        let block = plugin.memory_new(answer.text()?)?;
        outputs[0] = plugin.memory_to_val(block);
        Ok(())
    };
    Function::new(name, [PTR], [PTR], UserData::new(()), body).with_namespace("extism:host/user")
}

fn compiled(sleep: Answer, attempt: Answer) -> Result<CompiledPlugin, Error> {
    let functions =
        [function("outlast_now", Answer::Boom), function("outlast_sleep", sleep), function("outlast_attempt", attempt)];
    PluginBuilder::new(Manifest::new([Wasm::file(OURS)])).with_wasi(true).with_functions(functions).compile()
}

/// The outcome's type, or the error, of a run.
fn run(plugin: &mut Plugin) -> Result<String, Error> {
    let request = r#"{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1,"started_us":0}}"#;
    let answer: Value = serde_json::from_slice(&plugin.call::<&str, Vec<u8>>("run", request)?)?;
    let said = answer["ok"]["outcome"]["type"].as_str().or(answer["error"]["code"].as_str());
    Ok(said.unwrap_or_default().to_string())
}

fn decide(plugin: &mut Plugin, seed: u64) -> Result<Vec<u8>, Error> {
    let event: Value = serde_json::from_str(FAILED)?;
    let request =
        json!({"policy": "omnigraph", "call": {"remote": true, "write": false, "seed": seed}, "event": event});
    plugin.call("decide", request.to_string())
}

pub fn print(probe: &str) -> Result<(), Error> {
    let fact = |row: &str, words: String| println!("fact: {row}: {}", words.replace('\n', " "));
    fact("code", code(probe)?);
    fact("clock", clock(probe)?);
    fact("missing", missing());
    fact("exception", exception()?);
    fact("cancelled", cancelled()?);
    fact("cancel", cancel()?);
    fact("shared", "does not compile: `call` takes `&mut self`".into());
    fact("apart", apart()?);
    Ok(())
}

fn probing(probe: &str) -> Result<Plugin, Error> {
    Plugin::new(&Manifest::new([Wasm::file(probe)]), [], true)
}

fn code(probe: &str) -> Result<String, Error> {
    Ok(match probing(probe)?.call::<&str, Vec<u8>>("seven", "") {
        Ok(_) => "not noticed".into(),
        Err(e) => format!("an error, `{e}`; the output is lost"),
    })
}

fn clock(probe: &str) -> Result<String, Error> {
    let answer = probing(probe)?.call::<&str, Vec<u8>>("clock", "")?;
    let seen = u64::from_le_bytes(answer.try_into().map_err(|_| Error::msg("not eight bytes"))?) / 1_000_000_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    Ok(if now.abs_diff(seen) < 600 { "the real one".into() } else { format!("not the real one: {seen} s") })
}

fn missing() -> String {
    match Plugin::new(&Manifest::new([Wasm::file(OURS)]), [], true) {
        Ok(_) => "not noticed when it is loaded".into(),
        Err(e) if format!("{e:#}").contains("outlast_now") => "an error that names it".into(),
        Err(_) => "an error that does not name it".into(),
    }
}

fn exception() -> Result<String, Error> {
    let mut plugin = Plugin::new_from_compiled(&compiled(Answer::Boom, Answer::Boom)?)?;
    let said = match run(&mut plugin) {
        Err(e) if format!("{e:#}").contains("boom") => {
            "an `Err` comes out of the call (with its text in `{e:#}`)".to_string()
        }
        Err(_) => "an `Err` comes out of the call, without its text".to_string(),
        Ok(code) => format!("swallowed; `run` ends with `{code}`"),
    };
    Ok(format!("{said}; {}", afterwards(&mut plugin)))
}

/// Whether the instance still decides.
fn afterwards(plugin: &mut Plugin) -> &'static str {
    match decide(plugin, 1) {
        Ok(answer) if answer.starts_with(br#"{"v":1,"ok""#) => "the instance goes on",
        _ => "the instance is lost",
    }
}

fn cancelled() -> Result<String, Error> {
    let mut plugin = Plugin::new_from_compiled(&compiled(Answer::Cancelled, Answer::Loading)?)?;
    Ok(format!("`{}`", run(&mut plugin)?))
}

fn cancel() -> Result<String, Error> {
    let mut plugin = Plugin::new_from_compiled(&compiled(Answer::Slow, Answer::Loading)?)?;
    let handle = plugin.cancel_handle();
    let began = Instant::now();
    let asking = thread::spawn(move || {
        while !WAITING.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        handle.cancel()
    });
    let ended = run(&mut plugin);
    asking.join().expect("it does not panic")?;
    let when =
        if began.elapsed() < Duration::from_millis(900) { "at once" } else { "once the host function has returned" };
    let how = match ended {
        Err(e) => format!("an error, `{e}`"),
        Ok(outcome) => format!("`{outcome}`"),
    };
    Ok(format!("`cancel_handle`: {when}; {how}; {}", afterwards(&mut plugin)))
}

/// Four threads with an instance each, against one instance.
fn apart() -> Result<String, Error> {
    let module = compiled(Answer::Boom, Answer::Boom)?;
    let mut one = Plugin::new_from_compiled(&module)?;
    let want = (0..50).map(|seed| decide(&mut one, seed)).collect::<Result<Vec<_>, _>>()?;
    let wrong: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| wrong(&module, &want))).collect();
        threads.into_iter().map(|t| t.join().expect("it does not panic")).sum::<Result<usize, Error>>()
    })?;
    Ok(if wrong == 0 { "all right".into() } else { format!("{wrong} of 200 wrong") })
}

fn wrong(module: &CompiledPlugin, want: &[Vec<u8>]) -> Result<usize, Error> {
    let mut plugin = Plugin::new_from_compiled(module)?;
    let mut wrong = 0;
    for (seed, want) in want.iter().enumerate() {
        wrong += usize::from(decide(&mut plugin, seed as u64)? != *want);
    }
    Ok(wrong)
}
