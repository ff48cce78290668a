/** Calculates the charge for delivered media from the delivered quantity. The charge is at most the hold. */
import type { Charge } from "#shared/ledger/charge.ts";
import { priceMedia, type Quantities, wholeMilliseconds } from "#shared/calls/pricing/media.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { completionTokens, NO_USAGE, promptTokens, usageUnits } from "#shared/calls/pricing/usage.ts";

import type { MediaUsage } from "../../providers/media.ts";

export interface HeldMedia {
  readonly price: Price;
  readonly holdNano: bigint;
  /** Maximum quantities, from which the hold was calculated. They are charged for results whose size is unknown. */
  readonly most: Quantities;
  /** Maximum tokens that the call can use; 0 unless the price is per token. */
  readonly tokensMax: number;
  /** Meaning of the seconds in a price per second: duration of the media, or compute time of the provider. */
  readonly secondsOf: "media" | "compute";
}

/** Measured quantities of one result; a quantity is undefined if it is unknown. */
export interface Measured {
  readonly pixels?: number | undefined;
  readonly seconds?: number | undefined;
}

/**
 * Factor by which a usage report may exceed the token limit that this service calculates for the call. Providers count differently, but
 * never twice as much.
 */
const BOUND_SLACK = 2;

export function meterMedia(held: HeldMedia, results: readonly Measured[], usage: MediaUsage): Charge {
  const { price, holdNano, most } = held;
  const tokens = usage.tokens ?? NO_USAGE;
  const count = promptTokens(tokens) + completionTokens(tokens);
  const { milliseconds, units } = countOf(held, results, usage);
  const fault = faultOf(held, count, milliseconds);
  if (fault) return { nano: holdNano, units, tokens: 0, estimated: fault };
  const quantities: Quantities = {
    ...most,
    results: results.length,
    pixels: results.map((one, at) => one.pixels ?? most.pixels[at] ?? most.pixels[0] ?? 0),
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

/**
 * Returns the milliseconds by which the price is calculated, and the units for the usage record. The milliseconds are undefined if they
 * could neither be measured nor were reported by the provider.
 */
function countOf(
  { price, most, secondsOf }: HeldMedia,
  results: readonly Measured[],
  usage: MediaUsage,
): { readonly milliseconds: number | undefined; readonly units: Record<string, number> } {
  const units: Record<string, number> = {};
  // We measure the stored bytes; the provider's report counts only if they have no readable length.
  const measured = results.map(({ seconds }) => seconds).filter((seconds) => seconds !== undefined);
  const mediaSeconds = measured.length > 0 ? measured.reduce((sum, one) => sum + one, 0) : usage.seconds;
  const seconds = secondsOf === "compute" ? usage.computeSeconds : mediaSeconds;
  switch (price.unit) {
    case "per_character":
      units["characters"] = most.characters;
      break;
    case "per_megapixel":
      units["images"] = results.length;
      units["pixels"] = results.reduce(
        (sum, one, at) => sum + (one.pixels ?? most.pixels[at] ?? most.pixels[0] ?? 0),
        0,
      );
      units["steps"] = most.steps;
      break;
    case "per_second":
    case "per_minute":
      if (seconds !== undefined) units[secondsOf === "compute" ? "compute_seconds" : "seconds"] = seconds;
      break;
    default:
      units[most.pixels.length > 0 ? "images" : "results"] = results.length;
  }
  return { milliseconds: seconds === undefined ? undefined : wholeMilliseconds(seconds), units };
}

/**
 * Returns the reason why the call must be charged its full hold: the provider's usage report is missing or has impossible numbers. Returns
 * undefined if the report is valid.
 */
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
