/** Renders notifications as text for people, for mail, Slack and Telegram. The text is plain, without markup of any of them. */
import type { EVENTS } from "#shared/events/events.ts";

import type { Outgoing } from "./channel.ts";

/** Kinds of messages: the subscribed events, a manual test, and the notice to owners that a channel was disabled. */
type MessageKind = keyof typeof EVENTS | "test" | "channel.disabled";

export interface ChannelMessage {
  /** Subject in one line. */
  readonly subject: string;
  /** Complete text, which also contains the information of the subject. */
  readonly text: string;
}

/** Returns a sentence or two about the event, followed by its facts. Absent members of the metadata are omitted. */
export function renderMessage(
  outgoing: Pick<Outgoing, "event" | "metadata" | "workspaceId" | "occurredAt">,
): ChannelMessage {
  const { event, workspaceId, occurredAt } = outgoing;
  const fields = fieldsOf(outgoing.metadata);
  const { subject, sentence, facts } = (TEMPLATES_BY_EVENT.get(event) ?? (() => unknown(event)))(fields);
  const lines = [
    ...facts,
    ["Workspace", workspaceId],
    ["Time", Number.isNaN(occurredAt.getTime()) ? "" : occurredAt.toISOString()],
  ] as const;
  const known = lines.filter(([, value]) => value !== "").map(([name, value]) => `${name}: ${value}`);
  return { subject, text: [sentence, "", ...known].join("\n") };
}

interface MessageContent {
  readonly subject: string;
  readonly sentence: string;
  /** Names and values of the event's facts. Facts without a value are omitted. */
  readonly facts: readonly (readonly [string, string])[];
}

/** Reads members of an event's metadata by their path of names. A member that is absent or has another type is the empty text. */
interface Fields {
  text(...path: readonly string[]): string;
  number(name: string): string;
  duration(name: string): string;
}

const TEMPLATES: Readonly<Record<MessageKind, (fields: Fields) => MessageContent>> = {
  "run.started": (fields) => ({
    subject: "A run started",
    sentence: "A run started.",
    facts: [...runFacts(fields), ["Attempt", fields.number("attempt")]],
  }),
  "run.retrying": (fields) => ({
    subject: `A run is being retried${of(" (attempt ", attempts(fields), ")")}`,
    sentence: `A run is being retried${of(": attempt ", attempts(fields), "")}.`,
    facts: runFacts(fields),
  }),
  "run.succeeded": (fields) => ({ subject: "A run succeeded", sentence: "A run succeeded.", facts: runFacts(fields) }),
  "run.failed": (fields) => ({ ...failure("A run", fields), facts: runFacts(fields) }),
  "run.cancelled": (fields) => ({
    subject: "A run was cancelled",
    sentence: "A run was cancelled.",
    facts: runFacts(fields),
  }),
  "job.completed": (fields) =>
    isOfBatch(fields)
      ? { subject: "A batch completed", sentence: "Every line of a batch has ended.", facts: batchFacts(fields) }
      : { subject: "A job completed", sentence: "A job completed.", facts: jobFacts(fields) },
  "job.failed": (fields) =>
    isOfBatch(fields)
      ? { ...failure("A batch", fields), facts: batchFacts(fields) }
      : { ...failure("A job", fields), facts: jobFacts(fields) },
  "budget.threshold_reached": (fields) => ({
    subject: `Budget threshold reached${of(": ", fields.number("threshold"), " credits")}${of(" ", fields.text("period"), "")}`,
    sentence: "The workspace's spend of the period reached the threshold of a budget alert.",
    facts: [
      ["Spent", of("", fields.number("spent"), " credits")],
      ["Threshold", of("", fields.number("threshold"), " credits")],
      ["Period", fields.text("period")],
      ["Period began", fields.text("periodStart")],
      ["Alert", fields.text("alertId")],
    ],
  }),
  "budget.warning": (fields) => ({
    subject: `Budget warning${of(": ", fields.number("percent"), " %")}${of(" of ", fields.number("threshold"), " credits")}${of(" ", fields.text("period"), "")}`,
    sentence: "The workspace's spend of the period reached a percentage of the threshold of a budget alert.",
    facts: [
      ["Spent", of("", fields.number("spent"), " credits")],
      ["Percentage", of("", fields.number("percent"), " %")],
      ["Threshold", of("", fields.number("threshold"), " credits")],
      ["Period", fields.text("period")],
      ["Period began", fields.text("periodStart")],
      ["Alert", fields.text("alertId")],
    ],
  }),
  "balance.low": (fields) => ({
    subject: `Low balance${of(": ", fields.number("available"), " credits available")}`,
    sentence: "The available credits of the workspace fell below the threshold of a balance alert.",
    facts: [
      ["Available", of("", fields.number("available"), " credits")],
      ["Lasts", of("", fields.number("daysLeft"), " days")],
      ["Threshold", of("", fields.number("belowCredits"), " credits")],
      ["Threshold", of("", fields.number("belowDays"), " days")],
      ["Alert", fields.text("alertId")],
    ],
  }),
  "limit.warning": (fields) => ({
    subject: `Spend limit warning${of(": ", fields.number("percent"), " %")}${of(" of ", fields.number("limit"), " credits")}${of(", ", limitSubject(fields), "")}`,
    sentence: "A percentage of a spend limit is spent.",
    facts: limitFacts(fields),
  }),
  "limit.reached": (fields) => ({
    subject: `Spend limit reached${of(": ", fields.number("limit"), " credits")}${of(", ", limitSubject(fields), "")}`,
    sentence: "A spend limit is spent. Paid calls of its subject are refused until the limit resets or is raised.",
    facts: limitFacts(fields),
  }),
  "template.unavailable": (fields) => ({
    subject: `A workflow cannot run${of(": ", fields.text("missing"), " is not offered")}`,
    sentence: "A stored workflow names a model or capability that is no longer offered.",
    facts: [
      ["Missing", fields.text("missing")],
      ["Workflow", fields.text("workflowId")],
      ["Step", fields.text("stepId")],
    ],
  }),
  test: () => ({
    subject: "Test notification",
    sentence: "This is a test notification from Sluice. The channel works.",
    facts: [],
  }),
  "channel.disabled": (fields) => ({
    subject: `A notification channel was disabled${of(": ", fields.text("channelName"), "")}`,
    sentence: `A notification channel was disabled${of(" because ", reason(fields), "")}. No notifications are sent to it until it is enabled again.`,
    facts: [
      ["Channel", fields.text("channelName")],
      ["Type", fields.text("channelType")],
      ["Id", fields.text("channelId")],
    ],
  }),
};

