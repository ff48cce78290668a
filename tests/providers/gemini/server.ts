/**
 * A local upstream that speaks the Gemini API, faults included. What it does with a call is decided, in this order, by
 * the model name (`mock-<behaviour>`), the queue filled by `next`, and the default.
 */
import type { ReplyBehaviour } from "../openai-compatible/behaviour.ts";
import type { RecordedCall } from "../openai-compatible/server.ts";
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";
import { startRawServer } from "../raw-server.ts";
import type { Behaviour } from "./behaviour.ts";
import { checkEmbed, checkGenerate } from "./check-request.ts";
import { errorReply, invalidArgument } from "./errors.ts";
import { behaviourOfModel } from "./named.ts";
import type { PlayedCall } from "./play.ts";
import { play } from "./play.ts";

export interface GeminiServer {
  /** Base URL, ends with /v1beta. */
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

export interface GeminiServerOptions {
  readonly port?: number;
  /** Other keys are told so in a 400, as Google does. Unset: any key will do, none will not. */
  readonly apiKey?: string;
  readonly default?: Behaviour;
}

/** Starts a server on 127.0.0.1; every call is recorded, whatever becomes of it. */
export async function startGeminiServer(options: GeminiServerOptions = {}): Promise<GeminiServer> {
  const requests: RecordedCall[] = [];
  const faults: unknown[] = [];
  const queue: Behaviour[] = [];
  const waiters: { count: number; resolve: (call: RecordedCall) => void }[] = [];
  let fallback = options.default ?? {};

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const { call, finish } = record(raw);
    requests.push(call);
    const sequence = requests.length;
    for (const waiter of waiters) if (sequence >= waiter.count) waiter.resolve(requests[waiter.count - 1] ?? call);
    const watchClose = async (): Promise<void> => {
      const { at, by } = await wire.closed;
      if (by === "client" && call.answeredAt === null) call.closedByClientAt = at;
      finish();
    };
    void watchClose();
    const target = readTarget(raw.target);
    const played: PlayedCall = { raw, ...(target ?? NOWHERE), body: call.body, sequence };
    const behaviour =
      refusal(raw, target && played, options.apiKey) ?? behaviourOfModel(played.model) ?? queue.shift() ?? fallback;
    if (!(await play(behaviour, played, wire))) return;
    call.answeredAt = performance.now();
    finish();
  };
  const server = startRawServer(handle, (fault) => faults.push(fault), options.port);

  return {
    url: `http://127.0.0.1:${server.port}/v1beta`,
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

type Target = Pick<PlayedCall, "model" | "method">;

const NOWHERE: Target = { model: "", method: "generateContent" };
const METHODS: Readonly<Record<string, PlayedCall["method"]>> = {
  generateContent: "generateContent",
  // Without alt=sse the answer would be one JSON list: nobody asks for that by intent.
  "streamGenerateContent?alt=sse": "streamGenerateContent",
  embedContent: "embedContent",
  batchEmbedContents: "batchEmbedContents",
};

function readTarget(target: string): Target | undefined {
  const match = /^\/v1beta\/models\/([^/:]+):(.+)$/.exec(target);
  const method = match?.[2] !== undefined && Object.hasOwn(METHODS, match[2]) ? METHODS[match[2]] : undefined;
  return match?.[1] !== undefined && method ? { model: decodeURIComponent(match[1]), method } : undefined;
}

/** What Google would not accept is refused before any behaviour is chosen. */
function refusal(raw: RawRequest, call: PlayedCall | undefined, apiKey: string | undefined): ReplyBehaviour | null {
  if (raw.method !== "POST" || !call) return { kind: "reply", status: 404, body: "" };
  const key = raw.headers["x-goog-api-key"];
  if (key === undefined) return errorReply("permission-denied");
  if (apiKey !== undefined && key !== apiKey) return errorReply("key-invalid");
  if (!raw.headers["content-type"]?.startsWith("application/json")) return invalidArgument("unsupported content type");
  const fault = checkBody(call);
  return fault === null ? null : invalidArgument(fault);
}

function checkBody({ method, body, model }: PlayedCall): string | null {
  if (method === "embedContent") return checkEmbed(body, model);
  if (method !== "batchEmbedContents") return checkGenerate(body);
  const requests = (body as { requests?: unknown[] }).requests ?? [];
  if (requests.length > 100) return "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch";
  for (const request of requests) {
    const fault = checkEmbed(request, model);
    if (fault !== null) return fault;
  }
  return null;
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

function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
