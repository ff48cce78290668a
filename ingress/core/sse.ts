/** Helpers for server-sent event (SSE) streams. */
import { paced } from "#shared/config/pace.ts";

/** Interval of keepalive comments on a silent SSE stream, in milliseconds. The streaming specification allows at most 10 s. */
export const KEEPALIVE_MS = paced(8_000);

export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

/** SSE comment that keeps the connection of a silent stream open. */
export const KEEPALIVE = Buffer.from(": keepalive\n\n");

export const DONE = Buffer.from("data: [DONE]\n\n");

/** Returns one SSE event. @param id cursor that a client sends back when it reconnects */
export function sseEvent(payload: object, id?: number): Uint8Array {
  return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(payload)}\n\n`);
}

/** Yields keepalive comments for a silent stream until the promise `end` has settled. */
export async function* silence(end: Promise<unknown>): AsyncGenerator<Uint8Array, void, void> {
  let isOver = false;
  const over = end.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  for (;;) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pause = new Promise<void>((resolve) => (timer = setTimeout(resolve, KEEPALIVE_MS)));
    await Promise.race([over, pause]);
    clearTimeout(timer);
    if (isOver) return;
    yield KEEPALIVE;
  }
}

/** Relays the chunks of a stream, and adds keepalive comments while none arrive. */
export async function* keptAlive(
  pieces: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (;;) {
      const next = pieces.next();
      yield* silence(next);
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return();
  }
}

/** Yields the data of each event of a stream. @param clientSignal aborts when the client has disconnected */
export async function* dataOf(answer: Response, clientSignal: AbortSignal): AsyncGenerator<string, void, void> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  const cancelRead = (): void => void reader.cancel();
  clientSignal.addEventListener("abort", cancelRead, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      // An aborted body has no reason.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }) as const);
      if (done || clientSignal.aborted) return;
      text += decoder.decode(value as Uint8Array, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data !== undefined) yield data;
      }
    }
  } finally {
    clientSignal.removeEventListener("abort", cancelRead);
    await reader.cancel();
  }
}
