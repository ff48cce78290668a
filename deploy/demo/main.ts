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

/** @returns exit code: 0 when every call succeeded and the books agree */
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
  const books = await booksOf(plan);
  try {
    const all = await runCalls(CALLS, { client, out, models, terminal });
    const page = join(out, "index.html");
    await writeFile(page, await pageOf(all, new Date()));
    const failed = all.filter(({ result }) => "fault" in result);
    summarise(all);
    const isBalanced = books === null || (await agrees(books, all, failed.length));
    terminal.line(`\nTo look at: ${page}`);
    if (failed.length > 0)
      terminal.line(
        `${failed.length} of ${all.length} calls failed: ${failed.map(({ call }) => call.name).join(", ")}.`,
      );
    return failed.length === 0 && isBalanced ? 0 : 1;
  } finally {
    await books?.close();
  }
}

async function booksOf({ databaseUrl, key }: Plan): Promise<Books | null> {
  if (databaseUrl === null) {
    terminal.line("The balance is not compared: no route tells it, and DATABASE_URL is not set.");
    return null;
  }
  try {
    const books = await openBooks(databaseUrl, key);
    if (books === null)
      terminal.line("The balance is not compared: the database of DATABASE_URL does not know the key.");
    return books;
  } catch (error) {
    terminal.line(`The balance cannot be read: ${reasonOf(error)}`);
    return null;
  }
}

function summarise(all: readonly Done[]): void {
  const seconds = all.reduce((sum, done) => sum + done.seconds, 0);
  const credits = all.reduce((sum, done) => sum + done.credits, 0n);
  terminal.line(row("total", "", seconds.toFixed(1), formatCredits(credits), ""));
}

/** Says before, after and difference. */
async function agrees(books: Books, all: readonly Done[], failures: number): Promise<boolean> {
  const receipts = all.flatMap(({ result }) => ("fault" in result ? [] : result.receipts));
  const { before, after, settled, others, disagreeing } = await books.compare(receipts);
  const difference = formatCredits(before - after);
  terminal.line(`\nBalance before ${formatCredits(before)}, after ${formatCredits(after)}: ${difference} credits.`);
  if (disagreeing.length > 0) {
    terminal.line(`The ledger says ${formatCredits(settled)}; it does not agree about ${disagreeing.join(", ")}.`);
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
