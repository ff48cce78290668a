/** /workspaces/{workspaceId}/budget-alerts: who hears when a period's spend reaches a threshold, and whether calls stop then. */
import type {
  BudgetAlert,
  BudgetAlertCreateRequest,
  BudgetAlertList,
  BudgetAlertUpdateRequest,
  Deleted,
} from "#schemas/generated/types.ts";
import { parse } from "#shared/contracts.ts";
import {
  type BudgetAlertRow,
  type BudgetTerms,
  deleteBudgetAlert,
  findBudgetAlert,
  insertBudgetAlert,
  pageBudgetAlerts,
  unknownChannels,
  updateBudgetAlert,
} from "#shared/database/budget-alerts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { readJson } from "#shared/json.ts";
import { LIMITS } from "#shared/limits.ts";
import { creditsNumber, parseCredits } from "#shared/money.ts";

import { json } from "../../answers.ts";
import { readJsonBody } from "../../body.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, digitsOf, nameTaken, pathId, plainName, reusedId } from "../../settings/body.ts";
import { LIST_QUERY, listOf, pageOf } from "../../settings/page.ts";

const LIST = "/workspaces/{workspaceId}/budget-alerts";
const ONE = `${LIST}/{alertId}`;
const READERS = allow(...ANY_ROLE);
const WRITERS = allow("owner", "admin", "billing");
const STOPS =
  "With `stops_calls`, calls that cost anything are refused with 402 `budget_reached` from seconds after the threshold is " +
  "reached until the period ends, the alert is switched off or deleted, or its threshold is above the spend.";

export function budgetAlerts(context: IngressContext): readonly Route[] {
  const common = { tags: ["Spending"], auth: "key" } as const;
  const alert = { schema: "BudgetAlert" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listBudgetAlerts",
      summary: "List budget alerts",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of alerts", schema: "BudgetAlertList" } },
      errors: ["not_found", "unsupported_value"],
      authorize: READERS,
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createBudgetAlert",
      summary: "Add a budget alert",
      description: `A repeat with the same \`id\` and body is answered 200. ${STOPS}`,
      request: { schema: "BudgetAlertCreateRequest" },
      responses: {
        200: { description: "It was added before", ...alert },
        201: { description: "The alert", ...alert },
      },
      errors: errorsOf(["reads_json"], "not_found", "conflict", "idempotency_key_reused"),
      authorize: WRITERS,
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getBudgetAlert",
      summary: "Read a budget alert",
      responses: { 200: { description: "The alert, with the spend of its period", ...alert } },
      errors: ["not_found"],
      authorize: READERS,
      handle: async (call) => json(present(await find(context, call))),
    },
    {
      ...common,
      method: "PATCH",
      path: ONE,
      operationId: "updateBudgetAlert",
      summary: "Change a budget alert",
      description: `It fires once for a period and threshold: a new threshold may fire again in the period. ${STOPS}`,
      request: { schema: "BudgetAlertUpdateRequest" },
      responses: { 200: { description: "The alert as it is now", ...alert } },
      errors: errorsOf(["reads_json"], "not_found", "conflict"),
      authorize: WRITERS,
      handle: (call) => update(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteBudgetAlert",
      summary: "Delete a budget alert",
      description: "Calls that it stopped go on within a second.",
      responses: { 200: { description: "It is gone", schema: "Deleted" } },
      errors: ["not_found"],
      authorize: WRITERS,
      handle: (call) => remove(context, call),
    },
  ];
}

