/** Adds usage records to the hourly sums. Readers add what is not in them yet, so no sum ever waits for this. */
import { type Database, SQL, sqlState } from "#shared/database/client.ts";
import { raiseUsageFloor, rollUpStep, usageBehindSeconds } from "#shared/database/usage-sums.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/** Steps in one turn: a backlog of a year is gone within hours, and a stop never waits long. */
const STEPS_MAX = 200;
/** Time whose records one step adds: at 1,000 calls a second 600,000 records, 3 s. */
const STEP_MAX_MS = 600_000;
/** The shortest step: one that takes longer than a statement may is halved down to it. */
const STEP_MIN_MS = 60_000;
/** The shortest step has time of its own, since nothing waits for it: a minute of 10,000 calls a second, several times over. */
const LIMIT_MS = 60_000;

interface Context {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "usageBehindSeconds">;
  readonly log: Logger;
}

/** Each step is one transaction; of several janitors one does it. Returns how many steps the turn took. */
export function openUsageRollUp({ database, metrics, log }: Context): () => Promise<number> {
  let stepMs = STEP_MAX_MS;
  const turn = async (): Promise<number> => {
    await raiseUsageFloor(database);
    let steps = 0;
    for (let tries = 0; tries < STEPS_MAX; tries++) {
      const isShortest = stepMs <= STEP_MIN_MS;
      try {
        const leftMs = await rollUpStep(database, stepMs, isShortest ? LIMIT_MS : undefined);
        if (leftMs === null) break;
        steps += 1;
        if (leftMs === 0n) break;
        stepMs = Math.min(STEP_MAX_MS, stepMs * 2);
      } catch (error) {
        if (sqlState(error) !== SQL.statementTimeout || isShortest) throw error;
        stepMs = Math.max(STEP_MIN_MS, stepMs / 2);
        log.warn({ step_ms: stepMs }, "a step of the usage roll-up took too long, it is halved");
      }
    }
    return steps;
  };
  return async () => {
    try {
      return await turn();
    } finally {
      // Also of a turn that failed: only this tells that none goes well any more.
      metrics.usageBehindSeconds.set(await usageBehindSeconds(database));
    }
  };
}
