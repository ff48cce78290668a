/** One attempt of one delivery: its channel is opened, the sender asked, and what came of it written. */
import type { Queryable } from "#shared/database/client.ts";
import { type AttemptEnd, type ClaimedDelivery, endAttempt } from "#shared/database/delivery-work.ts";
import { takeMail } from "#shared/database/mail-sent.ts";
import { failpoint } from "#shared/failpoint.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { openAll } from "#shared/notifications/channel-secrets.ts";
import type { Envelope } from "#shared/notifications/envelope.ts";
import { nextDelayMs } from "#shared/notifications/schedule.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { insistOn } from "#shared/outage.ts";
import { paced } from "#shared/pace.ts";

import {
  type AttemptFault,
  type AttemptResult,
  failed,
  type OpenChannel,
  type Outgoing,
  type Send,
} from "./channel.ts";
import type { Mailer } from "./mailer.ts";

/** Workers that were lost in attempts of one delivery. */
export const ATTEMPT_DEATHS_MAX = 20;

/** A channel at which every attempt failed for so long is disabled. */
export const CHANNEL_FAILING_MS = 5 * 86_400_000;

/** Failures farther apart than the schedule's longest pause do not add up: nothing was sent between them. */
const CHANNEL_FAILING_GAP_MS = 86_400_000;

/** Time for which the breaker of a channel lets nothing through, at first. */
export const CHANNEL_OPEN_MS = paced(30_000);

/** Slack, and Telegram in one chat, take one message in so long. */
const COUNTED_CHANNEL_PAUSE_MS = 1_000;

/** A receiver that says it is asked too often is left alone for at most so long. */
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
 * Idempotent for the workspace's books only: a worker that dies between the answer and the write leaves the attempt to be made
 * again, under the same id, which is how receivers tell repeats.
 * @throws Error of the database; the signal's reason. The lease ends by itself then, and the attempt is made again
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
  if (disabled === undefined) log.warn(facts, "an attempt took longer than its lease; another worker has it");
  else if (disabled !== "") log.warn({ ...facts, reason: disabled }, "a channel was disabled");
}

async function send(context: AttemptContext, delivery: ClaimedDelivery, signal: AbortSignal): Promise<AttemptResult> {
  // A worker that dies of what it sends, or of the answer, must not be followed by others forever.
  if (delivery.deaths >= ATTEMPT_DEATHS_MAX) return failed("final", "worker_lost");
  let channel: OpenChannel | undefined;
  try {
    channel = channelOf(context.sealer, delivery);
  } catch (error) {
    // Another worker, or this one when it has the right keys, can open them.
    context.log.error({ err: error, channel_id: delivery.channel?.id }, "a channel's secrets cannot be opened");
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
  // Mail to owners about their channels counts too: nobody confirms the address of a member.
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

/** Undefined: a member without an address. @throws Error when a secret is not what was kept there */
function channelOf(sealer: Sealer, { workspace_id, channel, recipient }: ClaimedDelivery): OpenChannel | undefined {
  if (channel === null) {
    return recipient === null ? undefined : { id: "", type: "email", name: "", config: { recipient }, secrets: {} };
  }
  const { id, type, name, config } = channel;
  const { previousSigningSecret, ...secrets } = openAll(sealer, { workspaceId: workspace_id, id }, channel.sealed);
  const isBoth = channel.has_previous && previousSigningSecret !== undefined;
  return { id, type, name, config, secrets: isBoth ? { ...secrets, previousSigningSecret } : secrets };
}

/** Faults of our installation, or attempts that it held back: they say nothing of the channel. */
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
    // Slack, and Telegram in one chat, take a message a second.
    pauseMs: counted ? COUNTED_CHANNEL_PAUSE_MS : null,
    nextMs: null,
  };
  if (result.ok) return { ...common, verdict: "ok", error: null };
  const { verdict, error, retryAfterMs, newChatId = null } = result;
  const delay = nextDelayMs(step + 1, retryAfterMs);
  // What these services ask for is kept exactly.
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
