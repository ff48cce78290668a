/**
 * All NATS names. NATS permissions for subjects are the trust boundary. Workspace and API key of a batch message are read from its subject,
 * never from a header or payload. Only our own processes may publish `work.>`.
 */
import { isUuid } from "#shared/base/ids.ts";

/** Pools whose workers answer calls. */
export const CALL_POOLS = ["chat", "image", "audio", "video", "3d", "capability"] as const;
export type CallPool = (typeof CALL_POOLS)[number];
export const POOLS = [...CALL_POOLS, "workflow"] as const;
export type Pool = (typeof POOLS)[number];
/** Pool whose workers send notifications. It only reads database rows and has no stream (deploy/decisions/0029). */
export const WEBHOOK_POOL = "webhook";
export const LANES = ["live", "batch"] as const;
export type Lane = (typeof LANES)[number];

export const ADVISORY_STREAM = "JS_ADVISORIES";
/** Stream of batch messages of publishers, and its durable consumer (ingress/nats-intake). */
export const BATCH_STREAM = "BATCH_IN";
export const BATCH_DURABLE = "intake";
/**
 * Filter of the durable consumer of batch messages. It is wider than the subjects of the stream, so that messages from older versions are
 * consumed too.
 */
export const BATCH_FILTER = "batch.>";
/** Subjects that the stream of batch messages stores. Messages to other subjects are not stored. */
export const BATCH_SUBJECTS: readonly string[] = POOLS.map((pool) => `batch.${pool}.*.*`);

/** Workspace of a NATS publisher, and the API key with which it logged in. */
export interface PublisherIdentity {
  readonly workspaceId: string;
  readonly keyId: string;
}

/** Returns the subject of a publisher's batch messages. */
export const batchSubject = (pool: Pool, { workspaceId, keyId }: PublisherIdentity): string =>
  `batch.${pool}.${workspaceId}.${keyId}`;
/** Returns the prefix of the subjects to which a publisher may subscribe. */
export const publisherInbox = ({ workspaceId, keyId }: PublisherIdentity): string =>
  `_INBOX.ws.${workspaceId}.${keyId}`;

export const streamName = (pool: Pool): string => `POOL_${pool}`;
export const durableName = (pool: Pool, lane: Lane): string => `${pool}_${lane}`;
export const workSubject = (pool: Pool, lane: Lane, workspaceId: string): string =>
  `work.${pool}.${lane}.${workspaceId}`;
export const laneFilter = (pool: Pool, lane: Lane): string => `work.${pool}.${lane}.*`;
export const cancelSubject = (jobId: string): string => `cancel.${jobId}`;
export const CANCEL_FILTER = "cancel.*";
/** Returns the subject for a provider's callbacks about a job. The worker that polls the job then polls immediately. */
export const providerCallbackSubject = (jobId: string): string => `callback.${jobId}`;
export const PROVIDER_CALLBACK_FILTER = "callback.*";
/** Returns the subject of messages about sources between the workers of a pool (workers/routing/breaker-share.ts). */
export const breakerSubject = (pool: Pool): string => `breaker.${pool}`;

/** Returns the subject of requests that ask one worker of a pool to test a source. */
export const sourceTestSubject = (pool: Pool): string => `source.test.${pool}`;
/** Returns the subject on which an operator resets a source at all workers of a pool. Only workers may publish on `breakerSubject`. */
export const sourceResetSubject = (pool: Pool): string => `source.reset.${pool}`;

/** Returns the subject of notices about new frames of a run, and of the deltas of its chat steps. */
export const runSubject = (runId: string): string => `run.${runId}`;

/**
 * Returns the subject of notices that a job of the lane has ended. On such a notice, waiting jobs are dispatched. After a lost notice, they
 * wait for the next sweep.
 */
export const freedSubject = (pool: Pool, lane: Lane): string => `freed.${pool}.${lane}`;
export const FREED_FILTER = "freed.*.*";

/** Returns the pool, the workspace and the API key that a batch message's subject contains; undefined if the subject has another form. */
export function batchTarget(subject: string): ({ readonly pool: Pool } & PublisherIdentity) | undefined {
  const [head, name, workspaceId = "", keyId = "", ...rest] = subject.split(".");
  const pool = POOLS.find((known) => known === name);
  if (head !== "batch" || pool === undefined || rest.length > 0) return undefined;
  return isUuid(workspaceId) && isUuid(keyId) ? { pool, workspaceId, keyId } : undefined;
}

