/** `cache_control`, an extension of ours on blocks, messages and tools: passed on, since it decides what a call costs. */
import { isMembers, type Members } from "../json.ts";
import { unsupported } from "./rejected.ts";

/** `{ cache_control }` to spread into a block, or nothing. @throws ProviderError `rejected` for one without meaning */
export function cacheControl(holder: Readonly<Record<string, unknown>>, param: string): Members {
  const value = holder["cache_control"];
  if (value === undefined || value === null) return {};
  const ttl = isMembers(value) ? value["ttl"] : undefined;
  if (!isMembers(value) || value["type"] !== "ephemeral" || !(ttl == null || ttl === "5m" || ttl === "1h")) {
    throw unsupported(`${param}.cache_control`, 'Expected {"type": "ephemeral"}, with "ttl" "5m" or "1h" if any.');
  }
  return { cache_control: { type: "ephemeral", ...(ttl == null ? {} : { ttl }) } };
}
