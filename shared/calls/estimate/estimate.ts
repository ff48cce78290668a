/**
 * Estimates the hold and the typical charge of a call, for each kind of call. It applies the same checks and counts as the call itself but
 * holds no credits.
 */
import type { Estimate } from "#schemas/generated/types.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import { NO_FILES, type StoredFiles } from "#shared/calls/kinds/chat/files.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import { isPricedKind } from "#shared/calls/kinds/kinds.ts";
import type { CheckedMedia } from "#shared/calls/kinds/media-check.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import type { MeasuredAudio } from "#shared/calls/kinds/transcription.ts";
import type { Model } from "#shared/calls/model.ts";
import { maxCreditsBytes, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { type Price, priceTokens, type PriceUnit } from "#shared/calls/pricing/price.ts";
import type { ServiceTier } from "#shared/calls/pricing/rates.ts";
import { chargedTier, ratesOf } from "#shared/calls/pricing/tiers.ts";
import { NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { createSamplingTokenizer } from "#shared/tokens/sampling-tokenizer.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { ONE_RESULT, priceMedia, type Quantities } from "#shared/calls/pricing/media.ts";

/**
 * Maximum number of characters that an ingress counts exactly for one count_tokens call or estimate. They block its only thread for at most
 * 0.3 s.
 */
export const COUNTED_CHARACTERS_MAX = 1_048_576;

/** A checked call, and its typical usage. */
interface Foreseen {
  readonly bound: CallBound;
  /** Price of the requested variant; undefined if the model has no variants. */
  readonly price?: Price | undefined;
  readonly usage: TokenUsage;
  /** Service tier whose rates the call pays; undefined for the price itself. */
  readonly tier?: ServiceTier | undefined;
  /** Breakdown of the charge, for a call that is not charged by tokens or per request. */
  readonly lines?: ReturnType<typeof breakDown> | undefined;
}

/** Properties of a call that are not in its body. */
export interface EstimateFacts {
  /** Stored files that the call references. */
  readonly files: StoredFiles;
  /** Returns the length and size of the call's audio; undefined without audio. @throws the errors that the call itself would return */
  recording(request: object): Promise<MeasuredAudio | undefined>;
}

/**
 * Estimates the hold and the typical charge of a call.
 * @param body body of the call; `model` may be absent
 * @param bodyBytes original size of the body, in bytes
 * @param about properties of the call that are not in the body
 * @param slices time slices for counting texts
 * @throws the errors that the call itself would return; `model_not_supported` if the model serves no calls of this kind
 */
export async function estimateCall(
  model: Model,
  body: unknown,
  bodyBytes: number,
  about: EstimateFacts = NOTHING_KNOWN,
  slices = new TimeSlices(),
): Promise<Estimate> {
  const request = parse("EstimateRequest", body);
  if (request.model !== undefined && request.model !== model.slug) {
    throw new ApiError("unsupported_value", `Expected model to be ${model.slug}, as in the path, or absent.`, {
      param: "model",
    });
  }
  const ownBytes = bodyBytes - maxCreditsBytes(body);
  const bytes = request.model === undefined ? ownBytes + MODEL_MEMBER_BYTES + model.slug.length : ownBytes;
  const call = { ...request, model: model.slug };
  const kind = kindOfCall(model, call);
  if (!kind) {
    const message = `There is no endpoint for models of modality ${model.modality} yet.`;
    throw new ApiError("model_not_supported", message, { param: "model" });
  }
  await slices.yieldIfOver();
  return present(model, await foresee(kind, model, call, bytes, about, slices));
}

const NOTHING_KNOWN: EstimateFacts = { files: NO_FILES, recording: () => Promise.resolve(undefined) };

/** Bytes of `"model":"",` in a body. Slugs contain no characters that JSON escapes. */
const MODEL_MEMBER_BYTES = 11;

async function foresee(
  kind: Kind,
  model: Model,
  body: object,
  bodyBytes: number,
  about: EstimateFacts,
  slices: TimeSlices,
): Promise<Foreseen> {
  const { files } = about;
  const isPriced = isPricedKind(kind);
  const { request } = takeMaxCredits(kind.read(body));
  const recording = isPriced && kind.bringsRecording === true ? await about.recording(request) : undefined;
  const checked = kind.check(request, model, { bodyBytes, files, recording });
  const { bound, price } = checked;
  const tokenizer = createSamplingTokenizer(await loadTokenizer(), COUNTED_CHARACTERS_MAX);
  const usage = (await kind.foresee?.(request, model, checked, { files, tokenizer, slices })) ?? NO_USAGE;
  if (!isPriced) return { bound, price, usage, tier: chargedTier(tierIn(request), undefined) };
  const { usual, params } = checked as CheckedMedia<{ readonly prompt?: string; readonly text?: string }>;
  const input = await slices.run(tokenizer.counting(params.prompt ?? params.text ?? ""));
  // The tokens written for media are unknown in advance: their maximum is used.
  const lines = breakDownMedia(checked.price ?? model.price, usual);
  return { bound, price, usage: { ...usage, input, [kind.writes]: bound.outputTokensMax }, lines };
}

/** Returns the service tier that a request asks for. */
function tierIn(request: object): string | undefined {
  const { service_tier: tier } = request as { readonly service_tier?: unknown };
  return typeof tier === "string" ? tier : undefined;
}

function present(model: Model, { bound, usage, price = model.price, tier, lines: known }: Foreseen): Estimate {
  const { lines, nano } = known ?? breakDown({ ...price, ...ratesOf(price, tier, promptTokens(usage)) }, usage);
  return {
    model: model.slug,
    currency: "credits",
    unit: model.price.unit,
    estimated_credits: creditsNumber(nano),
    max_credits: creditsNumber(bound.holdNano),
    ...(bound.mayExceed ? { assumed_output_tokens: bound.outputTokensMax } : {}),
    breakdown: lines,
  };
}

// A usage at a price, line by line.

type Line = Estimate["breakdown"][number];

/** Counts of usage that an estimate lists, with their names in usage records. */
const BUCKETS = {
  input: "input_tokens",
  audioInput: "audio_input_tokens",
  imageInput: "image_input_tokens",
  output: "output_tokens",
  audioOutput: "audio_output_tokens",
  imageOutput: "image_output_tokens",
} as const satisfies Partial<Record<keyof TokenUsage, string>>;

/**
 * Splits a charge into lines, one per counted quantity. Their credits add up to `nano`, the charge of the usage in nano-credits.
 * @param price price with the token rates of the call
 */
export function breakDown(
  price: Pick<Price, "unit" | "unitRate" | "tokenRates">,
  usage: TokenUsage,
): { lines: Line[]; nano: bigint } {
  if (price.unit !== "per_token") {
    const credits = creditsNumber(price.unitRate);
    return { lines: [{ kind: "requests", quantity: 1, unit_credits: credits, credits }], nano: price.unitRate };
  }
  const lines: Line[] = [];
  let counted: TokenUsage = NO_USAGE;
  let nano = 0n;
  for (const [bucket, kind] of Object.entries(BUCKETS) as [keyof typeof BUCKETS, string][]) {
    const quantity = usage[bucket];
    if (quantity === 0) continue;
    counted = { ...counted, [bucket]: quantity };
    // Only the sum is rounded: a line gets its difference.
    const sum = priceTokens(price, counted);
    lines.push({ kind, quantity, unit_credits: tokenCredits(price, bucket), credits: creditsNumber(sum - nano) });
    nano = sum;
  }
  return { lines, nano };
}

/** Returns the price of one token in credits. Rates are nano-credits per million tokens, so the result may be a part of a nano-credit. */
function tokenCredits(price: Pick<Price, "tokenRates">, bucket: keyof typeof BUCKETS): number {
  const perMillion = priceTokens(price, { ...NO_USAGE, [bucket]: 1_000_000 });
  // Parsed from decimal text: a division would round a second time.
  return Number(`${perMillion}e-15`);
}

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;

/** Counted quantity of each price unit, with the noun for its line in the estimate. */
const COUNTED: Readonly<Partial<Record<PriceUnit, (usual: Quantities) => readonly [kind: string, quantity: number]>>> =
  {
    per_image: ({ results }) => ["images", results],
    per_megapixel: ({ pixels }) => ["megapixels", pixels.reduce((sum, one) => sum + one, 0) / 1_000_000],
    per_second: ({ milliseconds }) => ["seconds", milliseconds / MS_PER_SECOND],
    per_minute: ({ milliseconds }) => ["minutes", milliseconds / MS_PER_MINUTE],
    per_character: ({ characters }) => ["characters", characters],
    per_operation: () => ["operations", 1],
  };

/** Splits the charge of media into lines. Returns undefined if the model is charged by tokens. */
function breakDownMedia(price: Price, usual: Quantities): { lines: Line[]; nano: bigint } | undefined {
  if (price.unit === "per_token") return undefined;
  const nano = priceMedia(price, usual);
  const [kind, quantity] = COUNTED[price.unit]?.(usual) ?? ["requests", 1];
  // Unit: one megapixel at this number of steps.
  const unit =
    price.unit === "per_megapixel"
      ? priceMedia(price, { ...ONE_RESULT, pixels: [1_000_000], steps: usual.steps, defaultSteps: usual.defaultSteps })
      : price.unitRate;
  return { lines: [{ kind, quantity, unit_credits: creditsNumber(unit), credits: creditsNumber(nano) }], nano };
}
