/**
 * Calculates the exact charge of media. Pure. At a price per megapixel, images cost megapixels × rate × max(1, steps ÷ the model's default
 * steps). Seconds and minutes are counted in milliseconds.
 */
import { type Price, priceTokens } from "./price.ts";
import { NO_USAGE, type TokenUsage } from "./usage.ts";

/** Quantities of a call that a price may count. */
export interface Quantities {
  /** Number of results. */
  readonly results: number;
  /** Pixels of each image, as integers. */
  readonly pixels: readonly number[];
  /** Number of image-generation steps that the call requests; `defaultSteps` is the model's default. */
  readonly steps: number;
  readonly defaultSteps: number;
  /** Length of the media or time of computing, depending on the model, in whole milliseconds. */
  readonly milliseconds: number;
  /** Number of characters, in Unicode code points. */
  readonly characters: number;
  /** Token usage, for a model that is priced per token. */
  readonly tokens: TokenUsage;
}

/** Quantities of one result without size, length or tokens. */
export const ONE_RESULT: Quantities = {
  results: 1,
  pixels: [],
  steps: 1,
  defaultSteps: 1,
  milliseconds: 0,
  characters: 0,
  tokens: NO_USAGE,
};

const MEGA = 1_000_000n;
const MS_PER_SECOND = 1_000n;
const MS_PER_MINUTE = 60_000n;

/** Returns the charge of media in nano-credits. The sum is rounded up once. A call counts as one request and one operation. */
export function priceMedia(price: Price, quantities: Quantities): bigint {
  const { unit, unitRate } = price;
  const { pixels, steps, defaultSteps } = quantities;
  switch (unit) {
    case "per_image":
      return unitRate * BigInt(quantities.results);
    case "per_request":
    case "per_operation":
      return unitRate;
    case "per_character":
      return unitRate * BigInt(quantities.characters);
    case "per_second":
      return roundUp(unitRate * BigInt(quantities.milliseconds), MS_PER_SECOND);
    case "per_minute":
      return roundUp(unitRate * BigInt(quantities.milliseconds), MS_PER_MINUTE);
    case "per_megapixel": {
      const all = pixels.reduce((sum, one) => sum + BigInt(one), 0n);
      return roundUp(all * unitRate * BigInt(Math.max(steps, defaultSteps)), MEGA * BigInt(defaultSteps));
    }
    default:
      return priceTokens(price, quantities.tokens);
  }
}

/** Maximum tokens of a call, by type of token. */
export interface TokenBounds {
  readonly input: number;
  readonly imageInput?: number;
  readonly audioInput?: number;
  readonly output: number;
}

/** Returns the maximum cost of media in nano-credits. Each input or output token counts at the highest of its rates. */
export function boundMedia(price: Price, quantities: Quantities, tokens: TokenBounds): bigint {
  if (price.unit !== "per_token") return priceMedia(price, quantities);
  const { input_per_million: input = 0n, output_per_million: output = 0n } = price.tokenRates;
  const { image_input_per_million: image = input, audio_input_per_million: audio = input } = price.tokenRates;
  const { image_output_per_million: images = output, audio_output_per_million: audioOutput = output } =
    price.tokenRates;
  const sum =
    BigInt(tokens.input) * input +
    BigInt(tokens.imageInput ?? 0) * maximum(input, image) +
    BigInt(tokens.audioInput ?? 0) * maximum(input, audio) +
    BigInt(tokens.output) * maximum(output, images, audioOutput);
  return roundUp(sum, MEGA);
}

/** Converts reported or measured seconds to whole milliseconds, rounded up. */
export function wholeMilliseconds(seconds: number): number {
  // A thousandth of a millisecond is rounding noise from adding fractions of a second.
  return Math.ceil(seconds * 1_000 - 0.001) || 0;
}

function roundUp(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

function maximum(...rates: readonly bigint[]): bigint {
  return rates.reduce((most, rate) => (rate > most ? rate : most), 0n);
}
