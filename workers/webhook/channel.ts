/** Input and result of an attempt to send a notification. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";

import type { Mailer } from "./mailer.ts";

/** Channel with decrypted secrets. It is in memory only during an attempt. */
export interface OpenChannel {
  readonly id: string;
  readonly type: ChannelType;
  readonly name: string;
  /** Settings by channel type. webhook: authType?, authUsername?, authHeaderName?; telegram: chatId; email: recipient. */
  readonly config: Readonly<Record<string, string>>;
  /**
   * Secrets by channel type. webhook: url, signingSecret?, previousSigningSecret?, authToken?, authPassword?, authApiKey?, authHeaderValue?
   * slack: url telegram: botToken
   */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface Outgoing {
  /**
   * Id of the delivery, sent as `webhook-id` and as part of the Message-ID. It is the same on every retry, so that receivers can drop
   * duplicates.
   */
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly event: string;
  readonly occurredAt: Date;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Exact text of the webhook body: `{"event","deliveryId","workspaceId","occurredAt","metadata"}` in this order. */
  readonly body: string;
  readonly attempt: number;
}

/**
 * Result of a failed attempt. again: retried by the schedule. final: no further attempt of this delivery. gone: the channel no longer works
 * and is disabled.
 */
export type Verdict = "again" | "final" | "gone";

/**
 * Cause of a failed attempt. refused: the receiver answered that it does not accept this message, or any message. misconfigured: the
 * settings of the channel or installation cannot work. mail_limit: the daily mail limit of the address or workspace is reached. sealed: our
 * keys do not decrypt the channel's secrets. worker_lost: our workers crashed repeatedly. unreachable: no connection, or a broken one,
 * including TLS.
 */
export type AttemptFault =
  | "timeout"
  | "unreachable"
  | "unsafe_url"
  | "status"
  | "redirect"
  | "too_large"
  | "refused"
  | "rejected_recipient"
  | "rate_limited"
  | "misconfigured"
  | "mail_off"
  | "mail_limit"
  | "sealed"
  | "worker_lost";

export interface SentAttempt {
  readonly ok: true;
  /** Status of the HTTP or SMTP response; null without one. */
  readonly status: number | null;
  /** Beginning of the response. It is valid text without control characters and without the channel's secrets. */
  readonly responseStart: string;
}

export interface FailedAttempt {
  readonly ok: false;
  readonly verdict: Verdict;
  /** Status of the HTTP or SMTP response; null without one. */
  readonly status: number | null;
  readonly error: AttemptFault;
  readonly responseStart: string;
  /** Pause that the receiver requests, in milliseconds. */
  readonly retryAfterMs?: number;
  /** New id of a Telegram chat that was migrated. */
  readonly newChatId?: string;
}

export type AttemptResult = SentAttempt | FailedAttempt;

export interface SendContext {
  readonly signal: AbortSignal;
  /** SMTP client of the installation; undefined if no SMTP server is configured. */
  readonly mailer: Mailer | undefined;
}

/** Makes one attempt. @throws the signal's reason when the signal aborts; never an error of the receiver */
export type Send = (channel: OpenChannel, outgoing: Outgoing, context: SendContext) => Promise<AttemptResult>;

/** Optional properties of a failed attempt, such as the HTTP status and the requested pause. */
type FailureFacts = Partial<Omit<FailedAttempt, "ok" | "verdict" | "error">>;

export function failed(verdict: Verdict, error: AttemptFault, facts: FailureFacts = {}): FailedAttempt {
  return { ok: false, verdict, error, status: null, responseStart: "", ...facts };
}
