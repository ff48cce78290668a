/** Makes one attempt of one delivery: opens its channel, calls the sender and writes the result. */
import type { Queryable } from "#shared/database/client.ts";
import { type AttemptEnd, type ClaimedDelivery, endAttempt, takeMail } from "#shared/database/delivery-work.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Logger } from "#shared/base/logger.ts";
import type { Metrics } from "#shared/metrics/metrics.ts";
import { openAll } from "#shared/notifications/channel-secrets.ts";
import type { Envelope } from "#shared/notifications/envelope.ts";
import { nextDelayMs } from "#shared/notifications/schedule.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { insistOn } from "#shared/storage/outage.ts";
import { paced } from "#shared/config/pace.ts";

import {
  type AttemptFault,
  type AttemptResult,
  failed,
  type OpenChannel,
  type Outgoing,
  type Send,
} from "./channel.ts";
import type { Mailer } from "./mailer.ts";

/** Maximum number of times that a worker may crash during attempts of one delivery. */
export const ATTEMPT_DEATHS_MAX = 20;

/** Time after which a channel is disabled if all its attempts failed, in milliseconds. */
export const CHANNEL_FAILING_MS = 5 * 86_400_000;

/** Maximum gap between failures that count together, in milliseconds. It is as long as the longest pause of the schedule. */
const CHANNEL_FAILING_GAP_MS = 86_400_000;

/** Duration for which the breaker of a channel is open after it first opens, in milliseconds. */
export const CHANNEL_OPEN_MS = paced(30_000);

/** Pause between messages to a channel, in milliseconds. Slack, and Telegram per chat, accept one message a second. */
const COUNTED_CHANNEL_PAUSE_MS = 1_000;

/** Maximum pause after a receiver reports its rate limit, in milliseconds. */
const CHANNEL_PAUSE_MS_MAX = paced(300_000);

export interface AttemptContext {
  readonly database: Queryable;
  readonly sealer: Sealer;
  readonly mailer: Mailer | undefined;
  readonly senders: Readonly<Record<OpenChannel["type"], Send>>;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "deliveryAttempts">;
}

/**
 * Makes an attempt and writes its result. Only the write is idempotent. If the worker dies before the write, the attempt is repeated under
 * the same id, by which receivers detect repeats.
 * @throws Error of the database; the signal's reason. The lease then expires, and the attempt is repeated
 */
export async function makeAttempt(
  context: AttemptContext,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { log, metrics } = context;
  failpoint("delivery.claimed");
  const startedAt = performance.now();
  const result = await send(context, delivery, signal);
  const ms = Math.round(performance.now() - startedAt);
  failpoint("delivery.sent");
  const type = delivery.channel?.type ?? "email";
  metrics.deliveryAttempts.inc(type, result.ok ? "ok" : result.error);
  const insist = insistOn({ log, about: { delivery_id: delivery.id }, signal });
  const end = endOf(delivery, result, ms);
  const disabled = await insist(() => endAttempt(context.database, delivery, end));
  failpoint("delivery.ended");
  const facts = { delivery_id: delivery.id, channel_id: delivery.channel?.id, type };
  if (disabled === undefined)
    log.warn(facts, "a delivery attempt took longer than its lease; another worker owns the delivery");
  else if (disabled !== "") log.warn({ ...facts, reason: disabled }, "a channel was disabled");
}

async function send(context: AttemptContext, delivery: ClaimedDelivery, signal: AbortSignal): Promise<AttemptResult> {
  // A request or response that crashes workers must not do so forever.
  if (delivery.deaths >= ATTEMPT_DEATHS_MAX) return failed("final", "worker_lost");
  let channel: OpenChannel | undefined;
  try {
    channel = channelOf(context.sealer, delivery);
  } catch (error) {
    // Another worker, or this one with the right keys, can decrypt them.
    context.log.error({ err: error, channel_id: delivery.channel?.id }, "a channel's secrets could not be decrypted");
    return failed("again", "sealed");
  }
  if (channel === undefined) return failed("final", "misconfigured");
  const { event, workspaceId, occurredAt, metadata } = JSON.parse(delivery.body) as Envelope & { occurredAt: string };
  const outgoing: Outgoing = {
    deliveryId: delivery.id,
    workspaceId,
    event,
    occurredAt: new Date(occurredAt),
    metadata,
    body: delivery.body,
    attempt: delivery.attempts + 1,
  };
  const { mailer, senders } = context;
  const sendNow = (): Promise<AttemptResult> => senders[channel.type](channel, outgoing, { signal, mailer });
  // Mail to owners about their channels counts too, since addresses of members are not confirmed.
  if (channel.type !== "email" || !mailer) return sendNow();
  const giveBack = await takeMail(context.database, workspaceId, channel.config["recipient"] ?? "");
  if (!giveBack) return failed("again", "mail_limit");
  let result: AttemptResult | undefined;
  try {
    result = await sendNow();
    return result;
  } finally {
    if (result?.ok !== true) await giveBack();
  }
}

/** Returns the channel of a delivery. Undefined for a member without a mail address. @throws Error when a secret cannot be decrypted */
function channelOf(sealer: Sealer, { workspace_id, channel, recipient }: ClaimedDelivery): OpenChannel | undefined {
  if (channel === null) {
    return recipient === null ? undefined : { id: "", type: "email", name: "", config: { recipient }, secrets: {} };
  }
  const { id, type, name, config } = channel;
  const { previousSigningSecret, ...secrets } = openAll(sealer, { workspaceId: workspace_id, id }, channel.sealed);
  const isBoth = channel.has_previous && previousSigningSecret !== undefined;
  return { id, type, name, config, secrets: isBoth ? { ...secrets, previousSigningSecret } : secrets };
}

/** Faults of our installation, and attempts that our installation delayed. They do not count as failures of the channel. */
const OURS: ReadonlySet<AttemptFault> = new Set(["mail_off", "mail_limit", "sealed", "worker_lost"]);

function endOf({ step, channel }: ClaimedDelivery, result: AttemptResult, ms: number): AttemptEnd {
  const { status, responseStart } = result;
  const counted = channel?.type === "slack" || channel?.type === "telegram";
  const common = {
    status,
    responseStart,
    ms,
    isOurs: false,
    failingMs: CHANNEL_FAILING_MS,
    gapMs: CHANNEL_FAILING_GAP_MS,
    openMs: CHANNEL_OPEN_MS,
    chatId: null,
    // Slack, and Telegram per chat, accept one message a second.
    pauseMs: counted ? COUNTED_CHANNEL_PAUSE_MS : null,
    nextMs: null,
  };
  if (result.ok) return { ...common, verdict: "ok", error: null };
  const { verdict, error, retryAfterMs, newChatId = null } = result;
  const delay = nextDelayMs(step + 1, retryAfterMs);
  // Retry pauses of these services are applied exactly, without jitter.
  const exact = counted && retryAfterMs !== undefined && delay !== undefined ? retryAfterMs : delay;
  const pauseMs =
    error === "rate_limited"
      ? Math.min(retryAfterMs ?? COUNTED_CHANNEL_PAUSE_MS, CHANNEL_PAUSE_MS_MAX)
      : common.pauseMs;
  return {
    ...common,
    verdict,
    error,
    isOurs: OURS.has(error),
    pauseMs: pauseMs === null ? null : Math.round(pauseMs),
    chatId: newChatId,
    nextMs: verdict === "again" && exact !== undefined ? Math.round(exact) : null,
  };
}
