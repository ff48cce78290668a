/**
 * Frames from a worker to the ingress whose caller waits: one line of JSON (the head line), then bytes for the client. The ingress relays
 * the bytes without parsing them.
 *
 * - `head`: first part of a streamed response, with the serving model. If the call fails before this frame, the client receives an HTTP
 *   error status.
 * - `delta`: further parts of a streamed response.
 * - `part`: part of an unstreamed response that is larger than one frame. `end` contains the last part.
 * - `end`: the response is complete. The call is settled, or the worker will settle it with the values in `settle`.
 * - `error`: the call failed. Before `head` it causes an HTTP status, after it an error frame.
 * - `beat`: request from a living worker. It asks if the caller is still connected, or if the ingress has the complete response.
 * - `lost`: request from the worker that received the message again. The worker that ran the call has crashed.
 * - `ask`: request before a worker executes a call that another worker may already execute.
 *
 * Frames for one ingress from one turn of the event loop are sent as a bundle, in one message (FrameBundler).
 */
import type { Code } from "#shared/base/errors.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import type { Logger } from "#shared/base/logger.ts";

import type { BufferedPublisher } from "./buffered-publisher.ts";
import { framesSubject } from "./subjects.ts";
import { publishAtTickEnd } from "./tick-end.ts";

/** Maximum size of a frame in bytes. A longer response is split into parts of this size (limit of the server: 1 MiB). */
export const FRAME_BYTES_MAX = 256 * 1024;

interface Numbered {
  /**
   * Identifies the execution of the call. A message that was delivered twice may be executed twice, and frames of both must not be mixed.
   */
  readonly run?: string;
  /** Sequence number of the frame within the call. A gap means that a frame was lost. */
  readonly n: number;
}

/** Information about a fallback: the requested model, if another model served the call or was tried. */
export interface Fallback {
  readonly from: string;
  /** Number of fallback models tried, including the one that served the call. */
  readonly depth: number;
}

/** Members of the frames by which a worker reports that it executes the call: `head` and `beat`. */
interface Sign {
  /** Prefix of the subject on which this worker receives cancellations. If absent, cancellations are sent to all workers. */
  readonly cancel?: string;
}

export interface HeadFrame extends Numbered, Sign {
  readonly t: "head";
  readonly model: string;
  readonly fallback?: Fallback;
  /** Time that the provider has taken so far, in milliseconds. */
  readonly upstream_ms: number;
  /** Cost in nano-credits and number of tokens so far, as in a delta. */
  readonly nano: string;
  readonly tokens: number;
}
export interface DeltaFrame extends Numbered {
  readonly t: "delta";
  /** Cost in nano-credits and tokens of everything sent so far. A lost call is charged this amount. */
  readonly nano: string;
  readonly tokens: number;
}
export interface PartFrame extends Numbered {
  readonly t: "part";
}
/**
 * Values for settling a call whose response is sent before its settlement is written. The charged amount is `nano` of the frame. If the
 * worker crashes, the ingress settles the call with these values.
 */
export interface SettleNote {
  readonly attempt: number;
  /** Source that served the call, as `provider/model`. */
  readonly source: string | null;
  readonly units: Readonly<Record<string, number>>;
  readonly tokens: number;
  readonly estimated?: Charge["estimated"];
  /** Subject on which the worker expects the acknowledgement of the response; absent if the worker needs no acknowledgement. */
  readonly tell?: string;
}

export interface EndFrame extends Numbered {
  readonly t: "end";
  readonly model: string;
  readonly fallback?: Fallback;
  readonly nano: string;
  readonly upstream_ms: number;
  /** Media type of the complete response. Default: JSON. */
  readonly content_type?: string;
  /** Values of the settlement that the worker still has to write; absent if the call is already settled. */
  readonly settle?: SettleNote;
}
export interface ErrorFrame extends Numbered {
  readonly t: "error";
  readonly code: Code;
  readonly message: string;
  readonly param: string | null;
  /** False if credits were charged or a provider may have done paid work. The client should then not retry the call. */
  readonly retry: boolean;
  readonly retry_after_s?: number;
  /** Present if fallback models were tried and failed too. */
  readonly fallback?: Fallback;
}
export interface BeatFrame extends Sign {
  readonly t: "beat";
}
export interface LostFrame {
  readonly t: "lost";
}
export interface AskFrame {
  readonly t: "ask";
}

export type Frame = HeadFrame | DeltaFrame | PartFrame | EndFrame | ErrorFrame | BeatFrame | LostFrame | AskFrame;

/**
 * Reply of the ingress to `beat`, `lost` and `ask`: the caller waits. In reply to a `beat` after an `end`, it means that the ingress has
 * not received the `end`. The worker then sends it again.
 */
export const CALLER_LIVES = "here";
export const CALLER_GONE = "gone";
/** Reply of the ingress to `ask` only: the caller waits, and another worker has the call. */
export const CALLER_SERVED = "served";

