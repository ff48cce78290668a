/**
 * /workspaces/{workspaceId}/notification-channels: manages the channels to which notifications are sent. Credentials can be written, but
 * not read.
 */
import type { Channel, DeliveriesRecovered, DeliveryAccepted, SigningSecret } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { commonNow } from "#shared/base/clock.ts";
import { recordAudit } from "#shared/database/audit-log.ts";
import {
  changeChannel,
  type ChannelRow,
  CHANNELS_PER_WORKSPACE_MAX,
  deleteChannel,
  findChannel,
  insertChannel,
  pageChannels,
} from "#shared/database/channels.ts";
import { insertDelivery, recoverDeliveries } from "#shared/database/deliveries.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import {
  changedSecrets,
  credentialsOf,
  mergeChannelConfig,
  newChannelConfig,
} from "#shared/notifications/channel-config.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { envelopeText, TEST_EVENT } from "#shared/notifications/envelope.ts";
import { LAST_STEP } from "#shared/notifications/schedule.ts";
import { newSigningSecret } from "#shared/secrets/signature.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall, SettingsCall } from "../../core/call.ts";
import { actorOf, callerOf } from "../../core/caller.ts";
import type { KeyRoute, Route } from "../../core/route.ts";
import { createdId, nameTaken, parsedBody, plainName } from "./body.ts";
import { timeOf } from "../../core/page.ts";
import {
  type ChangeRequest,
  type Created,
  createdOnce,
  findRow,
  findToChange,
  resource,
  type Rows,
} from "./resource.ts";

/** Maximum number of tests of one mail channel per hour. A test is the only mail that a caller can send at will. */
export const MAIL_TESTS_PER_HOUR_MAX = 5;

/** Maximum length of the period whose failed deliveries can be sent again, in days. */
export const RECOVER_DAYS_MAX = 14;
export const RECOVER_MAX = 10_000;

const NOTIFICATIONS = { tags: ["Notifications"], auth: "key" } as const;
const READERS = { ...NOTIFICATIONS, authorize: allow("owner", "admin", "developer") };
const WRITERS = { ...NOTIFICATIONS, authorize: allow("owner", "admin") };

export function notificationChannels(context: IngressContext): readonly Route[] {
  const { database } = context;
  const rows = channelRows(context);
  return [
    ...resource({
      ...rows,
      schema: "Channel",
      readers: READERS,
      writers: WRITERS,
      present: presentChannel,
      list: {
        operationId: "listNotificationChannels",
        summary: "List notification channels",
        answer: "A page of channels",
        page: ({ workspaceId }, page) => pageChannels(database, workspaceId, page),
      },
      create: {
        operationId: "createNotificationChannel",
        summary: "Create notification channel",
        description:
          "Webhooks are signed: the response contains the signing secret once. A repeat with the same `id` and " +
          "body returns 200 without it.",
        answer: "The created channel",
        repeated: "The channel, created by an earlier request",
        errors: errorsOf(["fetches_addresses"]),
        make: (caller, asked) => make(context, caller, asked),
      },
      get: {
        operationId: "getNotificationChannel",
        summary: "Retrieve notification channel",
        answer: "The created channel",
        errors: ["channel_not_found"],
      },
      update: {
        // Developers too, for channels that they created.
        writers: READERS,
        operationId: "updateNotificationChannel",
        summary: "Update notification channel",
        description:
          "Owners and admins update every channel, developers those that they created. A `config` replaces the " +
          "stored configuration, but credentials and URLs that it omits keep their value. For example, `url` alone " +
          "keeps the bearer token of a webhook and removes `authType`, so that deliveries have no Authorization " +
          "header. A credential is used only for the origin for which it was set; for a new origin, `authType` " +
          "requires it again. An empty string removes a credential. A redacted URL, sent back unchanged, keeps the " +
          "stored URL; other redacted URLs are rejected. The next attempt of every delivery uses the new " +
          "configuration.",
        answer: "The updated channel",
        errors: errorsOf(["fetches_addresses"], "channel_not_found", "permission_denied"),
        change: (caller, row, asked) => change(context, caller, row, asked),
      },
      remove: {
        operationId: "deleteNotificationChannel",
        summary: "Delete notification channel",
        description:
          "Deletes the channel and its subscriptions, and stops all deliveries. Past deliveries stay in the list.",
        answer: "The confirmation",
        errors: ["channel_not_found"],
        end: ({ workspaceId }, { id }, actor) => deleteChannel(database, workspaceId, { id, actor }),
      },
    }),
    {
      ...READERS,
      method: "POST",
      path: `${rows.path}/test`,
      operationId: "testNotificationChannel",
      summary: "Test notification channel",
      description:
        `Sends the event \`test\` once. E-mail channels accept at most ${MAIL_TESTS_PER_HOUR_MAX} tests per hour. ` +
        "The delivery contains the result.",
      responses: { 202: { description: "The accepted delivery", schema: "DeliveryAccepted" } },
      errors: ["not_found", "channel_not_found", "permission_denied", "conflict"],

      handle: (call: RouteCall) => test(context, call),
    },
    {
      ...WRITERS,
      method: "POST",
      path: `${rows.path}/recover`,
      operationId: "recoverDeliveries",
      summary: "Recover deliveries",
      description: `Starts one attempt for each failed or skipped delivery of the period, at most ${RECOVER_MAX} per request.`,
      request: { schema: "DeliveriesRecoverRequest" },
      responses: { 202: { description: "The number of accepted deliveries", schema: "DeliveriesRecovered" } },
      errors: errorsOf(["reads_json"], "not_found", "channel_not_found", "conflict"),

      handle: (call: RouteCall) => recover(context, call),
    },
  ];
}

