/**
 * A local upstream that speaks OpenAI's chat, embeddings, pictures and sound formats, faults included. What it does with a call is decided, in this
 * order, by the model name (`mock-<behaviour>`), the queue filled by `next`, and the default.
 */
import { parseForm } from "../multipart.ts";
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import { startRawServer } from "../raw-server.ts";
import type { Behaviour, ReplyBehaviour } from "./behaviour.ts";
import type { ChatRequestBody } from "./check-request.ts";
import { checkChatRequest } from "./check-request.ts";
import { checkEmbeddingsRequest, type EmbeddingsBody, embeddingsReply } from "./embeddings.ts";
import { errorReply } from "./errors.ts";
import { checkEditsRequest, checkImagesRequest, imagesReply } from "./images.ts";
import { behaviourOfModel } from "./named.ts";
import { play } from "./play.ts";
import { checkSpeechRequest, speechReply } from "./speech-endpoint.ts";
import { checkTranscriptionRequest, transcriptionReply } from "./transcription-endpoint.ts";

export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, the fields of a form, or the text when it is neither. */
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

export interface OpenAiServer {
  /** Base URL, ends with /v1. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedCall[];
  /** Faults of the server itself, such as bytes that are no HTTP; a test may assert that it is empty. */
  readonly faults: readonly unknown[];
  /** Queues behaviours for the next calls, in order. */
  next(...behaviours: readonly Behaviour[]): void;
  setDefault(behaviour: Behaviour): void;
  /** Resolves with call number `count` (from 1) once it has arrived, sooner or later. */
  received(count: number): Promise<RecordedCall>;
  openSockets(): number;
  close(): void;
}

export interface OpenAiServerOptions {
  readonly port?: number;
  /** Other bearer keys get a 401. Unset: any key will do. */
  readonly apiKey?: string;
  readonly default?: Behaviour;
}

/** Starts a server on 127.0.0.1; every call is recorded, whatever becomes of it. */
export async function startOpenAiServer(options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const requests: RecordedCall[] = [];
  const faults: unknown[] = [];
  const queue: Behaviour[] = [];
  const waiters: { count: number; resolve: (call: RecordedCall) => void }[] = [];
  let fallback = options.default ?? {};

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
    const behaviour =
      refusal(raw, call.body, options.apiKey) ?? suited(raw, call.body, choose(call.body, queue, fallback));
    const whole = await play(
      behaviour,
      { raw, request: call.body as ChatRequestBody, sequence: requests.length },
      wire,
    );
    if (!whole) return;
    call.answeredAt = performance.now();
    finish();
  };
  const server = startRawServer(handle, (fault) => faults.push(fault), options.port);

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests,
    faults,
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
    body: parseForm(raw.headers["content-type"], raw.body) ?? parseBody(raw.body),
    receivedAt: performance.now(),
    answeredAt: null,
    closedByClientAt: null,
    finished: promise,
  };
  return { call, finish: resolve };
}

/** What OpenAI would not accept is refused before any behaviour is chosen. */
function refusal(raw: RawRequest, body: unknown, apiKey: string | undefined): ReplyBehaviour | null {
  const check = CHECKS[raw.target];
  if (!check) return invalid(404, null, `Invalid URL (${raw.method} ${raw.target})`);
  if (raw.method !== "POST") return invalid(405, null, `Not allowed to ${raw.method} here`);
  if (apiKey !== undefined && raw.headers["authorization"] !== `Bearer ${apiKey}`) return errorReply("unauthorized");
  const fault = check(raw.headers["content-type"], body);
  return fault && invalid(400, fault.param, fault.message);
}

const CHECKS: Readonly<Partial<Record<string, typeof checkChatRequest>>> = {
  "/v1/chat/completions": checkChatRequest,
  "/v1/embeddings": checkEmbeddingsRequest,
  "/v1/images/generations": checkImagesRequest,
  "/v1/images/edits": checkEditsRequest,
  "/v1/audio/speech": checkSpeechRequest,
  "/v1/audio/transcriptions": checkTranscriptionRequest,
};

/** A flawless answer is one of the endpoint's own kind. */
function suited(raw: RawRequest, body: unknown, behaviour: Behaviour): Behaviour {
  const isChat = behaviour.kind === undefined || behaviour.kind === "chat";
  if (isChat && raw.target.startsWith("/v1/images/")) return imagesReply(body as Record<string, unknown>, behaviour);
  if (isChat && raw.target === "/v1/audio/speech") return speechReply(body as Record<string, unknown>, behaviour);
  if (isChat && raw.target === "/v1/audio/transcriptions") {
    return transcriptionReply(body as Record<string, unknown>, behaviour);
  }
  return isChat && raw.target === "/v1/embeddings" ? embeddingsReply(body as EmbeddingsBody, behaviour) : behaviour;
}

function invalid(status: number, param: string | null, message: string): ReplyBehaviour {
  const body = JSON.stringify({ error: { message, type: "invalid_request_error", param, code: null } });
  return { kind: "reply", status, headers: { "content-type": "application/json" }, body };
}

function choose(body: unknown, queue: Behaviour[], fallback: Behaviour): Behaviour {
  return behaviourOfModel((body as ChatRequestBody).model) ?? queue.shift() ?? fallback;
}

function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
