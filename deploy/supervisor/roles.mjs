// @ts-check
/** Starts Sluice's own processes: the migration, and the roles. */
import { StartFault } from "../embedded/fault.mjs";
import { launch, LaunchError, launchUntil, run } from "../embedded/process.mjs";

/**
 * Roles to start, each with its NATS user. They stop in reverse order, so that the ingress accepts no new call while workers finish running
 * calls.
 */
export const ROLES = /** @type {const} */ ([
  { args: ["worker", "chat"], user: "worker" },
  { args: ["worker", "image", "audio", "video", "3d", "capability", "workflow", "webhook"], user: "workflow" },
  { args: ["janitor"], user: "janitor" },
  { args: ["ingress"], user: "ingress" },
  // Only for a NATS server that is started here.
  { args: ["nats-auth"], user: "auth" },
]);
const READY_WITHIN_MS = 60_000;

/**
 * Options of a role's process.
 * @typedef {object} RoleOptions
 * @property {string} root
 * @property {string} bun
 * @property {Record<string, string | undefined>} env
 * @property {import("./log.mjs").Log} log
 */

/**
 * Runs the migration.
 * @param {RoleOptions} options
 * @returns {Promise<string>} name of the bootstrap key's workspace
 * @throws {StartFault} with the error message of the migration
 */
export async function migrate({ root, bun, env, log }) {
  let workspace = "";
  const { code, stderr } = await run({
    name: "migrate",
    command: bun,
    args: ["deploy/sluice.ts", "migrate"],
    cwd: root,
    env,
    onLine: (line, stream) => {
      if (stream === "stdout") log.relay("migrate", line, stream);
      workspace ||= lineOf(line, "database is up to date")?.workspace ?? "";
    },
  });
  if (code !== 0) throw new StartFault(sentence(stderr.split("\n")) ?? `The migration failed:\n${stderr}`);
  return workspace;
}

/** Time for the admin command that creates a sign-in code, in milliseconds. */
const CODE_WITHIN_MS = 20_000;

/**
 * Creates a sign-in code of the console for the bootstrap key. The code is a secret: it is not logged.
 * @param {RoleOptions} options
 * @returns {Promise<string | null>} null if no code could be created; the reason is logged
 */
export async function createSignInCode({ root, bun, env, log }) {
  const { code, stdout, stderr } = await run({
    name: "sign-in code",
    command: bun,
    args: ["deploy/sluice.ts", "admin", "console", "link", "--json"],
    cwd: root,
    env,
    timeoutMs: CODE_WITHIN_MS,
  });
  if (code === 0) return JSON.parse(stdout).code;
  log.say("warn", "no sign-in code for the console was created", { reason: sentence(stderr.split("\n")) ?? stderr });
  return null;
}

/**
 * Builds the console if its sources have changed.
 * @param {Pick<RoleOptions, "root" | "bun" | "env">} options
 * @returns {Promise<void>}
 * @throws {StartFault} with the error message of the build
 */
export async function buildConsole({ root, bun, env }) {
  const command = { command: bun, args: ["deploy/build-console.ts"], cwd: root, env };
  const { code, stderr } = await run({ name: "console", ...command });
  if (code !== 0) throw new StartFault(`The build of the console failed:\n${stderr}`);
}

/**
 * Starts a role and waits until it is ready.
 * @param {readonly string[]} args such as `["worker", "chat"]`
 * @param {RoleOptions} options
 * @returns {Promise<import("./children.mjs").Child & { adminPort: number, port: number | undefined, missing: readonly string[] }>}
 * `missing`: a sentence for each feature that the role lacks
 * @throws {StartFault} with the error message of the role when the role exits before it is ready
 */
export async function startRole(args, { root, bun, env, log }) {
  const name = args.join(" ");
  /** @type {string[]} */
  const missing = [];
  const { running, value } = await launchUntil(
    (seen) =>
      launch({
        name,
        command: bun,
        args: ["deploy/sluice.ts", ...args],
        cwd: root,
        env,
        onLine: (line, stream) => {
          const part = missingPart(line);
          if (part !== null) missing.push(part);
          seen(line);
          log.relay(args[0] ?? name, line, stream);
        },
      }),
    (line) => lineOf(line, "ready"),
    READY_WITHIN_MS,
  ).catch((error) => {
    if (!(error instanceof LaunchError)) throw error;
    throw new StartFault(sentence(error.lines) ?? error.message);
  });
  return { ...running, adminPort: value.admin_port, port: value.port, missing };
}

/** Log messages of workers about features that this machine lacks. */
const NO_SANDBOX = "no capability sandbox on this system";
const NO_MEMORY_LIMIT = "no memory limit for runs of capabilities on this system";
const NO_ENGINE = "an engine is unavailable; its capabilities are not listed";

/**
 * Converts a worker's log message about a missing feature to a sentence for the terminal.
 * @param {string} line of a worker's log
 * @returns {string | null} null for any other line
 */
export function missingPart(line) {
  if (!line.startsWith("{")) return null;
  try {
    const { msg = "", capabilities, fault } = JSON.parse(line);
    if (msg.startsWith(NO_SANDBOX)) {
      return "No capability sandbox: capabilities process files without isolation. Use only files that you trust.";
    }
    if (msg.startsWith(NO_MEMORY_LIMIT)) {
      return "No memory limit: one capability can use all memory of this machine.";
    }
    if (msg !== NO_ENGINE) return null;
    const [first, ...others] = capabilities;
    const which = others.length === 0 ? `${first} is` : `${first} and ${others.length} more capabilities are`;
    return `${which} not available: ${fault.replace(/^The trial of \S+ failed: /, "")}`;
  } catch {
    return null;
  }
}

/**
 * Parses a log line if it contains this message.
 * @param {string} line
 * @param {string} message
 * @returns {{ admin_port: number, port?: number, workspace?: string } | null} null for any other line
 */
function lineOf(line, message) {
  if (!line.startsWith("{") || !line.includes(`"${message}"`)) return null;
  try {
    const entry = JSON.parse(line);
    return entry.msg === message ? entry : null;
  } catch {
    return null;
  }
}

/**
 * Finds the error message in the output of a role that did not start. The message has one line for each invalid setting.
 * @param {readonly string[]} lines output of the role
 * @returns {string | null} null if the output contains no error message
 */
export function sentence(lines) {
  const start = lines.findIndex((line) => line.startsWith("sluice: "));
  if (start === -1) return null;
  const said = lines.slice(start).filter((line) => line.trim() !== "" && !line.startsWith("{"));
  return said.join("\n").slice("sluice: ".length);
}
