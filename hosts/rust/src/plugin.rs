//! The plugin in Extism's crate, as a host calls it.

use extism::{CurrentPlugin, Error, Function, Manifest, UserData, Val, Wasm, PTR};
use std::sync::{Arc, Mutex};

/// Answers the three host functions; an empty answer is that it failed.
pub trait Host: Send {
    fn now(&mut self) -> String {
        String::new()
    }
    fn sleep(&mut self, _action: &str) -> String {
        String::new()
    }
    fn attempt(&mut self, _action: &str) -> String {
        String::new()
    }
}

/// A host that fails.
pub struct Silent;
impl Host for Silent {}

pub type Shared<H> = Arc<Mutex<H>>;
type Slot = Option<Arc<Mutex<dyn Host>>>;
type Answer = fn(&mut dyn Host, &str) -> String;

pub struct Plugin {
    inner: extism::Plugin,
    slot: UserData<Slot>,
}

impl Plugin {
    pub fn new(path: &str) -> Result<Self, Error> {
        let slot: UserData<Slot> = UserData::new(None);
        let functions = [
            function("outlast_now", &slot, |h, _| h.now()),
            function("outlast_sleep", &slot, |h, action| h.sleep(action)),
            function("outlast_attempt", &slot, |h, action| h.attempt(action)),
        ];
        let manifest = Manifest::new([Wasm::file(path)]);
        Ok(Plugin { inner: extism::Plugin::new(&manifest, functions, true)?, slot })
    }

    pub fn call<H: Host + 'static>(&mut self, export: &str, input: &[u8], host: &Shared<H>) -> Result<Vec<u8>, Error> {
        let slot = self.slot.get()?;
        *slot.lock().unwrap() = Some(host.clone());
        let answer = self.inner.call::<&[u8], Vec<u8>>(export, input);
        *slot.lock().unwrap() = None;
        answer
    }

    pub fn decide(&mut self, request: &[u8]) -> Result<Vec<u8>, Error> {
        self.inner.call::<&[u8], Vec<u8>>("decide", request)
    }
}

/// A host function: an offset in, an offset out, and 0 for a failure. The macro
/// `host_fn!` would do as well for texts, but not for an answer that is none.
fn function(name: &str, slot: &UserData<Slot>, answer: Answer) -> Function {
    let body = move |plugin: &mut CurrentPlugin, inputs: &[Val], outputs: &mut [Val], slot: UserData<Slot>| {
        outputs[0] = Val::I64(0);
        let action: String = plugin.memory_get_val(&inputs[0])?;
        let host = slot.get()?.lock().unwrap().clone();
        let said = host.map_or(String::new(), |h| answer(&mut *h.lock().unwrap(), &action));
        if !said.is_empty() {
            let block = plugin.memory_new(said)?;
            outputs[0] = plugin.memory_to_val(block);
        }
        Ok(())
    };
    Function::new(name, [PTR], [PTR], slot.clone(), body).with_namespace("extism:host/user")
}
