/** Moves an open hold to another model's price before that model runs, under the same job and attempt. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Queryable } from "#shared/database/client.ts";
import { LOCKED, retryStatement, LOCK_TIMEOUT_MS, CONTENDED_WAIT_MS } from "#shared/database/retry.ts";

import { priceAt } from "./charge.ts";
import { RECALL_MAX_MS } from "./recall-lines.ts";
import { type LinedHold, placeLinedHold } from "./lined-calls.ts";

export interface Adjustment {
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** Slug of the model that runs next; the usage record will name it. */
  readonly model: string;
  /** Nano-credits it may cost at most, at its whole price: replaces what is held, up or down. */
  readonly amountNano: bigint;
  readonly mayExceed: boolean;
  /** Tokens it may use; replaces what is reserved under a daily cap. */
  readonly tokensMax: number;
  /** The line whose share of the amount is held. */
  readonly batchLine?: JobMessage["batch_line"];
  /** It was admitted on a credit line: it gets a hold of its own first. */
  readonly lined?: LinedHold | undefined;
  /** Shares of a continued stream that the models before this one took, in their order; part of the amount. */
  readonly parts?: readonly UsagePart[];
}

/** One model's share of a stream that another one went on with. */
export interface UsagePart {
  readonly model: string;
  /** `provider/model`. */
  readonly source: string;
  readonly units: Readonly<Record<string, number>>;
  readonly is_estimated: boolean;
  /** Nano-credits, as digits. */
  readonly amount: string;
  /** Class of the failure in which it broke off. */
  readonly fault: string;
}

/** `insufficient`: the balance does not cover it and the hold is as it was. `closed`: nothing is held any more. */
export type Adjusted = "adjusted" | "insufficient" | "closed";

const ADJUST_SQL = "select adjust_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8) as verdict";
const CONTINUE_SQL = "select continue_hold($1, $2, $3::smallint, $4, $5, $6, $7, $8, $9::jsonb) as verdict";

const VERDICTS: ReadonlyMap<number, Adjusted> = new Map([
  [0, "adjusted"],
  [1, "insufficient"],
  [3, "closed"],
]);

/**
 * Safe to repeat, so whatever failed is repeated: a row locked elsewhere, a deadlock, a lost connection.
 * @throws Error when two seconds did not suffice, or the figures were refused; the hold is then as it was, or adjusted
 */
export async function adjustHold(database: Queryable, to: Adjustment): Promise<Adjusted> {
  const adjust = async (): Promise<Adjusted | typeof LOCKED> => {
    if (to.lined && (await placeLinedHold(database, to, to.lined)) === "closed") return "closed";
    return VERDICTS.get(await ask(database, to)) ?? LOCKED;
  };
  return retryStatement(adjust, {
    // Lines that its hold needs come back later than a lock.
    forMs: to.lined ? RECALL_MAX_MS : LOCK_TIMEOUT_MS,
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
