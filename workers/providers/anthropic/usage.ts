/**
 * Converts Anthropic's usage report to our kinds of tokens. `input_tokens` excludes cache reads and writes, and `output_tokens` includes
 * thinking. Source: platform.claude.com/docs/en/api/messages.
 */
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";

import { isMembers, type Members, membersOf } from "../json.ts";

/** Maximum plausible token count. A larger count is an error in the report and must never reach the ledger. */
const TOKENS_MAX = 100_000_000;

/** Types of a usage report's parts that are charged at the prices of the called model. */
const EXECUTORS: ReadonlySet<unknown> = new Set(["message", "compaction"]);

/**
 * Reads a usage report. Returns null if there is no report, or only zeros. Returns "impossible" if a count is negative, fractional, not a
 * number or absurdly large.
 * @param earlier earlier report of the same stream; its counts are used only where the new report has none, because counts are cumulative
 */
export function readAnthropicUsage(value: unknown, earlier?: unknown): TokenUsage | null | "impossible" {
  if (value === null || value === undefined) return null;
  if (!isMembers(value)) return "impossible";
  const report = { ...(isMembers(earlier) ? earlier : {}) };
  for (const [name, member] of Object.entries(value)) if (member !== null) report[name] = member;
  const parts = partsOf(report).map((part) => bucketsOf(part, report["cache_creation"]));
  const thinking = count((report["output_tokens_details"] as Members | null | undefined)?.["thinking_tokens"]);
  if (thinking === undefined) return "impossible";
  const sum = { ...NO_USAGE };
  for (const part of parts) {
    if (part === undefined) return "impossible";
    for (const name of BUCKETS) sum[name] += part[name];
  }
  if (BUCKETS.every((name) => sum[name] === 0)) return null;
  return { ...sum, reasoning: Math.min(thinking, sum.output) };
}

const BUCKETS = ["input", "cachedInput", "cacheWrite5m", "cacheWrite1h", "output"] as const;
type Buckets = Record<(typeof BUCKETS)[number], number>;

/**
 * Returns the parts of a usage report whose counts must be added up. The totals of a report do not include compaction. If Anthropic fell
 * back to another model, only the totals are used; they are those of the answering model.
 */
function partsOf(report: Members): Members[] {
  const iterations = membersOf(report["iterations"]);
  if (iterations.some(({ type }) => type === "fallback_message")) return [report];
  const executed = iterations.filter(({ type }) => EXECUTORS.has(type));
  return executed.length > 0 ? executed : [report];
}

/** Converts the counts of one part of a usage report to our token buckets. Returns undefined for an impossible count. */
function bucketsOf(part: Members, commonSplit: unknown): Buckets | undefined {
  const own = part["cache_creation"];
  const cacheCreation = own ?? commonSplit;
  const split = isMembers(cacheCreation) ? cacheCreation : {};
  const input = count(part["input_tokens"]);
  const cachedInput = count(part["cache_read_input_tokens"]);
  const output = count(part["output_tokens"]);
  const minutes = count(split["ephemeral_5m_input_tokens"]);
  const hour = count(split["ephemeral_1h_input_tokens"]);
  if (input === undefined || cachedInput === undefined || output === undefined) return undefined;
  if (minutes === undefined || hour === undefined) return undefined;
  const written = count(part["cache_creation_input_tokens"] ?? (isMembers(own) ? minutes + hour : 0));
  if (written === undefined) return undefined;
  // The split is reported once, at the beginning; later writes last equally long.
  const cacheWrite1h = hour > 0 && minutes === 0 ? written : Math.min(hour, written);
  return { input, cachedInput, cacheWrite5m: written - cacheWrite1h, cacheWrite1h, output };
}

/** Reads a token count. Returns zero for an absent or null member, and undefined for an impossible value. */
function count(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > TOKENS_MAX) return undefined;
  return value;
}
