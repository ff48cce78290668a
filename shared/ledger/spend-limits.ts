/**
 * Spend limits of keys, members, end users, tags, runs and batches. Admission checks them and settlement counts them, in the statements that they
 * execute anyway (SQL functions in migrations/0003_admission.sql). A limit is exact: charges and open holds together never exceed it.
 */
import { type Queryable, SQL, sqlState } from "#shared/database/client.ts";
import { plainArray } from "#shared/database/arrays.ts";
import type { Label, LabelSubject } from "#shared/database/label-limits.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";

import type { HoldRequest } from "./call-admission.ts";

/** Subject of a spend limit. Key and member: all their calls. End user, tag: calls with this label. Run, batch, response: the work below it. */
export type SpendSubject = "key" | "member" | LabelSubject | "run" | "batch" | "response";

/** Periods of a limit, all in UTC; a week begins on Monday. `total` never resets. */
export const SPEND_WINDOWS = ["day", "week", "month", "total"] as const;
export type SpendWindow = (typeof SPEND_WINDOWS)[number];

/** Limits in nano-credits, by period; absent or null means no limit. */
export type SpendCaps = { readonly [window in SpendWindow]?: bigint | null };

export interface SpendLimit {
  /** Id of the subject. Keys that replaced each other share the id of the first, see `api_key.limit_id`. */
  readonly id: string;
  readonly kind: SpendSubject;
  /** Label of an end user or a tag; absent for the other subjects. */
  readonly label?: Label;
  readonly credits: SpendCaps;
  /** Limits that replace `credits` until a time. */
  readonly raise?: { readonly credits: SpendCaps; readonly until: Date };
  /** Percentages of each limit at which the workspace is notified. */
  readonly warnAt?: readonly number[];
}

const SET_SQL = "select set_spend_limit($1, $2, $3, $4, $5, $6::bigint[], $7::bigint[], $8, $9::smallint[])";
const SET_TRIES_MAX = 5;

/**
 * Sets the limits of a subject, and replaces earlier ones. A new limit of a key or a member counts the charges of the current day, week and
 * month and the total since the first call. Other subjects begin with zero. Call it in the transaction that changes the subject, as its last
 * statement: it locks the balance of the workspace.
 * @throws Error with SQLSTATE SL001 if the transaction must be repeated, see `repeatSpendChange`; ApiError `conflict` if the id belongs to a
 * subject of another kind
 */
export async function setSpendLimit(target: Queryable, workspaceId: string, limit: SpendLimit): Promise<void> {
  const { id, kind, label, credits, raise, warnAt = [] } = limit;
  const raised = raise === undefined ? null : capsArray(raise.credits);
  const values = [
    workspaceId,
    id,
    kind,
    label?.name ?? null,
    label?.value ?? null,
    capsArray(credits),
    raised,
    raise?.until ?? null,
    plainArray([...warnAt]),
  ];
  try {
    await target.query(SET_SQL, values);
  } catch (error) {
    if (sqlState(error) !== SQL.idTaken) throw error;
    throw new ApiError("conflict", "This id belongs to another object with a spend limit; choose another id.", {
      param: "id",
    });
  }
}

/** Executes a transaction that calls `setSpendLimit`. Repeats it if a credit line was opened meanwhile. */
export async function repeatSpendChange<T>(change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await change();
    } catch (error) {
      if (sqlState(error) !== SQL.decideLocked || tries === SET_TRIES_MAX) throw error;
      await Bun.sleep(10 * tries);
    }
  }
}

/** Removes the limits of a subject. Call it as the last statement of its transaction. */
export async function removeSpendLimit(target: Queryable, workspaceId: string, id: string): Promise<void> {
  await target.query("select remove_spend_limit($1, $2)", [workspaceId, id]);
}

/** State of a limit in one period, in nano-credits. */
export interface SpendState {
  /** Limit that is valid now, a temporary raise included; null for no limit in this period. */
  readonly capNano: bigint | null;
  readonly spentNano: bigint;
  /** Most that a call can still cost; null for no limit. Negative if the limit was lowered below the charges. */
  readonly leftNano: bigint | null;
  /** End of the period; null for `total`. */
  readonly resetsAt: Date | null;
}

