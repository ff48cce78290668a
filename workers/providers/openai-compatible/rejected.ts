/** Requests that a source of this family cannot take. */
import { ProviderError } from "../provider.ts";

/** @param say a sentence for the client */
export function unsupported(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "unsupported_value", param, say });
}
