/** A local upstream that speaks the Gemini API, faults included. */
import { ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { TOOL_CALLS } from "../engine/named.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { type Dialect, startUpstream, type Upstream, type UpstreamOptions } from "../engine/upstream.ts";
import { checkEmbed, checkGenerate, checkSignatures, type EmbedBody, type GenerateBody } from "./check-request.ts";
import { ERRORS, invalidArgument } from "./errors.ts";
import { imageText, isImageCall } from "./images.ts";
import { answerText, embeddingsText, eventTexts } from "./wire-format.ts";

export type GeminiServer = Upstream;

export interface GeminiServerOptions extends UpstreamOptions {
  /** Other keys are told so in a 400, as Google does. Unset: any key will do, none will not. */
  readonly apiKey?: string;
}

/** Finish reasons by the name of a model, `mock-finish-safety`. */
const FINISHES = ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "MALFORMED_FUNCTION_CALL", "OTHER", "MAX_TOKENS"];

const dialect = (apiKey: string | undefined): Dialect => ({
  base: "/v1beta",
  // As other dialects call them.
  errors: { ...ERRORS, "server-error": ERRORS.internal, "bad-request": ERRORS["invalid-argument"] },
  streamError: ERRORS.unavailable.body,
  eol: "\r\n",
  named: {
    "tool-without-arguments": { toolCalls: [{ name: "read_theme", arguments: "" }] },
    "tools-partial": { toolCalls: TOOL_CALLS, partialArguments: true },
    "tools-said": { text: "Let me look.", toolCalls: TOOL_CALLS.slice(0, 1) },
    "needs-signatures": { needsSignatures: true },
    "content-policy": { blockReason: "PROHIBITED_CONTENT" },
    ...Object.fromEntries(
      FINISHES.map((word) => [`finish-${word.toLowerCase()}`, { text: "It goes", finishReason: word }]),
    ),
    "finish-safety-empty": { text: "", finishReason: "SAFETY" },
    "usage-empty": { usage: "empty" },
  },
  headers: () => ({ vary: "Origin", server: "scaffolding on HTTPServer2" }),
  modelOf: ({ path }) => targetOf(path)?.model ?? "",
  refuse: (call) => refusal(call, apiKey),
  answer(behaviour, { path, body }, sequence) {
    const { model = "", method } = targetOf(path) ?? {};
    if (method === "embedContent") return ok(embeddingsText(behaviour, [body as EmbedBody], false));
    if (method === "batchEmbedContents") {
      return ok(embeddingsText(behaviour, (body as { requests: EmbedBody[] }).requests, true));
    }
    const request = body as GenerateBody;
    const fault = behaviour.needsSignatures ? checkSignatures(request) : null;
    if (fault !== null) return invalidArgument(fault);
    if (method === STREAM) return eventTexts(behaviour, request, model, sequence);
    return ok((isImageCall(request) ? imageText : answerText)(behaviour, request, model, sequence));
  },
});

/** Starts a server on 127.0.0.1. */
export function startGeminiServer({ apiKey, ...options }: GeminiServerOptions = {}): GeminiServer {
  return startUpstream(dialect(apiKey), options);
}

// Without alt=sse the answer would be one JSON list, which no caller wants.
const STREAM = "streamGenerateContent?alt=sse";
const METHODS = ["generateContent", STREAM, "embedContent", "batchEmbedContents"];

function targetOf(path: string): { readonly model: string; readonly method: string } | undefined {
  const [, model, method = ""] = /^\/v1beta\/models\/([^/:]+):(.+)$/.exec(path) ?? [];
  return model !== undefined && METHODS.includes(method) ? { model: decodeURIComponent(model), method } : undefined;
}

/** Returns the error for a request that Google would not accept; null for others. */
function refusal({ method, path, headers, body }: RecordedCall, apiKey: string | undefined): ReplyBehaviour | null {
  const target = targetOf(path);
  if (method !== "POST" || !target) return { status: 404, body: "" };
  const key = headers["x-goog-api-key"];
  if (key === undefined) return ERRORS["permission-denied"];
  if (apiKey !== undefined && key !== apiKey) return ERRORS["key-invalid"];
  if (!headers["content-type"]?.startsWith("application/json")) return invalidArgument("unsupported content type");
  const fault = checkBody(target.method, body, target.model);
  return fault === null ? null : invalidArgument(fault);
}

function checkBody(method: string, body: unknown, model: string): string | null {
  if (method === "embedContent") return checkEmbed(body, model);
  if (method !== "batchEmbedContents") return checkGenerate(body);
  const { requests = [] } = body as { requests?: unknown[] };
  if (requests.length > 100) return "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch";
  return requests.map((request) => checkEmbed(request, model)).find((fault) => fault !== null) ?? null;
}
