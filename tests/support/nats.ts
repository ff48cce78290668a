/** Starts a separate NATS server that tests can stop, kill and restart, and whose store they can delete. */
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
  /** Stops the server. SIGKILL simulates a crash; SIGTERM stops it cleanly. Resolves when the process has ended. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Starts the server again on the same port with the same store. */
  start(): Promise<void>;
  /** Kills the server, removes its JetStream store, and starts it empty. */
  wipe(): Promise<void>;
  /** Restarts the server and copies its JetStream store. Returns a function that restores the copy, as if the server had crashed. */
  keepStore(): Promise<() => Promise<void>>;
  /** Returns the log lines since the last start. */
  logs(): string[];
  /** Stops the server permanently and removes its files. */
  close(): Promise<void>;
}

/** Starts a server with JetStream in a temporary directory, on a free port of 127.0.0.1. */
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

/** Returns true if no call and no job is queued or running. */
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
 * Changes the durable consumer of a lane as a newer version might. Roles do not change it back.
 * @returns a function that restores the durable. Overdue messages are then delivered immediately
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

/** Delays redelivery after a worker's crash for longer than any test takes. @returns a function that permits redelivery again */
export function holdRedeliveries(url: string, pool: Pool, lane: Lane): Promise<() => Promise<void>> {
  return changeDurable(url, pool, lane, { ack_wait: 600 * NANOS_PER_S });
}
