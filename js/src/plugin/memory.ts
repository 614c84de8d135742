/** The memory that a plugin and its host share. */

/** What plugin/kernel/kernel.wat of the project says of it. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly output: WebAssembly.Global<"i64">;
  readonly output_length: WebAssembly.Global<"i64">;
  input(length: bigint): bigint;
  alloc(length: bigint): bigint;
  length(offset: bigint): bigint;
}

/** The memory of one instance of the plugin. */
export class Memory {
  /** What the plugin imports of it. */
  readonly functions: WebAssembly.ModuleImports;
  readonly #kernel: Kernel;

  constructor(module: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(module);
    this.functions = exports as WebAssembly.ModuleImports;
    this.#kernel = exports as unknown as Kernel;
  }

  /** Forgets the call before, and hands in an input. */
  start(data: Uint8Array): void {
    this.#write(this.#kernel.input(BigInt(data.length)), data);
  }

  /** What the plugin has set as its output. It is not a copy: the next call changes it. */
  output(): Uint8Array {
    return this.#view(this.#kernel.output.value, this.#kernel.output_length.value);
  }

  /** The block at an offset, which is not a copy either. */
  block(offset: bigint): Uint8Array {
    return this.#view(offset, this.#kernel.length(offset));
  }

  /** Makes a block, and gives its offset. */
  give(data: Uint8Array): bigint {
    const offset = this.#kernel.alloc(BigInt(data.length));
    this.#write(offset, data);
    return offset;
  }

  #write(offset: bigint, data: Uint8Array): void {
    if (offset === 0n && data.length > 0) {
      throw new Error("the plugin's memory is full");
    }
    this.#view(offset, BigInt(data.length)).set(data);
  }

  /** @throws RangeError if the plugin has named a place outside of its memory. */
  #view(offset: bigint, length: bigint): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, Number(offset), Number(length));
  }
}
