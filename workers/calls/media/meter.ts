/** Charge of delivered media: for as much as was delivered, never more than was held. */
import type { Charge } from "#shared/ledger/charge.ts";
import { priceMedia, type Quantities, wholeMilliseconds } from "#shared/calls/pricing/media.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { completionTokens, NO_USAGE, promptTokens, usageUnits } from "#shared/calls/pricing/usage.ts";

import type { MediaUsage } from "../../providers/media.ts";

export interface HeldMedia {
  readonly price: Price;
  readonly holdNano: bigint;
  /** Quantities that the hold covers; used for results whose own size is not known. */
  readonly most: Quantities;
  /** Most tokens the call can use; 0 unless priced by them. */
  readonly tokensMax: number;
  /** Seconds that a price by the second counts: of media or of computing. */
  readonly secondsOf: "media" | "compute";
}

/** One thing that was made, as far as it can be told. */
export interface Measured {
  readonly pixels?: number | undefined;
  readonly seconds?: number | undefined;
}

/** Vendors count otherwise than we bound, but never twice as much. */
const BOUND_SLACK = 2;

export function meterMedia(held: HeldMedia, made: readonly Measured[], usage: MediaUsage): Charge {
  const { price, holdNano, most } = held;
  const tokens = usage.tokens ?? NO_USAGE;
  const count = promptTokens(tokens) + completionTokens(tokens);
  const { milliseconds, units } = countOf(held, made, usage);
  const fault = faultOf(held, count, milliseconds);
  if (fault) return { nano: holdNano, units, tokens: 0, estimated: fault };
  const quantities: Quantities = {
    ...most,
    results: made.length,
    pixels: made.map((one, at) => one.pixels ?? most.pixels[at] ?? most.pixels[0] ?? 0),
    milliseconds: milliseconds ?? 0,
    tokens,
  };
  const nano = priceMedia(price, quantities);
  return {
    nano: nano > holdNano ? holdNano : nano,
    units: { ...units, ...usageUnits(tokens) },
    tokens: count,
    estimated: undefined,
  };
}

/** Milliseconds as the price counts them, undefined where the provider did not tell; and what the usage record says. */
function countOf(
  { price, most, secondsOf }: HeldMedia,
  made: readonly Measured[],
  usage: MediaUsage,
): { readonly milliseconds: number | undefined; readonly units: Record<string, number> } {
  const units: Record<string, number> = {};
  // The bytes that are kept are ours to measure; a provider's word counts where they tell no length.
  const measured = made.map(({ seconds }) => seconds).filter((seconds) => seconds !== undefined);
  const mediaSeconds = measured.length > 0 ? measured.reduce((sum, one) => sum + one, 0) : usage.seconds;
  const seconds = secondsOf === "compute" ? usage.computeSeconds : mediaSeconds;
  switch (price.unit) {
    case "per_character":
      units["characters"] = most.characters;
      break;
    case "per_megapixel":
      units["images"] = made.length;
      units["pixels"] = made.reduce((sum, one, at) => sum + (one.pixels ?? most.pixels[at] ?? most.pixels[0] ?? 0), 0);
      units["steps"] = most.steps;
      break;
    case "per_second":
    case "per_minute":
      if (seconds !== undefined) units[secondsOf === "compute" ? "compute_seconds" : "seconds"] = seconds;
      break;
    default:
      units[most.pixels.length > 0 ? "images" : "results"] = made.length;
  }
  return { milliseconds: seconds === undefined ? undefined : wholeMilliseconds(seconds), units };
}

/** Why what was reported cannot be charged by: the call then settles at its hold. */
function faultOf(
  { price, tokensMax }: HeldMedia,
  tokens: number,
  milliseconds: number | undefined,
): Charge["estimated"] {
  if (price.unit === "per_token") {
    if (tokens === 0) return "missing";
    return tokens > tokensMax * BOUND_SLACK ? "impossible" : undefined;
  }
  if (price.unit !== "per_second" && price.unit !== "per_minute") return undefined;
  if (milliseconds === undefined) return "missing";
  return Number.isSafeInteger(milliseconds) && milliseconds >= 0 ? undefined : "impossible";
}
