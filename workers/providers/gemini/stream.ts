/** Parses a streamed answer: every event is a part of a complete response, and only the finish reason marks the end. */
import type { ChatStreamReader } from "../chat-wire.ts";
import { textIn, isMembers, type Members, membersOf, parseObject } from "../json.ts";
import { type ChatDelta, ProviderError } from "../provider.ts";

import { classifyErrorMember } from "./errors.ts";
import { checkPrompt, finishReason, refusedWhole } from "./finish.ts";
import { PartialArguments } from "./partial-arguments.ts";
import { argumentsText, callId, logprobsOf, readParts, signatureMember } from "./parts.ts";
import { readUsage } from "./usage.ts";

/** Most candidates of a stream; more are a fault, since `n` is at most 8. */
const CANDIDATES_MAX = 128;
const TOOL_CALLS_MAX = 1_024;

/** Creates the reader of one stream. @throws (its methods) ProviderError as for a complete response, and `failed` for a cut stream */
export function createReader(): ChatStreamReader {
  const candidates = new Map<number, CandidateStream>();
  let malformed = 0;
  return {
    read({ data }) {
      const answer = parseObject(data);
      if (!answer) {
        // One broken event is skipped; if it was essential, the missing finish reason reveals it.
        malformed += 1;
        return undefined;
      }
      if (answer["error"]) throw classifyErrorMember(answer["error"]);
      checkPrompt(answer);
      const choices = membersOf(answer["candidates"]).flatMap((candidate, at) => {
        const choice = streamOf(candidates, indexOf(candidate, at)).read(candidate);
        return choice ? [choice] : [];
      });
      const usage = readUsage(answer["usageMetadata"]);
      if (candidates.size === 1 && isRefused(candidates)) throw refusedWhole();
      // An event without content still shows that the provider is working.
      return { choices, ...(usage === null ? {} : { usage }) } satisfies ChatDelta;
    },
    end() {
      const open = [...candidates.values()].filter(({ isFinished }) => !isFinished).length;
      if (candidates.size > 0 && open === 0) return;
      throw new ProviderError("failed", `the stream ended without a finish reason (${malformed} malformed events)`);
    },
  };
}

function isRefused(candidates: ReadonlyMap<number, CandidateStream>): boolean {
  for (const { isFiltered, hasOutput } of candidates.values()) if (!isFiltered || hasOutput) return false;
  return true;
}

function streamOf(candidates: Map<number, CandidateStream>, index: number): CandidateStream {
  let stream = candidates.get(index);
  if (!stream) {
    if (candidates.size >= CANDIDATES_MAX) throw new ProviderError("failed", "the stream opens too many candidates");
    stream = new CandidateStream(index);
    candidates.set(index, stream);
  }
  return stream;
}

function indexOf(candidate: Members, fallback: number): number {
  const index = candidate["index"];
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : fallback;
}

/** One candidate, chunk by chunk. */
class CandidateStream {
  isFinished = false;
  isFiltered = false;
  hasOutput = false;
  private readonly index: number;
  private readonly ids = new Set<string>();
  private hasBegun = false;
  private calls = 0;
  /** Incomplete arguments of the latest call. */
  private partial: PartialArguments | undefined;

  constructor(index: number) {
    this.index = index;
  }

  /** Returns OpenAI's choice, or undefined for a chunk without content. */
  read(candidate: Members): Members | undefined {
    const { content, reasoning, calls } = readParts(candidate);
    const reason = finishReason(candidate);
    const pieces = calls.flatMap((part) => this.call(part));
    if (reason !== undefined) pieces.push(...this.closePartial());
    const logprobs = logprobsOf(candidate);
    if (content !== "" || reasoning !== "" || pieces.length > 0) this.hasOutput = true;
    else if (reason === undefined && logprobs === null) return undefined;
    this.isFinished ||= reason !== undefined;
    this.isFiltered ||= reason === "content_filter";
    const role = this.hasBegun ? {} : { role: "assistant" };
    this.hasBegun = true;
    return {
      index: this.index,
      delta: {
        ...role,
        ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
        ...(content === "" ? {} : { content }),
        ...(pieces.length > 0 ? { tool_calls: pieces } : {}),
      },
      ...(logprobs === null ? {} : { logprobs }),
      finish_reason: reason === "stop" && this.calls > 0 ? "tool_calls" : (reason ?? null),
    };
  }

  /** Reads a call, which is complete, or begins with its name and continues in unnamed chunks until the last one says so. */
  private call(part: Members): Members[] {
    const call = isMembers(part["functionCall"]) ? part["functionCall"] : {};
    const name = textIn(call["name"]);
    const goesOn = call["willContinue"] === true;
    if (name === undefined) {
      this.partial?.add(call["partialArgs"]);
      return goesOn ? [] : this.closePartial();
    }
    const closed = this.closePartial();
    if (this.calls >= TOOL_CALLS_MAX) throw new ProviderError("failed", "the stream opens too many tool calls");
    const opened = {
      index: this.calls,
      id: callId(call, this.ids),
      type: "function",
      function: { name, arguments: "" },
      ...signatureMember(part),
    };
    this.calls += 1;
    if (!goesOn && call["partialArgs"] === undefined) opened.function.arguments = argumentsText(call);
    else {
      this.partial = new PartialArguments();
      this.partial.add(call["partialArgs"]);
    }
    return [...closed, opened, ...(goesOn ? [] : this.closePartial())];
  }

  private closePartial(): Members[] {
    if (!this.partial) return [];
    const text = this.partial.text();
    this.partial = undefined;
    return [{ index: this.calls - 1, function: { arguments: text } }];
  }
}
