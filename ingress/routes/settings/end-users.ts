/** /workspaces/{workspaceId}/end-users: spend limits of end users, whom calls name as `user`. */
import type {
  EndUserLimits,
  EndUserLimitsDeleted,
  EndUserLimitsList,
  EndUserLimitsRequest,
} from "#schemas/generated/types.ts";
import { endUserIdOf, isLabelValue, LABEL_CHARS_MAX } from "#shared/calls/labels.ts";
import { type Actor, recordAudit } from "#shared/database/audit-log.ts";
import {
  countEndUserLimits,
  END_USER_LIMITS_MAX,
  type EndUserLimit,
  findEndUserLimit,
  pageEndUserLimits,
} from "#shared/database/end-user-limits.ts";
import type { Database, Queryable } from "#shared/database/client.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber, parseCredits } from "#shared/base/money.ts";
import {
  readSpendLimits,
  removeSpendLimit,
  repeatSpendChange,
  setSpendLimit,
  SPEND_WINDOWS,
  type SpendCaps,
  type SpendLimitState,
  type SpendState,
} from "#shared/ledger/spend-limits.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import { allow } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import { LIST_QUERY, limitIn, textIn } from "../../core/page.ts";
import type { KeyRoute } from "../../core/route.ts";
import { parsedText } from "./body.ts";

const ALL = "/workspaces/{workspaceId}/end-users";
const ONE = `${ALL}/{user}/limits`;

