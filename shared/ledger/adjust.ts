/** Adjusts the open hold of a call to the price of another model before that model runs. Job and attempt stay the same. */
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
  /** New amount of the hold: the highest possible cost at the full price, in nano-credits. May be more or less than before. */
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
  /** Maximum number of tokens that the model may use. Replaces the tokens that the call has reserved under the key's daily limit. */
  readonly tokensMax: number;
  /** Batch line to which the call belongs; its price is a share of the full price. Undefined outside of batches. */
  readonly batchLine?: JobMessage["batch_line"];
  /**
   * Share of a credit line that the call has drawn. `adjustHold` replaces this share by a separate hold before the adjustment. Undefined if
   * the call already has a hold.
   */
  readonly creditLineHold?: CreditLineHold | undefined;
  /** Usage of the models that produced earlier parts of a continued stream, in order. The amount includes their cost. */
  readonly parts?: readonly UsagePart[];
}

/** Usage of one model in a stream that another model continued. */
export interface UsagePart {
  readonly model: string;
  /** Source that served this part of the stream, as `provider/model`. */
  readonly source: string;
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
  /** Cost in nano-credits, as a string of digits. */
  readonly amount: string;
  /** Class of the failure that interrupted this part of the stream. */
  readonly fault: string;
}

/** Result of adjusting a hold. `insufficient`: the balance is too low and the hold is unchanged. `closed`: the hold was closed before. */
export type Adjusted = "adjusted" | "insufficient" | "closed";

const ADJUST_SQL = "select adjust_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8) as verdict";
const CONTINUE_SQL = "select continue_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8, $9::jsonb) as verdict";

const VERDICTS: ReadonlyMap<number, Adjusted> = new Map([
  [0, "adjusted"],
  [1, "insufficient"],
  [3, "closed"],
]);

/**
 * Adjusts a hold. The statement is idempotent, and is retried after a locked row, a deadlock or a lost connection.
 * @throws Error if the retries fail for two seconds, or if the database rejects the figures; the hold may or may not be adjusted
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
