/**
 * Opaque texts that a client of the Responses API stores and sends back with its next call. They contain signed or hidden reasoning of a
 * source, or the summary of a conversation. They are encoded and not encrypted, because the caller may see their content.
 */

/** Prefix that distinguishes our texts from encrypted texts of other services. */
const MARK = "sluice1.";

type Members = Record<string, unknown>;

export function sealThought(block: Readonly<Members>): string {
  return MARK + Buffer.from(JSON.stringify(block)).toString("base64url");
}

/** Decodes stored reasoning. Returns undefined for a text that is not ours or was damaged. The source then receives only the plain text. */
export function openSealed(text: string | null | undefined): Members | undefined {
  const { type, thinking, signature, data } = open(text);
  if (type === "redacted_thinking" && typeof data === "string") return { type, data };
  const isSigned = type === "thinking" && typeof thinking === "string" && typeof signature === "string";
  return isSigned ? { type, thinking, signature } : undefined;
}

export function sealSummary(summary: string): string {
  return sealThought({ type: "summary", summary });
}

/** Decodes the summary of a conversation. Returns undefined for a text that is not ours. */
export function openSummary(text: string): string | undefined {
  const { type, summary } = open(text);
  return type === "summary" && typeof summary === "string" ? summary : undefined;
}

function open(text: string | null | undefined): Members {
  if (text?.startsWith(MARK) !== true) return {};
  try {
    const value: unknown = JSON.parse(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Members) : {};
  } catch {
    return {};
  }
}
