/** After the load: does the money add up? Calls seen by the driver against rows, prices, entries and balance. */
import { CALL_NANO, LOAD_MODEL } from "./sluice-target.ts";
import type { Stack } from "../support/stack.ts";

export interface Verification {
  /** Sentences; empty when everything adds up. */
  readonly faults: readonly string[];
  readonly settledCalls: number;
  readonly settledNano: bigint;
}

/** Holds of the last calls close a moment after their answers. */
const PATIENCE_MS = 15_000;

interface Books {
  readonly succeeded: bigint;
  readonly others: bigint;
  readonly estimated: bigint;
  readonly settled: bigint;
  readonly uncollected: bigint;
  readonly settle_entries: bigint;
  readonly entries: bigint;
  readonly amount: bigint;
  readonly held: bigint;
  readonly holds: bigint;
}

/** `calls` is the number of good answers the driver counted, over all turns against Sluice. */
export async function verifyBooks(stack: Stack, calls: number): Promise<Verification> {
  let books = await readBooks(stack);
  // A credit line is held until it has not been used for a while.
  for (const until = performance.now() + PATIENCE_MS; books.held > 0n && performance.now() < until;) {
    await Bun.sleep(200);
    books = await readBooks(stack);
  }
  const faults: string[] = [];
  const expect = (what: string, found: bigint, wanted: bigint): void => {
    if (found !== wanted) faults.push(`${what}: expected ${wanted}, found ${found}`);
  };
  const price = BigInt(calls) * CALL_NANO;
  expect("usage records of succeeded calls", books.succeeded, BigInt(calls));
  expect("usage records with another status", books.others, 0n);
  expect("usage records with our own token count", books.estimated, 0n);
  expect("nano-credits settled in usage records", books.settled, price);
  expect("nano-credits settled in the ledger", -books.settle_entries, price);
  expect("nano-credits not collected", books.uncollected, 0n);
  expect("balance against the sum of ledger entries", books.amount, books.entries);
  expect("nano-credits held", books.held, 0n);
  expect("open holds", books.holds, 0n);
  const audit = await stack.command("admin", "ledger", "check", "--json");
  if (audit.code !== 0)
    faults.push(`admin ledger check ended with ${audit.code}: ${audit.stdout}${audit.stderr}`.trim());
  return { faults, settledCalls: Number(books.succeeded), settledNano: books.settled };
}

async function readBooks(stack: Stack): Promise<Books> {
  const [row] = await stack.query<Books>(
    `select
       (select count(*) from usage_record where model = $1 and status = 'succeeded') as succeeded,
       (select count(*) from usage_record where model <> $1 or status <> 'succeeded') as others,
       (select count(*) from usage_record where is_estimated) as estimated,
       (select coalesce(sum(settled), 0)::bigint from usage_record) as settled,
       (select coalesce(sum(uncollected), 0)::bigint from usage_record) as uncollected,
       (select coalesce(sum(amount), 0)::bigint from ledger_entry where kind = 'settle') as settle_entries,
       (select coalesce(sum(amount), 0)::bigint from ledger_entry) as entries,
       (select coalesce(sum(amount), 0)::bigint from balance) as amount,
       (select coalesce(sum(held), 0)::bigint from balance) as held,
       (select count(*) from hold) as holds`,
    [LOAD_MODEL],
  );
  if (row === undefined) throw new Error("the books could not be read");
  return row;
}
