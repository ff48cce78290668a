/**
 * Definitions of the streams and durable consumers. The migrate role creates and changes them. The other roles compare them field by field
 * with the server's. A janitor creates again what a server has lost.
 */
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { type NatsConnection, TimeoutError } from "nats";

import { awaitServer } from "#shared/net/dependencies.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

import { onLink } from "./connection.ts";
import {
  followFleet,
  FOLLOWING,
  type LaneSlots,
  type LimitChange,
  POOL_MESSAGES_MIN,
  UNACKED_MIN,
  WORKSPACE_MESSAGES_MIN,
} from "./fleet-limits.ts";
import {
  ADVISORY_STREAM,
  BATCH_DURABLE,
  BATCH_FILTER,
  BATCH_STREAM,
  BATCH_SUBJECTS,
  durableName,
  LANES,
  type Lane,
  laneFilter,
  POOLS,
  type Pool,
  streamName,
} from "./subjects.ts";

export const STREAM_MESSAGE_BYTES_MAX = 512 * 1024;

/**
 * Maximum number of batch messages of one API key in the stream, for each pool. The server drops further messages. The limit of a workspace
 * is enforced by the intake.
 */
export const BATCH_MESSAGES_PER_KEY = 360;

const NANOS_PER_MS = 1_000_000;

interface LaneSettings {
  readonly ackWaitMs: number;
  /**
   * Interval at which `working()` extends the ack deadline, in milliseconds. It is far below ackWaitMs, so that two of these messages may
   * be lost.
   */
  readonly beatMs: number;
  /**
   * Lease of a durable job, in milliseconds, which its owner renews. It is shorter than ackWaitMs, so that the lease has expired when the
   * message is redelivered.
   */
  readonly leaseMs: number;
  readonly maxDeliver: number;
}

export const LANE_SETTINGS: Readonly<Record<Lane, LaneSettings>> = {
  live: {
    ackWaitMs: paced(15_000),
    beatMs: paced(4_000),
    leaseMs: paced(12_000),
    maxDeliver: 5,
  },
  batch: {
    ackWaitMs: paced(30_000),
    beatMs: paced(10_000),
    leaseMs: paced(25_000),
    maxDeliver: 6,
  },
};

type WantedStream = Partial<StreamConfig> & { readonly name: string };
type WantedConsumer = Partial<ConsumerConfig> & { readonly durable_name: string };

export interface Topology {
  readonly streams: readonly WantedStream[];
  readonly consumers: readonly { readonly stream: string; readonly config: WantedConsumer }[];
}

/**
 * Version of the definitions below; raise it with every change of them. A process with a lower number does not change newer streams and
 * durables.
 */
export const TOPOLOGY_VERSION = 5;
const VERSION = "sluice_topology";

/**
 * Returns the streams and durable consumers that must exist on the server. `replicas` comes from the configuration (1 for a single server).
 */
export function wantedTopology(replicas: number): Topology {
  const metadata = { [VERSION]: String(TOPOLOGY_VERSION) };
  const { streams, consumers } = unversioned(replicas);
  return {
    streams: streams.map((stream) => ({ ...stream, metadata })),
    consumers: consumers.map(({ stream, config }) => ({ stream, config: { ...config, metadata } })),
  };
}

function unversioned(replicas: number): Topology {
  return {
    streams: [
      ...POOLS.map((pool) => poolStream(pool, replicas)),
      batchStream(replicas),
      {
        name: ADVISORY_STREAM,
        subjects: ["$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>", "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>"],
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        discard: DiscardPolicy.Old,
        max_msgs: 100_000,
        max_age: 7 * 86_400_000 * NANOS_PER_MS,
        num_replicas: replicas,
      },
    ],
    consumers: [
      ...POOLS.flatMap((pool) => LANES.map((lane) => ({ stream: streamName(pool), config: durable(pool, lane) }))),
      { stream: BATCH_STREAM, config: INTAKE },
    ],
  };
}

