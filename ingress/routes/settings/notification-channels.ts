/** /workspaces/{workspaceId}/notification-channels: where notifications go. Credentials are written and never read. */
import type {
  ChannelCreateRequest,
  ChannelList,
  ChannelUpdateRequest,
  Deleted,
  DeliveriesRecovered,
  DeliveriesRecoverRequest,
  DeliveryAccepted,
} from "#schemas/generated/types.ts";
import { changeChannel, deleteChannel, findChannel, insertChannel, pageChannels } from "#shared/database/channels.ts";
import { insertDelivery, recoverDeliveries } from "#shared/database/deliveries.ts";
import { inTurn } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { changedSecrets, mergeChannelConfig, newChannelConfig } from "#shared/notifications/channel-config.ts";
import { openAll, sealAll } from "#shared/notifications/channel-secrets.ts";
import { envelopeText, TEST_EVENT } from "#shared/notifications/envelope.ts";
import { LAST_STEP } from "#shared/notifications/schedule.ts";
import { newSigningSecret } from "#shared/secrets/signature.ts";

import { json, NEVER_KEPT } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow } from "../../roles.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, callerOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, nameTaken, parsedBody, plainName, reusedId } from "../../settings/body.ts";
import { channelOf, checkMayChange, noChannel, presentChannel } from "../../settings/channel.ts";
import { LIST_QUERY, listOf, pageOf, timeOf } from "../../settings/page.ts";

const LIST = "/workspaces/{workspaceId}/notification-channels";
const ONE = `${LIST}/{channelId}`;
const READERS = allow("owner", "admin", "developer");
const WRITERS = allow("owner", "admin");