async function list({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const page = pageOf(call);
  const rows = await pageBudgetAlerts(database, callerOf(call).workspaceId, { ...page, limit: page.limit + 1 });
  return json(listOf(rows, page, present) satisfies BudgetAlertList);
}

async function create({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const { text, value } = readJson(await readJsonBody(call.request, LIMITS.settingsBodyBytesMax));
  const body: BudgetAlertCreateRequest = parse("BudgetAlertCreateRequest", value);
  const { workspaceId, memberId } = callerOf(call);
  const id = createdId(body);
  const terms: BudgetTerms = {
    name: plainName(body.name),
    threshold: thresholdOf(text),
    period: body.period,
    channel_ids: distinct(body.channel_ids ?? []),
    is_active: body.is_active ?? true,
    stops_calls: body.stops_calls ?? false,
  };
  const earlier = await findBudgetAlert(database, workspaceId, id);
  if (earlier) return json(present(sameAs(earlier, terms)));
  await checkChannels(database, workspaceId, body.channel_ids);
  const max = LIMITS.budgetAlertsPerWorkspaceMax;
  const made = await insertBudgetAlert(database, workspaceId, { ...terms, id, actor: actorOf(call), memberId, max });
  if (made === "name_taken") throw nameTaken("a budget alert");
  if (made === "too_many") {
    throw new ApiError("conflict", `A workspace has at most ${max} budget alerts; delete one first.`);
  }
  const row = await findBudgetAlert(database, workspaceId, id);
  // Another workspace's id, or an alert that is deleted already.
  if (!row) throw reusedId();
  return made === "known" ? json(present(sameAs(row, terms))) : json(present(row), {}, 201);
}

async function update(context: IngressContext, call: RouteCall): Promise<Response> {
  const { database } = context;
  const { id } = await find(context, call);
  const { text, value } = readJson(await readJsonBody(call.request, LIMITS.settingsBodyBytesMax));
  const body: BudgetAlertUpdateRequest = parse("BudgetAlertUpdateRequest", value);
  const { workspaceId } = callerOf(call);
  await checkChannels(database, workspaceId, body.channel_ids);
  const changed = await updateBudgetAlert(database, workspaceId, {
    id,
    actor: actorOf(call),
    ...(body.name === undefined ? {} : { name: plainName(body.name) }),
    ...(body.threshold_credits === undefined ? {} : { threshold: thresholdOf(text) }),
    ...(body.period === undefined ? {} : { period: body.period }),
    ...(body.channel_ids === undefined ? {} : { channel_ids: distinct(body.channel_ids) }),
    ...(body.is_active === undefined ? {} : { is_active: body.is_active }),
    ...(body.stops_calls === undefined ? {} : { stops_calls: body.stops_calls }),
  });
  if (changed === "name_taken") throw nameTaken("a budget alert");
  return json(present(await find(context, call)));
}

async function remove({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const id = pathId(call, "alertId", noAlert);
  if (!(await deleteBudgetAlert(database, callerOf(call).workspaceId, { id, actor: actorOf(call) }))) throw noAlert();
  return json({ id, deleted: true } satisfies Deleted);
}

async function find({ database }: IngressContext, call: RouteCall): Promise<BudgetAlertRow> {
  const row = await findBudgetAlert(database, callerOf(call).workspaceId, pathId(call, "alertId", noAlert));
  if (!row) throw noAlert();
  return row;
}

/** @throws ApiError `idempotency_key_reused` */
function sameAs(row: BudgetAlertRow, terms: BudgetTerms): BudgetAlertRow {
  const isSame = Object.entries(terms).every(([name, value]) =>
    Array.isArray(value) ? value.join() === row.channel_ids.join() : value === row[name as keyof BudgetTerms],
  );
  if (!isSame) throw reusedId();
  return row;
}

/** Nano-credits, from the digits as they were sent. @throws ApiError `unsupported_value` */
function thresholdOf(text: string): bigint {
  try {
    const nano = parseCredits(digitsOf(text, "threshold_credits"));
    if (nano > 0n) return nano;
    throw new RangeError("expected more than 0 credits");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = "Expected threshold_credits to have at most nine decimal places.";
    throw new ApiError("unsupported_value", message, { param: "threshold_credits", cause: error });
  }
}

/** @throws ApiError `unsupported_value`: another workspace's channel is an unknown one */
async function checkChannels(target: Queryable, workspaceId: string, ids: readonly string[] = []): Promise<void> {
  const [unknown] = await unknownChannels(target, workspaceId, distinct(ids));
  if (unknown === undefined) return;
  const param = `channel_ids[${ids.findIndex((id) => id.toLowerCase() === unknown)}]`;
  throw new ApiError("unsupported_value", `Expected ${param} to be a notification channel of the workspace.`, {
    param,
  });
}

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

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
    spent: creditsNumber(row.spent),
    period_start: row.period_start.toISOString(),
    last_fired_at: row.last_fired_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function noAlert(): ApiError {
  return new ApiError("not_found", "There is no such budget alert.");
}
