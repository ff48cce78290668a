/** Input and result of an attempt to send a notification. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";

import type { Mailer } from "./mailer.ts";

/** A channel with its secrets open, as an attempt needs it. Lives in memory only as long as the attempt. */
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
  /** Webhook body, exact text: `{"event","deliveryId","workspaceId","occurredAt","metadata"}` in this order. */
  readonly body: string;
  readonly attempt: number;
}

/**
 * again: the schedule goes on; final: no further attempt of this delivery; gone: the channel is of no use any more and is to be
 * disabled.
 */
export type Verdict = "again" | "final" | "gone";

/**
 * refused: the receiver answered that it takes this, or anything, no more. misconfigured: the channel's settings, or our
 * installation's, cannot work. mail_limit: the address, or the workspace, has had its mail of the day. sealed: our keys do not open the channel's secrets. worker_lost: workers of ours died of it again and again. unreachable: no connection, or one that broke, TLS included.
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
  /** Status of the HTTP or SMTP answer. */
  readonly status: number | null;
  /** The answer's first characters: valid text without control characters, and without the channel's secrets. */
  readonly responseStart: string;
}

export interface FailedAttempt {
  readonly ok: false;
  readonly verdict: Verdict;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly error: AttemptFault;
  readonly responseStart: string;
  /** The receiver asks for this pause. */
  readonly retryAfterMs?: number;
  /** Telegram moved the chat: its id from now on. */
  readonly newChatId?: string;
}

export type AttemptResult = SentAttempt | FailedAttempt;

export interface SendContext {
  readonly signal: AbortSignal;
  /** Undefined: no SMTP server is configured. */
  readonly mailer: Mailer | undefined;
}

/** Makes one attempt. @throws the signal's reason when it aborts; nothing for anything that the receiver does */
export type Send = (channel: OpenChannel, outgoing: Outgoing, context: SendContext) => Promise<AttemptResult>;

/** Further facts that an attempt that failed may tell. */
type FailureFacts = Partial<Omit<FailedAttempt, "ok" | "verdict" | "error">>;

export function failed(verdict: Verdict, error: AttemptFault, facts: FailureFacts = {}): FailedAttempt {
  return { ok: false, verdict, error, status: null, responseStart: "", ...facts };
}
