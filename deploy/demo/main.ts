/** The demonstration's calls, started by deploy/demo/command.mjs with the plan on stdin. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { formatCredits } from "#shared/money.ts";

import { type Books, openBooks } from "./books.ts";
import { CALLS } from "./calls/index.ts";
import { openClient, reasonOf } from "./client.ts";
import { pageOf } from "./page.ts";
import type { Plan } from "./plan.ts";
import { type Done, row, runCalls } from "./run.ts";
import { openTerminal } from "./terminal.mjs";

const terminal = openTerminal(process.stdout);
process.exitCode = await demonstrate((await Bun.stdin.json()) as Plan);

/** @returns exit code: 0 when no call failed and the books agree */
async function demonstrate(plan: Plan): Promise<number> {
  const { models, out } = plan;
  const unknown = Object.keys(models).find((name) => !CALLS.some((call) => call.name === name));
  if (unknown !== undefined) {
    terminal.line(`There is no call "${unknown}"; there are ${CALLS.map(({ name }) => name).join(", ")}.`);
    return 1;
  }
  const client = openClient(plan);
  try {
    await client.sdk.models.list();
  } catch (error) {
    terminal.line(`Sluice cannot be called at ${plan.baseUrl}: ${reasonOf(error)}`);
    return 1;
  }
  let books: Books;
  try {
    books = await openBooks(client);
  } catch (error) {
    terminal.line(`The balance cannot be read: ${reasonOf(error)}`);
    return 1;
  }
  const all = await runCalls(CALLS, { client, out, models, terminal });
  const page = join(out, "index.html");
  await writeFile(page, await pageOf(all, new Date()));
  const failed = all.filter(({ result }) => "fault" in result);
  const skipped = all.filter(({ result }) => "skipped" in result);
  summarise(all);
  const isBalanced = await agrees(books, all, failed.length);
  terminal.line(`\nTo look at: ${page}`);
  const names = (some: readonly Done[]): string => some.map(({ call }) => call.name).join(", ");
  if (skipped.length > 0) {
    terminal.line(
      `${skipped.length} of ${all.length} calls show nothing, for want of a way to the web: ${names(skipped)}.`,
    );
  }
  if (failed.length > 0) terminal.line(`${failed.length} of ${all.length} calls failed: ${names(failed)}.`);
  return failed.length === 0 && isBalanced ? 0 : 1;
}

function summarise(all: readonly Done[]): void {
  const seconds = all.reduce((sum, done) => sum + done.seconds, 0);
  const credits = all.reduce((sum, done) => sum + done.credits, 0n);
  terminal.line(row("total", "", seconds.toFixed(1), formatCredits(credits), ""));
}

/** Says before, after and difference. */
async function agrees(books: Books, all: readonly Done[], failures: number): Promise<boolean> {
  const receipts = all.flatMap(({ result }) => ("receipts" in result ? result.receipts : []));
  const { before, after, settled, others, disagreeing } = await books.compare(receipts);
  const difference = formatCredits(before - after);
  terminal.line(`\nBalance before ${formatCredits(before)}, after ${formatCredits(after)}: ${difference} credits.`);
  if (disagreeing.length > 0) {
    terminal.line(`The records say ${formatCredits(settled)}; they do not agree about ${disagreeing.join(", ")}.`);
    return false;
  }
  if (others === 0n) terminal.line("That is what the answers say, to the last fraction.");
  else {
    const why = failures > 0 ? "other calls, or those that failed," : "other calls";
    terminal.line(
      `Our calls cost ${formatCredits(settled)}, as the answers say; ${why} moved ${formatCredits(others)} meanwhile.`,
    );
  }
  return true;
}
