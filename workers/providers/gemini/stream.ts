/** Parses a streamed answer of Gemini. Every event is a fragment of a complete response, and only the finish reason marks the end. */
import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";
import { SSE_LINE_BYTES_MAX } from "#workers/providers/sse.ts";

import type { ChatStreamReader } from "../chat-wire.ts";
import { isMembers, type Members, membersOf, parseObject, textIn } from "../json.ts";
import { type ChatDelta, ProviderError } from "../provider.ts";
import { classifyErrorMember } from "./errors.ts";
import { checkPrompt, finishReason, refusedWhole } from "./finish.ts";
import { argumentsText, callId, logprobsOf, readParts, signatureMember } from "./parts.ts";
import { readUsage } from "./usage.ts";

/** Maximum number of candidates of a stream. A stream with more is treated as a provider failure, because clients can request at most 8. */
const CANDIDATES_MAX = 128;
const TOOL_CALLS_MAX = 1_024;

/**
 * Creates the reader of one stream. Its methods throw the errors of `readAnswer`, and ProviderError `failed` for a stream that ends early.
 */
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

/** Reads one candidate of a stream chunk by chunk. */
class CandidateStream {
  isFinished = false;
  isFiltered = false;
  hasOutput = false;
  private readonly index: number;
  private readonly ids = new Set<string>();
  private hasBegun = false;
  private calls = 0;
  /** Arguments of the latest tool call while they are incomplete; undefined once they are complete. */
  private partial: PartialArguments | undefined;

  constructor(index: number) {
    this.index = index;
  }

  /**
   * Returns a chunk of a candidate as OpenAI's choice. Returns undefined for a chunk without text, calls, log probabilities and finish
   * reason.
   */
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

  /**
   * Reads a part with a tool call. A call is complete in one part, or begins with its name and continues in parts without a name.
   * `willContinue` is missing in its last part.
   */
  private call(part: Members): Members[] {
    const call = isMembers(part["functionCall"]) ? part["functionCall"] : {};
    const name = textIn(call["name"]);
    const isContinued = call["willContinue"] === true;
    if (name === undefined) {
      this.partial?.add(call["partialArgs"]);
      return isContinued ? [] : this.closePartial();
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
    if (!isContinued && call["partialArgs"] === undefined) opened.function.arguments = argumentsText(call);
    else {
      this.partial = new PartialArguments();
      this.partial.add(call["partialArgs"]);
    }
    return [...closed, opened, ...(isContinued ? [] : this.closePartial())];
  }

  private closePartial(): Members[] {
    if (!this.partial) return [];
    const text = this.partial.text();
    this.partial = undefined;
    return [{ index: this.calls - 1, function: { arguments: text } }];
  }
}

// Arguments of a call that arrive in chunks, each with a path such as `$.items[0].name`. Gemini sends them only on request, which we never
// make; compatible servers may. Source: recorded traffic of gemini-3.1-pro-preview.

/** Matches one step of a JSON path: `.name`, `[7]`, `['name']` or `["name"]`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
/** Maximum index of a list in a JSON path. A higher index would only fill memory. */
const INDEX_MAX = 10_000;

type Step = string | number;
type Node = Members | unknown[];

class PartialArguments {
  private readonly root: Members = Object.create(null) as Members;
  /** JSON path of the text value that continues in the next chunk; undefined if the last value was complete. */
  private open: string | undefined;
  private characters = 0;

  /**
   * Adds chunks to the arguments.
   * @throws ProviderError `failed` for an invalid JSON path, or for too long arguments
   */
  add(pieces: unknown): void {
    for (const piece of membersOf(pieces)) {
      const path = textIn(piece["jsonPath"]) ?? "";
      const value = valueOf(piece);
      this.characters += path.length + (typeof value === "string" ? value.length : 8);
      if (this.characters > SSE_LINE_BYTES_MAX) throw new ProviderError("failed", "arguments are over the limit");
      this.set(path, value, this.open === path);
      this.open = piece["willContinue"] === true ? path : undefined;
    }
  }

  /** Returns the arguments received so far as JSON text. */
  text(): string {
    return JSON.stringify(this.root);
  }

  private set(path: string, value: unknown, isContinued: boolean): void {
    const steps = stepsOf(path);
    let node: Node = this.root;
    for (const [index, step] of steps.entries()) {
      const next = steps[index + 1];
      const known = read(node, step);
      if (next === undefined) {
        const isText = isContinued && typeof known === "string" && typeof value === "string";
        write(node, step, isText ? known + value : value);
        return;
      }
      if (typeof known === "object" && known !== null) node = known as Node;
      else {
        const created: Node = typeof next === "number" ? [] : (Object.create(null) as Members);
        write(node, step, created);
        node = created;
      }
    }
  }
}

function valueOf(piece: Members): unknown {
  for (const name of ["stringValue", "numberValue", "boolValue"]) if (piece[name] !== undefined) return piece[name];
  return null;
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (path.startsWith("$") && STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (!match) break;
    const [, plain, index, single, double] = match;
    steps.push(index === undefined ? (plain ?? unescaped(single ?? double ?? "")) : Number(index));
    if (STEP.lastIndex === path.length && steps.length <= JSON_DEPTH_MAX) return steps;
  }
  throw new ProviderError("failed", `arguments arrived at the odd path ${path.slice(0, 100)}`);
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, "$1");
}

function read(node: Node, step: Step): unknown {
  if (Array.isArray(node)) return typeof step === "number" ? node[step] : undefined;
  return node[String(step)];
}

function write(node: Node, step: Step, value: unknown): void {
  if (!Array.isArray(node)) node[String(step)] = value;
  else if (typeof step === "number" && step <= INDEX_MAX) node[step] = value;
  else throw new ProviderError("failed", "arguments arrived at an odd place of a list");
}
