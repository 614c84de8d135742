// The plugin on WebAssembly as a browser has it, without Extism's SDK: the
// kernel's functions and what Go's runtime asks of WASI are all that it needs.

/** Loads the plugin from an address. */
export async function load(url) {
  return new Plugin(await WebAssembly.compileStreaming(fetch(url)));
}

/** One instance, for one call at a time. After an error other than a host's own it is no good. */
export class Plugin {
  #kernel = new Kernel();
  #exports;
  #host = {};
  #thrown;

  constructor(module) {
    const instance = new WebAssembly.Instance(module, {
      "extism:host/env": this.#kernel.functions(),
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
    this.#kernel.reset(typeof input === "string" ? new TextEncoder().encode(input) : input);
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
    return this.#kernel.output;
  }

  /** An error must not pass through the plugin: it is 0 there, and thrown after the call. */
  #answer(name, offset) {
    try {
      const text = new TextDecoder().decode(this.#kernel.block(offset));
      const answer = this.#host[name]?.(text);
      return answer ? this.#kernel.store(new TextEncoder().encode(answer)) : 0n;
    } catch (error) {
      this.#thrown ??= { error };
      return 0n;
    }
  }
}

/** Extism's memory: blocks at offsets, of which 0 is none. */
class Kernel {
  output = new Uint8Array();
  #input = new Uint8Array();
  #bytes = new Uint8Array(1 << 16);
  #lengths = new Map();
  #top = 16;

  reset(input) {
    this.#input = input;
    this.output = new Uint8Array();
    this.#lengths.clear();
    this.#top = 16;
  }

  block(offset) {
    const at = Number(offset);
    return this.#bytes.slice(at, at + (this.#lengths.get(at) ?? 0));
  }

  store(bytes) {
    const offset = this.#alloc(bytes.length);
    this.#bytes.set(bytes, Number(offset));
    return offset;
  }

  #alloc(length) {
    const at = this.#top;
    this.#top += Math.ceil(length / 8) * 8;
    if (this.#top > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#top);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#lengths.set(at, length);
    return BigInt(at);
  }

  /** The plugin frees the latest block first, so a stack is enough. */
  #free(at) {
    const length = this.#lengths.get(at);
    this.#lengths.delete(at);
    if (length !== undefined && at + Math.ceil(length / 8) * 8 === this.#top) {
      this.#top = at;
    }
  }

  functions() {
    const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return {
      alloc: (length) => (length > 0n ? this.#alloc(Number(length)) : 0n),
      free: (offset) => this.#free(Number(offset)),
      length: (offset) => BigInt(this.#lengths.get(Number(offset)) ?? 0),
      load_u8: (offset) => this.#bytes[Number(offset)],
      load_u64: (offset) => view(this.#bytes).getBigUint64(Number(offset), true),
      store_u8: (offset, value) => {
        this.#bytes[Number(offset)] = value;
      },
      store_u64: (offset, value) => view(this.#bytes).setBigUint64(Number(offset), value, true),
      input_length: () => BigInt(this.#input.length),
      input_load_u8: (offset) => this.#input[Number(offset)],
      input_load_u64: (offset) => view(this.#input).getBigUint64(Number(offset), true),
      output_set: (offset, length) => {
        this.output = this.#bytes.slice(Number(offset), Number(offset + length));
      },
    };
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
