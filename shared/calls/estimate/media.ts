/** Typical charge of a media call, line by line; calls that are paid by tokens have lines of their own (lines.ts). */
import type { Estimate } from "#schemas/generated/types.ts";
import { creditsNumber } from "#shared/money.ts";

import { ONE_RESULT, priceMedia, type Quantities } from "#shared/calls/pricing/media.ts";
import type { Price, PriceUnit } from "#shared/calls/pricing/price.ts";

type Line = Estimate["breakdown"][number];

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;

/** For each price unit, the noun of its line and the quantity that it counts. */
const COUNTED: Readonly<Partial<Record<PriceUnit, (usual: Quantities) => readonly [kind: string, quantity: number]>>> =
  {
    per_image: ({ results }) => ["images", results],
    per_megapixel: ({ pixels }) => ["megapixels", pixels.reduce((sum, one) => sum + one, 0) / 1_000_000],
    per_second: ({ milliseconds }) => ["seconds", milliseconds / MS_PER_SECOND],
    per_minute: ({ milliseconds }) => ["minutes", milliseconds / MS_PER_MINUTE],
    per_character: ({ characters }) => ["characters", characters],
    per_operation: () => ["operations", 1],
  };

/** Undefined where tokens are paid. */
export function breakDownMedia(price: Price, usual: Quantities): { lines: Line[]; nano: bigint } | undefined {
  if (price.unit === "per_token") return undefined;
  const nano = priceMedia(price, usual);
  const [kind, quantity] = COUNTED[price.unit]?.(usual) ?? ["requests", 1];
  // Of one megapixel at as many steps.
  const unit =
    price.unit === "per_megapixel"
      ? priceMedia(price, { ...ONE_RESULT, pixels: [1_000_000], steps: usual.steps, defaultSteps: usual.defaultSteps })
      : price.unitRate;
  return { lines: [{ kind, quantity, unit_credits: creditsNumber(unit), credits: creditsNumber(nano) }], nano };
}
