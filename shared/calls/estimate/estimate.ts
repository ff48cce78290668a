/**
 * What a call would hold and what it would typically settle at, from the checks and counts of the real call: a table by
 * kind of call. Nothing is held here.
 */
import type { Estimate } from "#schemas/generated/types.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import { NO_FILES, type StoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { checkChat } from "#shared/calls/kinds/chat/constraints.ts";
import { checkEmbeddings, inputsOf } from "#shared/calls/kinds/embeddings.ts";
import { IMAGE_EDITS } from "#shared/calls/kinds/images.ts";
import type { PricedKind } from "#shared/calls/kinds/kind.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";
import { withoutNulls } from "#shared/calls/kinds/media-check.ts";
import { isPricedMedia } from "#shared/calls/kinds/models.ts";
import { type MeasuredAudio, TRANSCRIPTION } from "#shared/calls/kinds/transcription.ts";
import { isEmbeddingModel, type Model } from "#shared/calls/model.ts";
import { parse } from "#shared/contracts.ts";
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";
import { creditsNumber } from "#shared/money.ts";
import { countInputs } from "#shared/tokens/count-inputs.ts";
import { createSamplingTokenizer } from "#shared/tokens/sampling-tokenizer.ts";
import { TimeSlices } from "#shared/time-slices.ts";
import { loadTokenizer, type Tokenizer } from "#shared/tokens/tokenizer.ts";

import { typicalChatUsage } from "./estimate-chat.ts";
import { breakDown } from "./estimate-lines.ts";
import { breakDownMedia } from "./estimate-media.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

/** A call that was checked, and what it would typically use. */
interface Foreseen {
  readonly bound: CallBound;
  /** Of what the call asks for, where that makes a difference. */
  readonly price?: Price;
  readonly usage: TokenUsage;
  /** Of what is not paid by tokens or by the request. */
  readonly lines?: ReturnType<typeof breakDown> | undefined;
}

/**
 * undefined: the model takes no such call.
 * @param body with the model's slug in `model`
 * @throws ApiError 400 as the call itself
 */
type Forecast = (
  model: Model,
  body: object,
  bodyBytes: number,
  about: EstimateFacts,
  slices: TimeSlices,
) => Promise<Foreseen> | undefined;

/** What a body alone does not tell. */
export interface EstimateFacts {
  /** The stored files that it names. */
  readonly files: StoredFiles;
  /** Length and size of the audio it brings; undefined: it brings none. @throws ApiError as the call */
  recording(): Promise<MeasuredAudio | undefined>;
}

/** One row for each kind of call; the first whose calls the model takes is the one. */
const FORECASTS: readonly Forecast[] = [forecastChat, forecastEmbeddings, forecastMedia];

/**
 * @param body the call's body; `model` may be absent
 * @param bodyBytes its size as it came
 * @param about what the body alone does not tell
 * @param slices in which texts are counted
 * @throws ApiError as the call itself; `model_not_supported` when there is no call for this kind of model
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
    throw new ApiError("unsupported_value", `Expected ${model.slug}, the model of the path, or none.`, {
      param: "model",
    });
  }
  const bytes = request.model === undefined ? bodyBytes + MODEL_MEMBER_BYTES + model.slug.length : bodyBytes;
  for (const forecast of FORECASTS) {
    await slices.rest();
    const foreseen = await forecast(model, { ...request, model: model.slug }, bytes, about, slices);
    if (foreseen !== undefined) return present(model, foreseen);
  }
  throw new ApiError("model_not_supported", `There is no call for models of modality ${model.modality} yet.`, {
    param: "model",
  });
}

const NOTHING_KNOWN: EstimateFacts = { files: NO_FILES, recording: () => Promise.resolve(undefined) };

/** `"model":"",` in a body that has it; slugs need no escapes. */
const MODEL_MEMBER_BYTES = 11;

function forecastChat(
  model: Model,
  body: object,
  bodyBytes: number,
  { files }: EstimateFacts,
  slices: TimeSlices,
): Promise<Foreseen> | undefined {
  if (!model.supports_chat) return undefined;
  const request = parse("ChatCompletionRequest", body);
  const bound = checkChat(request, model, bodyBytes, files);
  return sampler()
    .then((tokenizer) => slices.run(typicalChatUsage(request, model, bound, tokenizer, files)))
    .then((usage) => ({ bound, usage }));
}

function forecastEmbeddings(
  model: Model,
  body: object,
  _bodyBytes: number,
  _about: EstimateFacts,
  slices: TimeSlices,
): Promise<Foreseen> | undefined {
  if (!isEmbeddingModel(model)) return undefined;
  const request = parse("EmbeddingsRequest", body);
  const bound = checkEmbeddings(request, model);
  return sampler()
    .then((tokenizer) => countInputs(tokenizer, inputsOf(request.input), model.max_context_tokens, slices))
    .then((input) => ({ bound, usage: { ...NO_USAGE, input } }));
}

/** The kind of call that the body is for the model. */
function mediaKindOf(model: Model, body: object): PricedKind | undefined {
  const isEdit = model.modality === "image" && ("image_base64" in body || "image_file_id" in body);
  return isEdit ? IMAGE_EDITS : kindOfModality(model.modality);
}

/** What a model writes for media is known when it is there: its most is taken for it. */
function forecastMedia(
  model: Model,
  body: object,
  _bodyBytes: number,
  about: EstimateFacts,
  slices: TimeSlices,
): Promise<Foreseen> | undefined {
  const kind = isPricedMedia(model) ? mediaKindOf(model, withoutNulls(body) as object) : undefined;
  return kind && foreseeMedia(kind, model, body, about, slices);
}

async function foreseeMedia(
  kind: PricedKind,
  model: Model,
  body: object,
  about: EstimateFacts,
  slices: TimeSlices,
): Promise<Foreseen> {
  const recording = kind === TRANSCRIPTION ? await about.recording() : undefined;
  const facts = { bodyBytes: 0, files: about.files, recording };
  const { bound, price, usual, params } = kind.check(kind.read(body), model, facts);
  const { prompt, text } = params as { readonly prompt?: string; readonly text?: string };
  const tokenizer = await sampler();
  const usage = {
    ...NO_USAGE,
    input: await slices.run(tokenizer.counting(prompt ?? text ?? "")),
    [kind.writes]: bound.outputTokensMax,
  };
  return { bound, price, usage, lines: breakDownMedia(price, usual) };
}

async function sampler(): Promise<Pick<Tokenizer, "counting">> {
  return createSamplingTokenizer(await loadTokenizer(), LIMITS.countedCharactersMax);
}

function present(model: Model, { bound, usage, price = model.price, lines: known }: Foreseen): Estimate {
  const { lines, nano } = known ?? breakDown(price, usage);
  return {
    model: model.slug,
    currency: "credits",
    unit: model.price.unit,
    estimated_credits: creditsNumber(nano),
    max_credits: creditsNumber(bound.holdNano),
    breakdown: lines,
  };
}