/** Returns the stream of a pool. It never drops a job silently: a full stream rejects messages, and no message expires by age. */
function poolStream(pool: Pool, replicas: number): WantedStream {
  return {
    name: streamName(pool),
    subjects: [`work.${pool}.*.*`],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: WORKSPACE_MESSAGES_MIN,
    max_msgs: POOL_MESSAGES_MIN,
    max_msg_size: STREAM_MESSAGE_BYTES_MAX,
    max_age: 0,
    duplicate_window: 120_000 * NANOS_PER_MS,
    // The janitor looks at the oldest messages without a consumer.
    allow_direct: true,
    num_replicas: replicas,
  };
}

/**
 * Returns the stream of batch messages. Publishers choose message ids, and deduplication ignores subjects. The shortest possible
 * deduplication window therefore prevents one publisher from suppressing another's message. Repeats are found in Postgres. The stream sends
 * no acknowledgements, because it would send them to any subject that the publisher names, with the server's own permissions
 * (deploy/decisions/0105).
 */
function batchStream(replicas: number): WantedStream {
  return {
    name: BATCH_STREAM,
    subjects: [...BATCH_SUBJECTS],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: BATCH_MESSAGES_PER_KEY,
    max_msgs: BATCH_MESSAGES_MAX,
    max_bytes: BATCH_BYTES_MAX,
    max_msg_size: STREAM_MESSAGE_BYTES_MAX,
    max_age: 0,
    no_ack: true,
    duplicate_window: 100 * NANOS_PER_MS,
    num_replicas: replicas,
  };
}

const BATCH_MESSAGES_MAX = 200_000;
/**
 * Disk space that the server reserves for the stream, in bytes. The messages of one key take at most a quarter, even if all have the
 * maximum size.
 */
const BATCH_BYTES_MAX = 5 * 1_073_741_824;

const INTAKE: WantedConsumer = {
  durable_name: BATCH_DURABLE,
  filter_subject: BATCH_FILTER,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: paced(30_000) * NANOS_PER_MS,
  // A message whose workspace's window is full comes again and again until it opens.
  max_deliver: -1,
  // Messages that wait for a window count as pending too; they must never keep another workspace's messages out.
  max_ack_pending: BATCH_MESSAGES_MAX,
  max_waiting: 4_096,
};

function durable(pool: Pool, lane: Lane): WantedConsumer {
  const settings = LANE_SETTINGS[lane];
  return {
    durable_name: durableName(pool, lane),
    filter_subject: laneFilter(pool, lane),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: settings.ackWaitMs * NANOS_PER_MS,
    max_deliver: settings.maxDeliver,
    max_ack_pending: UNACKED_MIN[lane],
    // Counts the open pulls of the whole fleet and cannot be changed later.
    max_waiting: 4_096,
  };
}

/**
 * Creates missing streams and consumers, and changes existing ones that differ. Then compares the server's response with the definitions.
 * Streams and consumers of a newer version are not changed.
 * @param existing `keep` leaves existing streams and consumers unchanged
 * @throws Error that names the stream or durable and the differing field, for example if a server silently drops unknown fields
 */
export async function ensureTopology(
  connection: NatsConnection,
  replicas: number,
  existing: "update" | "keep" = "update",
): Promise<void> {
  const manager = await jetstreamManager(connection, { timeout: 10_000 });
  const wanted = wantedTopology(replicas);
  for (const stream of wanted.streams) await ensureStream(manager, stream, existing);
  for (const { stream, config } of wanted.consumers) await ensureConsumer(manager, stream, config, existing);
}

/** Error for streams or consumers on the server that do not fit this version: missing ones, older ones, or other settings. */
class TopologyError extends Error {
  readonly isMissing: boolean;

  constructor(fault: string, isMissing: boolean) {
    super(`${fault}; run the migrate role first, with NATS_URL`);
    this.isMissing = isMissing;
  }
}

/**
 * Compares the server's streams and consumers with the definitions of this version, and changes nothing. Streams of a newer version are
 * accepted, because an old process may restart during a rollout.
 * @throws TopologyError that names the first stream or durable that differs
 */
