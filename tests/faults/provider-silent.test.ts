/**
 * Fault: a provider accepts the call and never answers. Injection: servers of each family that stay silent before or
 * behind the head of their answer, under limits of seconds. Expected: with another source or a chain the call is served
 * after one limit; else 504 `upstream_timeout` that must not be sent again. One request to each source, its socket
 * closed by us, one settle at the price of who served, nothing where nobody did.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { audit } from "./audit.ts";
import { type Bed, setFallbacks, startBed } from "./bed.ts";
import { errorCode } from "./client.ts";
import { type BedModel, FAMILIES, type FamilyName, modelsOf, PROVIDER_IDS } from "./families.ts";
import { isServed } from "./load.ts";
import { type CallKind, costOf, probe } from "./probe.ts";

const FIRST_BYTE_MS = 1_500;
const TOTAL_MS = 6_000;
const CHAIN_PRICE = 1_000;
/** Families that serve embeddings. */
const EMBEDDERS = ["openai", "gemini"] as const;

/** The family whose server stands in for a silent one. */
const NEXT: Readonly<Record<FamilyName, FamilyName>> = { openai: "anthropic", anthropic: "gemini", gemini: "openai" };

const CHAT = FAMILIES.flatMap((family) =>
  ["silent", "silent-after-head"].flatMap((name) =>
    (["plain", "streamed"] as const).map((kind) => ({ family, name, kind })),
  ),
);
const SITUATIONS: readonly { family: FamilyName; name: string; kind: CallKind }[] = [
  ...CHAT,
  ...EMBEDDERS.map((family) => ({ family, name: "silent", kind: "embeddings" as const })),
];

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({
    janitor: false,
    models: FAMILIES.flatMap((family): BedModel[] => {
      const standIn = `${NEXT[family]}/stand-in`;
      const silences = ["silent", "silent-after-head"];
      const silent = `${family}/mock-silent`;
      return [
        ...modelsOf(family, silences),
        ...silences.flatMap((name) => [
          { slug: `${family}-${name}-twice`, sources: [`${family}/mock-${name}`, standIn] },
          { slug: `${family}-${name}-chained`, sources: [`${family}/mock-${name}`] },
        ]),
        { slug: `stand-in-for-${family}`, sources: [standIn], outputPrice: CHAIN_PRICE },
        ...(family === "anthropic"
          ? []
          : [
              { slug: `${family}-embed`, sources: [silent], embeds: true },
              { slug: `${family}-embed-twice`, sources: [silent, `${family}/stand-in`], embeds: true },
            ]),
      ];
    }),
    env: {
      SLUICE_CALL_FIRST_BYTE_MS: String(FIRST_BYTE_MS),
      SLUICE_CALL_PLAIN_MS: String(FIRST_BYTE_MS),
      SLUICE_CALL_TOTAL_MS: String(TOTAL_MS),
    },
  });
  const chains = CHAT.map(({ family, name }) => [`${family}-${name}-chained`, [`stand-in-for-${family}`]]);
  await setFallbacks(bed, Object.fromEntries(chains) as Record<string, string[]>);
});
afterAll(() => bed?.stop());

describe("a provider that never answers", () => {
  test.concurrent.each(SITUATIONS)("is 504, and free ($family, $name, $kind)", async (situation) => {
    const { family, name, kind } = situation;
    const slug = kind === "embeddings" ? `${family}-embed` : `${family}-${name}`;
    const { answer, tried, closedByUs, usage, entries } = await probe(bed, slug, kind);
    expect([answer.status, errorCode(answer)]).toEqual([504, "upstream_timeout"]);
    // The work may be done and paid for: a client that repeats it pays twice.
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(answer.headers.get("retry-after")).toBeNull();
    expect({ tried, closedByUs }).toEqual({ tried: [`${family}/mock-${name}`], closedByUs: [true] });
    expect(usage).toMatchObject({ status: "failed", settled: 0n });
    expect(entries).toBe(0);
  });
});

describe("another source or model is available:", () => {
  test.concurrent.each(SITUATIONS)("the call moves to the second source ($family, $name, $kind)", async (situation) => {
    const { family, name, kind } = situation;
    const isEmbedding = kind === "embeddings";
    const slug = isEmbedding ? `${family}-embed-twice` : `${family}-${name}-twice`;
    const second = isEmbedding ? family : NEXT[family];
    const { answer, tried, closedByUs, usage, entries } = await probe(bed, slug, kind);
    expect(isServed(answer)).toBe(true);
    expect(tried).toEqual([`${family}/mock-${name}`, `${second}/stand-in`]);
    expect(closedByUs).toEqual([true, false]);
    expect(answer.headers.get("x-model-used")).toBe(slug);
    expect(answer.headers.get("x-fallback-depth")).toBeNull();
    expect(usage).toMatchObject({ status: "succeeded", model: slug, source: `${PROVIDER_IDS[second]}/stand-in` });
    expect(entries).toBe(1);
  });

  test.concurrent.each(CHAT)(
    "the call moves down the chain, at its price ($family, $name, $kind)",
    async (situation) => {
      const { family, name, kind } = situation;
      const slug = `${family}-${name}-chained`;
      const { answer, tried, closedByUs, usage, entries } = await probe(bed, slug, kind);
      expect(isServed(answer)).toBe(true);
      expect(tried).toEqual([`${family}/mock-${name}`, `${NEXT[family]}/stand-in`]);
      expect(closedByUs).toEqual([true, false]);
      expect(answer.headers.get("x-model-used")).toBe(`stand-in-for-${family}`);
      expect(answer.headers.get("x-fallback-from")).toBe(slug);
      expect(answer.headers.get("x-fallback-depth")).toBe("1");
      expect(usage).toMatchObject({ status: "succeeded", model: `stand-in-for-${family}` });
      expect(usage.settled).toBe(costOf(usage, CHAIN_PRICE));
      expect(usage.settled).toBeGreaterThan(0n);
      expect(entries).toBe(1);
    },
  );
});

test("no socket stays open", () => audit(bed));
