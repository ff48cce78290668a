/** Creates errors for requests that Claude models do not support. */
import { ProviderError } from "../provider.ts";

/** Returns the error for an unsupported parameter. @param say error message for the client */
export function unsupported(param: string, say: string): ProviderError {
  return new ProviderError("rejected", say, { code: "unsupported_value", param, say });
}
