/** A local server that records every call, whatever becomes of it, and plays the answer it is told. */
import { parseForm } from "../multipart.ts";
import type { RawRequest } from "../raw-request.ts";
import { type RawServerOptions, startRawServer, type Wire } from "../raw-server.ts";
import type { Reply } from "./behaviour.ts";
import { play, type Streamed } from "./play.ts";

export interface RecordedCall {
  readonly method: string;
  /** Path as sent, with its query. */
  readonly path: string;
  readonly pathname: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, the fields of a form, text, or undefined when there is none. */
  readonly body: unknown;
  readonly bytes: Buffer;
  /** performance.now() when the whole request had arrived. */
  readonly receivedAt: number;
  /** Set when the answer had gone out whole. */
  answeredAt: number | null;
  /** Set when the client closed its socket before the answer was out. */
  closedByClientAt: number | null;
  /** Resolves when one of the two above is set, or when we ended the connection ourselves. */
  readonly finished: Promise<void>;
}

export interface Recorder {
  /** Without a path. */
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly RecordedCall[];
  /** Faults of the server itself, such as bytes that are no HTTP; tests assert that there are none. */
  readonly faults: readonly unknown[];
  /** Resolves with call number `count` (from 1) once it has arrived, sooner or later. */
  received(count: number): Promise<RecordedCall>;
  openSockets(): number;
  close(): void;
}

export interface RecorderOptions extends RawServerOptions {
  /** Headers of every answer, made from the call's number, which counts from 1. */
  readonly headers?: (sequence: number) => Readonly<Record<string, string>>;
}

/** Listens on 127.0.0.1; port 0 lets the system choose. */
export function startRecorder(
  answer: (call: RecordedCall, sequence: number) => Reply | Streamed,
  { port, tls, headers }: RecorderOptions = {},
): Recorder {
  const requests: RecordedCall[] = [];
  const faults: unknown[] = [];
  const waiters: { count: number; resolve: (call: RecordedCall) => void }[] = [];
  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const { call, finish } = record(raw, wire);
    const sequence = requests.push(call);
    for (const { count, resolve } of waiters) if (sequence >= count) resolve(requests[count - 1] ?? call);
    if (!(await play(answer(call, sequence), raw, wire, headers?.(sequence)))) return;
    call.answeredAt = performance.now();
    finish();
  };
  const server = startRawServer(handle, (fault) => void faults.push(fault), { port, tls });
  return {
    origin: `${tls ? "https" : "http"}://127.0.0.1:${server.port}`,
    port: server.port,
    requests,
    faults,
    received: (count) => {
      const known = requests[count - 1];
      return known ? Promise.resolve(known) : new Promise((resolve) => waiters.push({ count, resolve }));
    },
    openSockets: () => server.openSockets(),
    close: () => server.close(),
  };
}

function record({ method, target, headers, body }: RawRequest, wire: Wire): { call: RecordedCall; finish: () => void } {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { pathname, searchParams } = new URL(target, "http://local");
  const call: RecordedCall = {
    method,
    path: target,
    pathname,
    query: Object.fromEntries(searchParams),
    headers,
    body: bodyOf(headers["content-type"], body),
    bytes: body,
    receivedAt: performance.now(),
    answeredAt: null,
    closedByClientAt: null,
    finished,
  };
  const watch = async (): Promise<void> => {
    const { at, by } = await wire.closed;
    if (by === "client" && call.answeredAt === null) call.closedByClientAt = at;
    finish();
  };
  void watch();
  return { call, finish };
}

function bodyOf(contentType: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const form = parseForm(contentType, bytes);
  if (form) return form;
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
