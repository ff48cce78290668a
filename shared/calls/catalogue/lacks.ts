/** Inputs that sources without fields of their own never receive, because their family has no usual field for them. */
import type { Modality } from "#schemas/generated/types.ts";

import type { Provider, Source } from "#shared/calls/model.ts";

type Lacks = Readonly<Partial<Record<Modality, readonly string[]>>>;

/** Such inputs by family, from the usual fields of the adapters under workers/providers; a test compares both. */
const FAMILIES: Readonly<Partial<Record<Provider["family"], Lacks>>> = {
  "openai-compatible": { image: ["seed", "negative_prompt"], video: ["seed", "negative_prompt"] },
  gemini: { image: ["negative_prompt"], video: ["negative_prompt"] },
  fal: { image: ["negative_prompt"] },
  replicate: { image: ["negative_prompt"] },
  elevenlabs: { music: ["seed"] },
};

/** The source with the inputs that would be left out of its requests. */
export function withLacks(source: Source, family: Provider["family"] | undefined, modality: Modality): Source {
  // Veo's old operations, which a source of Gemini's chooses so, take both.
  const isVeo = family === "gemini" && source.overrides?.["api"] === "predictLongRunning";
  const lacks = source.fields || family === undefined || isVeo ? undefined : FAMILIES[family]?.[modality];
  return lacks === undefined ? source : { ...source, lacks };
}
