/** Converts parts of a candidate's content to OpenAI's format. */
import { textIn, isMembers, type Members, membersOf } from "../json.ts";

export interface PartTexts {
  readonly content: string;
  readonly reasoning: string;
  /** Parts with a function call and its signature. */
  readonly calls: readonly Members[];
}

/**
 * Reads the parts of a candidate. Empty texts are skipped, because they only contain a signature. Parts other than texts and calls are
 * skipped, because they were not requested.
 */
export function readParts(candidate: Members): PartTexts {
  const content = isMembers(candidate["content"]) ? candidate["content"] : {};
  let said = "";
  let reasoning = "";
  const calls: Members[] = [];
  for (const part of membersOf(content["parts"])) {
    if (isMembers(part["functionCall"])) calls.push(part);
    const text = textIn(part["text"]) ?? "";
    if (part["thought"] === true) reasoning += text;
    else said += text;
  }
  return { content: said, reasoning, calls };
}

/** Returns `call_` and 24 random characters, the format of OpenAI's ids. */
function mintCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/**
 * Returns the id of a tool call: Google's id, or a new id if Google sent none or has used it before in this response.
 * @param taken ids in use; the returned id is added
 */
export function callId(call: Members, taken: Set<string>): string {
  const theirs = textIn(call["id"]);
  const id = theirs === undefined || taken.has(theirs) ? mintCallId() : theirs;
  taken.add(id);
  return id;
}

/**
 * Returns an object with the thought signature of a tool call, to spread into the call; empty without one. Clients must send it back. It
 * uses the same member as Google's OpenAI-compatible endpoint.
 */
export function signatureMember(part: Members): Members {
  const signature = textIn(part["thoughtSignature"]);
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** Returns the arguments of a call as JSON text; `{}` for a call without arguments. */
export function argumentsText(call: Members): string {
  return JSON.stringify(isMembers(call["args"]) ? call["args"] : {});
}

/** Converts Gemini's `logprobsResult` to OpenAI's logprobs; null if there are none. */
export function logprobsOf(candidate: Members): Members | null {
  const result = candidate["logprobsResult"];
  if (!isMembers(result)) return null;
  const tops = membersOf(result["topCandidates"]);
  const content = membersOf(result["chosenCandidates"]).map((chosen, index) => ({
    ...tokenOf(chosen),
    top_logprobs: membersOf(tops[index]?.["candidates"]).map(tokenOf),
  }));
  return { content, refusal: null };
}

/** Converts one token with its log probability. A missing log probability is zero, because Google omits it for a probability of one. */
function tokenOf(entry: Members): { token: string; logprob: number; bytes: number[] } {
  const token = textIn(entry["token"]) ?? "";
  const logprob = entry["logProbability"];
  return { token, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...Buffer.from(token)] };
}
