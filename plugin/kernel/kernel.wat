;; extism:host/env as a module of its own: the memory that a plugin and its host
;; share, by Extism's calling convention. A host makes one instance of it for each
;; instance of outlast.wasm, links the two, and for each call
;;
;;   1. calls input(length), which forgets the call before and gives the offset in
;;      memory at which the input belongs (0: there is no room), and writes it there;
;;   2. calls the plugin's export;
;;   3. finds the output at the globals output and output_length (0: none was set; the
;;      length is the plugin's word, so it must be checked against the memory), and
;;      the offset of an error's block at the global error (0: none was set).
;;
;; A host function reads its input at the offset that it is given, whose length is
;; length(offset), and gives alloc's offset for its answer.
;;
;; Memory begins with 16 bytes that stay 0, so that "no block" is a block at 0 that
;; is free. Behind them lie the blocks: a header of 8 bytes (how long the block is, as
;; it was asked for, 0 once it is free; and the binary logarithm of its room), and
;; its room. Offsets name the first byte of a room.
(module
  ;; At least one page of 64 KiB and at most 64 MiB (a choice: requests have at most
  ;; 4 MiB, and what a call has asked for is mostly free again when it asks for more).
  (memory (export "memory") 1 1024)

  (global $output (export "output") (mut i64) (i64.const 0))
  (global $output_length (export "output_length") (mut i64) (i64.const 0))
  (global $error (export "error") (mut i64) (i64.const 0))
  (global $input (mut i64) (i64.const 0))
  (global $input_length (mut i64) (i64.const 0))
  (global $top (mut i32) (i32.const 16)) ;; where the next new block begins

  ;; The header behind the one at $at. A header that the plugin has overwritten still
  ;; leads upwards, since a shift counts modulo 32, and so no search goes on for ever.
  (func $next (param $at i32) (result i32)
    (i32.add (i32.add (local.get $at) (i32.const 8))
      (i32.shl (i32.const 1) (i32.load offset=4 (local.get $at)))))

  ;; The header of the block at an offset, or 0.
  (func $header (param $offset i64) (result i32)
    (local $at i32)
    (local.set $at (i32.const 16))
    (loop $search
      (if (i32.ge_u (local.get $at) (global.get $top)) (then (return (i32.const 0))))
      (if (i64.eq (i64.extend_i32_u (local.get $at)) (i64.sub (local.get $offset) (i64.const 8)))
        (then (return (local.get $at))))
      (local.set $at (call $next (local.get $at)))
      (br $search))
    (unreachable))

  ;; Whether $size bytes at an offset, at most 16, are among the blocks.
  (func $within (param $offset i64) (param $size i64) (result i32)
    (i32.and
      (i64.ge_u (local.get $offset) (i64.const 16))
      (i64.le_u (local.get $offset)
        (i64.sub (i64.extend_i32_u (global.get $top)) (local.get $size)))))

  ;; Gives the memory at least $end bytes; 0 if there is no room for them.
  (func $reach (param $end i32) (result i32)
    (local $pages i32)
    (local.set $pages (i32.sub
      (i32.shr_u (i32.add (local.get $end) (i32.const 0xffff)) (i32.const 16))
      (memory.size)))
    (if (i32.le_s (local.get $pages) (i32.const 0)) (then (return (i32.const 1))))
    (i32.ne (memory.grow (local.get $pages)) (i32.const -1)))

  ;; A free block whose room is 1 << $class bytes, or a new one, by its header; 0 if
  ;; there is no room.
  (func $take (param $class i32) (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.const 16))
    (block $none
      (loop $search
        (br_if $none (i32.ge_u (local.get $at) (global.get $top)))
        (if (i32.and
            (i32.eqz (i32.load (local.get $at)))
            (i32.eq (i32.load offset=4 (local.get $at)) (local.get $class)))
          (then (return (local.get $at))))
        (local.set $at (call $next (local.get $at)))
        (br $search)))
    (local.set $at (global.get $top))
    (local.set $end (i32.add (i32.add (local.get $at) (i32.const 8))
      (i32.shl (i32.const 1) (local.get $class))))
    (if (i32.eqz (call $reach (local.get $end))) (then (return (i32.const 0))))
    (global.set $top (local.get $end))
    (local.get $at))

  ;; Forgets everything, and makes room for the next call's input.
  (func (export "input") (param $length i64) (result i64)
    (global.set $output (i64.const 0))
    (global.set $output_length (i64.const 0))
    (global.set $error (i64.const 0))
    (global.set $top (i32.const 16))
    (global.set $input_length (local.get $length))
    (global.set $input (call $alloc (local.get $length)))
    (global.get $input))

  ;; Gives the offset of a block of zeros; 0 if there is no room, and for 0 bytes.
  (func $alloc (export "alloc") (param $length i64) (result i64)
    (local $class i32) (local $at i32)
    ;; 0 less 1 is the largest number of all.
    (if (i64.ge_u (i64.sub (local.get $length) (i64.const 1)) (i64.const 0x4000000))
      (then (return (i64.const 0))))
    (local.set $class (i32.sub (i32.const 32) (i32.clz
      (i32.or (i32.wrap_i64 (i64.sub (local.get $length) (i64.const 1))) (i32.const 7)))))
    (local.set $at (call $take (local.get $class)))
    (if (i32.eqz (local.get $at)) (then (return (i64.const 0))))
    (i32.store (local.get $at) (i32.wrap_i64 (local.get $length)))
    (i32.store offset=4 (local.get $at) (local.get $class))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))
    (memory.fill (local.get $at) (i32.const 0) (i32.shl (i32.const 1) (local.get $class)))
    (i64.extend_i32_u (local.get $at)))

  ;; What is no block is left alone.
  (func (export "free") (param $offset i64)
    (i32.store (call $header (local.get $offset)) (i32.const 0)))

  ;; The length of a block; 0 of what is none.
  (func (export "length") (param $offset i64) (result i64)
    (i64.load32_u (call $header (local.get $offset))))

  ;; Loads from outside the blocks give 0, and stores there do nothing.
  (func (export "load_u8") (param $offset i64) (result i32)
    (if (i32.eqz (call $within (local.get $offset) (i64.const 1))) (then (return (i32.const 0))))
    (i32.load8_u (i32.wrap_i64 (local.get $offset))))

  (func (export "load_u64") (param $offset i64) (result i64)
    (if (i32.eqz (call $within (local.get $offset) (i64.const 8))) (then (return (i64.const 0))))
    (i64.load (i32.wrap_i64 (local.get $offset))))

  (func (export "store_u8") (param $offset i64) (param $value i32)
    (if (call $within (local.get $offset) (i64.const 1))
      (then (i32.store8 (i32.wrap_i64 (local.get $offset)) (local.get $value)))))

  (func (export "store_u64") (param $offset i64) (param $value i64)
    (if (call $within (local.get $offset) (i64.const 8))
      (then (i64.store (i32.wrap_i64 (local.get $offset)) (local.get $value)))))

  (func (export "input_length") (result i64)
    (global.get $input_length))

  ;; Loads from behind the input give 0.
  (func (export "input_load_u8") (param $offset i64) (result i32)
    (if (i64.ge_u (local.get $offset) (global.get $input_length)) (then (return (i32.const 0))))
    (i32.load8_u (i32.wrap_i64 (i64.add (global.get $input) (local.get $offset)))))

  (func (export "input_load_u64") (param $offset i64) (result i64)
    (if (i32.or
        (i64.lt_s (local.get $offset) (i64.const 0))
        (i64.gt_s (local.get $offset) (i64.sub (global.get $input_length) (i64.const 8))))
      (then (return (i64.const 0))))
    (i64.load (i32.wrap_i64 (i64.add (global.get $input) (local.get $offset)))))

  ;; An offset outside the blocks changes nothing.
  (func (export "output_set") (param $offset i64) (param $length i64)
    (if (call $within (local.get $offset) (i64.const 1))
      (then
        (global.set $output (local.get $offset))
        (global.set $output_length (local.get $length)))))

  ;; 0 takes the error back; another offset outside the blocks changes nothing.
  (func (export "error_set") (param $offset i64)
    (if (i32.or (i64.eqz (local.get $offset)) (call $within (local.get $offset) (i64.const 1)))
      (then (global.set $error (local.get $offset))))))