async function make(
  context: IngressContext,
  { workspaceId, memberId }: Caller,
  { body, actor }: ChangeRequest<"ChannelCreateRequest">,
): Promise<Created<ChannelRow>> {
  const { type, enabled = true } = body;
  if (type === "email" && context.config.smtpUrl === undefined) {
    throw new ApiError("unsupported_value", "This service sends no email; its operator can set SLUICE_SMTP_URL.", {
      param: "type",
    });
  }
  const id = createdId(body);
  const name = plainName(body.name);
  const { config, secrets } = newChannelConfig(type, body.config);
  const oneTimeFields = type === "webhook" ? { signingSecret: newSigningSecret() } : {};
  const sealed = sealAll(context.sealer, { workspaceId, id }, { ...secrets, ...oneTimeFields });
  const wanted = { id, type, name, enabled, config, sealed, createdBy: memberId, actor };
  const created = await createdOnce(
    await withWorkspaceLock(context.database, workspaceId, (tx) => insertChannel(tx, workspaceId, wanted)),
    {
      find: () => findChannel(context.database, workspaceId, id),
      asked: { type, name, enabled, config },
      isSame(row) {
        const { signingSecret: _own, ...stored } = openAll(context.sealer, { workspaceId, id }, row.sealed);
        return Bun.deepEquals(stored, secrets);
      },
      refusals: {
        too_many: () =>
          new ApiError("conflict", `A workspace has at most ${CHANNELS_PER_WORKSPACE_MAX} channels; delete one first.`),
        name_taken: () => nameTaken("a channel"),
      },
    },
  );
  return { ...created, oneTimeFields };
}

async function change(
  { database, sealer }: IngressContext,
  { workspaceId }: Caller,
  { id }: ChannelRow,
  { body, actor }: ChangeRequest<"ChannelUpdateRequest">,
): Promise<ChannelRow | undefined> {
  const name = body.name === undefined ? undefined : plainName(body.name);
  const changed = await changeChannel(database, workspaceId, id, (row) => {
    const plain = { name: name ?? row.name, enabled: body.enabled ?? row.enabled };
    if (body.config === undefined && plain.name === row.name && plain.enabled === row.enabled) return undefined;
    const { signingSecret, previousSigningSecret, ...secrets } = openAll(sealer, { workspaceId, id }, row.sealed);
    const to =
      body.config === undefined
        ? { config: row.config, secrets }
        : mergeChannelConfig(row.type, { config: row.config, secrets }, body.config);
    const all = {
      ...to.secrets,
      ...(signingSecret === undefined ? {} : { signingSecret }),
      ...(previousSigningSecret === undefined ? {} : { previousSigningSecret }),
    };
    return {
      actor,
      action: "channel.update",
      isAnew: body.config !== undefined,
      auditValues: { changed_secrets: changedSecrets(secrets, to.secrets) },
      to: {
        ...plain,
        config: to.config,
        sealed: sealAll(sealer, { workspaceId, id }, all),
        previousSecretUntil: row.previous_secret_until,
      },
    };
  });
  if (changed === "name_taken") throw nameTaken("a channel");
  return changed;
}

