/** Subscriptions of a notification channel, and the events that there are. */
import type {
  Deleted,
  EventTypeList,
  Subscription,
  SubscriptionCreateRequest,
  SubscriptionList,
} from "#schemas/generated/types.ts";
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  pageSubscriptions,
  type SubscriptionRow,
} from "#shared/database/subscriptions.ts";
import { findWorkflow } from "#shared/database/workflows.ts";
import { inTurn } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { EVENTS, type EventName } from "#shared/events/events.ts";
import { LIMITS } from "#shared/limits.ts";
import { readerOf } from "#shared/workflows/access.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, parsedBody, pathId, reusedId } from "../../settings/body.ts";
import { channelOf } from "../../settings/channel.ts";
import { LIST_QUERY, listOf, pageOf } from "../../settings/page.ts";

const LIST = "/workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions";
const WRITERS = allow("owner", "admin");

export function subscriptions(context: IngressContext): readonly Route[] {
  const common = { tags: ["Notifications"], auth: "key" } as const;
  const subscription = { schema: "Subscription" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: "/workspaces/{workspaceId}/event-types",
      operationId: "listEventTypes",
      summary: "List the events that a channel can be subscribed to",
      responses: { 200: { description: "The events", schema: "EventTypeList" } },
      errors: ["not_found"],
      authorize: allow(...ANY_ROLE),
      handle: () => json(EVENT_TYPES),
    },
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listSubscriptions",
      summary: "List the subscriptions of a channel",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of subscriptions", schema: "SubscriptionList" } },
      errors: ["not_found", "channel_not_found", "unsupported_value"],
      authorize: allow("owner", "admin", "developer"),
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createSubscription",
      summary: "Subscribe a channel to an event",
      description:
        "Everything, or what one workflow does. An event that several subscriptions of a channel name is sent there once. " +
        "`template.unavailable` is told to the operator's own workspace only.",
      request: { schema: "SubscriptionCreateRequest" },
      responses: {
        200: { description: "It was made before", ...subscription },
        201: { description: "The subscription", ...subscription },
      },
      errors: errorsOf(
        ["reads_json"],
        "not_found",
        "channel_not_found",
        "workflow_not_found",
        "conflict",
        "idempotency_key_reused",
      ),
      authorize: WRITERS,
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: `${LIST}/{subscriptionId}`,
      operationId: "deleteSubscription",
      summary: "End a subscription",
      responses: { 200: { description: "It is deleted", schema: "Deleted" } },
      errors: ["not_found", "channel_not_found"],
      authorize: WRITERS,
      handle: (call) => remove(context, call),
    },
  ];
}

const EVENT_TYPES: EventTypeList = {
  object: "list",
  data: Object.entries(EVENTS).map(([name, { group, description, metadata }]) => ({
    name: name as EventName,
    group,
    description,
    schema: `/schemas/${metadata}.json`,
  })),
};

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await channelOf(context, call);
  const page = pageOf(call);
  const rows = await pageSubscriptions(context.database, callerOf(call).workspaceId, id, {
    ...page,
    limit: page.limit + 1,
  });
  return json(listOf(rows, page, present) satisfies SubscriptionList);
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id: channelId } = await channelOf(context, call);
  const body: SubscriptionCreateRequest = await parsedBody(call, "SubscriptionCreateRequest");
  const { workspaceId, memberId } = callerOf(call);
  const workflowId = await scopeOf(context, call, body);
  const id = createdId(body);
  const wanted = { id, channelId, event: body.event, workflowId, createdBy: memberId, actor: actorOf(call) };
  const made = await inTurn(context.database, workspaceId, (tx) => insertSubscription(tx, workspaceId, wanted));
  const row = await findSubscription(context.database, workspaceId, channelId, id);
  if (made === "made" && row) return json(present(row), {}, 201);
  if (row === undefined) throw notMade(made);
  if (row.event !== body.event || row.workflow_id !== workflowId) throw reusedId();
  return json(present(row));
}

function notMade(why: Awaited<ReturnType<typeof insertSubscription>>): ApiError {
  if (why === "too_many") {
    return new ApiError("conflict", `A channel has at most ${LIMITS.subscriptionsPerChannelMax} subscriptions.`);
  }
  if (why !== "subscribed") return reusedId();
  return new ApiError("conflict", "The channel is subscribed to this event with this scope already.", {
    param: "event",
  });
}

/** The workflow whose events are meant; null: everything. @throws ApiError `workflow_not_found`, `unsupported_value` */
async function scopeOf(
  context: IngressContext,
  call: RouteCall,
  { event, workflowId }: SubscriptionCreateRequest,
): Promise<string | null> {
  if (workflowId === undefined) return null;
  if (EVENTS[event].group !== "runs") {
    throw new ApiError("unsupported_value", `Expected no workflowId: ${event} is no event of a workflow.`, {
      param: "workflowId",
    });
  }
  const row = await findWorkflow(context.database, readerOf(callerOf(call)), workflowId.toLowerCase());
  if (row) return row.id;
  throw new ApiError("workflow_not_found", "There is no such workflow in this workspace.", { param: "workflowId" });
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id: channelId } = await channelOf(context, call);
  const id = pathId(call, "subscriptionId", noSubscription);
  const isGone = await deleteSubscription(context.database, callerOf(call).workspaceId, {
    channelId,
    id,
    actor: actorOf(call),
  });
  if (!isGone) throw noSubscription();
  return json({ id, deleted: true } satisfies Deleted);
}

function present(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    channelId: row.channel_id,
    event: row.event as EventName,
    workflowId: row.workflow_id,
    createdByUserId: row.created_by,
    createdAt: row.created_at.toISOString(),
  };
}

function noSubscription(): ApiError {
  return new ApiError("not_found", "There is no such subscription.");
}
