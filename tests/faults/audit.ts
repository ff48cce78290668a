/**
 * Invariants after every fault, whatever it was: the books are exact, no hold stays open, the queue is empty, each answer
 * was honest, and answers and usage records tell the same story.
 */
import { expect } from "bun:test";

import { auditStorage } from "#shared/database/file-sweeps.ts";
import { ERROR_CODES, type ErrorEnvelope } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";

import { isQueueEmpty } from "../support/nats.ts";
import type { Stack } from "../support/stack.ts";
import type { Bed } from "./bed.ts";
import { type Answer, DONE, requestId } from "./client.ts";
import { eventually } from "./wait.ts";

export interface AuditOptions {
  /** Messages that were meant to end as dead letters; none unless told. */
  readonly deadLetters?: number;
  /**
   * Maximum number of delivered answers that may be free: their ingress died before it had reported them, or died together with their
   * worker before the settlement.
   */
  readonly untaken?: number;
  /** Longest time that holds and messages may still be open. */
  readonly withinMs?: number;
}

interface UsageRow {
  readonly job_id?: string;
  readonly status: "succeeded" | "failed" | "cancelled" | "lost";
  readonly settled: bigint;
}

/** Fails with everything it found at once. Returns the number of untaken answers. */
export async function audit(bed: Pick<Bed, "stack" | "client">, options: AuditOptions = {}): Promise<number> {
  const { stack, client } = bed;
  const withinMs = options.withinMs ?? 15_000;
  // The hold of a call on a credit line may come after its message, and goes before it.
  await eventually("the queue runs empty", () => isQueueEmpty(stack.natsUrl), withinMs);
  await eventually("no hold stays open", async () => (await countOf(stack, "hold")) === 0, withinMs);
  const ledger = await auditLedger({ query: stack.query });
  const storage = await auditStorage({ query: stack.query });
  // Of what was delivered after its hold had been released the last attempt is the call.
  const rows = await stack.query<UsageRow>("select job_id, status, settled from usage_record order by attempt");
  const usage = new Map(rows.map((row) => [row.job_id, row]));
  const isUntaken = (answer: Answer): boolean => {
    const row = usage.get(requestId(answer));
    return answer.status === 200 && (row?.status === "cancelled" || row?.status === "lost") && row.settled === 0n;
  };
  const untaken = new Set((options.untaken ?? 0) > 0 ? client.answers.filter(isUntaken) : []);
  expect(untaken.size).toBeLessThanOrEqual(options.untaken ?? 0);
  const taken = client.answers.filter((answer) => !untaken.has(answer));
  const faults = taken.flatMap((answer) =>
    answerFaults(answer, usage.get(requestId(answer))).map(
      (fault) => `${answer.status} ${requestId(answer)}: ${fault}: ${answer.body.slice(-300)}`,
    ),
  );
  expect({ ledger, storage, faults, deadLetters: await countOf(stack, "dead_letter") }).toEqual({
    ledger: [],
    storage: [],
    faults: [],
    deadLetters: options.deadLetters ?? 0,
  });
  return untaken.size;
}

/** Returns the faults of one answer, in words; `row` is its usage record. */
export function answerFaults(answer: Answer, row: UsageRow | undefined): string[] {
  return [...shapeFaults(answer), ...bookFaults(answer, row)];
}

/** An answer looked at by itself. */
function shapeFaults(answer: Answer): string[] {
  if (answer.status === 0 || answer.hasLeft) return [];
  if (!isUuid(requestId(answer))) return ["no x-request-id"];
  if (answer.status >= 300) return answer.isCut ? ["the error was cut"] : envelopeFaults(answer.body, answer.status);
  if (!answer.isStream) return answer.isCut || !isJson(answer.body) ? ["the answer is not whole"] : [];
  const isDone = answer.frames.at(-1) === DONE;
  const errors = answer.frames.filter((frame) => frame.startsWith('{"error"'));
  if (answer.frames.slice(0, -1).includes(DONE)) return ["[DONE] is not the last frame"];
  if (isDone) return errors.length > 0 || answer.isCut ? ["[DONE] on a broken stream"] : [];
  if (errors.length > 1) return ["more than one error frame"];
  const [error] = errors;
  if (error !== undefined) return envelopeFaults(error, undefined);
  return answer.isCut ? [] : ["the stream ended cleanly without [DONE] or an error"];
}

/** An answer held against its usage record. */
function bookFaults(answer: Answer, row: UsageRow | undefined): string[] {
  if (answer.status === 0) return [];
  const mayResend = answer.headers.get("x-should-retry") !== "false";
  if (answer.status >= 500) return mayResend && (row?.settled ?? 0n) > 0n ? ["money moved, yet it may be resent"] : [];
  if (answer.status >= 300) return row && row.settled > 0n ? ["a refused call was billed"] : [];
  if (!row) return ["answered without a usage record"];
  if (answer.isStream) {
    const isDone = answer.frames.at(-1) === DONE;
    if (!isDone) return [];
    return [
      ...(row.status === "succeeded" ? [] : [`whole, yet recorded as ${row.status}`]),
      ...priceFaults(answer, row),
    ];
  }
  if (answer.hasLeft) return [];
  const faults = row.status === "succeeded" ? [] : [`answered, yet recorded as ${row.status}`];
  const credits = answer.headers.get("x-credits-used");
  const settled = Number(row.settled) / 1e9;
  if (Number(credits) !== settled) faults.push(`x-credits-used says ${credits}, settled were ${settled}`);
  return [...faults, ...priceFaults(answer, row)];
}

/** The charge within an answer, held against its usage record. Streams report it on request only. */
function priceFaults(answer: Answer, row: UsageRow): string[] {
  const settled = Number(row.settled) / 1e9;
  const texts = answer.isStream ? answer.frames : [answer.body];
  return texts
    .filter((text) => text.includes('"credits"') && isJson(text))
    .map((text) => JSON.parse(text) as Priced)
    .map(({ usage, response }) => (usage ?? response?.usage)?.credits)
    .filter((credits) => credits !== undefined && credits !== settled)
    .map((credits) => `usage.credits says ${credits}, settled were ${settled}`);
}

interface Priced {
  readonly usage?: { readonly credits?: number } | null;
  readonly response?: Pick<Priced, "usage">;
}

function envelopeFaults(text: string, status: number | undefined): string[] {
  if (!isJson(text)) return ["the error is not JSON"];
  const { error, ...rest } = JSON.parse(text) as ErrorEnvelope;
  if (Object.keys(rest).length > 0 || typeof error !== "object") return ["the error has another shape"];
  const keys = Object.keys(error).filter((key) => key !== "job_id");
  if (keys.toSorted().join() !== "code,message,param,type") return [`the error has the keys ${keys.join()}`];
  const known = ERROR_CODES[error.code] as { status: number; type: string } | undefined;
  if (!known || known.type !== error.type) return [`unknown code ${error.code} of type ${error.type}`];
  return status !== undefined && known.status !== status ? [`code ${error.code} with status ${status}`] : [];
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

async function countOf(stack: Stack, table: "hold" | "dead_letter"): Promise<number> {
  const [row] = await stack.query<{ count: bigint }>(`select count(*) as count from ${table}`);
  return Number(row?.count);
}
