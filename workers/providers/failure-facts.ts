/**
 * Returns loggable facts of a provider's failure. Providers repeat prompts and answers in error texts. Therefore only the length and a
 * short hash of a text are logged. Equal failures can be grouped, and no content of a caller is readable.
 */
import { createHash } from "node:crypto";

import type { ProviderError } from "./provider.ts";

export interface TextFacts {
  readonly text_chars: number;
  /** First 32 bits of the text's SHA-256, in hex. */
  readonly text_hash: string;
}

export function textFacts(text: string): TextFacts {
  return { text_chars: text.length, text_hash: createHash("sha256").update(text).digest("hex").slice(0, 8) };
}

/**
 * Returns the loggable facts of a failure. `code` comes from our own list. `status` is the provider's HTTP status, absent if there was no
 * response.
 */
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
