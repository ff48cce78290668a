/** Cost of calls with prices per text token: chat and embeddings. */
import { isEmbeddingModel, type Model } from "#shared/calls/model.ts";
import { ApiError, apiErrorsOf } from "#shared/errors.ts";
import { findStoredFiles, NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import { parseCredits } from "#shared/money.ts";
import { estimateCall } from "#shared/calls/estimate/estimate.ts";
import { boundChat } from "#shared/calls/pricing/price.ts";
import { ESTIMATE_OUTPUT_TOKENS } from "#shared/calls/kinds/chat/usage.ts";

import { judgeKnown } from "../known-faults.ts";
import { type CallContext, type Cost, EXACT } from "./cost.ts";
import { type KnownParams, openNames } from "./known.ts";

/** Maximum choices of one call. */
const CHOICES_MAX = 128;
/** Accepted multiple of the model's own limits in reported usage (workers/calls/chat/meter.ts). */
const REPORTS_BELIEVED = 2;
const TEMPLATE_TOKENS_MAX = 8_192;
/** Returns sample messages, used if too little is known of the actual ones. */
function usualMessages({ allowed_params: { requires_input_image: image, requires_input_audio: audio } }: Model) {
  const blocks = [
    ...(image === true ? [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] : []),
    ...(audio === true ? [{ type: "input_audio", input_audio: { data: NO_AUDIO, format: "wav" } }] : []),
  ];
  return [{ role: "user", content: blocks.length === 0 ? "" : blocks }];
}

/** An empty WAV file. */
const NO_AUDIO = Buffer.from("RIFF\u0004\0\0\0WAVE", "latin1").toString("base64");

/** @throws ApiError of the call itself, if no values of the open places can avoid it */
export async function chatCost(
  { database, caller, work }: CallContext,
  model: Model,
  given: KnownParams,
): Promise<Cost> {
  const unknown = openNames(given);
  const isUnknown = (name: string): boolean => unknown.includes(name);
  const files = await findStoredFiles(database, caller, given.value);
  const checked = (known: object) => {
    const body = CHAT.read({ ...known, model: model.slug });
    const bodyBytes = Buffer.byteLength(JSON.stringify(body));
    return { body, bodyBytes, ...CHAT.check(body, model, { bodyBytes, files }) };
  };
  const { body, bodyBytes, bound } = asFarAsKnown(given, { messages: usualMessages(model) }, checked);
  const recording = () => Promise.resolve(undefined);
  const usual = await estimateCall(model, body, bodyBytes, { files, recording }, work.slices);
  const n = isUnknown("n") ? CHOICES_MAX : (body.n ?? 1);
  const isLimited = !bound.mayExceed && !isUnknown("max_tokens") && !isUnknown("max_completion_tokens");
  const perChoice = isLimited ? bound.outputTokensMax / (body.n ?? 1) : model.max_output_tokens;
  const isOpen = isUnknown("messages") || isUnknown("tools") || isUnknown("response_format");
  const inputTokens = unknown.length > 0 ? model.max_context_tokens : bound.tokensMax - bound.outputTokensMax;
  const inputs = model.allowed_params.supported_inputs ?? [];
  const blocks = JSON.stringify(body.messages);
  // Without a limit, the call is settled at the usage reported by its provider, accepted up to this multiple.
  const believed = isLimited ? 1 : REPORTS_BELIEVED;
  const maxNano = boundChat(model.price, {
    inputTokens: isLimited ? inputTokens : believed * inputTokens + TEMPLATE_TOKENS_MAX,
    outputTokens: believed * perChoice * n,
    hasAudioInput: inputs.includes("audio") && (isOpen || blocks.includes("input_audio")),
    hasImageInput: inputs.includes("image") && (isOpen || blocks.includes("image_url") || blocks.includes('"file"')),
    hasAudioOutput: isUnknown("modalities") || body.modalities?.includes("audio") === true,
  });
  const read =
    unknown.length === 0
      ? EXACT
      : `Unknown before a run: ${unknown.join(", ")}. The maximum assumes ${inputTokens} input tokens, the model's context.`;
  const usualTokens = Math.min(bound.outputTokensMax, n * ESTIMATE_OUTPUT_TOKENS);
  const written = `The estimate assumes ${usualTokens} output tokens, the maximum ${perChoice * n}${isLimited ? "" : ", the model's limit"}.`;
  return { estimatedNano: parseCredits(String(usual.estimated_credits)), maxNano, assumption: `${read} ${written}` };
}

/** @throws ApiError as `chatCost` */
export async function embeddingsCost({ work }: CallContext, model: Model, given: KnownParams): Promise<Cost> {
  if (!isEmbeddingModel(model))
    throw new ApiError("model_not_supported", "Expected an embedding model.", { param: "model" });
  const checked = (known: object) => {
    const body = EMBEDDINGS.read({ ...known, model: model.slug });
    const bodyBytes = Buffer.byteLength(JSON.stringify(body));
    return { body, bodyBytes, ...EMBEDDINGS.check(body, model, { bodyBytes, files: NO_FILES }) };
  };
  const { body, bodyBytes } = asFarAsKnown(given, { input: "text" }, checked);
  if (!openNames(given).includes("input")) {
    const usual = await estimateCall(model, body, bodyBytes, undefined, work.slices);
    return {
      estimatedNano: parseCredits(String(usual.estimated_credits)),
      maxNano: parseCredits(String(usual.max_credits)),
      assumption: EXACT,
    };
  }
  const one = (inputTokens: number): bigint =>
    boundChat(model.price, {
      inputTokens,
      outputTokens: 0,
      hasAudioInput: false,
      hasImageInput: false,
      hasAudioOutput: false,
    });
  const { inputs_max: inputs } = model.embedding;
  return {
    estimatedNano: one(ESTIMATE_OUTPUT_TOKENS),
    maxNano: one(inputs * model.max_context_tokens),
    assumption: `The input is unknown before a run. The maximum assumes ${inputs} inputs of ${model.max_context_tokens} tokens.`,
  };
}

/** @param check checks a call without the open members that it rejects. @param usual sample values of required members */
function asFarAsKnown<T>({ value, open }: KnownParams, usual: KnownParams["value"], check: (known: object) => T): T {
  if (open.length === 0) return check(value);
  let checked: T | undefined;
  const faultsOf = (known: object) => apiErrorsOf(() => (checked = check(known)));
  const { fault, known } = judgeKnown(value, open, { faultsOf, memberDepth: 1, usual });
  if (fault) throw fault;
  return known && checked !== undefined ? checked : check(usual);
}
