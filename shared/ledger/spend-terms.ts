/** Reads the terms of spend limits as they were set, beside their state (`readSpendLimits`). */
import { plainArray } from "#shared/database/arrays.ts";
import type { Queryable } from "#shared/database/client.ts";

import { SPEND_WINDOWS, type SpendWindow } from "./spend-limits.ts";

/** Amounts in nano-credits, by period. An absent period has no limit. */
export type SpendAmounts = { readonly [W in SpendWindow]?: bigint };

export interface SpendTerms {
  readonly credits: SpendAmounts;
  /** Percentages of each limit at which a warning is sent, ascending. */
  readonly warnAt: readonly number[];
  /** Temporary raise; null if there is none, or it has ended. */
  readonly raise: { readonly credits: SpendAmounts; readonly until: Date } | null;
}

interface Row {
  readonly id: string;
  readonly caps: readonly (bigint | null)[];
  readonly raised: readonly (bigint | null)[] | null;
  readonly raised_until: Date | null;
  readonly warn_at: readonly number[];
}

/** Returns the terms of limits by id. Subjects without a limit are missing. */
export async function readSpendTerms(
  target: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SpendTerms>> {
  if (ids.length === 0) return new Map();
  const rows = await target.query<Row>(
    `select id, caps, case when raised_until > now() then raised end as raised, raised_until, warn_at
     from spend_limit where workspace_id = $1 and id = any ($2::uuid[])`,
    [workspaceId, plainArray(ids)],
  );
  return new Map(rows.map((row) => [row.id, termsOf(row)]));
}

function termsOf({ caps, raised, raised_until: until, warn_at: warnAt }: Row): SpendTerms {
  const raise = raised === null || until === null ? null : { credits: amountsOf(raised), until };
  return { credits: amountsOf(caps), warnAt: [...warnAt], raise };
}

function amountsOf(caps: readonly (bigint | null)[]): SpendAmounts {
  return Object.fromEntries(
    SPEND_WINDOWS.flatMap((window, at) => {
      const cap = caps[at] ?? null;
      return cap === null ? [] : [[window, cap] as const];
    }),
  );
}
