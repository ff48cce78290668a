/** /workspaces/{workspaceId}/notification-channels: targets of notifications. Credentials can be written, never read. */
import type { DeliveriesRecovered, DeliveryAccepted } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import {
  changeChannel,
  type ChannelRow,
  deleteChannel,
  findChannel,
  insertChannel,
  pageChannels,
  CHANNELS_PER_WORKSPACE_MAX,
} from "#shared/database/channels.ts";
import { insertDelivery, recoverDeliveries } from "#shared/database/deliveries.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { changedSecrets, mergeChannelConfig, newChannelConfig } from "#shared/notifications/channel-config.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { envelopeText, TEST_EVENT } from "#shared/notifications/envelope.ts";
import { LAST_STEP } from "#shared/notifications/schedule.ts";
import { newSigningSecret } from "#shared/secrets/signature.ts";

import { json } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { Route } from "../../route.ts";
import { createdId, nameTaken, parsedBody, plainName } from "../../settings/body.ts";
import { channelOf, channelRows, presentChannel } from "../../settings/channel.ts";
import { timeOf } from "../../settings/page.ts";
import { type ChangeRequest, findToChange, type Created, createdOnce, resource } from "../../settings/resource.ts";

/** Most tests of one mail channel per hour: a test is the only mail that a caller sends at will. */
export const MAIL_TESTS_PER_HOUR_MAX = 5;

/** Longest period, in days, whose failed deliveries can be sent again. */
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
  const shownOnce = type === "webhook" ? { signingSecret: newSigningSecret() } : {};
  const sealed = sealAll(context.sealer, { workspaceId, id }, { ...secrets, ...shownOnce });
  const wanted = { id, type, name, enabled, config, sealed, createdBy: memberId, actor };
  const made = await createdOnce(
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
  return { ...made, shownOnce };
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
      told: { changed_secrets: changedSecrets(secrets, to.secrets) },
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