/** Reply of the ingress to a worker's request: the ingress has received the complete response, but its settlement is not confirmed yet. */
export const CALLER_TAKEN = "taken";

const NEWLINE = 10;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes a frame. @param data text or bytes for the client, at most FRAME_BYTES_MAX */
export function encodeFrame(frame: Frame, data: string | Uint8Array = ""): Uint8Array {
  const line = `${JSON.stringify(frame)}\n`;
  if (typeof data === "string") return encoder.encode(line + data);
  const head = encoder.encode(line);
  const bytes = new Uint8Array(head.length + data.length);
  bytes.set(head);
  bytes.set(data, head.length);
  return bytes;
}

/** Decodes a frame. @throws SyntaxError for invalid bytes */
export function decodeFrame(bytes: Uint8Array): { frame: Frame; data: Uint8Array } {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError("frame without a head line");
  const frame = JSON.parse(decoder.decode(bytes.subarray(0, end))) as Partial<Frame> | null;
  if (typeof frame?.t !== "string") throw new SyntaxError("frame of no kind");
  return { frame: frame as Frame, data: bytes.subarray(end + 1) };
}

type Sender = Pick<BufferedPublisher, "publish" | "isClosed" | "waitForDrain">;

/**
 * Sends frames in bundles. All frames for one ingress from one turn of the event loop are sent in one message at the end of the turn, in
 * order. Many streams or a burst of responses then cost one message instead of one per frame.
 */
export class FrameBundler implements Sender {
  private readonly sender: Sender;
  private readonly log: Pick<Logger, "error">;
  /** Bundles by subject; a new map each turn, because an old map would keep its frames in memory (shared/limits/in-flight.ts). */
  private waiting = new Map<string, Bundle>();

  constructor(sender: Sender, log: Pick<Logger, "error">) {
    this.sender = sender;
    this.log = log;
  }

  isClosed(): boolean {
    return this.sender.isClosed();
  }

  waitForDrain(): Promise<void> | undefined {
    return this.sender.waitForDrain();
  }

  /** Adds a frame to its bundle. @param reply reply subject of the call, whose last token is the id of the call */
  publish(reply: string, bytes: Uint8Array): void {
    const subject = framesSubject(reply);
    const head = `${reply.slice(reply.lastIndexOf(".") + 1)} ${bytes.length}\n`;
    const size = head.length + bytes.length;
    if (this.waiting.size === 0) publishAtTickEnd(() => this.flush());
    const bundle = this.waiting.get(subject);
    if (bundle && bundle.size + size <= FRAME_BYTES_MAX) {
      bundle.frames.push({ reply, head, bytes });
      bundle.size += size;
      return;
    }
    if (bundle) this.send(subject, bundle);
    this.waiting.set(subject, { frames: [{ reply, head, bytes }], size });
  }

  /** Sends all waiting frames. */
  flush(): void {
    const due = this.waiting;
    this.waiting = new Map();
    for (const [subject, bundle] of due) this.send(subject, bundle);
  }

  private send(subject: string, { frames, size }: Bundle): void {
    if (this.sender.isClosed()) return;
    try {
      const [first] = frames;
      if (first && frames.length === 1) this.sender.publish(first.reply, first.bytes);
      else this.sender.publish(subject, join(frames, size));
    } catch (error) {
      // A drained connection accepts no more messages. The ingresses ask about its calls; other ingresses are not affected.
      this.log.error({ err: error, frames: frames.length }, "sending frames failed");
    }
  }
}

interface BundledFrame {
  readonly reply: string;
  /** Line before the bytes of a frame in a bundle: id of the call, and number of bytes. */
  readonly head: string;
  readonly bytes: Uint8Array;
}

interface Bundle {
  readonly frames: BundledFrame[];
  /** Size in bytes, including the heads. */
  size: number;
}

function join(frames: readonly BundledFrame[], size: number): Uint8Array {
  const message = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { head, bytes } of frames) {
    at += message.write(head, at, "latin1");
    message.set(bytes, at);
    at += bytes.length;
  }
  return message;
}

/**
 * Yields the frames of a bundle in order, each as the id of the call and the bytes of the frame.
 * @throws SyntaxError if the bundle is damaged, after the last readable frame was yielded
 */
export function* readBundle(message: Uint8Array): Generator<readonly [id: string, bytes: Uint8Array]> {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.length);
  for (let at = 0; at < buffer.length;) {
    const end = buffer.indexOf(NEWLINE, at);
    const [, id = "", length = ""] = BUNDLED_HEAD.exec(buffer.toString("latin1", at, Math.max(at, end))) ?? [];
    at = end + 1 + Number(length);
    if (id === "" || at > buffer.length) throw new SyntaxError("frames that cannot be told from one another");
    yield [id, buffer.subarray(end + 1, at)];
  }
}

const BUNDLED_HEAD = /^([A-Za-z0-9_-]{1,64}) (\d{1,9})$/;