/** Returns the workspace in a job message's subject; undefined for other subjects. */
export function workspaceOfSubject(subject: string): string | undefined {
  const tokens = subject.split(".");
  const id = tokens[3];
  return tokens.length === 4 && tokens[0] === "work" && id !== undefined && isUuid(id) ? id : undefined;
}

/** Returns the prefix of the reply subjects of one ingress process. */
export const replyPrefix = (ingressId: string): string => `_INBOX.gw.${ingressId}`;

const REPLY = /^_INBOX\.gw\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns true for a reply subject of an ingress. Workers reply to no other subject. The reply subject comes from a message header, whose
 * author could otherwise make a worker publish to any subject.
 */
export function isIngressReply(subject: string): boolean {
  return subject.length <= 200 && REPLY.test(subject);
}

/** Returns the subject on which an ingress confirms that it is alive, given the reply subject of one of its calls. */
export const presenceSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${PRESENCE}`;
/**
 * Last token of the presence subject. In other reply subjects of an ingress, the last token is the id of a call. No call has the id
 * `presence`.
 */
export const PRESENCE = "presence";

/** Returns the subject on which an ingress receives settlements of its responses, given the reply subject of one of its calls. */
export const settledSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${SETTLED}`;
/**
 * Last token of the settlement subject. In other reply subjects of an ingress, the last token is the id of a call. No call has the id
 * `settled`.
 */
export const SETTLED = "settled";

/** Returns the subject on which an ingress receives bundles of frames, given the reply subject of one of its calls. */
export const framesSubject = (reply: string): string => `${reply.slice(0, reply.lastIndexOf("."))}.${FRAMES}`;
/** Last token of the bundle subject. In other reply subjects of an ingress, the last token is the id of a call. */
export const FRAMES = "frames";

/** Returns the subject on which a worker receives acknowledgements of its responses. */
export const takenSubject = (id: string): string => `_INBOX.wk.${id}.taken`;
const TAKEN = /^_INBOX\.wk\.[A-Za-z0-9_-]{1,64}\.taken$/;
/**
 * Returns true if the subject is the acknowledgement subject of a worker. The ingress reads the subject from a frame, and sends
 * acknowledgements to no other subject.
 */
export const isTakenSubject = (subject: string): boolean => TAKEN.test(subject);

/** Returns the prefix of the subject on which a worker receives cancellations. The last token is the id of the call. */
export const workerCancels = (id: string): string => `_INBOX.wk.${id}.cancel`;
const WORKER_CANCELS = /^_INBOX\.wk\.[A-Za-z0-9_-]{1,64}\.cancel$/;
/**
 * Returns true if the subject is the cancellation subject of a worker. The ingress reads the subject from a frame, and sends cancellations
 * to no other subject.
 */
export const isWorkerCancels = (subject: string): boolean => WORKER_CANCELS.test(subject);

/** Returns the subject on which an ingress reports its queued calls, and its requests by client address, to the other ingresses. */
export const inFlightSubject = (ingressId: string): string => `inflight.${ingressId}`;
export const IN_FLIGHT_FILTER = "inflight.*";
/** Returns the subject on which one ingress receives the reports that another ingress sends only to it. */
export const fleetSubject = (ingressId: string): string => `_INBOX.gw.fleet.${ingressId}`;

/** Returns true if only this publisher may subscribe to the subject. Even if a message requests it, no reply is sent to another subject. */
export function isPublisherReply(subject: string, publisher: PublisherIdentity): boolean {
  const prefix = `${publisherInbox(publisher)}.`;
  return subject.length <= 200 && subject.startsWith(prefix) && TOKENS.test(subject.slice(prefix.length));
}

/** Returns true for the reply subject of any publisher of the workspace. */
export function isWorkspaceReply(subject: string, workspaceId: string): boolean {
  const keyId = subject.split(".")[3] ?? "";
  return isUuid(keyId) && isPublisherReply(subject, { workspaceId, keyId });
}

const TOKENS = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

export const HEADERS = {
  messageId: "Nats-Msg-Id",
  /** Header with the W3C trace context. NATS headers are case-sensitive, and tools expect this spelling. */
  traceparent: "traceparent",
  /** Headers of a batch message: the reply subject of the publisher, and the publisher's name for the job. */
  reply: "Sluice-Reply",
  idempotencyKey: "Idempotency-Key",
} as const;
