/**
 * Facts of a provider's failure that may be logged. Providers repeat prompts and answers in their error texts, so a text is
 * logged as its length and a short hash: equal failures can be grouped, and nothing of a caller's can be read.
 */
import { createHash } from "node:crypto";

import type { ProviderError } from "./provider.ts";

export interface TextFacts {
  readonly text_chars: number;
  /** The first 32 bits of its SHA-256, in hex. */
  readonly text_hash: string;
}

export function textFacts(text: string): TextFacts {
  return { text_chars: text.length, text_hash: createHash("sha256").update(text).digest("hex").slice(0, 8) };
}

/** `code` is of our own list; `status` is what the provider answered with, absent when it did not answer. */
export function failureFacts({ kind, status, code, detail }: ProviderError): TextFacts & {
  readonly kind: ProviderError["kind"];
  readonly status?: number;
  readonly code?: string;
} {
  return {
    kind,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...textFacts(detail),
  };
}
