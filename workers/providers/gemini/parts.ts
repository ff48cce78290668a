/** Parts of a candidate's content → what OpenAI's shape has for them. */
import { textIn, isMembers, type Members, membersOf } from "../json.ts";

export interface PartTexts {
  readonly content: string;
  readonly reasoning: string;
  /** Parts with a function call, the signature beside it. */
  readonly calls: readonly Members[];
}

/** Empty texts carry a signature only and say nothing; what is no text and no call was not asked for. */
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

/** `call_` and 24 random characters, as OpenAI's ids look. */
function mintCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** Google's id where it gives one that is not taken yet, else one of ours. */
export function callId(call: Members, taken: Set<string>): string {
  const theirs = textIn(call["id"]);
  const id = theirs === undefined || taken.has(theirs) ? mintCallId() : theirs;
  taken.add(id);
  return id;
}

/** The signature that must come back with its call, where Google's OpenAI-compatible endpoint puts it. */
export function signatureMember(part: Members): Members {
  const signature = textIn(part["thoughtSignature"]);
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** JSON text; `{}` for a call without arguments. */
export function argumentsText(call: Members): string {
  return JSON.stringify(isMembers(call["args"]) ? call["args"] : {});
}

/** `logprobsResult` → OpenAI's logprobs; null when there is none. */
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

/** Google leaves out a probability of one: its logarithm is zero. */
function tokenOf(entry: Members): { token: string; logprob: number; bytes: number[] } {
  const token = textIn(entry["token"]) ?? "";
  const logprob = entry["logProbability"];
  return { token, logprob: typeof logprob === "number" ? logprob : 0, bytes: [...Buffer.from(token)] };
}
