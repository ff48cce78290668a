/** What a call of a model costs, as far as its params are known: usually, and at most. */
import type { ChatCompletionRequest, EmbeddingsRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/admission/authenticate.ts";
import { type Catalogue, isEmbeddingModel, type Model } from "#shared/catalogue/catalogue.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { findStoredFiles, NO_FILES } from "#shared/kinds/chat/files.ts";
import { CHAT } from "#shared/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/kinds/embeddings.ts";
import type { CallFacts, Kind } from "#shared/kinds/kind.ts";
import { LIMITS } from "#shared/limits.ts";
import { parseCredits } from "#shared/money.ts";
import { boundChat } from "#shared/pricing/price.ts";
import { estimateCall } from "#shared/pricing/estimate.ts";

import { kindOf } from "../step-work.ts";
import type { Members } from "./known.ts";

/** Nano-credits. */
export interface Cost {
  readonly estimatedNano: bigint;
  readonly maxNano: bigint;
  /** A sentence. */
  readonly assumption: string;
}

export interface CostContext {
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  readonly database: Queryable;
}

/** @throws ApiError as the call itself would answer, where its params are known */
export async function modelCost(context: CostContext, slug: string, members: Members): Promise<Cost> {
  const model = context.catalogue.models.get(slug);
  if (!model) throw new ApiError("model_not_found", `There is no model ${slug}.`, { param: "model" });
  const kind = kindOf(model, { ...members.known, ...Object.fromEntries(members.unknown.map((name) => [name, ""])) });
  const own = await costOn(context, model, kind, members);
  let { maxNano } = own;
  const isContinued = context.caller.continuedChains?.has(slug) === true;
  // A fallback serves at its own price; of a stream that others go on with, all that wrote are paid.
  for (const name of context.caller.fallbackChains?.get(slug) ?? []) {
    const other = context.catalogue.models.get(name);
    const cost =
      other && kind.isOfKind(other) ? await costOn(context, other, kind, members).catch(passOver) : undefined;
    if (!cost) continue;
    if (isContinued) maxNano += cost.maxNano;
    else if (cost.maxNano > maxNano) maxNano = cost.maxNano;
  }
  return { ...own, maxNano };
}

/** A fallback that does not take the call is passed over when it is made, too. */
function passOver(error: unknown): undefined {
  if (error instanceof ApiError) return undefined;
  throw error;
}

async function costOn(context: CostContext, model: Model, kind: Kind, members: Members): Promise<Cost> {
  if (kind === CHAT) return chatCost(context, model, members);
  if (kind === EMBEDDINGS) return embeddingsCost(model, members);
  return mediaCost(model, kind, members);
}

const EXACT = "All that it is given is known.";

/** Answers of one call, at most. */
const CHOICES_MAX = 128;
/** Times the model's own limits (workers/calls/chat/meter.ts). */
const REPORTS_BELIEVED = 2;
const TEMPLATE_TOKENS_MAX = 8_192;

async function chatCost({ database, caller }: CostContext, model: Model, { known, unknown }: Members): Promise<Cost> {
  const isUnknown = (name: string): boolean => unknown.includes(name);
  const body = { messages: [{ role: "user", content: "" }], ...known, model: model.slug } as ChatCompletionRequest;
  const text = JSON.stringify(body);
  const files = unknown.length === 0 ? await findStoredFiles(database, caller, body) : NO_FILES;
  const facts = { bodyBytes: Buffer.byteLength(text), files };
  const { bound } = CHAT.check(CHAT.read(body), model, facts);
  const usual = await estimateCall(model, body, facts.bodyBytes, {
    files,
    recording: () => Promise.resolve(undefined),
  });
  const n = isUnknown("n") ? CHOICES_MAX : (body.n ?? 1);
  const isLimited = !bound.mayExceed && !isUnknown("max_tokens") && !isUnknown("max_completion_tokens");
  const perChoice = isLimited ? bound.outputTokensMax / (body.n ?? 1) : model.max_output_tokens;
  const isOpen = isUnknown("messages") || isUnknown("tools") || isUnknown("response_format");
  const inputTokens = unknown.length > 0 ? model.max_context_tokens : bound.tokensMax - bound.outputTokensMax;
  const inputs = model.allowed_params.supported_inputs ?? [];
  const blocks = JSON.stringify(known["messages"] ?? "");
  // Without a limit a call is settled at what its provider reports, which is believed up to so much.
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
      : `Not known before a run: ${unknown.join(", ")}. At most it reads ${inputTokens} tokens, the model's context.`;
  const written = `At most it writes ${perChoice * n} tokens${isLimited ? "" : ", as the model allows"}.`;
  return { estimatedNano: parseCredits(String(usual.estimated_credits)), maxNano, assumption: `${read} ${written}` };
}

async function embeddingsCost(model: Model, { known, unknown }: Members): Promise<Cost> {
  if (!isEmbeddingModel(model))
    throw new ApiError("model_not_supported", "Expected a model of embeddings.", { param: "model" });
  if (!unknown.includes("input")) {
    const body = { ...known, model: model.slug } as EmbeddingsRequest;
    const usual = await estimateCall(model, body, Buffer.byteLength(JSON.stringify(body)));
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
    estimatedNano: one(LIMITS.estimateOutputTokens),
    maxNano: one(inputs * model.max_context_tokens),
    assumption: `The input is not known before a run: at most ${inputs} inputs of ${model.max_context_tokens} tokens.`,
  };
}

/** Texts as long as any call of the kind takes them. */
const TEXTS: Readonly<Record<string, string>> = {
  prompt: "x".repeat(5_000),
  input: "x".repeat(4_096),
  lyrics: "x".repeat(5_000),
};
const SECONDS_MAX = 4 * 3_600;
const FILE = `file-${"0".repeat(32)}`;

async function mediaCost(model: Model, kind: Kind, { known, unknown }: Members): Promise<Cost> {
  const seconds = Math.min(SECONDS_MAX, model.allowed_params.max_audio_duration_seconds ?? SECONDS_MAX);
  const facts: CallFacts = {
    bodyBytes: 0,
    files: NO_FILES,
    ...(kind.name === "transcription" ? { recording: { bytes: 1, seconds, param: "file" } } : {}),
  };
  const boundOf = (body: object): bigint =>
    kind.check(kind.read({ ...body, model: model.slug }), model, facts).bound.holdNano;
  let body: Record<string, unknown> = { ...known };
  for (const name of unknown) {
    if (name in TEXTS) body[name] = TEXTS[name];
    else if (name.endsWith("_file_id") || name === "file_id") body[name] = FILE;
    else if (name.endsWith("_url")) body[name] = "https://example.com/a";
  }
  let maxNano = boundOf(body);
  // The dearest value of each that is not known: prices do not fall where another value is dearer.
  for (const name of unknown) {
    for (const value of valuesOf(name, model)) {
      const next = { ...body, [name]: value };
      const nano = ifTaken(() => boundOf(next));
      if (nano === undefined || nano <= maxNano) continue;
      body = next;
      maxNano = nano;
    }
  }
  if (kind.name === "transcription") {
    return {
      estimatedNano: maxNano / BigInt(Math.max(1, Math.floor(seconds / 60))),
      maxNano,
      assumption: `A minute of audio is taken for usual, ${seconds} seconds for the most.`,
    };
  }
  const sample = JSON.stringify({
    ...body,
    ...Object.fromEntries(unknown.filter((name) => name in TEXTS).map((name) => [name, "x".repeat(200)])),
  });
  const usual = await estimateCall(model, JSON.parse(sample), sample.length);
  const assumption =
    unknown.length === 0
      ? EXACT
      : `Not known before a run: ${unknown.join(", ")}. The dearest that the model takes is its most.`;
  return { estimatedNano: parseCredits(String(usual.estimated_credits)), maxNano, assumption };
}

/** Values that a member may have, of which one may be dearer than another. */
function valuesOf(name: string, { allowed_params: allowed }: Model): readonly unknown[] {
  const sets: Readonly<Record<string, readonly unknown[] | undefined>> = {
    n: [allowed.max_n ?? 1],
    size: allowed.sizes,
    image_size: allowed.image_sizes,
    aspect_ratio: allowed.aspect_ratios,
    resolution: allowed.resolutions,
    quality: allowed.qualities,
    style: allowed.styles,
    duration: [
      ...(allowed.durations ?? []),
      ...(allowed.max_duration_seconds === undefined ? [] : [allowed.max_duration_seconds]),
    ],
    steps: [100],
    strength: [1],
  };
  return sets[name] ?? [];
}

function ifTaken(read: () => bigint): bigint | undefined {
  try {
    return read();
  } catch (error) {
    return passOver(error);
  }
}
