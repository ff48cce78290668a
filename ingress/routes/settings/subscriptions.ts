/** Manages the subscriptions of a notification channel, and lists the events that can be subscribed to. */
import type { EventTypeList, Subscription, SubscriptionCreateRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  pageSubscriptions,
  type SubscriptionRow,
  SUBSCRIPTIONS_PER_CHANNEL_MAX,
} from "#shared/database/subscriptions.ts";
import { findWorkflow } from "#shared/database/workflows.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { EVENTS, type EventName } from "#shared/events/events.ts";
import { readerOf } from "#shared/workflows/access.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import { callerOf } from "../../core/caller.ts";
import type { Route } from "../../core/route.ts";
import { createdId } from "./body.ts";
import { channelOf } from "./notification-channels.ts";
import { type ChangeRequest, type Created, createdOnce, resource } from "./resource.ts";

const NOTIFICATIONS = { tags: ["Notifications"], auth: "key" } as const;

/** Caller, and the channel named in the URL path. */
interface Place extends Caller {
  readonly channelId: string;
}

export function subscriptions(context: IngressContext): readonly Route[] {
  const { database } = context;
  return [
    {
      ...NOTIFICATIONS,
      method: "GET",
      path: "/workspaces/{workspaceId}/event-types",
      operationId: "listEventTypes",
      summary: "List event types",
      responses: { 200: { description: "The event types", schema: "EventTypeList" } },
      errors: ["not_found"],
      authorize: allow(...ANY_ROLE),
      handle: () => json(EVENT_TYPES),
    },
    ...resource({
      path: "/workspaces/{workspaceId}/notification-channels/{channelId}/subscriptions/{subscriptionId}",
      schema: "Subscription",
      readers: { ...NOTIFICATIONS, authorize: allow("owner", "admin", "developer") },
      writers: { ...NOTIFICATIONS, authorize: allow("owner", "admin") },
      within: async (call): Promise<Place> => ({ ...callerOf(call), channelId: (await channelOf(context, call)).id }),
      find: ({ workspaceId, channelId }, id) => findSubscription(database, workspaceId, channelId, id),
      unknown: () => new ApiError("not_found", "There is no such subscription."),
      present,
      list: {
        operationId: "listSubscriptions",
        summary: "List subscriptions",
        answer: "A page of subscriptions",
        errors: ["channel_not_found"],
        page: ({ workspaceId, channelId }, page) => pageSubscriptions(database, workspaceId, channelId, page),
      },
      create: {
        operationId: "createSubscription",
        summary: "Create subscription",
        description:
          "Subscribes a channel to an event type, for all events or those of one workflow. An event that matches " +
          "several subscriptions of a channel is delivered once. `template.unavailable` is only delivered in the " +
          "operator's workspace.",
        answer: "The created subscription",
        repeated: "The subscription, created by an earlier request",
        errors: ["channel_not_found", "workflow_not_found"],
        make: (place, asked) => make(context, place, asked),
      },
      remove: {
        operationId: "deleteSubscription",
        summary: "Delete subscription",
        answer: "The confirmation",
        errors: ["channel_not_found"],
        end: ({ workspaceId, channelId }, { id }, actor) =>
          deleteSubscription(database, workspaceId, { channelId, id, actor }),
      },
    }),
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

async function make(
  context: IngressContext,
  place: Place,
  { body, actor }: ChangeRequest<"SubscriptionCreateRequest">,
): Promise<Created<SubscriptionRow>> {
  const { workspaceId, channelId, memberId } = place;
  const workflowId = await scopeOf(context, place, body);
  const { event } = body;
  const id = createdId(body);
  const wanted = { id, channelId, event, workflowId, createdBy: memberId, actor };
  return createdOnce(
    await withWorkspaceLock(context.database, workspaceId, (tx) => insertSubscription(tx, workspaceId, wanted)),
    {
      find: () => findSubscription(context.database, workspaceId, channelId, id),
      asked: { event, workflow_id: workflowId },
      refusals: {
        too_many: () =>
          new ApiError(
            "conflict",
            `A channel has at most ${SUBSCRIPTIONS_PER_CHANNEL_MAX} subscriptions; delete one first.`,
          ),
        subscribed: () =>
          new ApiError("conflict", "The channel already has a subscription to this event with this scope.", {
            param: "event",
          }),
      },
    },
  );
}

/**
 * Returns the workflow to which a subscription is limited; null if it receives events of all workflows. @throws ApiError
 * `workflow_not_found`, `unsupported_value`
 */
async function scopeOf(
  { database }: IngressContext,
  caller: Caller,
  { event, workflowId }: SubscriptionCreateRequest,
): Promise<string | null> {
  if (workflowId === undefined) return null;
  if (EVENTS[event].group !== "runs") {
    throw new ApiError("unsupported_value", `The event ${event} does not belong to a workflow; remove workflowId.`, {
      param: "workflowId",
    });
  }
  const row = await findWorkflow(database, readerOf(caller), workflowId.toLowerCase());
  if (row) return row.id;
  throw new ApiError("workflow_not_found", "There is no such workflow in this workspace.", { param: "workflowId" });
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
