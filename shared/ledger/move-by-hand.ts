/** Top-up or correction by an operator, with its audit row, once per id. Used by /operator. */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import { constraintName, type Database } from "#shared/database/client.ts";
import { findMove } from "#shared/database/credits.ts";
import { formatCredits, NANO_PER_CREDIT, parseCredits } from "#shared/money.ts";

import { recallLines } from "./recall-lines.ts";
import { moveCredits } from "./move.ts";

export interface HandMove {
  readonly kind: "top_up" | "correction";
  /** Nano-credits; negative for a correction downwards. */
  readonly amountNano: bigint;
  /** Idempotency key, together with workspace and kind. */
  readonly sourceId: string;
  readonly note: string | null;
}

/** Most credits of one movement: a ninth of the largest balance, so that a typing error causes no overflow. */
const CREDITS_MAX = 1_000_000_000n;

/** Converts decimal text to nano-credits. @throws RangeError with the expected format */
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

/** Name of the constraint that keeps a balance at or above its holds. */
const FUNDS = "funds";

/**
 * moved: booked now; repeat: booked before with the same id; other: the id was used for another amount, `earlierNano`; funds: the balance
 * would fall below its holds.
 */
export type MoveResult =
  | { readonly result: "moved" | "repeat" | "funds" }
  | { readonly result: "other"; readonly earlierNano: bigint };

/** Books a movement. @throws Error of the driver if the result is unknown; a repeat with the same id is safe */
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
    const { covered } = await recallLines(database, workspaceId, -amountNano);
    if (covered === undefined || covered < -amountNano) return { result: "funds" };
    return moveByHand(database, workspaceId, move, actor);
  }
  if (hasMoved) return { result: "moved" };
  const earlier = await findMove(database, workspaceId, move);
  if (earlier && earlier.amount !== amountNano) return { result: "other", earlierNano: earlier.amount };
  return { result: "repeat" };
}
