/** What a run costs: held at the most that its limits allow, settled at what was measured. */
import type { Catalogue } from "#shared/catalogue/catalogue.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import { CAPABILITY_RUN_MS, LIMITS } from "#shared/limits.ts";
import { ONE_RESULT, priceMedia } from "#shared/pricing/media.ts";
import { parsePrice, type Price } from "#shared/pricing/price.ts";

import type { Capability } from "./entry.ts";

/** What a child measured. */
export interface Measured {
  readonly ms: number;
  readonly pixels?: number;
}

/** Seconds count to a tenth, begun ones whole. */
const MS_STEP = 100;

/** Nano-credits that the dearest run of the capability can cost. @param operations of a pipeline */
export function capabilityBound(price: Price, { category }: Pick<Capability, "category">, operations = 1): bigint {
  return priceMedia(price, {
    ...ONE_RESULT,
    milliseconds: CAPABILITY_RUN_MS[category],
    pixels: [LIMITS.imageFramesPixelsMax * operations],
  });
}

export function capabilityCharge(price: Price, { ms, pixels = 0 }: Measured): Charge {
  const milliseconds = Math.ceil(ms / MS_STEP) * MS_STEP;
  const counted = Math.max(pixels, LIMITS.capabilityPixelsMin);
  const units = unitsOf(price, milliseconds, counted);
  const nano = priceMedia(price, { ...ONE_RESULT, milliseconds, pixels: [counted] });
  return { nano, units, tokens: 0, estimated: undefined };
}

function unitsOf({ unit }: Price, milliseconds: number, pixels: number): Record<string, number> {
  if (unit === "per_second") return { milliseconds };
  return unit === "per_megapixel" ? { pixels } : { operations: 1 };
}

/** The catalogue's own price, else ours. */
export function capabilityPrice(
  { capabilities }: Pick<Catalogue, "capabilities">,
  { id, pricing }: Pick<Capability, "id" | "pricing">,
): Price {
  return capabilities.get(id)?.price ?? parsePrice(pricing);
}

/** A run on an image of two megapixels, or of two seconds. */
export function usualCost(price: Price, operations = 1): bigint {
  return priceMedia(price, { ...ONE_RESULT, milliseconds: 2_000, pixels: [2_000_000 * operations] });
}
