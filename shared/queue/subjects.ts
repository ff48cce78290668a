/**
 * Every NATS name in one place. The subject is the trust boundary: a workspace id is read from the subject, never from
 * a payload, and `work.>` is published by our own processes only (design part 3).
 */
import { isUuid } from "#shared/ids.ts";

export const POOLS = ["chat"] as const;
export type Pool = (typeof POOLS)[number];
export const LANES = ["live", "batch"] as const;
export type Lane = (typeof LANES)[number];

export const ADVISORY_STREAM = "JS_ADVISORIES";

export const streamName = (pool: Pool): string => `POOL_${pool}`;
export const durableName = (pool: Pool, lane: Lane): string => `${pool}_${lane}`;
export const workSubject = (pool: Pool, lane: Lane, workspaceId: string): string =>
  `work.${pool}.${lane}.${workspaceId}`;
export const laneFilter = (pool: Pool, lane: Lane): string => `work.${pool}.${lane}.*`;
export const cancelSubject = (jobId: string): string => `cancel.${jobId}`;
export const CANCEL_FILTER = "cancel.*";

/** The workspace a work subject belongs to, or undefined when it is no such subject. */
export function workspaceOfSubject(subject: string): string | undefined {
  const tokens = subject.split(".");
  const id = tokens[3];
  return tokens.length === 4 && tokens[0] === "work" && id !== undefined && isUuid(id) ? id : undefined;
}

/** Prefix of all answers to one ingress process. */
export const replyPrefix = (ingressId: string): string => `_INBOX.gw.${ingressId}`;

const REPLY = /^_INBOX\.gw\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}$/;

/**
 * Answers go only to an ingress of ours: a reply address comes from a header and would otherwise let whoever wrote it
 * make a worker publish anywhere (lesson QUE-22).
 */
export function isIngressReply(subject: string): boolean {
  return subject.length <= 200 && REPLY.test(subject);
}

export const HEADERS = { reply: "Sluice-Reply", deadline: "Sluice-Deadline", messageId: "Nats-Msg-Id" } as const;
