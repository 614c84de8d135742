;; What an Extism host makes of exports that break the contract, and of time.
;; run.sh assembles it; outlast.wasm itself never does any of this.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock_time_get (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)

  ;; Gives eight bytes as the output.
  (func $give (param $bytes i64) (local $block i64)
    (local.set $block (call $alloc (i64.const 8)))
    (call $store_u64 (local.get $block) (local.get $bytes))
    (call $output_set (local.get $block) (i64.const 8)))

  ;; As of a module that Go has compiled.
  (func (export "_initialize"))

  ;; Returns 7, with the output "lost-or-".
  (func (export "seven") (result i32)
    (call $give (i64.const 0x2d726f2d74736f6c))
    (i32.const 7))

  ;; Answers WASI's wall clock, in nanoseconds, as eight bytes.
  (func (export "clock") (result i32)
    (drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 0)))
    (call $give (i64.load (i32.const 0)))
    (i32.const 0)))
