/**
 * Messages of a worker to the ingress whose caller waits for a durable job, beside the ring that says that it has ended: one
 * line of JSON, then bytes. All of it may be lost; the job's row and files are the truth.
 *
 * begun  a worker has the job
 * made   what is made comes now, under this type, from this model, at this cost
 * bytes  a piece of it, from this place
 * ended  the job has ended well, at this cost, with the text behind it as its result: in place of the ring, whose bytes are no frame
 */
import type { Fallback } from "./frames.ts";

export interface MadeHead {
  readonly contentType: string;
  readonly model: string;
  readonly fallback?: Fallback;
  /** Digits: what it will be settled at. */
  readonly nano: string;
}

export type JobFrame =
  | { readonly t: "begun" }
  /** run: whose bytes they are, since a job may be run again by another worker. */
  | ({ readonly t: "made"; readonly run: number } & MadeHead)
  | { readonly t: "bytes"; readonly run: number; readonly at: number }
  /** nano: digits, settled. */
  | { readonly t: "ended"; readonly nano: string };

const KINDS: ReadonlySet<unknown> = new Set(["begun", "made", "bytes", "ended"] satisfies readonly JobFrame["t"][]);

const NEWLINE = 10;
const DIGITS = /^\d{1,30}$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeJobFrame(frame: JobFrame, data: Uint8Array = new Uint8Array()): Uint8Array {
  const head = encoder.encode(`${JSON.stringify(frame)}\n`);
  const bytes = new Uint8Array(head.length + data.length);
  bytes.set(head);
  bytes.set(data, head.length);
  return bytes;
}

/** Undefined for what is no such frame: the ring of an ended job, a question of the caller watch. */
export function decodeJobFrame(bytes: Uint8Array): { readonly frame: JobFrame; readonly data: Uint8Array } | undefined {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) return undefined;
  try {
    const frame = JSON.parse(decoder.decode(bytes.subarray(0, end))) as JobFrame | null;
    if (!frame || !KINDS.has(frame.t) || (frame.t === "ended" && !DIGITS.test(frame.nano))) return undefined;
    return { frame, data: bytes.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
