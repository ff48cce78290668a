/** A top-up or correction by command. */
import { readBalance } from "#shared/database/credits.ts";
import type { Database } from "#shared/database/client.ts";
import type { WorkspaceRow } from "#shared/database/workspaces.ts";
import { newId } from "#shared/ids.ts";
import { type HandMove, moveByHand } from "#shared/ledger/move-by-hand.ts";
import { formatCredits } from "#shared/money.ts";

import { findWorkspace, idOf, noteOf } from "./arguments.ts";
import type { Answer, Given } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { facts } from "./table.ts";

/**
 * Moves credits under the id given, or a new one.
 * @throws UsageError; Error when the id stands for another move, or less would be left than is held
 */
export async function moveByCommand(
  context: Context,
  given: Given,
  { kind, amountNano }: Pick<HandMove, "kind" | "amountNano">,
): Promise<Answer> {
  const word = given.option("id");
  const sourceId = word === undefined ? newId() : idOf("an id", word);
  const note = noteOf(given.option("note"));
  const database = await context.database();
  const workspace = await findWorkspace(database, given.argument("workspace"));
  const hasMoved = await move(database, workspace, { kind, amountNano, sourceId, note });
  const { amount, held } = await readBalance(database, workspace.id);
  const credits = formatCredits(amountNano);
  return {
    json: {
      id: sourceId,
      workspace_id: workspace.id,
      workspace: workspace.name,
      kind,
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

/** False when it was done before. @throws Error in one sentence */
async function move(database: Database, workspace: WorkspaceRow, asked: HandMove): Promise<boolean> {
  const moved = await moveByHand(database, workspace.id, asked, ACTOR).catch((cause: unknown) => {
    // It may have been committed all the same; under the same id a repeat is safe.
    throw new Error(`the credits may not have moved; to be sure, repeat it with --id ${asked.sourceId}`, { cause });
  });
  if (moved.result === "other") {
    const earlier = formatCredits(moved.earlierNano);
    throw new Error(`the id ${asked.sourceId} was used for ${earlier} credits; nothing changed`);
  }
  if (moved.result === "funds") {
    const { amount, held } = await readBalance(database, workspace.id);
    throw new Error(
      `the workspace ${workspace.name} has ${formatCredits(amount - held)} credits available, less than would be taken`,
    );
  }
  return moved.result === "moved";
}
