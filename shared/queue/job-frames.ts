/**
 * Messages of a worker to the ingress whose caller waits for a durable job, in addition to the notice that the job ended. Each is one line
 * of JSON,
 * then bytes. Messages may be lost; the row and files of the job are authoritative.
 *
 * - `begun`: a worker has the job.
 * - `made`: the result follows, with this media type, model and cost.
 * - `bytes`: part of the result, at this offset.
 * - `ended`: the job has completed at this cost, and the following text is its result. Replaces the notice, which is not a frame.
 */
import type { Fallback } from "./frames.ts";

export interface MediaResultHead {
  readonly contentType: string;
  readonly model: string;
  readonly fallback?: Fallback;
  /** Charge in nano-credits, as a string of digits. */
  readonly nano: string;
}

export type JobFrame =
  | { readonly t: "begun" }
  /** `run`: epoch of the worker that sends the bytes. Another worker may run the job again under a later epoch. */
  | ({ readonly t: "made"; readonly run: number } & MediaResultHead)
  | { readonly t: "bytes"; readonly run: number; readonly at: number }
  /** `nano`: charged nano-credits, as a string of digits. */
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

/** Decodes a frame. Returns undefined for other messages: the notice of an ended job, or a request about the caller's connection. */
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
