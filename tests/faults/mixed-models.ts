/** The models of a mixed load: behaviours of each family's server, sorted by what a client gets that stays. */
import { type BedModel, FAMILIES, type FamilyName, modelsOf, REJECTS } from "./families.ts";

type ByFamily = Readonly<Record<FamilyName, readonly string[]>>;

const names = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split(" "));

/** Behaviours that must end well for a client that stays. */
const GOOD: ByFamily = {
  openai: names(
    "ok tokens-30-every-5 delay-50 tools-parallel reasoning no-done repeat malformed comments foreign event-name",
    "crlf cr bom multi-line no-last-newline long-line split-7",
    "usage-missing usage-zero usage-negative usage-fractional usage-huge usage-nan",
  ),
  anthropic: names(
    "ok tokens-30-every-5 delay-50 tools-parallel thinking no-message-stop malformed start-twice foreign",
    "crlf cr split-7 usage-missing usage-zero usage-negative usage-fractional usage-huge usage-nan",
  ),
  gemini: names(
    "ok slow-5 delay-50 tools thoughts malformed comments multi-line lf split-7",
    "usage-missing usage-zero usage-negative usage-fractional usage-huge usage-text",
  ),
};
/** Behaviours that break a stream and leave a plain answer as it should be. */
const BROKEN_STREAMS: ByFamily = {
  openai: names(
    "stall fin rst cut-utf8 cut-utf8-end cut-in-json cut-in-json-end cut-first no-finish error-first error-mid",
    "endless-every-10",
  ),
  anthropic: names("stall cut-fin cut-rst cut-end cut-in-json cut-in-utf8 cut-first error-first error-mid spliced"),
  gemini: names("stall fin rst end cut-in-json cut-in-json-end error-first error-mid"),
};
/** Behaviours that serve nobody. */
const BAD: ByFamily = {
  openai: names(
    "silent silent-after-head reset reset-after-head server-error overloaded rate-limit 429-30 content-policy",
    "bad-request html html-502 cut-json cut-body empty empty-stream wrong-type",
  ),
  anthropic: names(
    "hang hang-head reset reset-head server-error overloaded rate-limit 429-30 content-policy bad-request",
    "html html-502 cut-json cut-body empty empty-stream",
  ),
  gemini: names(
    "silent silent-after-head reset reset-after-head internal unavailable rate-limit rate-limit-bare blocked",
    "invalid-argument html html-502 cut-json cut-body empty empty-stream",
  ),
};
/** A busy source definitely did nothing, so it may be asked once more. */
export const BUSY = /\/mock-(429-|rate-limit|overloaded|unavailable|error-first)/;

export interface MixModel {
  readonly slug: string;
  /** Whether a client that stays gets a whole answer. */
  readonly ends: "well" | "well unless streamed" | "badly";
}

/** Models whose own source serves nobody, and who serves in their place. */
export const CHAINED = FAMILIES.flatMap((family, at) => {
  const [second = family, third = family] = [...FAMILIES.slice(at + 1), ...FAMILIES.slice(0, at)];
  return BAD[family]
    .filter((name) => name !== REJECTS[family])
    .map((name, index) => ({
      slug: `chained-${family}-${name}`,
      source: `${family}/mock-${name}`,
      // Every other one fails once more on its way.
      fallbacks: [...(index % 2 === 0 ? [`${second}-reset`] : []), `${third}-ok`],
    }));
});

/** All of them, for a bed. */
export function bedModels(): BedModel[] {
  return [
    ...FAMILIES.flatMap((family) => modelsOf(family, [...GOOD[family], ...BROKEN_STREAMS[family], ...BAD[family]])),
    ...CHAINED.map(({ slug, source }) => ({ slug, sources: [source] })),
  ];
}

const slugs = (names: ByFamily, ends: MixModel["ends"]): MixModel[] =>
  FAMILIES.flatMap((family) => names[family].map((name) => ({ slug: `${family}-${name}`, ends })));

/** Half of all calls go well, whatever the number of faults. */
export const MIX: readonly { readonly share: number; readonly models: readonly MixModel[] }[] = [
  { share: 0.5, models: slugs(GOOD, "well") },
  { share: 0.15, models: slugs(BROKEN_STREAMS, "well unless streamed") },
  { share: 0.25, models: slugs(BAD, "badly") },
  { share: 0.1, models: CHAINED.map(({ slug }) => ({ slug, ends: "well" })) },
];
