/**
 * /workspaces/{workspaceId}/budget-alerts: manages alerts, which notify channels when spend reaches a threshold. An alert can also stop
 * further calls.
 */
import type { BudgetAlert } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import {
  type BudgetAlertRow,
  type BudgetTerms,
  deleteBudgetAlert,
  findBudgetAlert,
  insertBudgetAlert,
  pageBudgetAlerts,
  updateBudgetAlert,
} from "#shared/database/budget-alerts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";

import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import { callerOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { checkChannels, creditsIn, distinctIds } from "./alert-body.ts";
import { createdId, nameTaken, plainName } from "./body.ts";
import { type ChangeRequest, type Created, createdOnce, resource } from "./resource.ts";

export const BUDGET_ALERTS_PER_WORKSPACE_MAX = 50;

const SPENDING = { tags: ["Usage and billing"], auth: "key" } as const;
const STOPS =
  "With `stops_calls`, billed calls fail with 402 `budget_reached` within seconds after the threshold is reached. They succeed " +
  "again when the period ends, the alert is disabled or deleted, or its threshold exceeds the spend.";

export function budgetAlerts(context: IngressContext): readonly Route[] {
  const { database } = context;
  return resource({
    path: "/workspaces/{workspaceId}/budget-alerts/{alertId}",
    schema: "BudgetAlert",
    readers: { ...SPENDING, authorize: allow(...ANY_ROLE) },
    writers: { ...SPENDING, authorize: allow("owner", "admin", "billing") },
    within: callerOf,
    find: ({ workspaceId }, id) => findBudgetAlert(database, workspaceId, id),
    unknown: noAlert,
    present,
    list: {
      operationId: "listBudgetAlerts",
      summary: "List budget alerts",
      answer: "A page of alerts",
      page: ({ workspaceId }, page) => pageBudgetAlerts(database, workspaceId, page),
    },
    create: {
      operationId: "createBudgetAlert",
      summary: "Create budget alert",
      description: `A repeat with the same \`id\` and body returns 200. ${STOPS}`,
      answer: "The created alert",
      repeated: "The alert, created by an earlier request",
      make: (caller, asked) => addBudgetAlert(context, caller, asked),
    },
    get: {
      operationId: "getBudgetAlert",
      summary: "Retrieve budget alert",
      answer: "The alert with the spend of its period",
    },
    update: {
      operationId: "updateBudgetAlert",
      summary: "Update budget alert",
      description: `The alert fires once per period and threshold, and once at each percentage in \`warn_at\`. A new threshold can fire again in the same period. ${STOPS}`,
      answer: "The updated alert",
      change: (caller, row, asked) => changeBudgetAlert(context, caller, row, asked),
    },
    remove: {
      operationId: "deleteBudgetAlert",
      summary: "Delete budget alert",
      description: "Calls that the alert stopped succeed again within a second.",
      answer: "The confirmation",
      end: ({ workspaceId }, { id }, actor) => deleteBudgetAlert(database, workspaceId, { id, actor }),
    },
  });
}

/** Creates an alert of a workspace. @param memberId author of the alert; null for an operator @throws ApiError */
export async function addBudgetAlert(
  { database }: Pick<IngressContext, "database">,
  { workspaceId, memberId }: Pick<Caller, "workspaceId"> & { readonly memberId: string | null },
  { body, text, actor }: ChangeRequest<"BudgetAlertCreateRequest">,
): Promise<Created<BudgetAlertRow>> {
  const id = createdId(body);
  const terms: BudgetTerms = {
    name: plainName(body.name),
    threshold: creditsIn(text, "threshold_credits"),
    period: body.period,
    channel_ids: distinctIds(body.channel_ids ?? []),
    is_active: body.is_active ?? true,
    stops_calls: body.stops_calls ?? false,
    warn_at: ascending(body.warn_at ?? []),
  };
  const max = BUDGET_ALERTS_PER_WORKSPACE_MAX;
  const find = () => findBudgetAlert(database, workspaceId, id);
  const insert = async () => {
    await checkChannels(database, workspaceId, body.channel_ids);
    return insertBudgetAlert(database, workspaceId, { ...terms, id, actor, memberId, max });
  };
  // The channels may be deleted by the time of a repeat.
  return createdOnce((await find()) ? "known" : await insert(), {
    find,
    asked: terms,
    refusals: {
      too_many: () => new ApiError("conflict", `A workspace has at most ${max} budget alerts; delete one first.`),
      name_taken: () => nameTaken("a budget alert"),
    },
  });
}

/** Changes an alert of a workspace. Returns undefined if the alert was deleted meanwhile. @throws ApiError */
export async function changeBudgetAlert(
  { database }: Pick<IngressContext, "database">,
  { workspaceId }: Pick<Caller, "workspaceId">,
  { id }: Pick<BudgetAlertRow, "id">,
  { body, text, actor }: ChangeRequest<"BudgetAlertUpdateRequest">,
): Promise<BudgetAlertRow | undefined> {
  await checkChannels(database, workspaceId, body.channel_ids);
  const changed = await updateBudgetAlert(database, workspaceId, {
    id,
    actor,
    ...(body.name === undefined ? {} : { name: plainName(body.name) }),
    ...(body.threshold_credits === undefined ? {} : { threshold: creditsIn(text, "threshold_credits") }),
    ...(body.period === undefined ? {} : { period: body.period }),
    ...(body.channel_ids === undefined ? {} : { channel_ids: distinctIds(body.channel_ids) }),
    ...(body.is_active === undefined ? {} : { is_active: body.is_active }),
    ...(body.stops_calls === undefined ? {} : { stops_calls: body.stops_calls }),
    ...(body.warn_at === undefined ? {} : { warn_at: ascending(body.warn_at) }),
  });
  if (changed === "name_taken") throw nameTaken("a budget alert");
  return findBudgetAlert(database, workspaceId, id);
}

/** Returns the percentages, ascending. */
const ascending = (percents: readonly number[]): readonly number[] => percents.toSorted((a, b) => a - b);

function present(row: BudgetAlertRow): BudgetAlert {
  return {
    object: "budget_alert",
    id: row.id,
    name: row.name,
    threshold_credits: creditsNumber(row.threshold),
    period: row.period,
    channel_ids: [...row.channel_ids],
    is_active: row.is_active,
    stops_calls: row.stops_calls,
    warn_at: [...row.warn_at],
    spent: creditsNumber(row.spent),
    period_start: row.period_start.toISOString(),
    last_fired_at: row.last_fired_at?.toISOString() ?? null,
    events_without_channel: [...row.events_without_channel],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function noAlert(): ApiError {
  return new ApiError("not_found", "There is no such budget alert.");
}
