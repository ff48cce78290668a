/** Cost of one call of a step: by text tokens for chat and embeddings, or by the quantities of media. */
import { estimateCall } from "#shared/calls/estimate/estimate.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { findStoredFiles, NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import { ESTIMATE_OUTPUT_TOKENS } from "#shared/calls/kinds/chat/usage.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import type { CallFacts, Kind } from "#shared/calls/kinds/kind.ts";
import { takeMaxCredits } from "#shared/calls/max-credits.ts";
import { isEmbeddingModel, type Model } from "#shared/calls/model.ts";
import { boundChat } from "#shared/calls/pricing/price.ts";
import { refuseUnsupported } from "#shared/calls/unsupported.ts";
import { ApiError, apiErrorsOf } from "#shared/base/errors.ts";
import { parseCredits } from "#shared/base/money.ts";

import { isWithin, judgeKnown } from "../known-faults.ts";
import { type CallContext, type Cost, EXACT } from "./cost.ts";
import { knownMembers, type KnownParams, openNames, unitsOf } from "./known.ts";

/** Maximum number of choices (`n`) of one call. */
const CHOICES_MAX = 128;
/** Factor by which a provider's reported usage may exceed the limits of the model and is still charged (workers/calls/chat/meter.ts). */
const REPORTS_BELIEVED = 2;
const TEMPLATE_TOKENS_MAX = 8_192;
/** Returns sample messages of a chat call. They replace the actual messages in a check if too little is known of these before a run. */
function usualMessages({ allowed_params: { requires_input_image: image, requires_input_audio: audio } }: Model) {
  const blocks = [
    ...(image === true ? [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] : []),
    ...(audio === true ? [{ type: "input_audio", input_audio: { data: NO_AUDIO, format: "wav" } }] : []),
  ];
  return [{ role: "user", content: blocks.length === 0 ? "" : blocks }];
}

/** An empty WAV file. */
const NO_AUDIO = Buffer.from("RIFF\u0004\0\0\0WAVE", "latin1").toString("base64");

/**
 * Returns the cost of a chat call.
 * @throws ApiError of the model's rejection, if every possible value of the unknown parts leads to it
 */
export async function chatCost(
  { database, caller, work }: CallContext,
  model: Model,
  params: KnownParams,
): Promise<Cost> {
  const unknown = openNames(params);
  const isUnknown = (name: string): boolean => unknown.includes(name);
  const files = await findStoredFiles(database, caller, params.value);
  const checked = (known: object) => {
    const { request: body } = takeMaxCredits(CHAT.read({ ...known, model: model.slug }));
    const bodyBytes = Buffer.byteLength(JSON.stringify(body));
    return { body, bodyBytes, ...CHAT.check(body, model, { bodyBytes, files }) };
  };
  const { body, bodyBytes, bound } = asFarAsKnown(params, { messages: usualMessages(model) }, checked);
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
    serviceTier: isUnknown("service_tier") ? "auto" : body.service_tier,
  });
  const read =
    unknown.length === 0
      ? EXACT
      : `Unknown before a run: ${unknown.join(", ")}. The maximum assumes ${inputTokens} input tokens, the model's context.`;
  const usualTokens = Math.min(bound.outputTokensMax, n * ESTIMATE_OUTPUT_TOKENS);
  const written = `The estimate assumes ${usualTokens} output tokens, the maximum ${perChoice * n}${isLimited ? "" : ", the model's limit"}.`;
  return { estimatedNano: parseCredits(String(usual.estimated_credits)), maxNano, assumption: `${read} ${written}` };
}

/**
 * Returns the cost of an embeddings call.
 * @throws ApiError of the model's rejection, if every possible value of the unknown parts leads to it
 */
