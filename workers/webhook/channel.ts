/** Input and result of an attempt to send a notification. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";

import type { Mailer } from "./mailer.ts";

/** Channel with decrypted secrets, as an attempt needs it; in memory only during the attempt. */
export interface OpenChannel {
  readonly id: string;
  readonly type: ChannelType;
  readonly name: string;
  /** webhook: authType?, authUsername?, authHeaderName?; telegram: chatId; email: recipient. */
  readonly config: Readonly<Record<string, string>>;
  /**
   * webhook: url, signingSecret?, previousSigningSecret?, authToken?, authPassword?, authApiKey?, authHeaderValue?; slack: url;
   * telegram: botToken.
   */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface Outgoing {
  /** `webhook-id` and part of the Message-ID; the same on every retry, so that receivers can drop duplicates. */
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly event: string;
  readonly occurredAt: Date;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Exact text of the webhook body: `{"event","deliveryId","workspaceId","occurredAt","metadata"}` in this order. */
  readonly body: string;
  readonly attempt: number;
}

/** again: retried by the schedule; final: no further attempt of this delivery; gone: the channel cannot work any more and is disabled. */
export type Verdict = "again" | "final" | "gone";

/**
 * refused: the receiver answered that it does not accept this, or any, message. misconfigured: the settings of the channel or installation
 * cannot work. mail_limit: the daily mail limit of the address or workspace is reached. sealed: our keys do not decrypt the channel's
 * secrets. worker_lost: our workers crashed repeatedly. unreachable: no connection, or a broken one, including TLS.
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
  /** Status of the HTTP or SMTP response. */
  readonly status: number | null;
  /** Beginning of the response: valid text without control characters, and without the channel's secrets. */
  readonly responseStart: string;
}

export interface FailedAttempt {
  readonly ok: false;
  readonly verdict: Verdict;
  /** Status of the response; null without one. */
  readonly status: number | null;
  readonly error: AttemptFault;
  readonly responseStart: string;
  /** Pause that the receiver asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** New id of a Telegram chat that was migrated. */
  readonly newChatId?: string;
}

export type AttemptResult = SentAttempt | FailedAttempt;

export interface SendContext {
  readonly signal: AbortSignal;
  /** Undefined if no SMTP server is configured. */
  readonly mailer: Mailer | undefined;
}

/** Makes one attempt. @throws the signal's reason when it aborts; never because of the receiver */
export type Send = (channel: OpenChannel, outgoing: Outgoing, context: SendContext) => Promise<AttemptResult>;

/** Further facts of a failed attempt. */
type FailureFacts = Partial<Omit<FailedAttempt, "ok" | "verdict" | "error">>;

export function failed(verdict: Verdict, error: AttemptFault, facts: FailureFacts = {}): FailedAttempt {
  return { ok: false, verdict, error, status: null, responseStart: "", ...facts };
}
