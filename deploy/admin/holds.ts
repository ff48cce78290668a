/** Credits held for calls under way. They are closed by workers and the janitor, never by hand. */
import { listHolds } from "#shared/database/holds.ts";
import { formatCredits } from "#shared/money.ts";

import { limitOf } from "./arguments.ts";
import type { Command } from "./command.ts";
import { tableOr } from "./table.ts";

const ROWS = 100;

export const HOLD_COMMANDS: readonly Command[] = [
  {
    name: "holds list",
    about: `open holds, nearest deadline first, ${ROWS} unless told otherwise`,
    arguments: [],
    options: [{ name: "limit", value: "n" }],
    async run(context, given) {
      const limit = limitOf(given.option("limit"), ROWS);
      const rows = await listHolds(await context.database(), limit);
      return {
        json: rows.map((row) => ({
          job_id: row.job_id,
          attempt: row.attempt,
          workspace_id: row.workspace_id,
          workspace: row.workspace,
          key_id: row.key_id,
          model: row.model,
          credits: formatCredits(row.amount),
          created_at: row.created_at,
          deadline: row.deadline,
          is_overdue: row.is_overdue,
          unknown_since: row.unknown_since,
        })),
        text: tableOr(
          "nothing is held",
          ["Job", "Attempt", "Workspace", "Key", "Model", "Credits", "Since", "Deadline", "Overdue", "Unknown since"],
          rows.map((row) => [
            row.job_id,
            row.attempt,
            row.workspace,
            row.key_id,
            row.model,
            formatCredits(row.amount),
            row.created_at,
            row.deadline,
            row.is_overdue,
            row.unknown_since,
          ]),
          ["Credits"],
        ),
      };
    },
  },
];
