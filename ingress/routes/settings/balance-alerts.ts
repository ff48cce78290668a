/** /workspaces/{workspaceId}/balance-alerts: manages alerts, which notify channels when the available credits run low. */
import type { BalanceAlert } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import {
  type BalanceAlertRow,
  type BalanceTerms,
  deleteBalanceAlert,
  findBalanceAlert,
  insertBalanceAlert,
  pageBalanceAlerts,
  updateBalanceAlert,
} from "#shared/database/balance-alerts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { creditsNumber } from "#shared/base/money.ts";

import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import { callerOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { checkChannels, creditsIn, distinctIds } from "./alert-body.ts";
import { createdId, nameTaken, plainName } from "./body.ts";
import { type ChangeRequest, type Created, createdOnce, resource } from "./resource.ts";

/** Each active alert is checked every few seconds. */
export const BALANCE_ALERTS_PER_WORKSPACE_MAX = 20;

const SPENDING = { tags: ["Usage and billing"], auth: "key" } as const;
const FIRES =
  "The alert fires within seconds after the available credits fall below `below_credits`, or last fewer than `below_days` " +
  "days. It fires again only after they have been a tenth above the threshold.";

export function balanceAlerts(context: IngressContext): readonly Route[] {
  const { database } = context;
  return resource({
    path: "/workspaces/{workspaceId}/balance-alerts/{alertId}",
    schema: "BalanceAlert",
    readers: { ...SPENDING, authorize: allow(...ANY_ROLE) },
    writers: { ...SPENDING, authorize: allow("owner", "admin", "billing") },
    within: callerOf,
    find: ({ workspaceId }, id) => findBalanceAlert(database, workspaceId, id),
    unknown: () => new ApiError("not_found", "There is no such balance alert."),
    present,
    list: {
      operationId: "listBalanceAlerts",
      summary: "List balance alerts",
      answer: "A page of alerts",
      page: ({ workspaceId }, page) => pageBalanceAlerts(database, workspaceId, page),
    },
    create: {
      operationId: "createBalanceAlert",
      summary: "Create balance alert",
      description: `A repeat with the same \`id\` and body returns 200. ${FIRES}`,
      answer: "The created alert",
      repeated: "The alert, created by an earlier request",
      make: (caller, asked) => addBalanceAlert(context, caller, asked),
    },
    get: {
      operationId: "getBalanceAlert",
      summary: "Retrieve balance alert",
      answer: "The alert with the available credits and the days that they last",
    },
    update: {
      operationId: "updateBalanceAlert",
      summary: "Update balance alert",
      description: `A new threshold can fire at once. ${FIRES}`,
      answer: "The updated alert",
      change: (caller, row, asked) => changeBalanceAlert(context, caller, row, asked),
    },
    remove: {
      operationId: "deleteBalanceAlert",
      summary: "Delete balance alert",
      answer: "The confirmation",
      end: ({ workspaceId }, { id }, actor) => deleteBalanceAlert(database, workspaceId, { id, actor }),
    },
  });
}

/** Creates an alert of a workspace. @param memberId author of the alert; null for an operator @throws ApiError */
export async function addBalanceAlert(
  { database }: Pick<IngressContext, "database">,
  { workspaceId, memberId }: Pick<Caller, "workspaceId"> & { readonly memberId: string | null },
  { body, text, actor }: ChangeRequest<"BalanceAlertCreateRequest">,
): Promise<Created<BalanceAlertRow>> {
  const id = createdId(body);
  const threshold = thresholdIn(body, text);
  if (threshold === undefined) {
    const message = "Missing required parameter: send below_credits or below_days.";
    throw new ApiError("missing_required_parameter", message, { param: "below_credits" });
  }
  const terms: BalanceTerms = {
    name: plainName(body.name),
    ...threshold,
    channel_ids: distinctIds(body.channel_ids ?? []),
    is_active: body.is_active ?? true,
  };
  const max = BALANCE_ALERTS_PER_WORKSPACE_MAX;
  const find = () => findBalanceAlert(database, workspaceId, id);
  const insert = async () => {
    await checkChannels(database, workspaceId, body.channel_ids);
    return insertBalanceAlert(database, workspaceId, { ...terms, id, actor, memberId, max });
  };
  // The channels may be deleted by the time of a repeat.
  return createdOnce((await find()) ? "known" : await insert(), {
    find,
    asked: terms,
    refusals: {
      too_many: () => new ApiError("conflict", `A workspace has at most ${max} balance alerts; delete one first.`),
      name_taken: () => nameTaken("a balance alert"),
    },
  });
}

/** Changes an alert of a workspace. Returns undefined if the alert was deleted meanwhile. @throws ApiError */
export async function changeBalanceAlert(
  { database }: Pick<IngressContext, "database">,
  { workspaceId }: Pick<Caller, "workspaceId">,
  { id }: Pick<BalanceAlertRow, "id">,
  { body, text, actor }: ChangeRequest<"BalanceAlertUpdateRequest">,
): Promise<BalanceAlertRow | undefined> {
  const threshold = thresholdIn(body, text);
  await checkChannels(database, workspaceId, body.channel_ids);
  const changed = await updateBalanceAlert(database, workspaceId, {
    id,
    actor,
    ...threshold,
    ...(body.name === undefined ? {} : { name: plainName(body.name) }),
    ...(body.channel_ids === undefined ? {} : { channel_ids: distinctIds(body.channel_ids) }),
    ...(body.is_active === undefined ? {} : { is_active: body.is_active }),
  });
  if (changed === "name_taken") throw nameTaken("a balance alert");
  return findBalanceAlert(database, workspaceId, id);
}

/** Returns the threshold of a body; undefined if it has none. @throws ApiError `unsupported_value` for two thresholds */
function thresholdIn(
  { below_credits: credits, below_days: days }: { readonly below_credits?: number; readonly below_days?: number },
  text: string,
): Pick<BalanceTerms, "below_credits" | "below_days"> | undefined {
  if (credits !== undefined && days !== undefined) {
    const message = "Expected either below_credits or below_days, got both; create an alert for each.";
    throw new ApiError("unsupported_value", message, { param: "below_days" });
  }
  if (credits !== undefined) return { below_credits: creditsIn(text, "below_credits"), below_days: null };
  return days === undefined ? undefined : { below_credits: null, below_days: days };
}

function present(row: BalanceAlertRow): BalanceAlert {
  return {
    object: "balance_alert",
    id: row.id,
    name: row.name,
    below_credits: row.below_credits === null ? null : creditsNumber(row.below_credits),
    below_days: row.below_days,
    channel_ids: [...row.channel_ids],
    is_active: row.is_active,
    is_low: row.is_low,
    available: creditsNumber(row.available),
    days_left: row.days_left,
    last_fired_at: row.last_fired_at?.toISOString() ?? null,
    events_without_channel: [...row.events_without_channel],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
