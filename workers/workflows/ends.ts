/** Work of steps that has ended: what its run is told of it, and what expressions read as its output. */
import type { EndedWork } from "#shared/database/run-work.ts";
import { type Code, ERROR_CODES } from "#shared/errors.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { LIMITS } from "#shared/limits.ts";
import { storeRunOutput } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

import type { RunEvent, StepError, WorkEnd } from "./state.ts";

/** @throws Error when a result cannot be read, or an output not stored: both are tried again */
export async function eventOf(storage: Storage, runId: string, work: EndedWork): Promise<RunEvent> {
  return {
    kind: "work_ended",
    place: { stepId: work.step_id, attempt: work.attempt, index: work.item },
    end: await endOf(storage, runId, work),
    creditsNano: work.credits,
  };
}

async function endOf(storage: Storage, runId: string, work: EndedWork): Promise<WorkEnd> {
  switch (work.state) {
    case "cancelled":
      return { status: "cancelled" };
    case "failed":
    case "refused":
      return { status: "failed", error: errorOf(work) };
    default:
      return outputOf(storage, runId, work);
  }
}

async function outputOf(storage: Storage, runId: string, work: EndedWork): Promise<WorkEnd> {
  const text = work.kind === null ? (work.result ?? "null") : await loadResult(storage, work);
  const output = shapeOutput(work.kind, text === null ? null : JSON.parse(text));
  const written = JSON.stringify(output);
  const bytes = Buffer.byteLength(written);
  if (bytes <= LIMITS.stepOutputTextBytesMax) return { status: "succeeded", output };
  if (bytes > LIMITS.stepOutputBytesMax) {
    const message = `Expected the step to give at most ${LIMITS.stepOutputBytesMax} bytes, got ${bytes}.`;
    return { status: "failed", error: { code: "output_too_large", message, isFinal: true } };
  }
  const { step_id, attempt, item } = work;
  const outputRef = await storeRunOutput(storage, runId, `${step_id}/${attempt}/${item}`, written);
  return { status: "succeeded", output, outputRef };
}

type Fields = Readonly<Record<string, unknown>>;

/** @param kind of the job; null for a run, whose output is what it gives */
function shapeOutput(kind: string | null, result: unknown): unknown {
  if (kind === "chat") return chatOutput(result as Fields);
  if (kind === "capability") {
    const { output, files } = result as { output: Fields; files: unknown };
    return { ...output, files };
  }
  if (kind === null || typeof result !== "object" || result === null) return result;
  const { object: _object, created: _created, ...rest } = result as Fields;
  return rest;
}

/** What authors ask for first: the text, and the JSON in it where it is an object or a list. */
function chatOutput(completion: Fields): Fields {
  const [choice = {}] = (completion["choices"] ?? []) as readonly Fields[];
  const message = (choice["message"] ?? {}) as Fields;
  const text = typeof message["content"] === "string" ? message["content"] : "";
  const json = jsonIn(text);
  return {
    text,
    ...(json === undefined ? {} : { json }),
    message,
    finish_reason: choice["finish_reason"] ?? null,
    model: completion["model"],
    usage: completion["usage"] ?? null,
  };
}

function jsonIn(text: string): unknown {
  if (text.length > LIMITS.stepOutputTextBytesMax || !/^\s*[[{]/.test(text) || isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const DEPTH_MAX = 100;

/** Too deep for what walks it later. Brackets within texts count too, which costs such a text its `json` only. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const sign of text) {
    if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}

function errorOf({ error, kind }: EndedWork): StepError {
  const code = error?.code ?? "internal_error";
  const message = error?.message ?? "The service failed to run the step.";
  // What failed within another run has been judged there.
  return kind !== null && isFinal(code) ? { code, message, isFinal: true } : { code, message };
}

/** The request itself is at fault, or the right to make it: it would fail again. */
export function isFinal(code: string): boolean {
  if (!(code in ERROR_CODES)) return false;
  const { status, type } = ERROR_CODES[code as Code];
  return status < 500 && type !== "rate_limit_error" && type !== "quota_exceeded";
}
