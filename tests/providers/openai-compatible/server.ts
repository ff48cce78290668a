/** A local upstream that speaks OpenAI's chat, embeddings, image and audio formats, faults included. */
import { type AnswerBehaviour, type Members, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { type Dialect, startUpstream, type Upstream, type UpstreamOptions } from "../engine/upstream.ts";
import { chatTexts } from "./chat.ts";
import { type ChatRequestBody, checkChatRequest } from "./check-request.ts";
import { checkEmbeddingsRequest, type EmbeddingsBody, embeddingsReply } from "./embeddings.ts";
import { ERRORS, openAiError } from "./errors.ts";
import { checkEditsRequest, checkImagesRequest, imagesReply } from "./images.ts";
import { checkSpeechRequest, speechReply } from "./speech-endpoint.ts";
import { checkTranscriptionRequest, transcriptionReply } from "./transcription-endpoint.ts";

export type OpenAiServer = Upstream;

export interface OpenAiServerOptions extends UpstreamOptions {
  /** Other bearer keys get a 401. Unset: any key will do. */
  readonly apiKey?: string;
}

interface Endpoint {
  readonly check: typeof checkChatRequest;
  readonly reply: (behaviour: AnswerBehaviour, body: Members, sequence: number) => ReplyBehaviour | readonly string[];
}

const ENDPOINTS: Readonly<Partial<Record<string, Endpoint>>> = {
  "/v1/chat/completions": {
    check: checkChatRequest,
    reply: (behaviour, body, sequence) => {
      const texts = chatTexts(behaviour, body as unknown as ChatRequestBody, sequence);
      return typeof texts === "string" ? ok(texts) : texts;
    },
  },
  "/v1/embeddings": {
    check: checkEmbeddingsRequest,
    reply: (behaviour, body) => embeddingsReply(body as unknown as EmbeddingsBody, behaviour),
  },
  "/v1/images/generations": { check: checkImagesRequest, reply: (behaviour, body) => imagesReply(body, behaviour) },
  "/v1/images/edits": { check: checkEditsRequest, reply: (behaviour, body) => imagesReply(body, behaviour) },
  "/v1/audio/speech": { check: checkSpeechRequest, reply: (behaviour, body) => speechReply(body, behaviour) },
  "/v1/audio/transcriptions": {
    check: checkTranscriptionRequest,
    reply: (behaviour, body) => transcriptionReply(body, behaviour),
  },
};

const dialect = (apiKey: string | undefined): Dialect => ({
  base: "/v1",
  errors: ERRORS,
  streamError: ERRORS["server-error"].body,
  firstWord: 1,
  named: {
    refusal: { refusal: "I cannot help with that." },
    "usage-null": { usage: "null" },
    "usage-bare-nan": { usage: "bare-nan" },
    repeat: { repeatFrame: 2 },
    "event-name": { eventName: "message" },
  },
  headers: (sequence) => ({ "x-request-id": `req_mock${sequence}`, "openai-processing-ms": "1" }),
  modelOf: ({ body }) => (body as { model: string }).model,
  refuse: (call) => refusal(call, apiKey),
  answer: (behaviour, { path, body }, sequence) =>
    ENDPOINTS[path]?.reply(behaviour, body as Members, sequence) ?? ERRORS["model-not-found"],
});

/** Starts a server on 127.0.0.1. */
export function startOpenAiServer({ apiKey, ...options }: OpenAiServerOptions = {}): OpenAiServer {
  return startUpstream(dialect(apiKey), options);
}

function refusal({ method, path, headers, body }: RecordedCall, apiKey: string | undefined): ReplyBehaviour | null {
  const endpoint = ENDPOINTS[path];
  if (!endpoint) return openAiError(404, `Invalid URL (${method} ${path})`);
  if (method !== "POST") return openAiError(405, `Not allowed to ${method} here`);
  if (apiKey !== undefined && headers["authorization"] !== `Bearer ${apiKey}`) return ERRORS.unauthorized;
  const fault = endpoint.check(headers["content-type"], body);
  return fault && openAiError(400, fault.message, { param: fault.param });
}