const TEMPLATES_BY_EVENT: ReadonlyMap<string, (fields: Fields) => MessageContent> = new Map(Object.entries(TEMPLATES));

/** Returns the text of an unknown event. During an update, an older release may have to send events of the next release. */
function unknown(event: string): MessageContent {
  return { subject: `Notification: ${event}`, sentence: `The event ${event} occurred.`, facts: [] };
}

function failure(what: string, fields: Fields): Pick<MessageContent, "subject" | "sentence"> {
  const code = fields.text("error", "code");
  const message = fields.text("error", "message");
  return {
    subject: `${what} failed${of(": ", code, "")}`,
    sentence:
      message === "" ? `${what} failed${of(" (", code, ")")}.` : `${what} failed${of(" (", code, ")")}: ${message}`,
  };
}

function runFacts(fields: Fields): MessageContent["facts"] {
  return [["Run", fields.text("runId")], ["Workflow", fields.text("workflowId")], ...costs(fields)];
}

function jobFacts(fields: Fields): MessageContent["facts"] {
  return [
    ["Job", fields.text("jobId")],
    ["Modality", fields.text("modality")],
    ["Model", fields.text("model")],
    ...costs(fields),
  ];
}

function isOfBatch(fields: Fields): boolean {
  return fields.text("batchId") !== "";
}

function batchFacts(fields: Fields): MessageContent["facts"] {
  return [
    ["Batch", fields.text("batchId")],
    ["Endpoint", fields.text("endpoint")],
    ["Lines", fields.number("total")],
    ["Completed", fields.number("completed")],
    ["Failed", fields.number("failed")],
    ["Output file", fields.text("outputFileId")],
    ["Error file", fields.text("errorFileId")],
    ...costs(fields),
  ];
}

/** Returns the kind of a limit's subject with its name, such as `key "ci"`. */
function limitSubject(fields: Fields): string {
  return `${fields.text("kind").replaceAll("_", " ")}${of(' "', fields.text("name"), '"')}`;
}

function limitFacts(fields: Fields): MessageContent["facts"] {
  return [
    ["Subject", limitSubject(fields)],
    ["Id", fields.text("id")],
    ["Spent", of("", fields.number("spent"), " credits")],
    ["Limit", of("", fields.number("limit"), " credits")],
    ["Period", fields.text("period")],
    ["Resets", fields.text("resetsAt")],
  ];
}

function costs(fields: Fields): MessageContent["facts"] {
  return [
    ["Duration", fields.duration("durationMs")],
    ["Credits used", fields.number("creditsUsed")],
  ];
}

function attempts(fields: Fields): string {
  return of("", fields.number("attempt"), of(" of ", fields.number("maxAttempts"), ""));
}

/** Returns the text of `notification_channel.disabled_reason`. */
function reason(fields: Fields): string {
  return REASONS.get(fields.text("reason")) ?? "";
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["gone", "its receiver no longer accepts messages"],
  ["rejected", "its receiver rejects messages"],
  ["failing", "every attempt failed for five days"],
]);

/** Returns the value between two texts, or an empty text if the value is empty. */
function of(before: string, value: string, after: string): string {
  return value === "" ? "" : before + value + after;
}

/** Maximum length of a value in characters. Our ids, codes and sentences are shorter. */
const VALUE_CHARACTERS_MAX = 500;

function fieldsOf(metadata: Readonly<Record<string, unknown>>): Fields {
  return {
    text(...path) {
      const value = path.reduce<unknown>((inner, name) => memberOf(inner, name), metadata);
      return typeof value === "string" ? oneLine(value) : "";
    },
    number(name) {
      const value = memberOf(metadata, name);
      return isNumber(value) ? NUMBER.format(value) : "";
    },
    duration(name) {
      const ms = memberOf(metadata, name);
      return isNumber(ms) ? durationOf(ms) : "";
    },
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Joins the lines of a text. A line break in a value could imitate one of our facts. */
function oneLine(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  const characters = Array.from(plain.slice(0, 2 * VALUE_CHARACTERS_MAX + 2));
  return characters.length > VALUE_CHARACTERS_MAX ? `${characters.slice(0, VALUE_CHARACTERS_MAX).join("")}…` : plain;
}

/** Formats numbers down to a nano-credit and never in exponent notation such as 1e-9. */
const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 9, useGrouping: false });

function durationOf(ms: number): string {
  if (ms < 1_000) return `${NUMBER.format(Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}
