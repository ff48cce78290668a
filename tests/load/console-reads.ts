/**
 * Times of the lists and charts that a web page reads, over a long history of one large workspace. `npm run load:console` makes 200,000 calls
 * of 90 days, `-- --rows=10000000` ten million. Prints the median and the 95th percentile of each read, and exits with 1 when a percentile
 * is above 300 ms, when an answer is not 200, or when the full audit finds a difference.
 */
import { AUDIT_LIMIT_MS, auditAlone } from "#shared/ledger/audit.ts";
import { openSpendBed } from "#tests/ingress/routes/settings/spend-bed.ts";
import { addPeople } from "#tests/ingress/routes/managed-bed.ts";

import { startOwnPostgres } from "../support/postgres.ts";
import { HISTORY_DAYS, HISTORY_MODELS, readsOf, timesOf, writeLists } from "./console-paths.ts";
import { writeHistory } from "./history-data.ts";
import { keep, runToEnd, tellProgress } from "./parts.ts";
import { DURABLE } from "./sluice-target.ts";
import { fixed, section } from "./table.ts";

const ROWS_DEFAULT = 200_000;
const P95_MS_MAX = 300;

function rowsAsked(): number {
  const text = process.argv
    .slice(2)
    .find((argument) => argument.startsWith("--rows="))
    ?.slice("--rows=".length);
  const rows = Number(text ?? ROWS_DEFAULT);
  if (Number.isInteger(rows) && rows >= 10_000) return rows;
  throw new Error(`Expected --rows of 10000 or more, got ${text}.`);
}

await runToEnd(async () => {
  const rows = rowsAsked();
  process.env["SLUICE_PACE"] = "1";
  const postgres = await startOwnPostgres({ settings: { ...DURABLE, checkpoint_timeout: "1h", max_wal_size: "4GB" } });
  keep({ stop: () => postgres.close() });
  process.env["TEST_POSTGRES_URL"] = postgres.url;
  const bed = await openSpendBed();
  const until = new Date();
  const stepUs = (HISTORY_DAYS * 86_400e6) / rows;
  const plan = { largeShare: 60, members: 8, keysOfMember: 5, models: HISTORY_MODELS, hasLabels: true };
  const accounts = await writeHistory(bed.db, { name: "history", calls: rows, stepUs, until, ...plan });
  const bench = { bed, accounts, until };
  await writeLists(bench);
  const owners = await addPeople(bed.db, accounts.workspaces[0] ?? "", ["owner", "owner", "owner", "owner"]);
  const keys = owners.map(({ key }) => key);
  const table: string[][] = [];
  const slow: string[] = [];
  for (const [name, path] of await readsOf(bench)) {
    // A read that the server cancels after ten seconds must not lose the figures of the others.
    const times = await timesOf(bench, keys, path).catch((error: unknown) => String(error));
    const figures =
      typeof times === "string" ? ["failed", times] : [0.5, 0.95].map((part) => fixed(times.percentile(part), 1));
    table.push([name, ...figures]);
    tellProgress(`${name}: ${figures.join(", p95 ")}`);
    if (typeof times === "string" || times.percentile(0.95) > P95_MS_MAX) slow.push(name);
  }
  process.stdout.write(
    `${section(`${rows} calls of ${HISTORY_DAYS} days`, ["read", "median, ms", "p95, ms"], table).join("\n")}\n`,
  );
  if (slow.length > 0) process.stdout.write(`\nAbove ${P95_MS_MAX} ms, or failed: ${slow.join("; ")}.\n`);
  const faults = await auditAlone(bed.db.database, AUDIT_LIMIT_MS);
  if (faults.length > 0) {
    process.stdout.write(
      `\nThe full audit: ${Bun.inspect(typeof faults === "string" ? faults : faults.slice(0, 3))}\n`,
    );
  }
  await bed.db.database.close();
  return slow.length === 0 && faults.length === 0;
});
