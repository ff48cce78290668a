// @ts-check
/** Starts an S3 server for development and tests: s3rver in a separate process, with objects as files in a persistent directory. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartFault } from "./fault.mjs";
import { launch, LaunchError, launchUntil } from "./process.mjs";
import { stopOrphan } from "./probe.mjs";

/** Credentials of s3rver, which has only this account and listens only on 127.0.0.1. */
export const S3_ACCOUNT = Object.freeze({ accessKeyId: "S3RVER", secretAccessKey: "S3RVER", region: "us-east-1" });

/**
 * Running S3 server, with its address and port.
 * @typedef {import("./process.mjs").Running & { url: string, port: number }} S3
 */

/**
 * Starts an S3 server in its own process.
 * @param {object} options
 * @param {string} options.bun
 * @param {string} options.root
 * @param {string} options.directory
 * @param {number} options.port
 * @param {readonly string[]} options.buckets created if missing
 * @param {(line: string) => void} [options.onLine]
 * @returns {Promise<S3>} accepting requests on 127.0.0.1
 * @throws {StartFault} if the server does not start
 */
export async function startS3({ bun, root, directory, port, buckets, onLine }) {
  const objects = join(directory, "objects");
  mkdirSync(objects, { recursive: true });
  // The directory contains files of all workspaces.
  chmodSync(directory, 0o700);
  const pidFile = join(directory, "s3.pid");
  if (existsSync(pidFile)) {
    await stopOrphan(Number(readFileSync(pidFile, "utf8")), objects, "SIGTERM");
    rmSync(pidFile, { force: true });
  }
  const { running } = await launchUntil(
    (seen) =>
      launch({
        name: "s3",
        command: bun,
        args: [fileURLToPath(new URL("s3-server.mjs", import.meta.url)), objects, String(port), ...buckets],
        cwd: root,
        env: { PATH: process.env["PATH"] },
        onLine: (line) => {
          seen(line);
          onLine?.(line);
        },
      }),
    (line) => (line === "ready" ? true : null),
    30_000,
  ).catch((error) => {
    throw error instanceof LaunchError ? new StartFault(`The S3 server did not start: ${error.message}`) : error;
  });
  writeFileSync(pidFile, String(running.pid));
  return { ...running, port, url: `http://127.0.0.1:${port}` };
}
