/** Calculates the cost of a run. The hold covers the maximum usage (expected.ts); the charge covers the actual usage. */
import type { Catalogue } from "#shared/calls/model.ts";
import type { Charge } from "#shared/ledger/charge.ts";
import { ONE_RESULT, priceMedia } from "#shared/calls/pricing/media.ts";
import { parsePrice, type Price } from "#shared/calls/pricing/price.ts";

import type { Capability } from "./entry.ts";

/** Minimum pixels charged for an image: half a megapixel. */
export const CAPABILITY_PIXELS_MIN = 500_000;

/** Actual usage of a run, reported by its child process. */
export interface Measured {
  readonly ms: number;
  readonly pixels?: number;
}

/** Step to which the charged time is rounded up, in milliseconds. */
const MS_STEP = 100;

/**
 * Returns the charge for the usage of a run.
 * @param mostNano hold of the run in nano-credits, which is the maximum charge
 */
export function capabilityCharge(price: Price, { ms, pixels = 0 }: Measured, mostNano?: bigint): Charge {
  const milliseconds = Math.ceil(ms / MS_STEP) * MS_STEP;
  const counted = Math.max(pixels, CAPABILITY_PIXELS_MIN);
  const units = unitsOf(price, milliseconds, counted);
  const measured = priceMedia(price, { ...ONE_RESULT, milliseconds, pixels: [counted] });
  const nano = mostNano !== undefined && measured > mostNano ? mostNano : measured;
  return { nano, units, tokens: 0, estimated: undefined };
}

function unitsOf({ unit }: Price, milliseconds: number, pixels: number): Record<string, number> {
  if (unit === "per_second") return { milliseconds };
  return unit === "per_megapixel" ? { pixels } : { operations: 1 };
}

/** Returns the price of a capability in the catalogue. The default is the price that ships with the service. */
export function capabilityPrice(
  { capabilities }: Pick<Catalogue, "capabilities">,
  { id, pricing }: Pick<Capability, "id" | "pricing">,
): Price {
  return capabilities.get(id)?.price ?? parsePrice(pricing);
}
