/** A NATS server of one's own: stopped, killed, started again, or robbed of its store. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

import { type ConsumerConfig, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import { type Nats, startNats as startServer } from "#deploy/embedded/nats.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { durableName, type Lane, type Pool, POOLS, streamName } from "#shared/queue/subjects.ts";
import { TOPOLOGY_VERSION } from "#shared/queue/topology.ts";

import { natsServerBinary, temporaryDirectory } from "./infrastructure.ts";

export interface TestNats {
  readonly url: string;
  pid(): number;
  /** SIGKILL is a crash, SIGTERM a tidy end. Resolves when it is gone. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** On the same port, with what the store holds. */
  start(): Promise<void>;
  /** Kills it, removes its JetStream store and starts it empty. */
  wipe(): Promise<void>;
  /** Keeps a copy of its JetStream store, for which it is restarted; what is returned puts that back, as after a crash. */
  keepStore(): Promise<() => Promise<void>>;
  /** Lines that it printed since its last start. */
  logs(): string[];
  /** Stops it for good and removes its files. */
  close(): Promise<void>;
}

/** With JetStream, in a temporary directory, on a free port of 127.0.0.1. */
export async function startNats(): Promise<TestNats> {
  const binary = await natsServerBinary();
  const { directory, remove } = temporaryDirectory();
  const port = await freePort();
  const launch = (): Promise<Nats> => startServer({ binary, directory, port });
  let server = await launch().catch((error: unknown) => {
    remove();
    throw error;
  });
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> => {
    await server.stop(signal);
  };
  const start = async (): Promise<void> => {
    if (!server.alive()) server = await launch();
  };
  return {
    url: server.url,
    pid: () => server.pid,
    stop,
    start,
    async wipe() {
      await stop("SIGKILL");
      rmSync(join(directory, "jetstream"), { recursive: true, force: true });
      await start();
    },
    async keepStore() {
      const [store, copy] = ["jetstream", "kept"].map((name) => join(directory, name)) as [string, string];
      await stop();
      cpSync(store, copy, { recursive: true });
      await start();
      return async () => {
        await stop("SIGKILL");
        rmSync(store, { recursive: true, force: true });
        cpSync(copy, store, { recursive: true });
        await start();
      };
    },
    logs: () => server.lines(),
    async close() {
      await stop("SIGKILL");
      remove();
    },
  };
}

/** True when no call and no job waits or is at work. */
export async function isQueueEmpty(url: string): Promise<boolean> {
  const connection = await connect({ servers: url, reconnect: false });
  try {
    const manager = await jetstreamManager(connection);
    const infos = await Promise.all(POOLS.map((pool) => manager.streams.info(streamName(pool))));
    return infos.every((info) => info.state.messages === 0);
  } finally {
    await connection.close();
  }
}

/**
 * Changes a lane's durable as a newer version might: roles leave that as it is.
 * @returns what gives it its own settings again; what is overdue by these comes at once then
 */
export async function changeDurable(
  url: string,
  pool: Pool,
  lane: Lane,
  change: Partial<ConsumerConfig>,
): Promise<() => Promise<void>> {
  const [stream, durable] = [streamName(pool), durableName(pool, lane)];
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  const { config } = await manager.consumers.info(stream, durable);
  const metadata = { ...config.metadata, sluice_topology: String(TOPOLOGY_VERSION + 1) };
  await manager.consumers.update(stream, durable, { ...change, metadata });
  return async () => {
    await manager.consumers.update(stream, durable, config);
    await connection.close();
  };
}

const NANOS_PER_S = 1_000_000_000;

/** Keeps messages of workers that die from coming again for as long as any test lasts. @returns what lets them come */
export function holdRedeliveries(url: string, pool: Pool, lane: Lane): Promise<() => Promise<void>> {
  return changeDurable(url, pool, lane, { ack_wait: 600 * NANOS_PER_S });
}
