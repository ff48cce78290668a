// @ts-check
/** Starts a NATS server with JetStream in a persistent directory, and can read the version of any reachable NATS server. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { StartFault } from "./fault.mjs";
import { launch, LaunchError, launchUntil } from "./process.mjs";
import { stopOrphan } from "./probe.mjs";

/** Oldest supported NATS version. The queue requires its per-message TTL, priority groups and consumer pause. */
export const NATS_FLOOR = "2.11";

/**
 * GOMAXPROCS of the NATS server. Default: 1 on a machine with fewer than eight cores, because the server shares them with the roles
 * (decision 0065). On other machines it is unset, so that the server uses its cores and CPU quota. The environment takes precedence.
 */
const PROCESSORS = process.env["GOMAXPROCS"] ?? (availableParallelism() < 8 ? "1" : undefined);

/**
 * Running NATS server, with its address and port.
 * @typedef {import("./process.mjs").Running & { url: string, port: number }} Nats
 */

/**
 * Starts a NATS server, after stopping any server that an earlier run left in the directory.
 * @param {object} options
 * @param {string} options.binary
 * @param {string} options.directory contains the JetStream store
 * @param {number} options.port
 * @param {(line: string) => void} [options.onLine]
 * @param {{ file: string, env: Record<string, string>, monitorPort: number }} [options.config] an operator's configuration. Default: no
 * permissions are checked
 * @returns {Promise<Nats>} accepting connections on 127.0.0.1
 * @throws {StartFault} when the server does not start
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
 * Returns the version of a running NATS server, from its INFO message, which needs no login.
 * @param {string} urls one or several, separated by commas; the first server that responds is used
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
 * Connects to a NATS server and returns its version, from the INFO message that the server sends first.
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
 * Returns true if a dotted version is at least `floor`. A suffix such as `-beta` is ignored.
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
