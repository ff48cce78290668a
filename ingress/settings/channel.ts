/** Finds and presents a channel for its routes. */
import type { Channel } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { type ChannelRow, findChannel } from "#shared/database/channels.ts";
import { ApiError } from "#shared/errors.ts";
import { credentialsOf } from "#shared/notifications/channel-config.ts";

import type { IngressContext } from "../context.ts";
import type { SettingsCall } from "../core/call.ts";
import { callerOf } from "../core/caller.ts";
import { findRow, type Rows } from "./resource.ts";

export function channelRows({ database }: IngressContext): Rows<Caller, ChannelRow> {
  return {
    path: "/workspaces/{workspaceId}/notification-channels/{channelId}",
    within: callerOf,
    find: ({ workspaceId }, id) => findChannel(database, workspaceId, id),
    unknown: noChannel,
    checkMayChange,
  };
}

/** Returns the channel of the path. @throws ApiError `channel_not_found`, also for a channel of another workspace */
export async function channelOf(context: IngressContext, call: SettingsCall): Promise<ChannelRow> {
  return (await findRow(channelRows(context), call)).row;
}

/** Owners and admins may change any channel, a developer only its own. @throws ApiError `permission_denied` */
export function checkMayChange({ role, memberId }: Caller, { created_by }: Pick<ChannelRow, "created_by">): void {
  if (role !== "developer" || created_by === memberId) return;
  throw new ApiError("permission_denied", "A developer can change only channels that it created.");
}

export function presentChannel(row: ChannelRow): Channel {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    enabled: row.enabled,
    config: { ...row.config },
    credentials: credentialsOf(row.type).filter((name) => row.sealed[name] !== undefined),
    hasSigningSecret: row.sealed["signingSecret"] !== undefined,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    createdByUserId: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function noChannel(): ApiError {
  return new ApiError("channel_not_found", "There is no such channel in this workspace.");
}
