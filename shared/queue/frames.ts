/**
 * Frames from a worker to the ingress that waits: one line of JSON (what it is), then the bytes as they go to the
 * client. The ingress relays the bytes without parsing them.
 *
 * head   first piece of a stream, with the model that serves; failures before it keep their true status
 * delta  further pieces
 * part   a piece of a plain answer that is larger than one frame; `end` brings the last
 * end    the call is settled, or will be as its `settle` says
 * error  the call failed; before `head` an HTTP status, after it an error frame
 * beat   sent as a request: the worker lives, and wants to know whether the caller still does, or has its answer
 * lost   sent as a request by a later delivery: the worker that had the call is gone
 * ask    sent as a request before a call is run that may be run elsewhere: who has it?
 *
 * Frames that leave a worker within one turn of its event loop for one ingress travel as a bundle, in one message (FrameBundler).
 */
import type { Code } from "#shared/errors.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import type { Logger } from "#shared/logger.ts";

import type { BufferedPublisher } from "./buffered-publisher.ts";
import { framesSubject } from "./subjects.ts";
import { tellAtTurnEnd } from "./loop-turn.ts";

/** One reply frame; a longer answer is cut into parts of this size (server limit 1 MiB). */
export const FRAME_BYTES_MAX = 256 * 1024;

interface Numbered {
  /** Run that the frame is of: a message that was delivered twice may be run twice, and their frames must not be mixed. */
  readonly run?: string;
  /** Position among the numbered frames of the call; a hole means a lost message. */
  readonly n: number;
}

/** The model asked for, when another one serves in its place or was tried in its place. */
export interface Fallback {
  readonly from: string;
  /** Number of fallbacks tried, the serving one included. */
  readonly depth: number;
}

/** First sign of a worker that it has the call. */
interface Sign {
  /** Subject below which the worker hears that the call is not wanted any more; absent where it hears what all of them hear. */
  readonly cancel?: string;
}

export interface HeadFrame extends Numbered, Sign {
  readonly t: "head";
  readonly model: string;
  readonly fallback?: Fallback;
  /** Milliseconds spent waiting for the provider so far. */
  readonly upstream_ms: number;
  /** Nano-credits and tokens so far, as in a delta. */
  readonly nano: string;
  readonly tokens: number;
}
export interface DeltaFrame extends Numbered {
  readonly t: "delta";
  /** Nano-credits and tokens of everything sent so far: what a lost call is settled at. */
  readonly nano: string;
  readonly tokens: number;
}
export interface PartFrame extends Numbered {
  readonly t: "part";
}
/**
 * The settle of an answer that is sent before it is settled. The frame's `nano` is the amount. The ingress settles
 * with it when the worker is lost.
 */
export interface SettleNote {
  readonly attempt: number;
  /** `provider/model`. */
  readonly source: string | null;
  readonly units: Readonly<Record<string, number>>;
  readonly tokens: number;
  readonly estimated?: Charge["estimated"];
  /** Subject at which the worker waits for the word that the answer was taken; absent where it needs none. */
  readonly tell?: string;
}

export interface EndFrame extends Numbered {
  readonly t: "end";
  readonly model: string;
  readonly fallback?: Fallback;
  readonly nano: string;
  readonly upstream_ms: number;
  /** Content type of the whole answer; absent: JSON. */
  readonly content_type?: string;
  /** Absent: the call is settled. */
  readonly settle?: SettleNote;
}
export interface ErrorFrame extends Numbered {
  readonly t: "error";
  readonly code: Code;
  readonly message: string;
  readonly param: string | null;
  /** False when money moved or paid work may exist. */
  readonly retry: boolean;
  readonly retry_after_s?: number;
  /** Set when fallbacks of the model were tried and failed too. */
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
 * The ingress' answer to `beat`, `lost` and `ask`. To a `beat` behind an `end` it means that the end has not come: the worker
 * sends it again.
 */
export const CALLER_LIVES = "here";
export const CALLER_GONE = "gone";
/** To `ask` only: the caller waits, and a worker has the call already. */
export const CALLER_SERVED = "served";

/** The caller has its whole answer, which is not known to be settled yet. */
export const CALLER_TAKEN = "taken";

const NEWLINE = 10;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param data text or bytes for the client, at most FRAME_BYTES_MAX */
export function encodeFrame(frame: Frame, data: string | Uint8Array = ""): Uint8Array {
  const line = `${JSON.stringify(frame)}\n`;
  if (typeof data === "string") return encoder.encode(line + data);
  const head = encoder.encode(line);
  const bytes = new Uint8Array(head.length + data.length);
  bytes.set(head);
  bytes.set(data, head.length);
  return bytes;
}

/** @throws SyntaxError when the bytes are no frame */
export function decodeFrame(bytes: Uint8Array): { frame: Frame; data: Uint8Array } {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError("frame without a head line");
  const frame = JSON.parse(decoder.decode(bytes.subarray(0, end))) as Partial<Frame> | null;
  if (typeof frame?.t !== "string") throw new SyntaxError("frame of no kind");
  return { frame: frame as Frame, data: bytes.subarray(end + 1) };
}

type Sender = Pick<BufferedPublisher, "publish" | "isClosed" | "room">;

/**
 * Sends frames to ingresses that take bundles: what the process has for one of them within a turn of the event loop goes in one message
 * at the end of the turn, in order, so that the words of many streams or a burst of answers cost queue and ingress a message, and not one each.
 */
export class FrameBundler implements Sender {
  private readonly sender: Sender;
  private readonly log: Pick<Logger, "error">;
  /** By the subject that takes them; a new map each turn, since an old one would keep the frames that it had (shared/in-flight.ts). */
  private waiting = new Map<string, Bundle>();

  constructor(sender: Sender, log: Pick<Logger, "error">) {
    this.sender = sender;
    this.log = log;
  }

  isClosed(): boolean {
    return this.sender.isClosed();
  }

  room(): Promise<void> | undefined {
    return this.sender.room();
  }

  /** @param reply address of the call, whose last token is its id */
  publish(reply: string, bytes: Uint8Array): void {
    const subject = framesSubject(reply);
    const head = `${reply.slice(reply.lastIndexOf(".") + 1)} ${bytes.length}\n`;
    const size = head.length + bytes.length;
    if (this.waiting.size === 0) tellAtTurnEnd(() => this.flush());
    const bundle = this.waiting.get(subject);
    if (bundle && bundle.size + size <= FRAME_BYTES_MAX) {
      bundle.frames.push({ reply, head, bytes });
      bundle.size += size;
      return;
    }
    if (bundle) this.send(subject, bundle);
    this.waiting.set(subject, { frames: [{ reply, head, bytes }], size });
  }

  /** Sends what waits for the end of the turn. */
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
      // A connection that is drained takes nothing more. Its calls are asked about by their ingresses, and those of others go on.
      this.log.error({ err: error, frames: frames.length }, "frames could not be sent");
    }
  }
}

interface BundledFrame {
  readonly reply: string;
  /** Line before its bytes: the call's id, and how many they are. */
  readonly head: string;
  readonly bytes: Uint8Array;
}

interface Bundle {
  readonly frames: BundledFrame[];
  /** Bytes, with the heads. */
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
 * Yields the frames of a bundle, in order: id of the call, and its bytes.
 * @throws SyntaxError behind the last one that can be read
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
