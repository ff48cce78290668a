// @ts-check
/** Starts a NATS server with JetStream in a persistent directory, and reads the version of any reachable server. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { StartFault } from "./fault.mjs";
import { launch, LaunchError, launchUntil } from "./process.mjs";
import { stopOrphan } from "./probe.mjs";

/** First version with per-message TTL, priority groups and consumer pause, which the queue requires. */
export const NATS_FLOOR = "2.11";

/**
 * GOMAXPROCS of the server: 1 on a machine with fewer than eight cores, which it shares with the roles (decision 0065). The environment
 * takes precedence. On other machines the server uses its cores and CPU quota.
 */
const PROCESSORS = process.env["GOMAXPROCS"] ?? (availableParallelism() < 8 ? "1" : undefined);

/** @typedef {import("./process.mjs").Running & { url: string, port: number }} Nats */

/**
 * Stops a server that an earlier run left in the directory, and starts a new one.
 * @param {object} options
 * @param {string} options.binary
 * @param {string} options.directory contains the JetStream store
 * @param {number} options.port
 * @param {(line: string) => void} [options.onLine]
 * @param {{ file: string, env: Record<string, string>, monitorPort: number }} [options.config] an operator's configuration. Default: no
 *   permissions are checked
 * @returns {Promise<Nats>} accepting connections on 127.0.0.1
 * @throws {StartFault} when the server does not come up
 */
export async function startNats({ binary, directory, port, onLine, config }) {
  mkdirSync(directory, { recursive: true });
  // The directory contains calls of all workspaces.
  chmodSync(directory, 0o700);
  const pidFile = join(directory, "nats.pid");
  if (existsSync(pidFile)) {
    await stopOrphan(Number(readFileSync(pidFile, "utf8")), directory, "SIGTERM");
    rmSync(pidFile, { force: true });
  }
  const { running } = await launchUntil(
    (seen) =>
      launch({
        name: "nats",
        command: binary,
        args: [
          "-a",
          "127.0.0.1",
          "-p",
          String(port),
          "-P",
          pidFile,
          ...(config === undefined ? ["-js", "-sd", directory] : ["-c", config.file, "-m", String(config.monitorPort)]),
        ],
        cwd: "/",
        env: {
          // The configuration parser parses the value of a variable, and a path may contain spaces.
          ...(config === undefined ? process.env : { ...config.env, NATS_STORE_DIR: JSON.stringify(directory) }),
          ...(PROCESSORS === undefined ? {} : { GOMAXPROCS: PROCESSORS }),
        },
        onLine: (line) => {
          seen(line);
          onLine?.(line);
        },
      }),
    (line) => (line.includes("Server is ready") ? true : null),
    30_000,
  ).catch((error) => {
    throw error instanceof LaunchError ? new StartFault(`NATS did not start: ${error.message}`) : error;
  });
  return { ...running, port, url: `nats://127.0.0.1:${port}` };
}

/**
 * Returns the version in a running server's INFO message, which needs no login.
 * @param {string} urls one or several, separated by commas; the first that responds is used
 * @returns {Promise<string>}
 * @throws {StartFault} if no server responds
 */
export async function serverVersion(urls) {
  /** @type {string[]} */
  const faults = [];
  for (const text of urls.split(",")) {
    const url = new URL(text.trim());
    try {
      return await greeting(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port || 4222));
    } catch (error) {
      faults.push(`${url.host} (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  throw new StartFault(`No NATS server answers at NATS_URL: ${faults.join(", ")}.`);
}

/**
 * @param {string} host
 * @param {number} port
 * @returns {Promise<string>}
 */
function greeting(host, port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 5_000 });
    let text = "";
    const end = (/** @type {Error} */ error) => {
      socket.destroy();
      reject(error);
    };
    socket.on("timeout", () => end(new Error("no answer within 5 s")));
    socket.on("error", end);
    socket.on("close", () => reject(new Error("it closed the connection")));
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
      const line = /^INFO (\{.*\})\s*\r\n/.exec(text)?.[1];
      if (line !== undefined) {
        socket.destroy();
        resolve(String(JSON.parse(line).version));
      } else if (text.length > 65_536 || !"INFO ".startsWith(text.slice(0, 5))) {
        end(new Error("it is not a NATS server"));
      }
    });
  });
}

/**
 * True if a dotted version is at least `floor`; a suffix such as `-beta` is ignored.
 * @param {string} version
 * @param {string} floor
 * @returns {boolean}
 */
export function atLeast(version, floor) {
  const parts = version.replace(/^v/, "").split(".").map(Number.parseFloat);
  for (const [index, wanted] of floor.split(".").map(Number).entries()) {
    const have = parts[index] ?? 0;
    if (Number.isNaN(have)) return false;
    if (have !== wanted) return have > wanted;
  }
  return true;
}