export async function embeddingsCost({ work }: CallContext, model: Model, params: KnownParams): Promise<Cost> {
  if (!isEmbeddingModel(model))
    throw new ApiError("model_not_supported", "Expected an embedding model.", { param: "model" });
  const checked = (known: object) => {
    const { request: body } = takeMaxCredits(EMBEDDINGS.read({ ...known, model: model.slug }));
    const bodyBytes = Buffer.byteLength(JSON.stringify(body));
    return { body, bodyBytes, ...EMBEDDINGS.check(body, model, { bodyBytes, files: NO_FILES }) };
  };
  const { body, bodyBytes } = asFarAsKnown(params, { input: "text" }, checked);
  if (!openNames(params).includes("input")) {
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

/**
 * Checks a call in which some members are unknown before a run, and returns the result of the check.
 * @param check checks a call. Unknown members that cause a rejection are removed, and the call is checked again
 * @param usual sample values of required members
 */
function asFarAsKnown<T>({ value, open }: KnownParams, usual: KnownParams["value"], check: (known: object) => T): T {
  if (open.length === 0) return check(value);
  let checked: T | undefined;
  const faultsOf = (known: object) => apiErrorsOf(() => (checked = check(known)));
  const { fault, known } = judgeKnown(value, open, { faultsOf, memberDepth: 1, usual });
  if (fault) throw fault;
  return known && checked !== undefined ? checked : check(usual);
}

// Cost of calls that create or transcribe media: unknown values count as the most expensive that the model accepts.

type Body = Readonly<Record<string, unknown>>;
type BoundOf = (body: Body) => bigint;

interface Dear {
  readonly body: Body;
  readonly maxNano: bigint;
}

const SECONDS_MAX = 4 * 3_600;
/** Units of work for one check of a call, about 10 µs. */
const CHECK_UNITS = 1_000;

/**
 * Returns the cost of a media call.
 * @throws ApiError of the model's rejection, if every possible value of the unknown parts leads to it
 */
export async function mediaCost({ work }: CallContext, model: Model, kind: Kind, params: KnownParams): Promise<Cost> {
  const [known, unknown] = [knownMembers(params), openNames(params)];
  const seconds = Math.min(SECONDS_MAX, model.allowed_params.max_audio_duration_seconds ?? SECONDS_MAX);
  const facts: CallFacts = {
    bodyBytes: 0,
    files: NO_FILES,
    ...(kind.name === "transcription" ? { recording: { bytes: 1, seconds, param: "file" } } : {}),
  };
  const boundOf = (body: Body): bigint => {
    work.count(CHECK_UNITS + unitsOf(body) / 4);
    refuseUnsupported(body);
    const { request } = takeMaxCredits(kind.read({ ...body, model: model.slug }));
    return kind.check(request, model, facts).bound.holdNano;
  };
  const taken = takenBody(known, unknown, model, boundOf);
  const dear = dearest(taken, boundOf(taken), unknown, (name) => valuesOf(name, model), boundOf);
  const { maxNano } = dearest(dear.body, dear.maxNano, pricedTexts(unknown, model), () => LONG_TEXTS, boundOf);
  if (kind.name === "transcription") {
    return {
      estimatedNano: maxNano / BigInt(Math.max(1, Math.floor(seconds / 60))),
      maxNano,
      assumption: `The estimate assumes one minute of audio, the maximum ${seconds} seconds.`,
    };
  }
  const bytes = Buffer.byteLength(JSON.stringify(dear.body));
  const usual = await estimateCall(model, dear.body, bytes, undefined, work.slices);
  const assumption =
    unknown.length === 0
      ? EXACT
      : `Unknown before a run: ${unknown.join(", ")}. The maximum assumes the most expensive values.`;
  return { estimatedNano: parseCredits(String(usual.estimated_credits)), maxNano, assumption };
}

/**
 * Returns a call that the model accepts, with sample values for the unknown members. A sample value that the model rejects is replaced by
 * the next one. After the last sample value, the member is removed.
 * @throws ApiError of the rejection, if no sample value avoids it
 */
function takenBody(known: Body, unknown: readonly string[], model: Model, check: BoundOf): Body {
  const body: Record<string, unknown> = { ...known };
  const candidates = new Map<string, unknown[]>();
  for (const name of unknown) {
    const fill = fillOf(name);
    if (fill !== undefined) body[name] = fill;
    candidates.set(name, [...valuesOf(name, model)]);
  }
  for (;;) {
    const [fault] = apiErrorsOf(() => check(body));
    if (fault === undefined) return body;
    const name = unknown.find((one) => isWithin(fault.param ?? "", one));
    if (name === undefined || !change(body, name, candidates.get(name)?.shift())) throw fault;
  }
}

/** Sets a member, or removes it if the value is undefined. Returns false if the member is already absent. */
function change(body: Record<string, unknown>, name: string, value: unknown): boolean {
  if (value !== undefined) body[name] = value;
  else if (name in body) delete body[name];
  else return false;
  return true;
}

type Values = (name: string) => readonly unknown[];

/**
 * Chooses the most expensive value of each member, one after the other. This is sufficient, because a price never falls when the value of
 * another member becomes more expensive.
 */
function dearest(body: Body, maxNano: bigint, names: readonly string[], values: Values, boundOf: BoundOf): Dear {
  let dear: Dear = { body, maxNano };
  for (const name of names) {
    for (const value of values(name)) {
      const next = { ...dear.body, [name]: value };
      let nano = 0n;
      const [refused] = apiErrorsOf(() => (nano = boundOf(next)));
      if (refused === undefined && nano > dear.maxNano) dear = { body: next, maxNano: nano };
    }
  }
  return dear;
}

const TEXTS: ReadonlySet<string> = new Set(["prompt", "input", "lyrics", "instructions", "negative_prompt"]);
/** Sample texts of several lengths, made of characters with the most bytes. The shorter ones are for models with lower limits. */
const LONG_TEXTS = [32_000, 10_000, 5_000, 4_096].map((length) => "\u{10FFFF}".repeat(length));
const PAID_BY_TEXT: ReadonlySet<string> = new Set(["per_token", "per_character"]);

/**
 * Returns the names of texts whose length affects the price. The text of a speech call (`input`) always counts, because a longer text makes
 * longer audio.
 */
function pricedTexts(names: readonly string[], { price, price_variants: variants = [] }: Model): readonly string[] {
  const isPaid = [price, ...variants.map((one) => one.price)].some(({ unit }) => PAID_BY_TEXT.has(unit));
  return names.filter((name) => name === "input" || (isPaid && TEXTS.has(name)));
}

const FILE = `file-${"0".repeat(32)}`;

/** Returns a sample value for a member that has no list of values; undefined for other names. */
function fillOf(name: string): string | undefined {
  if (TEXTS.has(name)) return "x".repeat(200);
  if (name.endsWith("_file_id") || name === "file_id") return FILE;
  if (name.endsWith("_url")) return "https://example.com/a";
  return name.endsWith("_base64") ? "AAAA" : undefined;
}

/** Returns the values of a member that may differ in price. */
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
    // Slow speech is longer.
    speed: [allowed.speed?.min ?? 0.25],
    prompt_extend: [true, false],
  };
  return sets[name] ?? [];
}
