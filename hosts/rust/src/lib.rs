//! Replays outlast's transcripts through the crate extism, and finds out
//! what that crate does with the plugin.
//!
//! An instance is for one thread at a time, and Rust says so when it compiles:
//!
//! ```compile_fail,E0596
//! fn share(plugin: &extism::Plugin) {
//!     let _ = plugin.call::<&str, Vec<u8>>("describe", "");
//! }
//! ```

pub mod facts;
pub mod plugin;
pub mod replay;
