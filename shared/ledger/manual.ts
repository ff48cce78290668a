/**
 * Changes of the ledger by an operator: top-ups, corrections, and closing of holds that no sweep can close. Each change writes an audit
 * row.
 */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import { constraintName, type Database } from "#shared/database/client.ts";
import { findMove } from "#shared/database/credits.ts";
import { formatCredits, NANO_PER_CREDIT, parseCredits } from "#shared/base/money.ts";

import { moveCredits } from "./move.ts";
import { reclaimLines } from "./reclaim-lines.ts";

export interface HandMove {
  readonly kind: "top_up" | "correction";
  /** Amount in nano-credits; negative for a correction downwards. */
  readonly amountNano: bigint;
  /** Idempotency key. A movement is booked once for each workspace, kind and key. */
  readonly sourceId: string;
  readonly note: string | null;
}

/** Maximum credits of one movement: a ninth of the largest balance, so that a typing error causes no overflow. */
const CREDITS_MAX = 1_000_000_000n;

/**
 * Converts a decimal number of credits to nano-credits.
 * @throws RangeError that states the expected format
 */
export function parseMove(text: string): bigint {
  let nano: bigint;
  try {
    nano = parseCredits(text);
  } catch (cause) {
    throw new RangeError("expected credits as a decimal number with at most 9 places", { cause });
  }
  const max = CREDITS_MAX * NANO_PER_CREDIT;
  if (nano !== 0n && nano <= max && nano >= -max) return nano;
  throw new RangeError(`expected between 0 and ${CREDITS_MAX} credits`);
}

/** Name of the database constraint that prevents a balance from falling below the workspace's open holds. */
const FUNDS = "funds";

/**
 * Result of a top-up or correction. `moved`: booked now. `repeat`: already booked with the same id and amount. `other`: the id was already
 * used for another amount, `earlierNano`. `funds`: not booked, because the balance would fall below its holds.
 */
export type MoveResult =
  | { readonly result: "moved" | "repeat" | "funds" }
  | { readonly result: "other"; readonly earlierNano: bigint };

/**
 * Books a top-up or correction with its audit row. @throws Error of the driver if the result is unknown; a repeat with the same id is safe
 */
export async function moveByHand(
  database: Database,
  workspaceId: string,
  move: HandMove,
  actor: Actor,
): Promise<MoveResult> {
  const { kind, amountNano, sourceId, note } = move;
  let hasMoved: boolean;
  try {
    hasMoved = await database.transaction(async (tx) => {
      const isNew = await moveCredits(tx, { workspaceId, kind, amountNano, sourceId, note });
      if (isNew) {
        const after = { credits: formatCredits(amountNano), ...(note !== null && { note }) };
        await recordAudit(tx, workspaceId, { actor, action: `credits.${kind}`, subject: sourceId, after });
      }
      return isNew;
    });
  } catch (error) {
    if (constraintName(error) !== FUNDS) throw error;
    const { covered } = await reclaimLines(database, workspaceId, -amountNano);
    if (covered === undefined || covered < -amountNano) return { result: "funds" };
    return moveByHand(database, workspaceId, move, actor);
  }
  if (hasMoved) return { result: "moved" };
  const earlier = await findMove(database, workspaceId, move);
  if (earlier && earlier.amount !== amountNano) return { result: "other", earlierNano: earlier.amount };
  return { result: "repeat" };
}

interface HandClose {
  readonly jobId: string;
  readonly attempt: number;
  /** Nano-credits to charge, at most the amount of the hold. Null releases the hold. */
  readonly amountNano: bigint | null;
  /** True to close the hold even before its deadline. A call that still runs is then charged from the available credits, or not at all. */
  readonly isEarly: boolean;
  readonly note: string | null;
}

/**
 * Result of closing a hold. `unknown`: no such hold. `early`: its deadline is not reached. `above`: the hold is smaller than the amount.
 * `busy`: a settlement is running; retry.
 */
type CloseResult =
  | { readonly result: "closed"; readonly workspaceId: string; readonly heldNano: bigint; readonly takenNano: bigint }
  | { readonly result: "unknown" }
  | { readonly result: "busy" }
  | { readonly result: "early"; readonly deadline: Date }
  | { readonly result: "above"; readonly heldNano: bigint };

interface OpenHold {
  readonly workspace_id: string;
  readonly amount: bigint;
  readonly deadline: Date;
  readonly is_early: boolean;
}

export function closeByHand(database: Database, close: HandClose, actor: Actor): Promise<CloseResult> {
  const { jobId, attempt, amountNano, isEarly, note } = close;
  return database.transaction(async (tx) => {
    const [hold] = await tx.query<OpenHold>(
      `select workspace_id, amount, deadline, deadline > now() as is_early from hold where job_id = $1 and attempt = $2`,
      [jobId, attempt],
    );
    if (!hold) return { result: "unknown" };
    if (hold.is_early && !isEarly) return { result: "early", deadline: hold.deadline };
    if ((amountNano ?? 0n) > hold.amount) return { result: "above", heldNano: hold.amount };
    const [row] = await tx.query<{ taken: bigint | null }>(
      "select settle_call($1, $2, $3::smallint, $4, 'lost', null, '{}', $5, 0) as taken",
      [hold.workspace_id, jobId, attempt, amountNano, amountNano !== null],
    );
    const takenNano = row?.taken ?? null;
    if (takenNano === null) return { result: "unknown" };
    if (takenNano < 0n) return { result: "busy" };
    await recordAudit(tx, hold.workspace_id, {
      actor,
      action: "hold.close",
      subject: `${jobId}.${attempt}`,
      before: { credits: formatCredits(hold.amount) },
      after: { credits: formatCredits(takenNano), ...(note !== null && { note }) },
    });
    return { result: "closed", workspaceId: hold.workspace_id, heldNano: hold.amount, takenNano };
  });
}
