import { describe, expect, test } from "bun:test";

import { ONE_RESULT } from "#shared/calls/pricing/media.ts";
import { parsePrice } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { type HeldMedia, meterMedia } from "#workers/calls/media/meter.ts";

const CREDIT = 1_000_000_000n;
const MEGAPIXEL = parsePrice({ unit: "per_megapixel", megapixel_price: "1" });
const TOKEN = parsePrice({ unit: "per_token", input_per_million: "1", image_output_per_million: "10" });
const SECOND = parsePrice({ unit: "per_second", second_price: "2" });
const held: HeldMedia = {
  price: parsePrice({ unit: "per_image", image_price: "4" }),
  holdNano: 100n * CREDIT,
  most: { ...ONE_RESULT, results: 4, pixels: [1_000_000], steps: 20, defaultSteps: 10, characters: 12 },
  tokensMax: 1_000,
  secondsOf: "media",
};

describe("images", () => {
  test("that arrived are charged, not the requested number", () => {
    const metered = meterMedia(held, [{ pixels: 1 }, { pixels: 1 }], {});
    expect(metered).toMatchObject({ nano: 8n * CREDIT, units: { images: 2 }, estimated: undefined });
  });

  test("are measured, and one of unknown size has the requested one", () => {
    const metered = meterMedia({ ...held, price: MEGAPIXEL }, [{ pixels: 500_000 }, {}], {});
    expect(metered).toMatchObject({ nano: 3n * CREDIT, units: { images: 2, pixels: 1_500_000, steps: 20 } });
  });

  test("cost at most the hold", () => {
    const metered = meterMedia({ ...held, price: MEGAPIXEL, holdNano: CREDIT }, [{ pixels: 9_000_000 }], {});
    expect(metered.nano).toBe(CREDIT);
  });

  test.each([
    ["none", {}, 100n * CREDIT, "missing"],
    ["one that can be true", { tokens: { ...NO_USAGE, input: 100, imageOutput: 500 } }, 5_100_000n, undefined],
    ["one that cannot", { tokens: { ...NO_USAGE, imageOutput: 2_001 } }, 100n * CREDIT, "impossible"],
  ])("by the token settle by the report: %s", (_what, usage, nano, estimated) => {
    expect(meterMedia({ ...held, price: TOKEN }, [{ pixels: 1 }], usage)).toMatchObject({ nano, estimated });
  });
});

describe("usage by the second", () => {
  const media: HeldMedia = { ...held, price: SECOND, most: { ...ONE_RESULT, milliseconds: 10_000 } };
  const compute: HeldMedia = { ...media, secondsOf: "compute" };

  test("is our measurement, before the provider's", () => {
    const metered = meterMedia(media, [{ seconds: 4.5 }], { seconds: 8, computeSeconds: 99 });
    expect(metered).toMatchObject({ nano: 9n * CREDIT, units: { seconds: 4.5 }, estimated: undefined });
  });

  test("is the provider's if nothing can be measured", () => {
    expect(meterMedia(media, [{}], { seconds: 8 })).toMatchObject({ nano: 16n * CREDIT, estimated: undefined });
  });

  test("of computing is the provider's measurement", () => {
    const metered = meterMedia(compute, [{ seconds: 4.5 }], { seconds: 8, computeSeconds: 1.25 });
    expect(metered).toMatchObject({ nano: (5n * CREDIT) / 2n, units: { compute_seconds: 1.25 } });
  });

  test("above the hold settles at the hold", () => {
    expect(meterMedia({ ...compute, holdNano: CREDIT }, [{}], { computeSeconds: 1_000 }).nano).toBe(CREDIT);
  });

  test.each([
    ["missing", {}],
    ["impossible", { computeSeconds: -1 }],
    ["impossible", { computeSeconds: 1e18 }],
  ] as const)("of %s settles at the hold, marked so", (estimated, usage) => {
    expect(meterMedia(compute, [{}], usage)).toMatchObject({ nano: 100n * CREDIT, estimated });
  });
});

test("characters are counted as requested", () => {
  const price = parsePrice({ unit: "per_character", character_price: "0.5" });
  expect(meterMedia({ ...held, price }, [{}], {})).toMatchObject({ nano: 6n * CREDIT, units: { characters: 12 } });
});
