/** Converts ended jobs and sub-workflows of steps to events of the run, and to outputs that expressions can read. */
import type { EndedWork } from "#shared/database/run-work.ts";
import { canSucceedLater, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { FairLimit } from "#shared/limits/fair-limit.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { storeRunOutput } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { STEP_OUTPUT_TEXT_BYTES_MAX } from "#shared/database/runs.ts";
import { STEP_OUTPUT_BYTES_MAX } from "#shared/workflows/limits.ts";
import type { CHAT_OUTPUT } from "#shared/workflows/step-work.ts";

import { isEnded, type RunEvent, type StepError, type WorkEnd } from "./state.ts";
import type { StoredRun } from "./store.ts";

/** Maximum size of all outputs that expressions of a run may read, in bytes. */
const RUN_VALUES_BYTES_MAX = 67_108_864;

/** Maximum number of results that are read at once. Each may have some megabytes. */
const READS_MAX = 8;

/**
 * Returns the events of ended jobs and sub-workflows, in order. All outputs of a run together are limited, because expressions may read any
 * of them. A job or sub-workflow whose output exceeds the limit fails.
 * @throws Error if a result cannot be read or an output cannot be stored: retry
 */
export async function readEnds(
  storage: Storage,
  { facts, state, bytes }: StoredRun,
  ended: readonly EndedWork[],
): Promise<readonly RunEvent[]> {
  const places = new FairLimit({ max: READS_MAX });
  // An ended run accepts no results; only their cost counts.
  const isOver = isEnded(state.status);
  let remainingBytes = RUN_VALUES_BYTES_MAX - bytes;
  return Promise.all(
    ended.map(async (work): Promise<RunEvent> => {
      const lease = await places.take({});
      try {
        const { end, outputBytes } = await endOf(storage, facts.id, work, isOver);
        remainingBytes -= outputBytes;
        return {
          kind: "work_ended",
          place: { stepId: work.step_id, attempt: work.attempt, index: work.item },
          end: outputBytes > 0 && remainingBytes < 0 ? beyond(RUN_VALUES_BYTES_MAX) : end,
          creditsNano: work.credits,
        };
      } finally {
        lease.release();
      }
    }),
  );
}

interface ReadEnd {
  readonly end: WorkEnd;
  readonly outputBytes: number;
}

function beyond(bytesMax: number): WorkEnd {
  const message = `Expected the outputs of a run to have at most ${bytesMax} bytes in total.`;
  return { status: "failed", error: { code: "output_too_large", message, isFinal: true } };
}

async function endOf(storage: Storage, runId: string, work: EndedWork, isOver: boolean): Promise<ReadEnd> {
  if (isOver || work.state === "cancelled") return { end: { status: "cancelled" }, outputBytes: 0 };
  if (work.state === "failed" || work.state === "refused") {
    return { end: { status: "failed", error: errorOf(work) }, outputBytes: 0 };
  }
  return outputOf(storage, runId, work);
}

async function outputOf(storage: Storage, runId: string, work: EndedWork): Promise<ReadEnd> {
  const text = work.kind === null ? (work.result ?? "null") : await loadResult(storage, work);
  const output = shapeOutput(work.kind, text === null ? null : JSON.parse(text));
  const written = JSON.stringify(output);
  const bytes = Buffer.byteLength(written);
  if (bytes <= STEP_OUTPUT_TEXT_BYTES_MAX) return { end: { status: "succeeded", output }, outputBytes: bytes };
  if (bytes > STEP_OUTPUT_BYTES_MAX) {
    const message = `Expected the step to return at most ${STEP_OUTPUT_BYTES_MAX} bytes, got ${bytes}.`;
    return { end: { status: "failed", error: { code: "output_too_large", message, isFinal: true } }, outputBytes: 0 };
  }
  const { step_id, attempt, item } = work;
  const outputRef = await storeRunOutput(storage, runId, `${step_id}/${attempt}/${item}`, written);
  return { end: { status: "succeeded", output, outputRef }, outputBytes: bytes };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns an output in the shape that expressions read. @param kind kind of the job; null for a run, whose output is returned unchanged */
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

/**
 * Returns a chat completion with additional members for authors of workflows: its text, and `json` if the text is a JSON object or array.
 */
function chatOutput(completion: Fields): Partial<Record<(typeof CHAT_OUTPUT)[number], unknown>> {
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
  if (text.length > STEP_OUTPUT_TEXT_BYTES_MAX || !/^\s*[[{]/.test(text) || isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const DEPTH_MAX = 100;

/**
 * Returns true if a JSON text is nested too deeply to be traversed later. Brackets within strings count too; this only omits the member
 * `json`.
 */
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
  // A failure within a sub-run was classified there.
  return kind !== null && (isFinal(code) || error?.is_final === true)
    ? { code, message, isFinal: true }
    : { code, message };
}

/**
 * Returns true for an error code that a retry would return too, because the request or its permission is at fault. A lack of credits is not
 * final.
 */
export function isFinal(code: string): boolean {
  if (!(code in ERROR_CODES)) return false;
  return !canSucceedLater(code as Code) && ERROR_CODES[code as Code].type !== "quota_exceeded";
}