export function notificationChannels(context: IngressContext): readonly Route[] {
  const common = { tags: ["Notifications"], auth: "key" } as const;
  const channel = { schema: "Channel" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listNotificationChannels",
      summary: "List notification channels",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of channels", schema: "ChannelList" } },
      errors: ["not_found", "unsupported_value"],
      authorize: READERS,
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createNotificationChannel",
      summary: "Make a notification channel",
      description:
        "A webhook is signed: the answer shows its signing secret, this once. A repeat with the same `id` and body is answered 200, " +
        "without it.",
      request: { schema: "ChannelCreateRequest" },
      responses: {
        200: { description: "It was made before", ...channel },
        201: { description: "The channel", ...channel },
      },
      errors: errorsOf(["reads_json", "fetches_addresses"], "not_found", "conflict", "idempotency_key_reused"),
      authorize: WRITERS,
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getNotificationChannel",
      summary: "Read about a notification channel",
      responses: { 200: { description: "The channel", ...channel } },
      errors: ["not_found", "channel_not_found"],
      authorize: READERS,
      handle: async (call) => json(presentChannel(await channelOf(context, call))),
    },
    {
      ...common,
      method: "PATCH",
      path: ONE,
      operationId: "updateNotificationChannel",
      summary: "Change a notification channel",
      description:
        "Owners and admins change any channel, developers those that they made. Of a `config` that is sent, credentials and URLs that " +
        "it leaves out keep their value; every other member is what was sent, and gone when it was not: `url` alone, sent to a webhook " +
        "with a bearer token, keeps the token and drops `authType`, so that later deliveries carry no Authorization header. At another " +
        "origin than that which it was given for, a stored credential is not used: `authType` needs it again. An empty " +
        "credential is cleared. A URL that is sent back as it is shown stays; one that looks redacted and is not how the stored one is " +
        "shown is refused. The next attempt of every delivery goes by the new settings.",
      request: { schema: "ChannelUpdateRequest" },
      responses: { 200: { description: "The channel as it is now", ...channel } },
      errors: errorsOf(
        ["reads_json", "fetches_addresses"],
        "not_found",
        "channel_not_found",
        "permission_denied",
        "conflict",
      ),
      authorize: READERS,
      handle: (call) => update(context, call),
    },
    {
      ...common,
      method: "DELETE",
      path: ONE,
      operationId: "deleteNotificationChannel",
      summary: "Delete a notification channel",
      description: "Its subscriptions go with it, and nothing more is sent there. Its deliveries stay in the list.",
      responses: { 200: { description: "It is deleted", schema: "Deleted" } },
      errors: ["not_found", "channel_not_found"],
      authorize: WRITERS,
      handle: (call) => remove(context, call),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/test`,
      operationId: "testNotificationChannel",
      summary: "Send a test to a channel",
      description: `One attempt, with the event \`test\`, of a mail channel at most ${LIMITS.mailTestsPerHourMax} in an hour. What became of it stands in the delivery.`,
      responses: { 202: { description: "It is on its way", schema: "DeliveryAccepted" } },
      errors: ["not_found", "channel_not_found", "permission_denied", "conflict"],
      authorize: READERS,
      handle: (call) => test(context, call),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/recover`,
      operationId: "recoverDeliveries",
      summary: "Send again what a channel has not received",
      description: `One more attempt of each delivery that was made in the span and has failed or was left out, at most ${LIMITS.recoverMax} at once.`,
      request: { schema: "DeliveriesRecoverRequest" },
      responses: { 202: { description: "They are on their way", schema: "DeliveriesRecovered" } },
      errors: errorsOf(["reads_json"], "not_found", "channel_not_found", "conflict"),
      authorize: WRITERS,
      handle: (call) => recover(context, call),
    },
  ];
}

async function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = pageOf(call);
  const rows = await pageChannels(context.database, callerOf(call).workspaceId, { ...page, limit: page.limit + 1 });
  return json(listOf(rows, page, presentChannel) satisfies ChannelList);
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const body: ChannelCreateRequest = await parsedBody(call, "ChannelCreateRequest");
  const { workspaceId, memberId } = callerOf(call);
  const { type, enabled = true } = body;
  if (type === "email" && context.config.smtpUrl === undefined) {
    throw new ApiError("unsupported_value", "This installation sends no mail.", { param: "type" });
  }
  const id = createdId(body);
  const name = plainName(body.name);
  const { config, secrets } = newChannelConfig(type, body.config);
  const signingSecret = type === "webhook" ? newSigningSecret() : undefined;
  const all = { ...secrets, ...(signingSecret === undefined ? {} : { signingSecret }) };
  const wanted = {
    id,
    type,
    name,
    enabled,
    config,
    sealed: sealAll(context.sealer, { workspaceId, id }, all),
    createdBy: memberId,
    actor: actorOf(call),
  };
  const made = await inTurn(context.database, workspaceId, (tx) => insertChannel(tx, workspaceId, wanted));
  if (made === "name_taken") {
    // A repeat meets its own name first.
    const earlier = body.id === undefined ? undefined : await findChannel(context.database, workspaceId, id);
    if (earlier === undefined) throw nameTaken("a channel");
  }
  if (made === "too_many") {
    throw new ApiError("conflict", `A workspace has at most ${LIMITS.channelsPerWorkspaceMax} channels.`);
  }
  const row = await findChannel(context.database, workspaceId, id);
  if (row === undefined) throw reusedId();
  if (made === "made") {
    return json({ ...presentChannel(row), ...(signingSecret === undefined ? {} : { signingSecret }) }, NEVER_KEPT, 201);
  }
  const { signingSecret: _own, ...stored } = openAll(context.sealer, { workspaceId, id }, row.sealed);
  const isSame =
    row.type === type &&
    row.name === name &&
    row.enabled === enabled &&
    Bun.deepEquals(row.config, config) &&
    Bun.deepEquals(stored, secrets);
  if (!isSame) throw reusedId();
  return json(presentChannel(row));
}

async function update(context: IngressContext, call: RouteCall): Promise<Response> {
  checkMayChange(await channelOf(context, call), callerOf(call));
  const body: ChannelUpdateRequest = await parsedBody(call, "ChannelUpdateRequest");
  const name = body.name === undefined ? undefined : plainName(body.name);
  const { workspaceId } = callerOf(call);
  const { id } = await channelOf(context, call);
  const changed = await changeChannel(context.database, workspaceId, id, (row) => {
    const { signingSecret, previousSigningSecret, ...secrets } = openAll(
      context.sealer,
      { workspaceId, id },
      row.sealed,
    );
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
      actor: actorOf(call),
      action: "channel.update",
      isAnew: body.config !== undefined,
      told: { changed_secrets: changedSecrets(secrets, to.secrets) },
      to: {
        name: name ?? row.name,
        enabled: body.enabled ?? row.enabled,
        config: to.config,
        sealed: sealAll(context.sealer, { workspaceId, id }, all),
        previousSecretUntil: row.previous_secret_until,
      },
    };
  });
  if (changed === "name_taken") throw nameTaken("a channel");
  if (changed === undefined) throw noChannel();
  return json(presentChannel(changed));
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id } = await channelOf(context, call);
  const isGone = await deleteChannel(context.database, callerOf(call).workspaceId, { id, actor: actorOf(call) });
  if (!isGone) throw noChannel();
  return json({ id, deleted: true } satisfies Deleted);
}

async function test(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await channelOf(context, call);
  const { workspaceId } = callerOf(call);
  checkMayChange(row, callerOf(call));
  checkEnabled(row);
  const id = newId();
  const metadata = { channelId: row.id, message: "This is a test." };
  const body = envelopeText({ event: TEST_EVENT, deliveryId: id, workspaceId, occurredAt: new Date(), metadata });
  const perHourMax = row.type === "email" ? LIMITS.mailTestsPerHourMax : null;
  const delivery = {
    id,
    channelId: row.id,
    event: TEST_EVENT,
    body,
    step: LAST_STEP,
    perHourMax,
    actor: actorOf(call),
  };
  if (!(await inTurn(context.database, workspaceId, (tx) => insertDelivery(tx, workspaceId, delivery)))) {
    throw new ApiError("conflict", `A mail channel is tested at most ${perHourMax} times in an hour.`);
  }
  return json({ deliveryId: id } satisfies DeliveryAccepted, {}, 202);
}

const DAY_MS = 86_400_000;

async function recover(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await channelOf(context, call);
  checkEnabled(row);
  const body: DeliveriesRecoverRequest = await parsedBody(call, "DeliveriesRecoverRequest");
  const since = timeOf(body.since);
  const oldest = Date.now() - LIMITS.recoverDaysMax * DAY_MS;
  if (since === undefined || since.getTime() < oldest) {
    throw new ApiError("unsupported_value", `Expected since to be a time of the last ${LIMITS.recoverDaysMax} days.`, {
      param: "since",
    });
  }
  const until = body.until === undefined ? null : timeOf(body.until);
  if (until === undefined || (until !== null && until <= since)) {
    throw new ApiError("unsupported_value", "Expected until to be a time after since.", { param: "until" });
  }
  const count = await recoverDeliveries(context.database, callerOf(call).workspaceId, {
    channelId: row.id,
    since,
    until,
    lastStep: LAST_STEP,
    max: LIMITS.recoverMax,
    actor: actorOf(call),
  });
  return json({ count } satisfies DeliveriesRecovered, {}, 202);
}

function checkEnabled({ enabled }: { readonly enabled: boolean }): void {
  if (!enabled) throw new ApiError("conflict", "The channel is disabled; nothing is sent there until it is enabled.");
}
