/** Event streams: what their answers have in common. */
import { paced } from "#shared/pace.ts";

/** SSE comment at most every 10 s of silence (spec of streams); we send it a little earlier. */
export const KEEPALIVE_MS = paced(8_000);

export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

/** A comment, so that a silence is not taken for a dead connection. */
export const KEEPALIVE = Buffer.from(": keepalive\n\n");

export const DONE = Buffer.from("data: [DONE]\n\n");

/** @param id sent back by a reader that comes again */
export function sseEvent(payload: object, id?: number): Uint8Array {
  return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(payload)}\n\n`);
}
