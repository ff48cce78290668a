/** Command that shows the usage records of closed calls. */
import { findUsage, listUsage, type UsageRow } from "#shared/database/usage.ts";
import { formatCredits } from "#shared/money.ts";

import { findWorkspace, idOf, limitOf } from "./arguments.ts";
import type { Command } from "./command.ts";
import { tableOr } from "./table.ts";

const ROWS = 50;

export const USAGE_COMMANDS: readonly Command[] = [
  {
    name: "usage",
    about: `the last closed calls of a workspace, ${ROWS} unless told otherwise, or one by its x-request-id`,
    arguments: ["workspace"],
    options: [
      { name: "request", value: "id" },
      { name: "limit", value: "n" },
    ],
    async run(context, given) {
      const limit = limitOf(given.option("limit"), ROWS);
      const word = given.option("request");
      const jobId = word === undefined ? undefined : idOf("a request id", word);
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const rows =
        jobId === undefined
          ? await listUsage(database, workspace.id, limit)
          : await findUsage(database, workspace.id, jobId);
      if (jobId !== undefined && rows.length === 0) {
        throw new Error(`the workspace ${workspace.name} has no closed call ${jobId}`);
      }
      return {
        json: rows.map(usageJson),
        text: tableOr(
          `the workspace ${workspace.name} has no closed call yet`,
          ["Ended", "Request", "Status", "Model", "Source", "Units", "Credits", "Uncollected", "Key"],
          rows.map((row) => [
            row.ended_at,
            row.job_id,
            row.status,
            modelsOf(row),
            sourcesOf(row),
            unitsText(row),
            formatCredits(row.settled),
            formatCredits(row.uncollected),
            row.key_id,
          ]),
          ["Credits", "Uncollected"],
        ),
      };
    },
  },
];

/** In the order in which they wrote. */
function modelsOf(row: UsageRow): string {
  return [...row.parts, row].map(({ model }) => model).join(", then ");
}

function sourcesOf(row: UsageRow): string | null {
  return row.parts.length === 0 ? row.source : [...row.parts, row].map(({ source }) => source ?? "-").join(", then ");
}

/** `input 12, output 3`, with a mark when we counted ourselves. */
function unitsText(row: UsageRow): string {
  const units = Object.entries(row.units).filter(([, count]) => count !== 0);
  const text = units.map(([name, count]) => `${name} ${count}`).join(", ") || "-";
  return row.is_estimated ? `${text} (estimated)` : text;
}

function usageJson(row: UsageRow): Record<string, unknown> {
  return {
    request_id: row.job_id,
    attempt: row.attempt,
    key_id: row.key_id,
    model: row.model,
    source: row.source,
    status: row.status,
    units: row.units,
    is_estimated: row.is_estimated,
    tokens: Number(row.tokens),
    held: formatCredits(row.held),
    credits: formatCredits(row.settled),
    uncollected: formatCredits(row.uncollected),
    started_at: row.started_at,
    ended_at: row.ended_at,
    ...(row.parts.length === 0
      ? {}
      : { parts: row.parts.map(({ amount, ...part }) => ({ ...part, credits: formatCredits(BigInt(amount)) })) }),
  };
}
