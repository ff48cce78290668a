/** A top-up or correction with its audit row, once per id. */
import { findMove, readBalance } from "#shared/database/credits.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import { constraintName, type Database } from "#shared/database/client.ts";
import type { WorkspaceRow } from "#shared/database/workspaces.ts";
import { newId } from "#shared/ids.ts";
import { moveCredits } from "#shared/ledger/move.ts";
import { formatCredits } from "#shared/money.ts";

import { findWorkspace, idOf, noteOf } from "./arguments.ts";
import type { Answer, Given } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { facts } from "./table.ts";

/** Constraint: no balance below what is held. */
const FUNDS = "funds";

interface Move {
  readonly kind: "top_up" | "correction";
  readonly amountNano: bigint;
}

/**
 * Moves credits under the id given, or a new one.
 * @throws UsageError; Error when the id stands for another move, or less would be left than is held
 */
export async function moveByHand(context: Context, given: Given, move: Move): Promise<Answer> {
  const word = given.option("id");
  const sourceId = word === undefined ? newId() : idOf("an id", word);
  const note = noteOf(given.option("note"));
  const database = await context.database();
  const workspace = await findWorkspace(database, given.argument("workspace"));
  const hasMoved = await transact(database, workspace, { ...move, sourceId, note });
  if (!hasMoved) await requireSame(database, workspace, { ...move, sourceId });
  const { amount, held } = await readBalance(database, workspace.id);
  const credits = formatCredits(move.amountNano);
  return {
    json: {
      id: sourceId,
      workspace_id: workspace.id,
      workspace: workspace.name,
      kind: move.kind,
      credits,
      note,
      was_done_before: !hasMoved,
      balance: formatCredits(amount),
      available: formatCredits(amount - held),
    },
    text: facts([
      ["workspace", workspace.name],
      ["credits", hasMoved ? credits : `${credits}, moved before: nothing changed`],
      ["id", sourceId],
      ["balance", formatCredits(amount)],
    ]),
  };
}

/** False when it was done before. Idempotency key: workspace, kind and source id. */
async function transact(
  database: Database,
  workspace: WorkspaceRow,
  move: Move & { readonly sourceId: string; readonly note: string | null },
): Promise<boolean> {
  const { kind, amountNano, sourceId, note } = move;
  try {
    return await database.transaction(async (tx) => {
      const hasMoved = await moveCredits(tx, { workspaceId: workspace.id, kind, amountNano, sourceId, note });
      if (hasMoved) {
        await recordAudit(tx, workspace.id, {
          actor: ACTOR,
          action: `credits.${kind}`,
          subject: sourceId,
          detail: { credits: formatCredits(amountNano), ...(note !== null && { note }) },
        });
      }
      return hasMoved;
    });
  } catch (error) {
    if (constraintName(error) !== FUNDS) {
      // It may have been committed all the same; under the same id a repeat is safe.
      throw new Error(`the credits may not have moved; to be sure, repeat it with --id ${sourceId}`, { cause: error });
    }
  }
  const { amount, held } = await readBalance(database, workspace.id);
  throw new Error(
    `the workspace ${workspace.name} has ${formatCredits(amount - held)} credits available, less than would be taken`,
  );
}

/** A repeat must be of the same move: another amount under a used id is a mistake. */
async function requireSame(
  database: Database,
  workspace: WorkspaceRow,
  move: Move & { readonly sourceId: string },
): Promise<void> {
  const earlier = await findMove(database, workspace.id, move);
  if (earlier !== undefined && earlier.amount !== move.amountNano) {
    throw new Error(`the id ${move.sourceId} was used for ${formatCredits(earlier.amount)} credits; nothing changed`);
  }
}