export async function checkTopology(connection: NatsConnection, replicas: number): Promise<void> {
  const manager = await jetstreamManager(connection, { timeout: 10_000 });
  const wanted = wantedTopology(replicas);
  for (const streamConfig of wanted.streams) {
    const found = await manager.streams.info(streamConfig.name).catch(ignoreMissing);
    checkFound(
      `stream ${streamConfig.name}`,
      isPoolStream(streamConfig) ? keepFitted(streamConfig, found?.config) : streamConfig,
      found?.config,
    );
  }
  for (const { stream, config: consumerConfig } of wanted.consumers) {
    const found = await manager.consumers.info(stream, consumerConfig.durable_name).catch(ignoreMissing);
    const fitted = stream === BATCH_STREAM ? consumerConfig : keepFitted(consumerConfig, found?.config);
    checkFound(`durable ${consumerConfig.durable_name}`, fitted, found?.config);
  }
}

function checkFound(
  what: string,
  wanted: WantedStream | WantedConsumer,
  found: StreamConfig | ConsumerConfig | undefined,
): void {
  if (found === undefined) throw new TopologyError(`the queue has no ${what}`, true);
  const version = versionOf(found);
  if (version > TOPOLOGY_VERSION) return;
  if (version < TOPOLOGY_VERSION) {
    throw new TopologyError(`${what} is of version ${version} of the topology, this is ${TOPOLOGY_VERSION}`, false);
  }
  const difference = describeDifference(what, wanted, { ...found });
  if (difference !== undefined) throw new TopologyError(difference, false);
}

/** Changes the limits that follow the number of workers to values that suffice for these slots. Only one process may do so at a time. */
export function fitTopology(connection: NatsConnection, fleet: readonly LaneSlots[]): Promise<LimitChange[]> {
  return followFleet(connection, fleet, isNewer);
}

/** Time within which a janitor creates the streams again on a server that has lost its store, in milliseconds. */
const RECREATE_WAIT_MS = paced(15_000);

interface Waiting {
  readonly replicas: number;
  /** Maximum wait for a cluster that has not elected its leaders yet, in milliseconds. */
  readonly waitMs: number;
  readonly log: Logger;
}

/**
 * Creates or changes the streams and consumers. The migrate role calls it.
 * @throws the errors of `ensureTopology`
 */
export function makeTopology(connection: NatsConnection, { replicas, waitMs, log }: Waiting): Promise<void> {
  return awaitServer("queue", () => ensureTopology(connection, replicas), { waitMs, log, isAway: isUnready });
}

/**
 * Waits until the streams and consumers fit this version. Every other role calls it when it starts.
 * @throws the errors of `checkTopology`
 */
export async function awaitTopology(connection: NatsConnection, { replicas, waitMs, log }: Waiting): Promise<void> {
  const isMissing = (error: unknown): boolean => error instanceof TopologyError && error.isMissing;
  const retryOptions = { waitMs: Math.min(waitMs, RECREATE_WAIT_MS), log, isAway: isMissing };
  const check = (): Promise<void> => awaitServer("queue", () => checkTopology(connection, replicas), retryOptions);
  await awaitServer("queue", check, { waitMs, log, isAway: isUnready });
}

/**
 * Creates missing streams and consumers whenever the server returns after an outage, because it may have lost its store. Errors are logged,
 * and the janitor's sweep tries again.
 */
export function restoreTopology(connection: NatsConnection, { replicas, log }: Omit<Waiting, "waitMs">): void {
  onLink(connection, {
    restored() {
      ensureTopology(connection, replicas, "keep").catch((error: unknown) =>
        log.warn({ err: error }, "checking the queue's topology failed"),
      );
    },
  });
}

/** Returns true if the server responds but its cluster has not elected the leaders of its streams. */
function isUnready(error: unknown): boolean {
  return error instanceof TimeoutError || (error instanceof JetStreamApiError && error.status === 503);
}

async function ensureStream(
  manager: JetStreamManager,
  streamConfig: WantedStream,
  existing: "update" | "keep",
): Promise<void> {
  const found = await manager.streams.info(streamConfig.name).catch(ignoreMissing);
  if (found && isNewer(found.config)) return;
  const wanted = isPoolStream(streamConfig) ? keepFitted(streamConfig, found?.config) : streamConfig;
  let echoed = found?.config;
  if (!echoed) echoed = (await manager.streams.add(wanted)).config;
  else if (existing === "update" && !isAsWanted(wanted, echoed)) {
    echoed = (await manager.streams.update(wanted.name, wanted)).config;
  }
  assertEcho(`stream ${wanted.name}`, wanted, { ...echoed });
}

