/** Passes on `cache_control`, our extension on blocks, messages and tools, because it affects the cost of a call. */
import { isMembers, type Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

/**
 * Returns an object with `cache_control`, to spread into a block; empty if it is not set. @throws ProviderError `rejected` for an invalid
 * value
 */
export function cacheControl(holder: Readonly<Record<string, unknown>>, param: string): Members {
  const value = holder["cache_control"];
  if (value === undefined || value === null) return {};
  const ttl = isMembers(value) ? value["ttl"] : undefined;
  if (!isMembers(value) || value["type"] !== "ephemeral" || !(ttl == null || ttl === "5m" || ttl === "1h")) {
    throw unsupported(`${param}.cache_control`, 'Expected {"type": "ephemeral"}, with "ttl" "5m" or "1h" if any.');
  }
  return { cache_control: { type: "ephemeral", ...(ttl == null ? {} : { ttl }) } };
}
