/**
 * Every NATS name in one place. The subject is the trust boundary: the workspace and the API key of a batch message are read from its
 * subject, never from a header or payload, and only our own processes publish `work.>` (design part 3).
 */
import { isUuid } from "#shared/ids.ts";

/** Pools that answer calls. */
export const CALL_POOLS = ["chat", "image", "audio", "video", "3d", "capability"] as const;
export type CallPool = (typeof CALL_POOLS)[number];
export const POOLS = [...CALL_POOLS, "workflow"] as const;
export type Pool = (typeof POOLS)[number];
/** Workers that send notifications: they go by rows alone, so the pool has no stream (deploy/decisions/0029). */
export const WEBHOOK_POOL = "webhook";
export const LANES = ["live", "batch"] as const;
export type Lane = (typeof LANES)[number];

export const ADVISORY_STREAM = "JS_ADVISORIES";
/** Stream of the messages that publishers outside hand in, and the durable that takes them (ingress/batch). */
export const BATCH_STREAM = "BATCH_IN";
export const BATCH_DURABLE = "intake";
/** Wider than what the stream stores: messages that an older version stored are taken out too. */
export const BATCH_FILTER = "batch.>";
/** Subjects that the stream stores: messages for other pools are not stored. */
export const BATCH_SUBJECTS: readonly string[] = POOLS.map((pool) => `batch.${pool}.*.*`);

/** The API key that a NATS publisher logged in with, and its workspace. */
export interface PublisherIdentity {
  readonly workspaceId: string;
  readonly keyId: string;
}

/** Subject of a publisher's batch messages. */
export const batchSubject = (pool: Pool, { workspaceId, keyId }: PublisherIdentity): string =>
  `batch.${pool}.${workspaceId}.${keyId}`;
/** Prefix of the subjects that a publisher may subscribe to. */
export const publisherInbox = ({ workspaceId, keyId }: PublisherIdentity): string =>
  `_INBOX.ws.${workspaceId}.${keyId}`;

export const streamName = (pool: Pool): string => `POOL_${pool}`;
export const durableName = (pool: Pool, lane: Lane): string => `${pool}_${lane}`;
export const workSubject = (pool: Pool, lane: Lane, workspaceId: string): string =>
  `work.${pool}.${lane}.${workspaceId}`;
export const laneFilter = (pool: Pool, lane: Lane): string => `work.${pool}.${lane}.*`;
export const cancelSubject = (jobId: string): string => `cancel.${jobId}`;
export const CANCEL_FILTER = "cancel.*";
/** A provider has told that a job of ours has moved there: whoever follows it asks at once. */
export const providerCallbackSubject = (jobId: string): string => `callback.${jobId}`;
export const PROVIDER_CALLBACK_FILTER = "callback.*";
/** Subject of what the workers of a pool tell each other about sources (workers/routing/breaker-share.ts). */
export const breakerSubject = (pool: Pool): string => `breaker.${pool}`;

/** Subject at which one worker of a pool is asked to test a source. */
export const sourceTestSubject = (pool: Pool): string => `source.test.${pool}`;
/** Subject at which all workers of a pool receive that an operator has reset a source: the subject of the breaker is theirs alone. */
export const sourceResetSubject = (pool: Pool): string => `source.reset.${pool}`;

/** Subject of what happens in a run: that frames were written, and the deltas of its chat steps. */
export const runSubject = (runId: string): string => `run.${runId}`;

/** A job of the lane has ended: whoever dispatches may let the next ones out. Lost ones cost a sweep's interval. */
export const freedSubject = (pool: Pool, lane: Lane): string => `freed.${pool}.${lane}`;
export const FREED_FILTER = "freed.*.*";

/** Returns the pool of a batch message and the key that it acts for, or undefined if its subject does not name them. */
export function batchTarget(subject: string): ({ readonly pool: Pool } & PublisherIdentity) | undefined {
  const [head, name, workspaceId = "", keyId = "", ...rest] = subject.split(".");
  const pool = POOLS.find((known) => known === name);
  if (head !== "batch" || pool === undefined || rest.length > 0) return undefined;
  return isUuid(workspaceId) && isUuid(keyId) ? { pool, workspaceId, keyId } : undefined;
}

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
 * make a worker publish anywhere.
 */
export function isIngressReply(subject: string): boolean {
  return subject.length <= 200 && REPLY.test(subject);
}

/** Subject at which an ingress says that it is there, derived from the reply address of one of its calls. */
export const presenceSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${PRESENCE}`;
/** The last token of that subject: no call has such a name. */
export const PRESENCE = "presence";

/** Subject at which an ingress hears which of its answers are settled, derived from the reply address of one of its calls. */
export const settledSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${SETTLED}`;
/** The last token of that subject: no call has such a name. */
export const SETTLED = "settled";

/** Subject at which an ingress takes bundles, frames of several calls in one message, derived from the reply address of one of them. */
export const framesSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${FRAMES}`;
/** The last token of that subject: no call has such a name. */
export const FRAMES = "frames";

/** Subject at which a worker hears which of its answers were taken. */
export const takenSubject = (id: string): string => `_INBOX.wk.${id}.taken`;
const TAKEN = /^_INBOX\.wk\.[A-Za-z0-9_-]{1,64}\.taken$/;
/** An address that comes with a frame: an ingress publishes to no other. */
export const isTakenSubject = (subject: string): boolean => TAKEN.test(subject);

/** Subject below which a worker hears of calls that are not wanted any more, by the last token. */
export const workerCancels = (id: string): string => `_INBOX.wk.${id}.cancel`;
const WORKER_CANCELS = /^_INBOX\.wk\.[A-Za-z0-9_-]{1,64}\.cancel$/;
/** An address that comes with a frame: an ingress publishes to no other. */
export const isWorkerCancels = (subject: string): boolean => WORKER_CANCELS.test(subject);

/** Subject at which an ingress tells the others of the calls that it has on the queue, and of requests by address. */
export const inFlightSubject = (ingressId: string): string => `inflight.${ingressId}`;
export const IN_FLIGHT_FILTER = "inflight.*";
/** Subject at which one ingress hears what concerns it alone of the others' calls. */
export const fleetSubject = (ingressId: string): string => `_INBOX.gw.fleet.${ingressId}`;

/** True if the publisher alone may subscribe to the subject: answers are sent to no other, whatever address a message names. */
export function isPublisherReply(subject: string, publisher: PublisherIdentity): boolean {
  const prefix = `${publisherInbox(publisher)}.`;
  return subject.length <= 200 && subject.startsWith(prefix) && TOKENS.test(subject.slice(prefix.length));
}

/** True for the reply address of any publisher of the workspace. */
export function isWorkspaceReply(subject: string, workspaceId: string): boolean {
  const keyId = subject.split(".")[3] ?? "";
  return isUuid(keyId) && isPublisherReply(subject, { workspaceId, keyId });
}

const TOKENS = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

export const HEADERS = {
  messageId: "Nats-Msg-Id",
  /** W3C trace context; NATS tells upper from lower case, and tools look for this spelling. */
  traceparent: "traceparent",
  /** Headers of a batch message: the publisher's address for answers, and its name for the job. */
  reply: "Sluice-Reply",
  idempotencyKey: "Idempotency-Key",
} as const;