export interface SpendLimitState {
  readonly id: string;
  readonly kind: SpendSubject;
  /** `project=alpha` for a tag, the name of an end user; null for the other subjects. */
  readonly name: string | null;
  /** Nano-credits that open calls hold. They count in each period. */
  readonly heldNano: bigint;
  readonly windows: Readonly<Record<SpendWindow, SpendState>>;
}

/** Returns the least that the total limits of subjects leave, in nano-credits; undefined if none has a total limit. */
export async function leftOf(
  target: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<bigint | undefined> {
  const states = await readSpendLimits(target, workspaceId, ids);
  const left = [...states.values()].flatMap(({ windows }) => windows.total.leftNano ?? []);
  return left.length === 0 ? undefined : left.reduce((least, one) => (one < least ? one : least));
}

/** Returns the amount that all spend limits of a call leave now, in nano-credits; null if none applies. */
export async function leftForCall(
  target: Queryable,
  workspaceId: string,
  { keyId, scopes = [] }: Pick<HoldRequest, "keyId" | "scopes">,
): Promise<bigint | null> {
  const [row] = await target.query<{ left: bigint | null }>(
    "select spend_left_for($1, $2, $3::uuid[], (clock_timestamp() at time zone 'utc')::date) as left",
    [workspaceId, keyId, plainArray(scopes)],
  );
  return row?.left ?? null;
}

interface StateRow {
  readonly id: string;
  readonly kind: SpendSubject;
  readonly name: string | null;
  readonly window_name: SpendWindow;
  readonly cap: bigint | null;
  readonly spent: bigint;
  readonly held: bigint;
  readonly resets_at: Date | null;
}

/** Returns the state of limits by id. Subjects without a limit are missing. */
export async function readSpendLimits(
  target: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SpendLimitState>> {
  if (ids.length === 0) return new Map();
  const rows = await target.query<StateRow>("select * from spend_state($1, $2::uuid[])", [
    workspaceId,
    plainArray(ids),
  ]);
  const states = new Map<string, SpendLimitState>();
  for (const [id, windows] of Map.groupBy(rows, (row) => row.id)) {
    const [first] = windows;
    if (!first) continue;
    const byName = new Map(windows.map((row) => [row.window_name, stateOf(row)]));
    const of = (window: SpendWindow): SpendState => byName.get(window) ?? stateOf({ ...first, cap: null });
    states.set(id, {
      id,
      kind: first.kind,
      name: first.name,
      heldNano: first.held,
      windows: { day: of("day"), week: of("week"), month: of("month"), total: of("total") },
    });
  }
  return states;
}

function stateOf({ cap, spent, held, resets_at }: StateRow): SpendState {
  return { capNano: cap, spentNano: spent, leftNano: cap === null ? null : cap - spent - held, resetsAt: resets_at };
}

/** Returns the error for a call that a spend limit refused: with the limit that leaves the least, and when it resets. */
export async function spendRefusal(
  target: Queryable,
  workspaceId: string,
  { keyId, scopes, amountNano, mayExceed }: Pick<HoldRequest, "keyId" | "scopes" | "amountNano" | "mayExceed">,
): Promise<ApiError> {
  const [row] = await target.query<{ refusal: { code: Code; param: string; message: string } }>(
    "select spend_refusal($1, $2, $3::uuid[], $4, $5) as refusal",
    [workspaceId, keyId, scopes === undefined ? null : plainArray(scopes), amountNano, mayExceed],
  );
  if (row === undefined) throw new Error("spend_refusal returned no row");
  const { code, param, message } = row.refusal;
  return new ApiError(code, message, { param });
}

function capsArray(caps: SpendCaps): string {
  return `{${SPEND_WINDOWS.map((window) => caps[window]?.toString() ?? "null").join(",")}}`;
}
