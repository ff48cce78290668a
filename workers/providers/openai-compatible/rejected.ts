/** Errors for requests that a source of this family does not support. */
import { ProviderError } from "../provider.ts";

/**
 * Returns the error for a value that the source does not support.
 * @param say error message for the client
 */
export function unsupported(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "unsupported_value", param, say });
}
