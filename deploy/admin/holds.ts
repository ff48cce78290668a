/** Credits held for calls under way. Workers and the janitor close them; here by hand what they cannot, and what they could not settle. */
import { listHolds } from "#shared/database/holds.ts";
import { listSettleFaults, resolveSettleFault, type SettleFaultRow } from "#shared/database/settle-faults.ts";
import { isUuid } from "#shared/ids.ts";
import { closeByHand } from "#shared/ledger/close-by-hand.ts";
import { formatCredits, parseCredits } from "#shared/money.ts";

import { limitOf, noteOf } from "./arguments.ts";
import { type Command, quote, UsageError } from "./command.ts";
import { ACTOR } from "./context.ts";
import { facts, tableOr } from "./table.ts";

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
  {
    name: "holds close",
    about:
      "releases a hold past its deadline that nothing else closes, or takes --credits of it; --before-deadline yes closes one that may be in use",
    arguments: ["job or job.attempt"],
    options: [
      { name: "credits", value: "n" },
      { name: "before-deadline", value: "yes|no" },
      { name: "note", value: "text" },
    ],
    async run(context, given) {
      const place = placeOf(given.argument("job or job.attempt"));
      const credits = given.option("credits");
      const asked = {
        ...place,
        amountNano: credits === undefined ? null : amountOf(credits),
        isEarly: yesOf("before-deadline", given.option("before-deadline")),
        note: noteOf(given.option("note")),
      };
      const closed = await closeByHand(await context.database(), asked, ACTOR);
      const id = `${place.jobId}.${place.attempt}`;
      if (closed.result === "unknown") throw new Error(`there is no hold ${id}`);
      if (closed.result === "busy") throw new Error(`the hold ${id} is being closed; look again`);
      if (closed.result === "early") {
        const deadline = closed.deadline.toISOString();
        throw new Error(`the hold ${id} is closed by itself until ${deadline}; --before-deadline yes closes it now`);
      }
      if (closed.result === "above") {
        throw new Error(`the hold ${id} has ${formatCredits(closed.heldNano)} credits, less than would be taken`);
      }
      const [held, taken] = [formatCredits(closed.heldNano), formatCredits(closed.takenNano)];
      return {
        json: { job_id: place.jobId, attempt: place.attempt, workspace_id: closed.workspaceId, held, taken },
        text: facts([
          ["hold", id],
          ["held", held],
          ["taken", taken],
        ]),
      };
    },
  },
  {
    name: "holds faults",
    about: `holds that were closed without being settled at what was used, newest first, ${ROWS} unless told otherwise`,
    arguments: [],
    options: [{ name: "limit", value: "n" }],
    async run(context, given) {
      const rows = await listSettleFaults(await context.database(), limitOf(given.option("limit"), ROWS));
      return {
        json: rows.map(faultJson),
        text: tableOr(
          "there is no fault",
          ["Id", "At", "Workspace", "Job", "Attempt", "Fault", "Used", "Settled"],
          rows.map((row) => [
            row.id,
            row.at,
            row.workspace_id,
            row.job_id,
            row.attempt,
            row.fault,
            usedOf(row),
            formatCredits(row.settled),
          ]),
          ["Used", "Settled"],
        ),
      };
    },
  },
  {
    name: "holds resolve",
    about: "notes that a fault is dealt with; credits are moved by credits correct",
    arguments: ["fault"],
    options: [{ name: "note", value: "text" }],
    async run(context, given) {
      const word = given.argument("fault");
      if (!/^\d{1,18}$/.test(word)) throw new UsageError(`expected a fault's number, got ${quote(word)}`);
      const fault = { id: BigInt(word), actor: ACTOR, note: noteOf(given.option("note")) };
      const row = await resolveSettleFault(await context.database(), fault);
      if (row === undefined) throw new Error(`there is no fault ${word} that is not dealt with`);
      return { json: faultJson(row), text: `fault ${word} is dealt with` };
    },
  },
];

/** @throws UsageError */
function placeOf(word: string): { readonly jobId: string; readonly attempt: number } {
  const [jobId = "", attempt = "1", ...rest] = word.toLowerCase().split(".");
  if (isUuid(jobId) && /^[1-9]\d{0,3}$/.test(attempt) && rest.length === 0) return { jobId, attempt: Number(attempt) };
  throw new UsageError(`expected a job's id, or with a dot and the attempt behind it, got ${quote(word)}`);
}

/** Nano-credits. @throws UsageError */
function amountOf(word: string): bigint {
  try {
    const nano = parseCredits(word);
    if (nano >= 0n) return nano;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new UsageError(`expected --credits as a decimal number of 0 or more with at most 9 places, got ${quote(word)}`);
}

/** @throws UsageError */
function yesOf(name: string, word: string | undefined): boolean {
  if (word === undefined || word === "no" || word === "yes") return word === "yes";
  throw new UsageError(`expected --${name} yes or no, got ${quote(word)}`);
}

const usedOf = ({ used }: SettleFaultRow): string | null => (used === null ? null : formatCredits(BigInt(used)));

function faultJson(row: SettleFaultRow): Record<string, unknown> {
  return {
    id: String(row.id),
    workspace_id: row.workspace_id,
    job_id: row.job_id,
    attempt: row.attempt,
    fault: row.fault,
    status: row.status,
    source: row.source,
    held: formatCredits(row.held),
    used: usedOf(row),
    settled: formatCredits(row.settled),
    at: row.at,
  };
}
