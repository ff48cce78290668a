/** Converts parts of a candidate's content to OpenAI's format. */
import { textIn, isMembers, type Members, membersOf } from "../json.ts";

export interface PartTexts {
  readonly content: string;
  readonly reasoning: string;
  /** Parts with a function call and its signature. */
  readonly calls: readonly Members[];
}

/** Skips empty texts, which only contain a signature, and parts other than texts and calls, which were not requested. */
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

/** Returns Google's id if it is unused, or a new id. */
export function callId(call: Members, taken: Set<string>): string {
  const theirs = textIn(call["id"]);
  const id = theirs === undefined || taken.has(theirs) ? mintCallId() : theirs;
  taken.add(id);
  return id;
}

/** Returns the signature to be sent back with its call, in the member of Google's OpenAI-compatible endpoint. */
export function signatureMember(part: Members): Members {
  const signature = textIn(part["thoughtSignature"]);
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** Returns JSON text; `{}` for a call without arguments. */
export function argumentsText(call: Members): string {
  return JSON.stringify(isMembers(call["args"]) ? call["args"] : {});
}

/** Converts `logprobsResult` to OpenAI's logprobs; null without any. */
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

/** Google omits the logarithm of a probability of one, which is zero. */
function tokenOf(entry: Members): { token: string; logprob: number; bytes: number[] } {
  const token = textIn(entry["token"]) ?? "";
  const logprob = entry["logProbability"];
  return { token, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...Buffer.from(token)] };
}