async function test(context: IngressContext, call: RouteCall): Promise<Response> {
  const { within: caller, row } = await findToChange(channelRows(context), call);
  const { workspaceId } = caller;
  checkEnabled(row);
  const id = newId();
  const metadata = { channelId: row.id, message: "This is a test." };
  const body = envelopeText({ event: TEST_EVENT, deliveryId: id, workspaceId, occurredAt: new Date(), metadata });
  const perHourMax = row.type === "email" ? MAIL_TESTS_PER_HOUR_MAX : null;
  const delivery = {
    id,
    channelId: row.id,
    event: TEST_EVENT,
    body,
    step: LAST_STEP,
    perHourMax,
    actor: actorOf(call),
  };
  if (!(await withWorkspaceLock(context.database, workspaceId, (tx) => insertDelivery(tx, workspaceId, delivery)))) {
    throw new ApiError("conflict", `An email channel can be tested at most ${perHourMax} times in an hour.`);
  }
  return json({ deliveryId: id } satisfies DeliveryAccepted, {}, 202);
}

const DAY_MS = 86_400_000;

async function recover(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await channelOf(context, call);
  checkEnabled(row);
  const body = await parsedBody(call, "DeliveriesRecoverRequest");
  const since = timeOf(body.since);
  const oldest = Date.now() - RECOVER_DAYS_MAX * DAY_MS;
  if (since === undefined || since.getTime() < oldest) {
    throw new ApiError("unsupported_value", `Expected since to be a time within the last ${RECOVER_DAYS_MAX} days.`, {
      param: "since",
    });
  }
  const until = body.until === undefined ? null : timeOf(body.until);
  if (until === undefined || (until !== null && until <= since)) {
    throw new ApiError("unsupported_value", "Expected until to be a time after since.", { param: "until" });
  }
  const count = await recoverDeliveries(context.database, call.caller.workspaceId, {
    channelId: row.id,
    since,
    until,
    lastStep: LAST_STEP,
    max: RECOVER_MAX,
    actor: actorOf(call),
  });
  return json({ count } satisfies DeliveriesRecovered, {}, 202);
}

function checkEnabled({ enabled }: { readonly enabled: boolean }): void {
  if (!enabled) throw new ApiError("conflict", "The channel is disabled; enable it first.");
}

function channelRows({ database }: IngressContext): Rows<Caller, ChannelRow> {
  return {
    path: "/workspaces/{workspaceId}/notification-channels/{channelId}",
    within: callerOf,
    find: ({ workspaceId }, id) => findChannel(database, workspaceId, id),
    unknown: noChannel,
    checkMayChange,
  };
}

/** Returns the channel named in the URL path. @throws ApiError `channel_not_found`, also for a channel of another workspace */
export async function channelOf(context: IngressContext, call: SettingsCall): Promise<ChannelRow> {
  return (await findRow(channelRows(context), call)).row;
}

/**
 * Checks that the caller may change a channel. Owners and admins may change any channel; a developer may only change channels that the
 * developer created. @throws ApiError `permission_denied`
 */
export function checkMayChange({ role, memberId }: Caller, { created_by }: Pick<ChannelRow, "created_by">): void {
  if (role !== "developer" || created_by === memberId) return;
  throw new ApiError("permission_denied", "A developer can change only channels that it created.");
}

function presentChannel(row: ChannelRow): Channel {
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

function noChannel(): ApiError {
  return new ApiError("channel_not_found", "There is no such channel in this workspace.");
}

// Signing secret of a webhook channel: reveal and rotation, both in the audit log.

/** Time after a rotation during which webhooks are signed with both the old and the new secret, in milliseconds. */
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
