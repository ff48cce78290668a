// @ts-check
/** The servers that all test files of a run share. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { natsBinary } from "#deploy/embedded/nats-binary.mjs";
import { startPostgres } from "#deploy/embedded/postgres.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { watchFolder } from "#deploy/embedded/reaper.mjs";
import { startS3 } from "#deploy/embedded/s3.mjs";

/**
 * Starts them, named in `env` as tests/support/infrastructure.ts expects them.
 * @param {{ bun: string, root: string, caches: readonly string[] }} options
 * @returns {Promise<{ env: Record<string, string>, close: () => Promise<void> }>}
 */
export async function startServers({ bun, root, caches }) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-test-"));
  watchFolder(directory);
  let isClosing = false;
  /** @param {import("#deploy/embedded/process.mjs").Running} server */
  async function tellOfEnd(server) {
    const { code, signal } = await server.exited;
    if (isClosing) return;
    const last = server.lines().slice(-20).join("\n");
    process.stdout.write(`the shared ${server.name} ended under the tests (${signal ?? code}):\n${last}\n`);
  }
  const progress = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);
  const [nats, postgres, s3] = await Promise.all([
    natsBinary({ caches, progress }),
    startPostgres({
      directory: join(directory, "postgres"),
      port: await freePort(),
      throwaway: true,
      // Several stacks run at once, and each role wants all that it may open.
      settings: { max_connections: "500" },
    }),
    startS3({ bun, root, directory: join(directory, "s3"), port: await freePort(), buckets: [] }),
  ]);
  for (const server of [postgres, s3]) void tellOfEnd(server);
  return {
    env: { TEST_NATS_SERVER: nats, TEST_POSTGRES_URL: postgres.url, TEST_S3_URL: s3.url },
    close: async () => {
      isClosing = true;
      await Promise.all([postgres.stopAs("immediate"), s3.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
