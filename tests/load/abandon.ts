/** Clients that leave: streams abandoned at random moments, by FIN or RST, over raw sockets. For tests and soak runs. */
import type { Socket } from "bun";

import { seeded } from "../support/seed.ts";

export interface AbandonOptions {
  /** Base address without a path, such as http://127.0.0.1:8080. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly count?: number;
  /** Streams open at a time. */
  readonly inFlight?: number;
  /** Same seed, same moments; the one used is in the result. */
  readonly seed?: number;
}

export const MOMENTS = [
  "during upload",
  "at once",
  "before the first token",
  "mid-stream",
  "after the last byte",
] as const;

export type Moment = (typeof MOMENTS)[number];

export interface AbandonResult {
  readonly seed: number;
  /** Number of clients that left at each moment. */
  readonly left: Readonly<Record<Moment, number>>;
  /** Streams that the server ended or refused before their client meant to leave; statuses of refusals, 0 for a cut. */
  readonly endedEarly: readonly number[];
}

/** The longest pause before a client leaves without having read anything. */
const IMPATIENCE_MS = 20;
/** Mid-stream clients leave after at most this many events. */
const EVENTS_MAX = 8;

/** Opens `count` streams and leaves each; resolves when the last client has closed its socket. @throws when the address refuses connections */
export async function abandonStreams(options: AbandonOptions): Promise<AbandonResult> {
  const { count = 1_000, inFlight = 50, seed = Date.now() >>> 0 } = options;
  const random = seeded(seed);
  const left: Record<Moment, number> = {
    "during upload": 0,
    "at once": 0,
    "before the first token": 0,
    "mid-stream": 0,
    "after the last byte": 0,
  };
  const endedEarly: number[] = [];
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < count) {
      started += 1;
      const moment = MOMENTS[Math.floor(random() * MOMENTS.length)] ?? "at once";
      const visit = {
        moment,
        isReset: random() < 0.5,
        pauseMs: random() * IMPATIENCE_MS,
        events: 1 + Math.floor(random() * EVENTS_MAX),
      };
      const early = await leave(options, visit);
      if (early === null) left[moment] += 1;
      else endedEarly.push(early);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  return { seed, left, endedEarly };
}

interface Visit {
  readonly moment: Moment;
  readonly isReset: boolean;
  readonly pauseMs: number;
  readonly events: number;
}

/** One client. Resolves null when it left at its moment, else the status the server answered before that. */
async function leave(options: AbandonOptions, visit: Visit): Promise<number | null> {
  const address = new URL(options.url);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  let received = "";
  let isDone = false;
  const go = (socket: Socket): void => {
    isDone = true;
    if (visit.isReset) socket.terminate();
    else socket.end();
    resolve(null);
  };
  const ended = (): void => {
    if (!isDone) resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0));
  };
  const socket = await Bun.connect({
    hostname: address.hostname,
    port: Number(address.port),
    socket: {
      data(socket, bytes) {
        if (isDone) return;
        received += bytes.toString("latin1");
        if (received.startsWith("HTTP/1.1 200")) {
          if (hasCome(visit, received)) go(socket);
        } else if (received.includes("\r\n\r\n")) {
          ended();
          isDone = true;
          socket.end();
        }
      },
      close: ended,
      error: ended,
    },
  });
  const request = encodeRequest(options, address.host);
  socket.write(visit.moment === "during upload" ? request.subarray(0, request.length - 20) : request);
  if (visit.moment === "at once") go(socket);
  else if (visit.moment === "during upload" || visit.moment === "before the first token") {
    setTimeout(() => {
      if (!isDone) go(socket);
    }, visit.pauseMs);
  }
  return promise;
}

/** True if this client has read as much as it wanted. */
function hasCome({ moment, events }: Visit, received: string): boolean {
  if (moment === "mid-stream") return received.split("\ndata: ").length > events;
  return moment === "after the last byte" && received.endsWith("0\r\n\r\n");
}

function encodeRequest({ key, model }: AbandonOptions, host: string): Buffer {
  const body = JSON.stringify({
    model,
    stream: true,
    messages: [{ role: "user", content: "Tell me a long story about a fox." }],
  });
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
