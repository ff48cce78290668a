/** Commands for workspaces, which make calls and pay for them. */
import { insertWorkspace, listWorkspaces, setWorkspaceActive, type WorkspaceRow } from "#shared/database/workspaces.ts";
import { newId } from "#shared/ids.ts";
import { formatCredits } from "#shared/money.ts";

import { findWorkspace, workspaceNameOf } from "./arguments.ts";
import type { Answer, Command } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { tableOr } from "./table.ts";

export const WORKSPACE_COMMANDS: readonly Command[] = [
  {
    name: "workspace create",
    about: "makes a workspace without members, keys or credits",
    arguments: ["name"],
    async run(context, given) {
      const name = workspaceNameOf(given.argument("name"));
      const database = await context.database();
      const row = await insertWorkspace(database, { id: newId(), name, actor: ACTOR });
      if (row === undefined) throw new Error(`there is a workspace ${name} already, or was in the last 30 days`);
      return { json: workspaceJson(row), text: `workspace ${row.name} made, id ${row.id}` };
    },
  },
  {
    name: "workspace list",
    about: "all workspaces and their balances",
    arguments: [],
    async run(context) {
      const rows = await listWorkspaces(await context.database());
      return {
        json: rows.map((row) => ({
          ...workspaceJson(row),
          credits: formatCredits(row.amount),
          held: formatCredits(row.held),
          available: formatCredits(row.amount - row.held),
        })),
        text: tableOr(
          "there is no workspace yet",
          ["Name", "Id", "Active", "Credits", "Held", "Available", "Created"],
          rows.map((row) => [
            row.name,
            row.id,
            row.is_active,
            formatCredits(row.amount),
            formatCredits(row.held),
            formatCredits(row.amount - row.held),
            row.created_at,
          ]),
          ["Credits", "Held", "Available"],
        ),
      };
    },
  },
  {
    name: "workspace disable",
    about: "its keys stop working within a second; nothing is lost",
    arguments: ["workspace"],
    run: (context, given) => setActive(context, given.argument("workspace"), false),
  },
  {
    name: "workspace enable",
    about: "its keys work again",
    arguments: ["workspace"],
    run: (context, given) => setActive(context, given.argument("workspace"), true),
  },
];

async function setActive(context: Context, word: string, isActive: boolean): Promise<Answer> {
  const database = await context.database();
  const before = await findWorkspace(database, word);
  const changed = await setWorkspaceActive(database, before.id, { isActive, actor: ACTOR });
  const state = isActive ? "enabled" : "disabled";
  return {
    json: workspaceJson(changed ?? { ...before, is_active: isActive }),
    text: `workspace ${before.name} ${changed === undefined ? "was" : "is"} ${state}`,
  };
}

function workspaceJson(row: WorkspaceRow): Record<string, unknown> {
  return { id: row.id, name: row.name, is_active: row.is_active, created_at: row.created_at };
}
