/** What requests send, so that it can be sent again. */

import type { Readable } from "node:stream";

/** What one request sends. */
export interface Body<T = unknown> {
  /** It cannot be sent again. */
  readonly isSpent: boolean;
  /** What the next attempt sends. */
  next(): T;
  /** No further attempt sends it.
   *
   * @param failed None has succeeded. */
  end?(failed: boolean): void;
}

/** A body that is the same however often it is sent. */
export function constant<T>(body: T): Body<T> {
  return { isSpent: false, next: () => body };
}

/** Whether a body can be sent as often as one likes: a text, bytes, a form, a blob. */
export function isConstant(body: unknown): boolean {
  return (
    body === null ||
    (typeof body !== "object" && typeof body !== "function") ||
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    CONSTANT.includes((body as Record<symbol, unknown>)[Symbol.toStringTag])
  );
}

/** By these names, whichever package's they are. */
const CONSTANT: readonly unknown[] = [
  "ArrayBuffer",
  "SharedArrayBuffer",
  "URLSearchParams",
  "FormData",
  "Blob",
  "File",
];

/** How many bytes of what can be read but once are kept (a choice). */
const MOST_KEPT = 64 << 10;

type Piece = IteratorResult<unknown, unknown>;

/** What can be read piece by piece, but once. It can be sent again as long as no more of it has
 * been read than is kept, as when no connection could be made. */
class Pieces implements Body<AsyncIterable<unknown>> {
  readonly #of: object;
  #source: AsyncIterator<unknown> | Iterator<unknown> | undefined;
  readonly #read: (Promise<Piece> | undefined)[] = [];
  #size = 0;
  #sending = 0; // how often it has been sent
  #isLeft = false; // who sends it has stopped to read
  #isLast = false; // nobody sends it after that

  constructor(of: object) {
    this.#of = of;
    // Nobody else hears of its failure until it is read.
    (of as Partial<Readable>).on?.("error", () => {});
  }

  get isSpent(): boolean {
    return this.#size > MOST_KEPT;
  }

  next(): AsyncIterable<unknown> {
    let at = 0;
    const sending = ++this.#sending;
    this.#isLeft = false;
    const left = async () => {
      if (sending === this.#sending) {
        this.#isLeft = true;
        this.#closeIfLeft();
      }
      return { done: true, value: undefined } as const;
    };
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#at(at++), return: left }) };
  }

  /** Reads a piece, or gets it again. */
  async #at(place: number): Promise<Piece> {
    this.#read[place] ??= this.#more();
    const piece = await this.#read[place];
    if (this.isSpent) {
      this.#read[place] = undefined;
    }
    return piece;
  }

  async #more(): Promise<Piece> {
    this.#source ??= iteratorOf(this.#of);
    const piece = await this.#source.next();
    const { byteLength, length = 1 } = Object(piece.value ?? "") as Partial<Buffer>;
    this.#size += byteLength ?? length;
    return piece;
  }

  /** Closes the source, once nobody reads it any more: a server may answer before it has read all
   * of a request. */
  end(failed: boolean): void {
    this.#isLast = true;
    this.#isLeft ||= failed;
    this.#closeIfLeft();
  }

  #closeIfLeft(): void {
    if (this.#isLast && this.#isLeft) {
      close(this.#of, this.#source).catch(() => {}); // nobody wants it
    }
  }
}

/** A body that can be read but once. */
export function keeping(body: object): Body<AsyncIterable<unknown>> {
  return new Pieces(body);
}

/** Closes what is read, also if nothing of it was. */
async function close(
  of: Partial<Readable>,
  begun: AsyncIterator<unknown> | Iterator<unknown> | undefined,
): Promise<void> {
  if (of.destroy) {
    of.destroy();
  } else {
    await (begun ?? iteratorOf(of)).return?.();
  }
}

/** Whether something can be read piece by piece. */
export function isRead(body: unknown): body is object {
  return Symbol.asyncIterator in Object(body);
}

function iteratorOf(body: object): AsyncIterator<unknown> | Iterator<unknown> {
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = body as AsyncIterable<unknown> &
    Iterable<unknown>;
  return later ? later.call(body) : now.call(body);
}

/** What is read of one as a web stream. */
export function streamOf(pieces: AsyncIterable<unknown>): ReadableStream {
  const source = pieces[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(to) {
        const { done, value } = await source.next();
        if (done) {
          to.close();
        } else {
          to.enqueue(value);
        }
      },
      async cancel() {
        await source.return?.();
      },
    },
    { highWaterMark: 0 }, // nothing is read before it is asked for
  );
}