export function endUsers(context: IngressContext): readonly KeyRoute[] {
  const common = { tags: ["Usage and billing"], auth: "key", authorize: allow("owner", "admin") } as const;
  return [
    {
      ...common,
      method: "GET",
      path: ALL,
      operationId: "listEndUserLimits",
      summary: "List limits of end users",
      description: "Lists the end users that have a spend limit, sorted by `user`. `after` is a `user`.",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of end users", schema: "EndUserLimitsList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getEndUserLimits",
      summary: "Retrieve limits of end user",
      responses: { 200: { description: "The limits", schema: "EndUserLimits" } },
      errors: ["not_found"],
      handle: async (call) => json(await read(context.database, endUserOf(call))),
    },
    {
      ...common,
      method: "PUT",
      path: ONE,
      operationId: "putEndUserLimits",
      summary: "Set limits of end user",
      description:
        "Limits the spend of all calls with this `user`, by all keys of the workspace. A call that may exceed a limit fails with 402 " +
        "`key_limit_reached`. The first limit of an end user counts from zero, and applies within a second. " +
        `A workspace may limit ${END_USER_LIMITS_MAX} end users.`,
      request: { schema: "EndUserLimitsRequest", example: { credits: { day: 50, month: 500 }, warn_at: [80] } },
      responses: { 200: { description: "The stored limits", schema: "EndUserLimits" } },
      errors: errorsOf(["reads_json"], "not_found", "conflict"),
      handle: (call) => put(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteEndUserLimits",
      summary: "Delete limits of end user",
      responses: { 200: { description: "The confirmation", schema: "EndUserLimitsDeleted" } },
      errors: ["not_found"],
      handle: (call) => remove(context, call),
    },
  ];
}

async function list({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const { workspaceId } = call.caller;
  const limit = limitIn(call);
  const rows = await pageEndUserLimits(database, workspaceId, { after: textIn(call, "after"), limit: limit + 1 });
  const page = rows.slice(0, limit);
  return json({
    object: "list",
    data: await withSpend(database, workspaceId, page),
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
    has_more: rows.length > limit,
  } satisfies EndUserLimitsList);
}

/** Returns the limits of end users with their spend. */
export async function withSpend(
  target: Queryable,
  workspaceId: string,
  rows: readonly EndUserLimit[],
): Promise<EndUserLimits[]> {
  const states = await readSpendLimits(
    target,
    workspaceId,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row) => {
    const state = states.get(row.id);
    // Deleted between the two statements.
    return state === undefined ? [] : [present(row, state)];
  });
}

async function read(target: Queryable, { workspaceId, user }: EndUser): Promise<EndUserLimits> {
  const row = await requireRow(target, { workspaceId, user });
  const state = (await readSpendLimits(target, workspaceId, [row.id])).get(row.id);
  if (state === undefined) throw noLimits();
  return present(row, state);
}

async function put({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const asked = await parsedText(call, "EndUserLimitsRequest");
  return json(await setEndUserLimits(database, endUserOf(call), asked));
}

interface EndUser {
  readonly workspaceId: string;
  /** Value of `user` in the calls. */
  readonly user: string;
}

/** Change of the limits of an end user. */
interface Change extends EndUser {
  readonly actor: Actor;
}

/**
 * Sets the limits of an end user, and replaces earlier ones.
 * @param text original text of the body, for the digits of amounts
 * @throws ApiError
 */
export async function setEndUserLimits(
  database: Database,
  change: Change,
  { body, text }: { readonly body: EndUserLimitsRequest; readonly text: string },
): Promise<EndUserLimits> {
  if (!isLabelValue(change.user)) {
    throw new ApiError("unsupported_value", `Expected user to have 1 to ${LABEL_CHARS_MAX} characters.`, {
      param: "user",
    });
  }
  const credits = amountsOf(body.credits, text);
  const warnAt = [...new Set(body.warn_at ?? [])].toSorted((a, b) => a - b);
  const store = (tx: Queryable): Promise<void> => storeLimits(tx, change, { credits, warnAt });
  await repeatSpendChange(() => withWorkspaceLock(database, change.workspaceId, store));
  return read(database, change);
}

async function storeLimits(
  tx: Queryable,
  { workspaceId, user, actor }: Change,
  { credits, warnAt }: { readonly credits: SpendCaps; readonly warnAt: readonly number[] },
): Promise<void> {
  const id = endUserIdOf(workspaceId, user);
  const [row, state] = [
    await findEndUserLimit(tx, workspaceId, user),
    (await readSpendLimits(tx, workspaceId, [id])).get(id),
  ];
  if (row === undefined && (await countEndUserLimits(tx, workspaceId)) >= END_USER_LIMITS_MAX) {
    const message = `Expected at most ${END_USER_LIMITS_MAX} end users with limits; delete limits that are no longer needed.`;
    throw new ApiError("conflict", message, { param: "user" });
  }
  const before = row && state ? { credits: capsOf(state), warn_at: row.warn_at } : null;
  const after = { credits: presentCaps(credits), warn_at: warnAt };
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  await recordAudit(tx, workspaceId, { actor, action: "end_user.limit", subject: user, before, after });
  await setSpendLimit(tx, workspaceId, { id, kind: "end_user", name: user, credits, warnAt });
}

async function remove({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const change = endUserOf(call);
  await deleteEndUserLimits(database, change);
  return json({ user: change.user, deleted: true } satisfies EndUserLimitsDeleted);
}

/** Deletes the limits of an end user. @throws ApiError `not_found` if the end user has none */
export function deleteEndUserLimits(database: Database, change: Change): Promise<void> {
  const { workspaceId, user, actor } = change;
  return withWorkspaceLock(database, workspaceId, async (tx) => {
    const row = await requireRow(tx, change);
    const { credits, warn_at } = await read(tx, change);
    const entry = { actor, action: "end_user.unlimit", subject: user, before: { credits, warn_at } };
    await recordAudit(tx, workspaceId, entry);
    await removeSpendLimit(tx, workspaceId, row.id);
  });
}

function endUserOf(call: RouteCall): Change {
  return { workspaceId: call.caller.workspaceId, user: call.params["user"] ?? "", actor: actorOf(call) };
}

async function requireRow(target: Queryable, { workspaceId, user }: EndUser): Promise<EndUserLimit> {
  const row = isLabelValue(user) ? await findEndUserLimit(target, workspaceId, user) : undefined;
  if (row === undefined) throw noLimits();
  return row;
}

function noLimits(): ApiError {
  return new ApiError("not_found", "This end user has no limits in the workspace.");
}

/**
 * Reads the amounts of the body with every digit, because a parsed number may lose the last ones.
 * @param text original text of the body
 * @throws ApiError `unsupported_value`, `missing_required_parameter`
 */
function amountsOf(credits: Readonly<Record<string, number | null>>, text: string): SpendCaps {
  const digits = (JSON.parse(text, keepDigits as Parameters<JSON["parse"]>[1]) as { credits: Record<string, string> })
    .credits;
  const amounts = SPEND_WINDOWS.flatMap((window) => {
    if (credits[window] == null) return [];
    try {
      return [[window, parseCredits(digits[window] ?? "")] as const];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const param = `credits.${window}`;
      throw new ApiError("unsupported_value", `Expected ${param} to have at most nine decimal places.`, { param });
    }
  });
  if (amounts.length > 0) return Object.fromEntries(amounts);
  const message = `Missing a limit: expected credits to have at least one of ${SPEND_WINDOWS.join(", ")}. To remove all limits, send DELETE.`;
  throw new ApiError("missing_required_parameter", message, { param: "credits" });
}

const keepDigits = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
  typeof value === "number" ? context.source : value;

function present({ name, warn_at }: EndUserLimit, state: SpendLimitState): EndUserLimits {
  const { day, week, month, total } = state.windows;
  const usageOf = (window: SpendState): EndUserLimits["limit_usage"]["day"] => presentUsage(window, state.heldNano);
  return {
    object: "end_user.limits",
    user: name,
    credits: capsOf(state),
    warn_at: [...warn_at],
    limit_usage: { day: usageOf(day), week: usageOf(week), month: usageOf(month), total: usageOf(total) },
  };
}

function presentUsage(
  { spentNano, leftNano, resetsAt }: SpendState,
  heldNano: bigint,
): EndUserLimits["limit_usage"]["day"] {
  if (leftNano === null) return null;
  return {
    credits_used: creditsNumber(spentNano),
    credits_held: creditsNumber(heldNano),
    credits_left: creditsNumber(leftNano > 0n ? leftNano : 0n),
    resets_at: resetsAt?.toISOString() ?? null,
  };
}

function capsOf({ windows: { day, week, month, total } }: SpendLimitState): EndUserLimits["credits"] {
  return presentCaps({ day: day.capNano, week: week.capNano, month: month.capNano, total: total.capNano });
}

function presentCaps({ day, week, month, total }: SpendCaps): EndUserLimits["credits"] {
  const amountOf = (nano: bigint | null | undefined): number | null => (nano == null ? null : creditsNumber(nano));
  return { day: amountOf(day), week: amountOf(week), month: amountOf(month), total: amountOf(total) };
}
