/** A top-up or correction by an operator, with its audit row, once per id. /operator makes it. */
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import { constraintName, type Database } from "#shared/database/client.ts";
import { findMove } from "#shared/database/credits.ts";
import { formatCredits, NANO_PER_CREDIT, parseCredits } from "#shared/money.ts";

import { recallLines } from "./recall-lines.ts";
import { moveCredits } from "./move.ts";

export interface HandMove {
  readonly kind: "top_up" | "correction";
  /** Negative for a correction downwards. */
  readonly amountNano: bigint;
  /** Its idempotency key, with workspace and kind. */
  readonly sourceId: string;
  readonly note: string | null;
}

/** A ninth of what a balance can hold, so that a slip of the finger overflows nothing. */
const CREDITS_MAX = 1_000_000_000n;

/** The nano-credits of a decimal text. @throws RangeError saying what was expected */
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

/** Constraint: no balance below what is held. */
const FUNDS = "funds";

/**
 * moved; repeat: it was made before, nothing changed; other: the id stands for another amount, which `earlierNano` is; funds: less
 * would be left than is held.
 */
export type MoveResult =
  | { readonly result: "moved" | "repeat" | "funds" }
  | { readonly result: "other"; readonly earlierNano: bigint };

/** @throws Error of the driver when it cannot be known whether the credits moved; under the same id a repeat is safe */
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
