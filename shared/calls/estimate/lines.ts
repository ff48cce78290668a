/** A usage at a price, line by line. */
import type { Estimate } from "#schemas/generated/types.ts";
import { creditsNumber } from "#shared/money.ts";

import { type Price, priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

type Line = Estimate["breakdown"][number];

/** Buckets that an estimate can fill, under the names that usage records give them. */
const BUCKETS = {
  input: "input_tokens",
  audioInput: "audio_input_tokens",
  imageInput: "image_input_tokens",
  output: "output_tokens",
  audioOutput: "audio_output_tokens",
  imageOutput: "image_output_tokens",
} as const satisfies Partial<Record<keyof TokenUsage, string>>;

/** Lines whose credits add up to `nano`, which is what the usage settles at. */
export function breakDown(price: Price, usage: TokenUsage): { lines: Line[]; nano: bigint } {
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
    // Rounded at the sum alone: a line takes what it adds to it.
    const sum = priceTokens(price, counted);
    lines.push({ kind, quantity, unit_credits: tokenCredits(price, bucket), credits: creditsNumber(sum - nano) });
    nano = sum;
  }
  return { lines, nano };
}

/** Credits of one token: rates are nano-credits a million, so this may be finer than a nano-credit. */
function tokenCredits(price: Price, bucket: keyof typeof BUCKETS): number {
  const perMillion = priceTokens(price, { ...NO_USAGE, [bucket]: 1_000_000 });
  // Read from decimal text: a division would round a second time.
  return Number(`${perMillion}e-15`);
}
