/** Credits in and out by an operator's hand, and whether the books add up. */
import { listLedger, readBalance } from "#shared/database/credits.ts";
import { AUDIT_LIMIT_MS, auditLedger } from "#shared/ledger/audit.ts";
import { formatCredits } from "#shared/money.ts";

import { creditsOf, findWorkspace, limitOf } from "./arguments.ts";
import { type Command, quote, UsageError } from "./command.ts";
import { moveByCommand } from "./move.ts";
import { facts, signedCredits, tableOr } from "./table.ts";

const LEDGER_ROWS = 50;

const MOVE_OPTIONS = [
  { name: "id", value: "uuid" },
  { name: "note", value: "text" },
] as const;

export const CREDITS_COMMANDS: readonly Command[] = [
  {
    name: "credits top-up",
    about: "adds credits; a repeat with the same id changes nothing",
    arguments: ["workspace", "credits"],
    options: MOVE_OPTIONS,
    async run(context, given) {
      const amountNano = creditsOf(given.argument("credits"));
      if (amountNano < 0n) {
        throw new UsageError(`expected credits above 0, got ${quote(given.argument("credits"))}; see credits correct`);
      }
      return moveByCommand(context, given, { kind: "top_up", amountNano });
    },
  },
  {
    name: "credits correct",
    about: "adds credits, or takes them when negative, as a correction; a repeat with the same id changes nothing",
    arguments: ["workspace", "credits"],
    options: MOVE_OPTIONS,
    async run(context, given) {
      const amountNano = creditsOf(given.argument("credits"));
      return moveByCommand(context, given, { kind: "correction", amountNano });
    },
  },
  {
    name: "credits balance",
    about: "what a workspace has, holds and can spend",
    arguments: ["workspace"],
    async run(context, given) {
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const { amount, held } = await readBalance(database, workspace.id);
      const credits = formatCredits(amount);
      const available = formatCredits(amount - held);
      return {
        json: {
          workspace_id: workspace.id,
          workspace: workspace.name,
          credits,
          held: formatCredits(held),
          available,
        },
        text: facts([
          ["workspace", workspace.name],
          ["credits", credits],
          ["held", formatCredits(held)],
          ["available", available],
        ]),
      };
    },
  },
  {
    name: "credits ledger",
    about: `the last entries of a workspace's ledger, ${LEDGER_ROWS} unless told otherwise`,
    arguments: ["workspace"],
    options: [{ name: "limit", value: "n" }],
    async run(context, given) {
      const limit = limitOf(given.option("limit"), LEDGER_ROWS);
      const database = await context.database();
      const workspace = await findWorkspace(database, given.argument("workspace"));
      const rows = await listLedger(database, workspace.id, limit);
      return {
        json: rows.map((row) => ({
          id: String(row.id),
          kind: row.kind,
          credits: formatCredits(row.amount),
          source_id: row.source_id,
          attempt: row.attempt,
          note: row.note,
          at: row.at,
        })),
        text: tableOr(
          `the ledger of ${workspace.name} is empty`,
          ["At", "Kind", "Credits", "Source", "Attempt", "Note"],
          rows.map((row) => [row.at, row.kind, signedCredits(row.amount), row.source_id, row.attempt, row.note]),
          ["Credits"],
        ),
      };
    },
  },
  {
    name: "credits check",
    alias: "ledger check",
    about: "recomputes every balance and checkpoint from all entries and holds; exit code 1 when anything differs",
    arguments: [],
    async run(context) {
      const faults = await (await context.database()).slowTransaction(AUDIT_LIMIT_MS, auditLedger);
      return {
        json: { is_exact: faults.length === 0, faults },
        text: tableOr(
          "the books are exact",
          ["Workspace", "Fault", "Expected", "Found"],
          faults.map((row) => [row.workspace_id, row.fault, row.expected, row.found]),
        ),
        exitCode: faults.length === 0 ? 0 : 1,
      };
    },
  },
];