async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  consumerConfig: WantedConsumer,
  existing: "update" | "keep",
): Promise<void> {
  const found = await manager.consumers.info(stream, consumerConfig.durable_name).catch(ignoreMissing);
  if (found && isNewer(found.config)) return;
  const wanted = stream === BATCH_STREAM ? consumerConfig : keepFitted(consumerConfig, found?.config);
  let echoed = found?.config;
  if (!echoed) echoed = (await manager.consumers.add(stream, wanted)).config;
  else if (existing === "update" && !isAsWanted(wanted, echoed)) {
    echoed = (await manager.consumers.update(stream, wanted.durable_name, wanted)).config;
  }
  assertEcho(`durable ${wanted.durable_name}`, wanted, { ...echoed });
}

function isPoolStream({ name }: WantedStream): boolean {
  return POOLS.some((pool) => streamName(pool) === name);
}

/**
 * Returns the wanted definition. Limits that follow the number of workers keep their values on the server if these are higher than the
 * minimum.
 */
function keepFitted<Wanted extends object>(wanted: Wanted, found: object = {}): Wanted {
  const kept = Object.entries(FOLLOWING).flatMap(([field, max]) => {
    const [least, inForce]: unknown[] = [Reflect.get(wanted, field), Reflect.get(found, field)];
    const isFitted = typeof least === "number" && typeof inForce === "number" && inForce > least && inForce <= max;
    return isFitted ? [[field, inForce]] : [];
  });
  return { ...wanted, ...Object.fromEntries(kept) };
}

const STREAM_NOT_FOUND = 10_059;
const CONSUMER_NOT_FOUND = 10_014;

function ignoreMissing(error: unknown): undefined {
  const code = (error as { code?: unknown }).code;
  if (code === STREAM_NOT_FOUND || code === CONSUMER_NOT_FOUND) return undefined;
  throw error;
}

function isNewer(config: Parameters<typeof versionOf>[0]): boolean {
  return versionOf(config) > TOPOLOGY_VERSION;
}

function versionOf({ metadata }: { readonly metadata?: Readonly<Record<string, string>> }): number {
  return Number(metadata?.[VERSION] ?? 0);
}

/**
 * Returns true if nothing has to be changed. An update without a change is not sent, because the server writes every update to its disk.
 */
function isAsWanted(wanted: object, found: object): boolean {
  return firstDifference(wanted, found as Record<string, unknown>) === undefined;
}

/**
 * Checks that the server's response contains the wanted values. Servers before 2.12 silently drop unknown fields, so that only the response
 * shows the effective values.
 */
export function assertEcho(what: string, wanted: Record<string, unknown>, echoed: Record<string, unknown>): void {
  const difference = describeDifference(what, wanted, echoed);
  if (difference !== undefined) throw new Error(difference);
}

function describeDifference(what: string, wanted: object, echoed: Record<string, unknown>): string | undefined {
  const field = firstDifference(wanted, echoed);
  if (field === undefined) return undefined;
  const [expected, got] = [Reflect.get(wanted, field), echoed[field]].map((value) => JSON.stringify(value));
  return `${what}: expected ${field} ${expected}, the server has ${got}`;
}

/** Returns the first wanted field that has another value on the server; undefined if there is none. */
function firstDifference(wanted: object, echoed: Record<string, unknown>): string | undefined {
  for (const [field, value] of Object.entries(wanted)) {
    const got = echoed[field];
    // The server leaves out fields that have their zero value.
    const isZero = value === 0 || value === false;
    if (field === "metadata" ? holds(got, value) : Bun.deepEquals(got, value)) continue;
    if (!(isZero && got === undefined)) return field;
  }
  return undefined;
}

/** Returns true if a value from the server contains the wanted one. The server adds metadata of its own. */
function holds(got: unknown, wanted: unknown): boolean {
  return Bun.deepEquals({ ...(got as object | undefined), ...(wanted as object) }, got ?? {});
}
