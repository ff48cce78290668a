/** Errors for requests that this family does not support. */
import { ProviderError } from "../provider.ts";

/** Returns the error for a value that Gemini does not support. @param say error message for the client */
export function unsupported(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "unsupported_value", param, say });
}

/** Returns the error for contradictory parameters. @param say error message for the client */
export function invalid(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "invalid_request", param, say });
}
