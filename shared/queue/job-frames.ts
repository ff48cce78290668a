/**
 * Messages of a worker to the ingress whose caller waits for a durable job. Each is one line of JSON, then bytes. Messages may be lost; the
 * row and files of the job are authoritative.
 *
 * - `begun`: a worker has started the job.
 * - `made`: the `bytes` messages of the result follow. Contains the media type, the model and the cost.
 * - `bytes`: part of the result, at this offset.
 * - `ended`: the job has completed at this cost, and the following text is its result.
 *
 * A job that ends without `ended` is reported by a separate notice, which is not a frame.
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

/**
 * Decodes a frame. Returns undefined for other messages: the notice that a job has ended, or a request that asks if the caller is
 * connected.
 */
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
