/** One running service in front of all families, for the stories of this folder. */
import { listen, type Listening } from "#tests/shared/net/servers.ts";

import { FAMILIES, type Family, type FamilyBed, PRICES, startFamilies } from "./bed.ts";

/** Models at which pictures have a price of their own: 450,000 nano-credits a token. */
const PICTURES = { image_input_per_million: "450" };

const timesAll = (factor: number): Record<string, string> =>
  Object.fromEntries(Object.entries(PRICES).map(([rate, credits]) => [rate, String(Number(credits) * factor)]));

/** Priority costs twice the price and flex half of it. Above 1,000 input tokens, every rate is three times as high. */
const TIERS = {
  long_context: { above_tokens: 1_000, ...timesAll(3) },
  service_tiers: {
    flex: { ...timesAll(0.5), long_context: { above_tokens: 1_000, ...timesAll(1.5) } },
    priority: timesAll(2),
  },
  batch_factor: "0.25",
};

/** Answers without any output, by the names that each family's local server has for them. */
export const UNSERVED: Readonly<Record<Family, readonly string[]>> = {
  openai: ["server-error", "error-in-200", "html", "content-policy", "error-first"],
  claude: ["server-error", "error-in-200", "html", "content-policy", "error-first"],
  gemini: ["internal", "error-in-200", "html", "content-policy", "error-first"],
};

/** Models by names that `@ai-sdk/anthropic` knows, with less output than it takes them to have. */
export const CLAUDE_NAMES: Readonly<Record<Family, string>> = {
  openai: "claude-opus-4-8",
  claude: "claude-sonnet-5",
  gemini: "claude-opus-5",
};

export interface SharedBed extends FamilyBed {
  /** Hands out a recording, whatever the address says. */
  readonly site: Listening;
}

let started: Promise<SharedBed> | undefined;

export function sharedBed(): Promise<SharedBed> {
  started ??= start();
  return started;
}

async function start(): Promise<SharedBed> {
  const site = await listen((_request, response) => response.end(Buffer.from("RIFF\u0024\0\0\0WAVEfmt ", "latin1")));
  const bed = await startFamilies({
    env: { SLUICE_OUTBOUND_ALLOW: `127.0.0.1:${site.port}` },
    models: FAMILIES.flatMap((family) => [
      { slug: CLAUDE_NAMES[family], family },
      { slug: `${family}-spread`, family, equals: { north: 1, east: 1, south: 1, west: 1 } },
      { slug: `${family}-half`, family, equals: { north: 1, [`mock-${UNSERVED[family][0]}`]: 1 } },
      { slug: `${family}-reader`, family, inputs: ["text", "image", "file"] },
      { slug: `${family}-slow`, family, source: "mock-tokens-200-every-20" },
      { slug: `${family}-two`, family, prices: PICTURES },
      { slug: `${family}-tiers`, family, prices: TIERS },
      ...[...UNSERVED[family], "error-mid"].map((name) => ({
        slug: `${family}-${name}`,
        family,
        source: `mock-${name}`,
      })),
    ]),
  });
  const stop = async (): Promise<void> => {
    site.close();
    await bed.stop();
  };
  return { ...bed, site, stop };
}
