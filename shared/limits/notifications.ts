/** Notifications: one attempt to send one, and what is kept of the answer. */
import { paced } from "#shared/pace.ts";

export const NOTIFICATION_LIMITS = {
  /** One attempt, from the look-up of the name to the last byte of the answer. Receivers are told to answer within 15 s. */
  attemptMs: paced(15_000),
  /** Of an answer, inflated. Receivers answer a word or two; a gateway's error page has some kilobytes. */
  attemptAnswerBytesMax: 65_536,
  /** Of an answer, for the workspace to read. */
  attemptAnswerCharactersMax: 1_024,
  /** A receiver cannot ask for a longer pause: a channel that fails for five days is disabled before. */
  attemptRetryAfterMsMax: 7 * 86_400_000,
  /** Silence of the mail server: less than an attempt, so that a dead server is told apart from a slow one. */
  mailSilenceMs: paced(10_000),
  /** Slack cuts a longer text, and counts the characters after escaping. */
  slackCharactersMax: 3_000,
  /** Telegram refuses a longer text. It counts UTF-16 units. */
  telegramCharactersMax: 4_096,
  /** RFC 5322 asks for lines below 998 bytes; mail readers show far less of a subject. */
  mailSubjectCharactersMax: 150,
} as const;
