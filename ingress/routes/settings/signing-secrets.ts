/** Signing secret of a webhook channel: reveal and rotation, both in the audit log. */
import type { SigningSecret } from "#schemas/generated/types.ts";
import { commonNow } from "#shared/clock.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import { changeChannel, type ChannelRow } from "#shared/database/channels.ts";
import { ApiError } from "#shared/errors.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { newSigningSecret } from "#shared/secrets/signature.ts";

import { json, NEVER_KEPT } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow } from "../../roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute } from "../../route.ts";
import { channelOf, noChannel } from "../../settings/channel.ts";

/** Time after a rotation in which both secrets sign, in milliseconds. */
export const PREVIOUS_SECRET_MS = 86_400_000;

const SECRET = "/workspaces/{workspaceId}/notification-channels/{channelId}/signing-secret";

export function signingSecrets(context: IngressContext): readonly KeyRoute[] {
  const common = {
    tags: ["Notifications"],
    auth: "key",
    method: "POST",
    responses: { 200: { description: "The secret", schema: "SigningSecret" } },
    errors: ["not_found", "channel_not_found", "invalid_request", "conflict"],
    authorize: allow("owner", "admin"),
  } as const satisfies Partial<KeyRoute>;
  return [
    {
      ...common,
      path: `${SECRET}/reveal`,
      operationId: "revealSigningSecret",
      summary: "Reveal signing secret",
      description: "Returns the signing secret of a webhook. The audit log records the request.",
      handle: (call) => reveal(context, call),
    },
    {
      ...common,
      path: `${SECRET}/rotate`,
      operationId: "rotateSigningSecret",
      summary: "Rotate signing secret",
      description:
        "Replaces the signing secret of a webhook. `x-webhook-signature` uses the new secret from the next attempt " +
        "on; `webhook-signature` contains both signatures for a day. A channel without a secret receives its first " +
        "one. The audit log records the request.",
      handle: (call) => rotate(context, call),
    },
  ];
}

async function reveal(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await webhookOf(context, call);
  const { signingSecret } = openAll(context.sealer, { workspaceId: row.workspace_id, id: row.id }, row.sealed);
  if (signingSecret === undefined) {
    throw new ApiError("conflict", "The channel has no signing secret yet; rotate the secret to create one.");
  }
  // Logged before the secret is returned.
  await recordAudit(context.database, row.workspace_id, {
    actor: actorOf(call),
    action: "channel.reveal_secret",
    subject: row.id,
  });
  return json({ signingSecret } satisfies SigningSecret, NEVER_KEPT);
}

async function rotate(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await webhookOf(context, call);
  const { workspaceId } = call.caller;
  const signingSecret = newSigningSecret();
  let previousUntil: Date | null = null;
  const changed = await changeChannel(context.database, workspaceId, id, (row) => {
    const {
      signingSecret: previous,
      previousSigningSecret: _older,
      ...secrets
    } = openAll(context.sealer, { workspaceId, id }, row.sealed);
    previousUntil = previous === undefined ? null : new Date(commonNow() + PREVIOUS_SECRET_MS);
    const all = { ...secrets, signingSecret, ...(previous === undefined ? {} : { previousSigningSecret: previous }) };
    return {
      actor: actorOf(call),
      action: "channel.rotate_secret",
      to: { ...row, sealed: sealAll(context.sealer, { workspaceId, id }, all), previousSecretUntil: previousUntil },
    };
  });
  if (changed === undefined) throw noChannel();
  const until = previousUntil as Date | null;
  const answer = { signingSecret, ...(until === null ? {} : { previousUntil: until.toISOString() }) };
  return json(answer satisfies SigningSecret, NEVER_KEPT);
}

async function webhookOf(context: IngressContext, call: RouteCall): Promise<ChannelRow> {
  const row = await channelOf(context, call);
  if (row.type === "webhook") return row;
  throw new ApiError("invalid_request", `Only webhooks are signed; this channel is of type ${row.type}.`);
}
