/** Makes small WebAssembly modules, byte by byte, that look like the plugin and fail. */

type Bytes = number[];

const UNREACHABLE: Bytes = [0x00];
const RETURN_ZERO: Bytes = [0x41, 0x00]; // i32.const 0

/** What a module's functions do. */
export type Body = "traps" | "exits" | "answers nothing" | "loops in memory";

const BODIES: Record<Body, Bytes> = {
  traps: UNREACHABLE,
  exits: [0x41, 0x03, 0x10, 0x00, ...RETURN_ZERO], // i32.const 3, call proc_exit
  "answers nothing": RETURN_ZERO,
  "loops in memory": [0x41, 0x7f, 0x28, 0x02, 0x00], // i32.load of the last address
};

function section(id: number, ...items: Bytes[]): Bytes {
  const content = [items.length, ...items.flat()];
  return [id, content.length, ...content];
}

function name(text: string): Bytes {
  return [text.length, ...Buffer.from(text)];
}

/**
 * A module that exports functions which take nothing and give an i32, and a memory.
 *
 * @param body What the functions do.
 * @param exported Their names.
 * @param from The module of the one function that it imports, `(i32) -> ()`.
 * @param imported The name of that.
 */
export function module(
  body: Body,
  exported = ["outlast_abi_1", "describe", "check", "decide", "run"],
  from = "wasi_snapshot_preview1",
  imported = "proc_exit",
): Uint8Array {
  const types = section(1, [0x60, 0, 1, 0x7f], [0x60, 1, 0x7f, 0]);
  const imports = section(2, [...name(from), ...name(imported), 0x00, 1]);
  const functions = section(3, [0]);
  const memory = section(5, [0x00, 1]);
  const exports = section(
    7,
    [...name("memory"), 0x02, 0],
    ...exported.map((each) => [...name(each), 0x00, 1]),
  );
  const code = [0, ...BODIES[body], 0x0b];
  const bodies = section(10, [code.length, ...code]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[types, imports, functions, memory, exports, bodies].flat(),
  ]);
}
