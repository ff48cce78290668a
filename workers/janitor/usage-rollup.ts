/** Adds usage records to the hourly sums. Readers add what is not in them yet, so no sum ever waits for this. */
import type { Queryable } from "#shared/database/client.ts";
import { USAGE_LAG_MS } from "#shared/database/usage-sums.ts";
import type { Metrics } from "#shared/metrics.ts";

/** Steps of ten minutes in one turn: a backlog of a year is gone within hours, and a stop never waits long. */
const STEPS_MAX = 200;

/** Each step is one transaction; of several janitors one does it. @returns how many steps it took */
export async function rollUpUsage(
  { database, metrics }: { readonly database: Queryable; readonly metrics: Pick<Metrics, "usageBehindSeconds"> },
  lagMs: number = USAGE_LAG_MS,
): Promise<number> {
  for (let steps = 1; steps <= STEPS_MAX; steps++) {
    const [row] = await database.query<{ behind_ms: bigint | null }>("select roll_up_usage($1) as behind_ms", [lagMs]);
    const behindMs = row?.behind_ms ?? null;
    if (behindMs === null) return steps - 1;
    metrics.usageBehindSeconds.set(Number(behindMs) / 1_000);
    if (behindMs <= 0n) return steps;
  }
  return STEPS_MAX;
}
