/** Notifications: one attempt to send one, and what is kept of the answer. */
import { paced } from "#shared/pace.ts";

export const NOTIFICATION_LIMITS = {
  /** Interval at which a worker looks for events and for deliveries that are due. */
  deliveryLookMs: 250,
  /** Attempts that end within so long make room for others by one look. */
  deliveryGatherMs: 10,
  fanOutEventsMax: 200,
  /** Longer than any attempt and its write: two workers never make one at once. */
  attemptLeaseMs: paced(40_000),
  /** Workers that were lost in attempts of one delivery. */
  attemptDeathsMax: 20,
  /** At once to one channel that takes what it is sent. */
  channelAttemptsMax: 8,
  mailAttemptsMax: 4,
  /** Shares of a worker's slots for failing channels, and for channels that have not been tried. */
  failingSlotsShare: 1 / 4,
  newSlotsShare: 1 / 2,
  /** A channel at which every attempt failed for so long is disabled. */
  channelFailingMs: 5 * 86_400_000,
  /** Failures farther apart than the schedule's longest pause do not add up: nothing was sent between them. */
  channelFailingGapMs: 86_400_000,
  /** Time for which the breaker of a channel lets nothing through, at first. */
  channelOpenMs: paced(30_000),
  /** Slack, and Telegram in one chat, take one message in so long. */
  countedChannelPauseMs: 1_000,
  /** A receiver that says it is asked too often is left alone for at most so long. */
  channelPauseMsMax: paced(300_000),
  /** Waiting deliveries of one channel: one each nine seconds for a day. It is not told of events beyond that. */
  deliveriesWaitingMax: 10_000,
  /** Ended deliveries of one workspace that can be read, the newest, and for how long. */
  deliveriesKeptMax: 100_000,
  deliveryKeepMs: 30 * 86_400_000,
  /** After a rotation both secrets sign. */
  previousSecretMs: 86_400_000,
  /** One attempt, from the look-up of the name to the last byte of the answer. Receivers are told to answer within 15 s. */
  attemptMs: paced(15_000),
  /** One answer, inflated. Receivers answer a word or two; a gateway's error page has some kilobytes. */
  attemptAnswerBytesMax: 65_536,
  /** A shorter credential cannot be blanked in the answer of a receiver that echoes it: ordinary words would go with it. */
  credentialCharactersMin: 8,
  /** Characters of an answer that are kept for the workspace to read. */
  attemptAnswerCharactersMax: 1_024,
  /** A receiver cannot ask for a longer pause: a channel that fails for five days is disabled before. */
  attemptRetryAfterMsMax: 7 * 86_400_000,
  /** Silence of the mail server: less than an attempt, so that a dead server is told apart from a slow one. */
  mailSilenceMs: paced(10_000),
  /** Tests of one mail channel: a test is the one mail that a caller sends at will. */
  mailTestsPerHourMax: 5,
  /** Nobody has confirmed an address. A day's mail is counted in UTC, apart for each workspace, so that none takes another's. */
  mailPerAddressDayMax: 100,
  mailPerWorkspaceDayMax: 1_000,
  /** Slack cuts a longer text, and counts the characters after escaping. */
  slackCharactersMax: 3_000,
  /** Telegram refuses a longer text. It counts UTF-16 units. */
  telegramCharactersMax: 4_096,
  /** RFC 5322 asks for lines below 998 bytes; mail readers show far less of a subject. */
  mailSubjectCharactersMax: 150,
} as const;
