/** Requests that this family cannot say. */
import { ProviderError } from "../provider.ts";

/** A value Gemini has no word for. @param say a sentence for the client */
export function unsupported(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "unsupported_value", param, say });
}

/** A request that contradicts itself. @param say a sentence for the client */
export function invalid(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "invalid_request", param, say });
}
