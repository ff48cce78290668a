/** Signed or hidden thinking of a source as a Responses client keeps it: opaque to the client, taken back as it was. */

/** Tells our own from what other services call encrypted. */
const MARK = "sluice1.";

type Block = Record<string, unknown>;

export function sealThought(block: Readonly<Block>): string {
  return MARK + Buffer.from(JSON.stringify(block)).toString("base64url");
}

/** Undefined for what is none of ours, or was changed so that it cannot be read: the source then hears the plain words alone. */
export function openSealed(text: string | null | undefined): Block | undefined {
  if (text?.startsWith(MARK) !== true) return undefined;
  try {
    const { type, thinking, signature, data } = JSON.parse(
      Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"),
    ) as Block;
    if (type === "redacted_thinking" && typeof data === "string") return { type, data };
    const isSigned = type === "thinking" && typeof thinking === "string" && typeof signature === "string";
    return isSigned ? { type, thinking, signature } : undefined;
  } catch {
    return undefined;
  }
}
