// The plugin on WebAssembly as a browser has it, without Extism's SDK: the module of its
// memory is linked to it, and what Go's runtime asks of WASI is all that is left to write.

const KERNEL = new URL("../../plugin/kernel.wasm", import.meta.url);
const kernel = await WebAssembly.compileStreaming(fetch(KERNEL));

/** Loads the plugin from an address. */
export async function load(url) {
  return new Plugin(await WebAssembly.compileStreaming(fetch(url)));
}

/** One instance, for one call at a time. After an error other than a host's own it is no good. */
export class Plugin {
  #kernel = new WebAssembly.Instance(kernel).exports;
  #exports;
  #host = {};
  #thrown;

  constructor(module) {
    const instance = new WebAssembly.Instance(module, {
      "extism:host/env": this.#kernel,
      "extism:host/user": Object.fromEntries(
        ["outlast_now", "outlast_sleep", "outlast_attempt"].map((name) => [
          name,
          (offset) => this.#answer(name, offset),
        ]),
      ),
      wasi_snapshot_preview1: wasi(() => instance.exports.memory.buffer),
    });
    this.#exports = instance.exports;
    this.#exports._initialize();
  }

  /** The answer as a text. `input` is a text or bytes; `host` has the functions that `run` calls. */
  call(name, input, host = {}) {
    return new TextDecoder().decode(this.bytes(name, input, host));
  }

  /** The answer as it is. */
  bytes(name, input, host = {}) {
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
    this.#put(this.#kernel.input, bytes);
    this.#host = host;
    const code = this.#exports[name]();
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) {
      throw thrown.error;
    }
    if (code !== 0) {
      throw new Error(`${name} returned ${code}`);
    }
    const { output, output_length: length } = this.#kernel;
    return this.#view(output.value, length.value).slice();
  }

  /** An error must not pass through the plugin: it is 0 there, and thrown after the call. */
  #answer(name, offset) {
    try {
      const text = new TextDecoder().decode(this.#view(offset, this.#kernel.length(offset)));
      const answer = this.#host[name]?.(text);
      return answer ? this.#put(this.#kernel.alloc, new TextEncoder().encode(answer)) : 0n;
    } catch (error) {
      this.#thrown ??= { error };
      return 0n;
    }
  }

  /** Writes bytes where a function of the kernel makes room for them. */
  #put(room, bytes) {
    const offset = room(BigInt(bytes.length));
    this.#view(offset, bytes.length).set(bytes);
    return offset;
  }

  #view(offset, length) {
    return new Uint8Array(this.#kernel.memory.buffer, Number(offset), Number(length));
  }
}

/** What Go's runtime asks for. The policy asks for nothing of it. */
function wasi(memory) {
  const DONE = 0;
  const NO_SUCH_FILE = 8;
  const set = (at, value) => new DataView(memory()).setUint32(at, value, true);
  const nothing = (count, size) => {
    set(count, 0);
    set(size, 0);
    return DONE;
  };
  const absent = () => NO_SUCH_FILE;
  return {
    args_get: () => DONE,
    args_sizes_get: nothing,
    environ_get: () => DONE,
    environ_sizes_get: nothing,
    clock_time_get(_id, _precision, at) {
      const nanoseconds = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
      new DataView(memory()).setBigUint64(at, nanoseconds, true);
      return DONE;
    },
    random_get(at, length) {
      crypto.getRandomValues(new Uint8Array(memory(), at, length));
      return DONE;
    },
    fd_write(_file, _buffers, _count, written) {
      set(written, 0);
      return NO_SUCH_FILE;
    },
    fd_close: absent,
    fd_fdstat_get: absent,
    fd_fdstat_set_flags: absent,
    fd_prestat_get: absent,
    fd_prestat_dir_name: absent,
    poll_oneoff: () => DONE,
    sched_yield: () => DONE,
    proc_exit(code) {
      throw new Error(`the plugin ended with ${code}`);
    },
  };
}
