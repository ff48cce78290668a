/**
 * Servers that all integration tests share. `npm test` starts them once and passes their addresses in the environment. A plain `bun test`
 * starts only the servers that a test requests, and setup.ts stops them after the last test.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { natsBinary } from "#deploy/embedded/nats-binary.mjs";
import { startPostgres } from "#deploy/embedded/postgres.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { watchFolder } from "#deploy/embedded/reaper.mjs";
import { startS3 } from "#deploy/embedded/s3.mjs";

export const PROJECT_ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** Path of the Bun program that runs the tests and the roles. */
export const BUN = process.execPath;

/**
 * Command that starts a role; its arguments follow. A whole run of the suite first bundles the entry into one file (TEST_ENTRY), which
 * starts in a quarter of the time. A run of single files uses the sources.
 */
export const ENTRY: readonly [command: string, ...args: string[]] =
  process.env["TEST_ENTRY"] === undefined ? [BUN, "deploy/sluice.ts"] : [process.env["TEST_ENTRY"]];

interface Closable {
  readonly pid: number;
  close(): Promise<void>;
}

const started = new Map<string, Promise<Closable & { readonly url: string }>>();

/** Returns the URL of an existing database on the shared Postgres server. The user is the server's owner. */
export function sharedPostgresUrl(): Promise<string> {
  return urlFromEnvironmentOrStart("TEST_POSTGRES_URL", async (directory) => {
    const server = await startPostgres({ directory, port: await freePort(), throwaway: true });
    return { url: server.url, pid: server.pid, stop: () => server.stopAs("immediate") };
  });
}

/** Returns the URL of the shared S3 server. */
export function sharedS3Url(): Promise<string> {
  return urlFromEnvironmentOrStart("TEST_S3_URL", async (directory) => {
    const server = await startS3({ bun: BUN, root: PROJECT_ROOT, directory, port: await freePort(), buckets: [] });
    return { url: server.url, pid: server.pid, stop: () => server.stop() };
  });
}

let binary: Promise<string> | undefined;

/** Returns the path of a recent nats-server. Downloads it if necessary. */
export function natsServerBinary(): Promise<string> {
  const path = process.env["TEST_NATS_SERVER"];
  if (path !== undefined) return Promise.resolve(path);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  binary ??= natsBinary({ caches: [cache, join(tmpdir(), "sluice-cache")], progress: () => undefined });
  return binary;
}

/** Returns the process IDs of shared servers that this process has started. */
export async function sharedProcessIds(): Promise<number[]> {
  return (await Promise.all(started.values())).map((server) => server.pid);
}

/** Stops the shared servers that this process has started, and removes their files. */
export async function closeShared(): Promise<void> {
  const servers = await Promise.allSettled(started.values());
  started.clear();
  for (const server of servers) if (server.status === "fulfilled") await server.value.close();
}

async function urlFromEnvironmentOrStart(
  variable: string,
  start: (directory: string) => Promise<{ url: string; pid: number; stop(): Promise<unknown> }>,
): Promise<string> {
  const url = process.env[variable];
  if (url !== undefined) return url;
  let server = started.get(variable);
  if (server === undefined) {
    server = inTemporaryDirectory(start);
    started.set(variable, server);
  }
  return (await server).url;
}

async function inTemporaryDirectory<T extends { stop(): Promise<unknown> }>(
  start: (directory: string) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const { directory, remove } = temporaryDirectory();
  try {
    const server = await start(directory);
    const close = async (): Promise<void> => {
      await server.stop();
      remove();
    };
    return { ...server, close };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Creates a directory below `parent`, or the system's temporary directory. It is removed when the test process ends, at the latest. */
export function temporaryDirectory(parent: string = tmpdir()): { directory: string; remove: () => void } {
  // On macOS the system's temporary folder is a link, and processes report the real path.
  const directory = mkdtempSync(join(realpathSync(parent), "sluice-test-"));
  watchFolder(directory);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
