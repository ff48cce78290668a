/** Adjusts an open hold to the price of another model before that model runs, under the same job and attempt. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Queryable } from "#shared/database/client.ts";
import { LOCKED, retryStatement, LOCK_TIMEOUT_MS, CONTENDED_WAIT_MS } from "#shared/database/retry.ts";

import { priceAt } from "./charge.ts";
import { RECLAIM_WAIT_MAX_MS } from "./reclaim-lines.ts";
import { type CreditLineHold, placeCreditLineHold } from "./credit-line-calls.ts";

export interface Adjustment {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** Slug of the model that runs next, for the usage record. */
  readonly model: string;
  /** Highest possible cost at the full price, in nano-credits. Replaces the held amount, up or down. */
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
  /** Most tokens that the model may use. Replaces the reservation under a daily cap. */
  readonly tokensMax: number;
  /** Batch line of the call, whose price is a share of the full price. */
  readonly batchLine?: JobMessage["batch_line"];
  /** Credit line of the call: the call first gets a hold of its own. */
  readonly creditLineHold?: CreditLineHold | undefined;
  /** Parts of a continued stream by previous models, in order; included in the amount. */
  readonly parts?: readonly UsagePart[];
}

/** Part of a stream by one model, which another model continued. */
export interface UsagePart {
  readonly model: string;
  /** Source, `provider/model`. */
  readonly source: string;
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
  /** Nano-credits, as a string of digits. */
  readonly amount: string;
  /** Class of the failure that interrupted the part. */
  readonly fault: string;
}

/** `insufficient`: the balance is too low and the hold is unchanged. `closed`: the hold was closed before. */
export type Adjusted = "adjusted" | "insufficient" | "closed";

const ADJUST_SQL = "select adjust_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8) as verdict";
const CONTINUE_SQL = "select continue_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8, $9::jsonb) as verdict";

const VERDICTS: ReadonlyMap<number, Adjusted> = new Map([
  [0, "adjusted"],
  [1, "insufficient"],
  [3, "closed"],
]);

/**
 * Adjusts a hold. The statement is idempotent, so it is retried after a locked row, a deadlock or a lost connection.
 * @throws Error after two seconds, or if the figures were refused; the hold is then unchanged or adjusted
 */
export async function adjustHold(database: Queryable, to: Adjustment): Promise<Adjusted> {
  const adjust = async (): Promise<Adjusted | typeof LOCKED> => {
    if (to.creditLineHold && (await placeCreditLineHold(database, to, to.creditLineHold)) === "closed") return "closed";
    return VERDICTS.get(await ask(database, to)) ?? LOCKED;
  };
  return retryStatement(adjust, {
    // Recalling credit lines takes longer than waiting for a lock.
    forMs: to.creditLineHold ? RECLAIM_WAIT_MAX_MS : LOCK_TIMEOUT_MS,
    pauseMs: 10,
    pauseMaxMs: 200,
    locked: () => new Error(`the hold of job ${to.jobId} stays locked`),
  });
}

async function ask(database: Queryable, to: Adjustment): Promise<number> {
  const values = [
    to.workspaceId,
    to.jobId,
    to.attempt,
    to.model,
    priceAt(to.amountNano, to.batchLine),
    to.mayExceed,
    to.tokensMax,
    CONTENDED_WAIT_MS,
  ];
  const rows =
    to.parts === undefined
      ? await database.query<{ verdict: number }>(ADJUST_SQL, values, "adjust_hold")
      : await database.query<{ verdict: number }>(CONTINUE_SQL, [...values, JSON.stringify(to.parts)], "continue_hold");
  return rows[0]?.verdict ?? -1;
}
