/**
 * Streams response bodies no faster than the client reads. A body is aborted if the client reads nothing for too long, or if its source
 * fails. An incomplete body that ended normally would look complete.
 */
import { type Entry, InFlightSet } from "#shared/limits/in-flight.ts";
import { paced } from "#shared/config/pace.ts";

import { startClock } from "./clock.ts";

/** Maximum size of the chunks in which a file is sent, in bytes. Small chunks make a client that stops reading detectable sooner. */
export const FILE_PIECE_BYTES = 262_144;

/** Time after which a body is aborted if its client has read nothing, in milliseconds. */
export const READER_STUCK_MS = paced(30_000);

/**
 * Delay before a broken response is aborted, in milliseconds. Bun sends written data in the next turns of the event loop. An immediate
 * abort drops even the response headers, so that clients repeat a paid call (measured on Bun 1.4.4).
 */
const CUT_DELAY_MS = 20;

/** Reason with which bodies are aborted. It is undefined, because Bun prints an error to stderr with an excerpt of the source code. */
const NO_REASON = undefined;

const CHECK_INTERVAL_MS = paced(1_000);

/** Open bodies of the process. One timer checks all of them for timeouts. */
const open = new InFlightSet<ResponseBody>();
/** Response body of each stream. */
const bodies = new WeakMap<ReadableStream, ResponseBody>();
/** Number of bodies that this process has created. */
let created = 0;
let clock: ReturnType<typeof setInterval> | undefined;

/** Receives what a client has read of a response body. */
export interface BodyObserver {
  onPiece(piece: Uint8Array): void;
  /** Called once when the body closes. `isWhole` is false if the body was aborted or the client has disconnected. */
  onEnd(isWhole: boolean): void;
}

export abstract class ResponseBody {
  readonly readable: ReadableStream<Uint8Array>;
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private readonly entry: Entry<ResponseBody>;
  /** performance.now() time at which the client last stopped requesting data. Undefined while the client waits for data. */
  private idleSince: number | undefined = performance.now();
  private closing: (() => void) | undefined;
  private observer: BodyObserver | undefined;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => this.pull(),
        cancel: () => {
          if (this.close()) this.onDisconnect("client");
        },
      },
      { highWaterMark: 0 },
    );
    bodies.set(this.readable, this);
    created += 1;
    this.entry = open.add(this);
    clock ??= startClock(CHECK_INTERVAL_MS, (now) => {
      for (const body of open) body.tick(now);
    });
  }

  get isOpen(): boolean {
    return this.entry.value !== undefined;
  }

  /**
   * Returns the next chunk, or undefined after the last chunk. A returned promise means that no chunk is ready: call again when it
   * resolves. The promise never rejects.
   */
  protected abstract next(): Uint8Array | Promise<void> | undefined;

  /** True if no chunk follows, so that the body ends together with the last chunk. */
  protected isAtEnd(): boolean {
    return false;
  }

  /**
   * Called once when the body ends early: the client has disconnected (`client`), or the body was aborted by `cut` (`stuck`). Called even
   * while `next` waits for data.
   */
  protected abstract onDisconnect(reason: "client" | "stuck"): void;

  /** Aborts the body if the client has read nothing for too long. Called about once a second while the body is open. */
  tick(now: number): void {
    if (this.isOpen && this.idleSince !== undefined && now - this.idleSince > READER_STUCK_MS) this.cut();
  }

  /** Aborts the body because its client has stopped reading or must not read further. */
  cut(): void {
    if (this.breakOff()) this.onDisconnect("stuck");
  }

  /**
   * Registers `onClosed`, which is called once when the body closes for any reason. If the body is already closed, calls it immediately.
   */
  whenClosed(onClosed: () => void): void {
    if (this.isOpen) this.closing = onClosed;
    else onClosed();
  }

  /** Registers an observer of the body, whose reading must not have begun. */
  observe(observer: BodyObserver): void {
    if (this.isOpen) this.observer = observer;
    else observer.onEnd(false);
  }

  /** Aborts the body without an end marker. Returns false if the body was already closed. */
  protected breakOff(): boolean {
    const wasOpen = this.close();
    if (wasOpen) this.controller.error(NO_REASON);
    return wasOpen;
  }

  private async pull(): Promise<void> {
    this.idleSince = undefined;
    let piece = this.next();
    while (piece instanceof Promise) {
      await piece;
      if (!this.isOpen) return;
      piece = this.next();
    }
    this.idleSince = performance.now();
    if (piece) this.observer?.onPiece(piece);
    if (piece) this.controller.enqueue(piece);
    if (piece && !this.isAtEnd()) return;
    this.close(true);
    this.controller.close();
  }

  /** Closes the body. Returns false if the body was already closed. */
  private close(isWhole = false): boolean {
    const wasOpen = open.delete(this.entry);
    if (open.size === 0) {
      clearInterval(clock);
      clock = undefined;
    }
    if (wasOpen) this.closing?.();
    if (wasOpen) this.observer?.onEnd(isWhole);
    return wasOpen;
  }
}

/**
 * Returns the number of response bodies that this process has created. If a request has not changed the number, its response is not
 * streamed, and `response.body` need not be read. Reading it would make Bun build a stream, which takes 8 µs of CPU for a plain response.
 */
export function countCreatedBodies(): number {
  return created;
}

/** Returns the body behind a response's stream; undefined if the response is not streamed. */
export function bodyOf(readable: ReadableStream | null): ResponseBody | undefined {
  return readable === null ? undefined : bodies.get(readable);
}

interface Generated {
  readonly first: Uint8Array;
  readonly rest: AsyncGenerator<Uint8Array, void, void>;
  readonly onFault: (error: unknown) => void;
  readonly onDisconnect: () => void;
}

class GeneratedBody extends ResponseBody {
  private readonly source: Generated;
  private waiting: Uint8Array;
  private isDone = false;

  constructor(source: Generated) {
    super();
    this.source = source;
    this.waiting = source.first;
  }

  /** Returns the next chunk of at most FILE_PIECE_BYTES, so that a client that stops reading is detected soon. */
  protected next(): Uint8Array | Promise<void> | undefined {
    if (this.waiting.length === 0) return this.isDone ? undefined : this.read();
    const piece = this.waiting.subarray(0, FILE_PIECE_BYTES);
    this.waiting = this.waiting.subarray(FILE_PIECE_BYTES);
    return piece;
  }

  protected onDisconnect(): void {
    this.source.onDisconnect();
    this.source.rest.return().catch(() => undefined);
  }

  private async read(): Promise<void> {
    try {
      const next = await this.source.rest.next();
      if (next.done === true) this.isDone = true;
      else this.waiting = next.value;
    } catch (error) {
      // The client has disconnected, which ends the pieces: no fault of the service.
      if (!this.isOpen) return;
      this.source.onFault(error);
      await Bun.sleep(CUT_DELAY_MS);
      this.breakOff();
    }
  }
}

/**
 * Returns a stream of `first` and `rest`.
 * @param onFault called with the error if `rest` fails
 * @param onDisconnect called immediately when the client has disconnected, even while `rest` waits for data
 */
export function streamOf(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, void>,
  onFault: (error: unknown) => void,
  onDisconnect: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  return new GeneratedBody({ first, rest, onFault, onDisconnect }).readable;
}
