/**
 * Arguments of a call that arrive in chunks, each with a path such as `$.items[0].name`. Gemini sends them only on request, which we never
 * make; compatible servers may. Source: recorded traffic of gemini-3.1-pro-preview.
 */

import { SSE_LINE_BYTES_MAX } from "#workers/providers/sse.ts";
import { JSON_DEPTH_MAX } from "#shared/json/tokens.ts";

import { textIn, type Members, membersOf } from "../json.ts";
import { ProviderError } from "../provider.ts";

/** Step of a path: `.name`, `[7]`, `['name']` or `["name"]`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
/** Highest index of a list; a higher one would only fill memory. */
const INDEX_MAX = 10_000;

type Step = string | number;
type Node = Members | unknown[];

export class PartialArguments {
  private readonly root: Members = Object.create(null) as Members;
  /** Path whose text continues in the next chunk. */
  private open: string | undefined;
  private characters = 0;

  /** @throws ProviderError `failed` for an invalid path, or for too long arguments */
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

  /** Returns the arguments so far as JSON text. */
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
        const made: Node = typeof next === "number" ? [] : (Object.create(null) as Members);
        write(node, step, made);
        node = made;
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
