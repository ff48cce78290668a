/**
 * A local upstream that speaks Anthropic's Messages API, faults included. What it does with a call is decided, in this
 * order, by the model name (`mock-<behaviour>`), the queue filled by `next`, and the default.
 */
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import { startRawServer } from "../raw-server.ts";
import type { Behaviour, ReplyBehaviour } from "./behaviour.ts";
import { checkMessages, type MessagesBody } from "./check-request.ts";
import { errorReply, vendorError } from "./errors.ts";
import { behaviourOfModel } from "./named.ts";
import { play } from "./play.ts";

export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown;
  /** performance.now() when the whole request had arrived. */
  readonly receivedAt: number;
  /** Set when the answer had gone out whole. */
  answeredAt: number | null;
  /** Set when the client closed its socket before the answer was out. */
  closedByClientAt: number | null;
  /** Resolves when one of the two above is set, or when we ended the connection ourselves. */
  readonly finished: Promise<void>;
}

export interface AnthropicServer {
  /** Base URL, ends with /v1. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedCall[];
  /** Faults of the server itself, such as bytes that are no HTTP; a test may assert that it is empty. */
  readonly faults: readonly unknown[];
  /** What it refused, in its own words: an adapter that asks right leaves this empty. */
  readonly refusals: readonly string[];
  /** Queues behaviours for the next calls, in order. */
  next(...behaviours: readonly Behaviour[]): void;
  setDefault(behaviour: Behaviour): void;
  /** Resolves with call number `count` (from 1) once it has arrived, sooner or later. */
  received(count: number): Promise<RecordedCall>;
  openSockets(): number;
  close(): void;
}

export interface AnthropicServerOptions {
  readonly port?: number;
  /** Other keys get a 401. Unset: any key will do, but there must be one. */
  readonly apiKey?: string;
  readonly default?: Behaviour;
}

/** Starts a server on 127.0.0.1; every call is recorded, whatever becomes of it. */
export function startAnthropicServer(options: AnthropicServerOptions = {}): AnthropicServer {
  const requests: RecordedCall[] = [];
  const faults: unknown[] = [];
  const refusals: string[] = [];
  const queue: Behaviour[] = [];
  const waiters: { count: number; resolve: (call: RecordedCall) => void }[] = [];
  let fallback = options.default ?? {};

  const choose = (raw: RawRequest, body: unknown): Behaviour => {
    const refused = refusal(raw, body, options.apiKey);
    if (refused === null) return behaviourOfModel((body as MessagesBody).model) ?? queue.shift() ?? fallback;
    refusals.push(String(refused.body));
    return refused;
  };

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const { call, finish } = record(raw);
    requests.push(call);
    for (const waiter of waiters)
      if (requests.length >= waiter.count) waiter.resolve(requests[waiter.count - 1] ?? call);
    const watchClose = async (): Promise<void> => {
      const { at, by } = await wire.closed;
      if (by === "client" && call.answeredAt === null) call.closedByClientAt = at;
      finish();
    };
    void watchClose();
    const behaviour = choose(raw, call.body);
    const request = call.body as MessagesBody;
    if (!(await play(behaviour, { raw, request, sequence: requests.length }, wire))) return;
    call.answeredAt = performance.now();
    finish();
  };
  const server = startRawServer(handle, (fault) => faults.push(fault), options.port);

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests,
    faults,
    refusals,
    next: (...behaviours) => void queue.push(...behaviours),
    setDefault: (behaviour) => {
      fallback = behaviour;
    },
    received: (count) => {
      const known = requests[count - 1];
      return known ? Promise.resolve(known) : new Promise((resolve) => waiters.push({ count, resolve }));
    },
    openSockets: () => server.openSockets(),
    close: () => server.close(),
  };
}

function record(raw: RawRequest): { call: RecordedCall; finish: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call: RecordedCall = {
    method: raw.method,
    path: raw.target,
    headers: raw.headers,
    body: parseBody(raw.body),
    receivedAt: performance.now(),
    answeredAt: null,
    closedByClientAt: null,
    finished: promise,
  };
  return { call, finish: resolve };
}

/** What Anthropic would not accept is refused before any behaviour is chosen. */
function refusal({ method, target, headers }: RawRequest, body: unknown, apiKey?: string): ReplyBehaviour | null {
  if (target !== "/v1/messages") return refused(404, "not_found_error", `Not found: ${target}`);
  if (method !== "POST") return refused(405, "invalid_request_error", `Method ${method} not allowed`);
  const key = headers["x-api-key"];
  if (key === undefined || (apiKey !== undefined && key !== apiKey)) return errorReply("unauthorized");
  if (headers["anthropic-version"] !== "2023-06-01") {
    return refused(400, "invalid_request_error", "anthropic-version: header is required");
  }
  const fault = checkMessages(headers["content-type"], body);
  return fault === null ? null : refused(400, "invalid_request_error", fault);
}

function refused(status: number, type: string, message: string): ReplyBehaviour {
  const headers = { "content-type": "application/json" };
  return { kind: "reply", status, headers, body: vendorError(type, message) };
}

function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
