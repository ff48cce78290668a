/** The models of a mixed load: behaviours of each family's server, sorted by what a client gets that stays. */
import { type BedModel, FAMILIES, type FamilyName, modelsOf } from "./families.ts";

type ByFamily = Readonly<Record<FamilyName, readonly string[]>>;

const names = (line: string): string[] => line.split(" ");
/** The names that every family's server knows, and those that one alone does. */
const known = (common: string, own: Readonly<Partial<Record<FamilyName, string>>>): ByFamily => {
  const of = (family: FamilyName): string[] => [...names(common), ...(own[family] ? names(own[family]) : [])];
  return { openai: of("openai"), anthropic: of("anthropic"), gemini: of("gemini") };
};

/** Behaviours that must end well for a client that stays. */
const GOOD = known(
  "ok tokens-30-every-5 delay-50 tools-parallel reasoning no-end malformed comments foreign crlf cr bom multi-line " +
    "split-7 usage-missing usage-zero usage-negative usage-fractional usage-huge usage-nan",
  { openai: "repeat event-name no-last-newline long-line", anthropic: "start-twice", gemini: "slow-5 lf" },
);
/** Behaviours that break a stream and leave a plain answer as it should be. */
const BROKEN_STREAMS = known(
  "stall fin rst end cut-utf8 cut-utf8-end cut-in-json cut-in-json-end cut-first error-first error-mid",
  { openai: "no-finish-no-end endless-every-10", anthropic: "spliced" },
);
/** Behaviours that serve no client. */
const BAD = known(
  "silent silent-after-head reset reset-after-head server-error rate-limit 429-30 content-policy bad-request html " +
    "html-502 cut-json cut-body empty empty-stream",
  { openai: "overloaded wrong-type", anthropic: "overloaded", gemini: "unavailable rate-limit-bare" },
);
/** A source that is busy, or tells its own failure, definitely served nothing: it may be asked once more. */
export const MAY_BE_REPEATED = /\/mock-(429-|rate-limit|overloaded|unavailable|error-first|server-error|html-502)/;

export interface MixModel {
  readonly slug: string;
  /** Ending for a client that stays: it gets a whole answer if that ends well. */
  readonly ends: "well" | "well unless streamed" | "badly";
}

/** Models whose own source serves nobody, and who serves in their place. */
export const CHAINED = FAMILIES.flatMap((family, at) => {
  const [second = family, third = family] = [...FAMILIES.slice(at + 1), ...FAMILIES.slice(0, at)];
  return BAD[family]
    .filter((name) => name !== "bad-request")
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
