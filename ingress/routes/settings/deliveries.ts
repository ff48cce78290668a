/** /workspaces/{workspaceId}/deliveries: lists sent notifications with their results, and sends them again. */
import type { Delivery, DeliveryAccepted } from "#schemas/generated/types.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { findBatch } from "#shared/database/batches.ts";
import { findChannel } from "#shared/database/channels.ts";
import {
  DELIVERY_STATUSES,
  type DeliveryRow,
  findDelivery,
  listAttempts,
  pageDeliveries,
  retryDelivery,
} from "#shared/database/deliveries.ts";
import { findRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import type { Envelope } from "#shared/notifications/envelope.ts";
import { LAST_STEP } from "#shared/notifications/schedule.ts";
import { readerOf } from "#shared/workflows/access.ts";

import { json } from "../../core/answers.ts";
import { batchIdOf } from "../batches/ids.ts";
import type { IngressContext } from "../../context.ts";
import { allow } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute } from "../../core/route.ts";
import { pathId } from "./body.ts";
import { checkMayChange } from "./notification-channels.ts";
import { idIn, LIST_QUERY, oneOf, type Page, pageAnswer, pageOf, textIn, timeIn } from "../../core/page.ts";

const LIST = "/workspaces/{workspaceId}/deliveries";
const ONE = `${LIST}/{deliveryId}`;

export function deliveries(context: IngressContext): readonly KeyRoute[] {
  const common = {
    tags: ["Notifications"],
    auth: "key",
    authorize: allow("owner", "admin", "developer"),
  } as const satisfies Partial<KeyRoute>;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listDeliveries",
      summary: "List deliveries",
      query: [
        {
          name: "channelId",
          description: "Id of the channel. Default: all.",
          schema: { type: "string", format: "uuid" },
        },
        { name: "event", description: "Event type. Default: all.", schema: { type: "string" } },
        {
          name: "status",
          description: "State of the deliveries. Default: all.",
          schema: { type: "string", enum: [...DELIVERY_STATUSES] },
        },
        {
          name: "endedSince",
          description:
            "Time since which the deliveries have ended, inclusive. Default: all, including pending deliveries.",
          schema: { type: "string", format: "date-time" },
        },
        ...LIST_QUERY,
      ],
      responses: { 200: { description: "A page of deliveries", schema: "DeliveryList" } },
      errors: ["not_found", "unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getDelivery",
      summary: "Retrieve delivery",
      description:
        "Returns a delivery with its attempts. Deliveries about a run that the caller may not see have neither " +
        "`body` nor responses.",
      responses: { 200: { description: "The delivery", schema: "Delivery" } },
      errors: ["not_found"],
      handle: (call) => get(context, call),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/retry`,
      operationId: "retryDelivery",
      summary: "Retry delivery",
      description:
        "Starts one attempt immediately with the same delivery id, also for a delivery that succeeded. The " +
        "schedule of a pending delivery continues. It fails while the channel is disabled, and for runs that the " +
        "caller may not see.",
      responses: { 202: { description: "The accepted delivery", schema: "DeliveryAccepted" } },
      errors: ["not_found", "permission_denied", "conflict"],
      handle: (call) => retry(context, call),
    },
  ];
}

function list({ database }: IngressContext, call: RouteCall): Promise<Response> {
  const find = (page: Page) =>
    pageDeliveries(database, call.caller.workspaceId, {
      ...page,
      channelId: idIn(call, "channelId"),
      event: textIn(call, "event"),
      status: oneOf(call, "status", DELIVERY_STATUSES),
      endedSince: timeIn(call, "endedSince"),
    });
  return pageAnswer(pageOf(call), find, present);
}

async function get(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await find(context, call);
  const attempts = await listAttempts(context.database, row.id);
  const canSeeContent = await seesContent(context, call, row);
  return json({
    ...present(row),
    ...(canSeeContent ? { body: row.body } : {}),
    attempts: attempts.map(({ number, at, ms, status, error, response_start }) => ({
      number,
      at: at.toISOString(),
      ms,
      status,
      error,
      // A receiver's response may repeat the notification.
      responseStart: canSeeContent ? response_start : null,
    })),
  } satisfies Delivery);
}

async function retry(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await find(context, call);
  const { workspaceId } = call.caller;
  const channel =
    row.channel_id === null ? undefined : await findChannel(context.database, workspaceId, row.channel_id);
  if (channel === undefined) throw new ApiError("conflict", "The delivery's channel is deleted.");
  checkMayChange(call.caller, channel);
  // The delivery uses the channel's current target, which its creator may have changed.
  if (!(await seesContent(context, call, row))) {
    throw new ApiError("permission_denied", "The delivery is about a run or batch of another member.");
  }
  const isSent = await retryDelivery(context.database, workspaceId, {
    id: row.id,
    lastStep: LAST_STEP,
    actor: actorOf(call),
  });
  if (!isSent) {
    throw new ApiError("conflict", "The channel is disabled; enable it first.");
  }
  return json({ deliveryId: row.id } satisfies DeliveryAccepted, {}, 202);
}

async function find(context: IngressContext, call: RouteCall): Promise<DeliveryRow> {
  const id = pathId(call, "deliveryId", noDelivery);
  const row = await findDelivery(context.database, call.caller.workspaceId, id);
  if (row === undefined) throw noDelivery();
  return row;
}

/** True if the caller may see the content of a notification. Runs and batches are visible to their member, owners and admins. */
async function seesContent(
  { database }: IngressContext,
  call: RouteCall,
  { event, body }: DeliveryRow,
): Promise<boolean> {
  const reader = readerOf(call.caller);
  if (reader.seesAll) return true;
  const { metadata } = JSON.parse(body) as Partial<Envelope>;
  const batchId = metadata?.["batchId"];
  if (typeof batchId === "string") {
    const id = batchIdOf(batchId);
    return id !== undefined && (await findBatch(database, viewerOf(call.caller), id)) !== undefined;
  }
  if (!event.startsWith("run.")) return true;
  const runId = String(metadata?.["runId"]);
  return isUuid(runId) && (await findRun(database, reader, runId)) !== undefined;
}

function present(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    channelId: row.channel_id,
    event: row.event,
    status: row.status,
    attemptCount: row.attempts,
    nextAttemptAt: row.next_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

function noDelivery(): ApiError {
  return new ApiError("not_found", "There is no such delivery.");
}
