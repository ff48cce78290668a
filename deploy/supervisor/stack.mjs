// @ts-check
/** `npm start`: starts all processes in order, and stops them in reverse order. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUN_MEMORY, prepareBun } from "../embedded/bun.mjs";
import { natsBinary } from "../embedded/nats-binary.mjs";
import { reasonOf, StartFault } from "../embedded/fault.mjs";
import { takeLock } from "../embedded/lock.mjs";
import { closeReaper } from "../embedded/reaper.mjs";
import { keepAddress } from "./address.mjs";
import { countRunning, startAdmin, waitingText } from "./admin.mjs";
import { createChildren } from "./children.mjs";
import { createLog } from "./log.mjs";
import { openLogFile } from "./log-file.mjs";
import { buildConsole, createSignInCode, migrate, ROLES, startRole } from "./roles.mjs";
import { startServices } from "./services.mjs";
import { keptSecret, readSettings } from "../embedded/settings.mjs";
import { baseUrlOf, isLoopback, welcome } from "./welcome.mjs";

/** Time within which several signals count as one, in milliseconds. A single Ctrl-C arrives twice: from the terminal and from npm. */
const ECHO_MS = 500;
/** Extra time after a role's grace period, in milliseconds. A role that still runs is then killed. */
const GRACE_MARGIN_MS = 5_000;

const USAGE = `usage: npm start -- [--verbose]

Starts Postgres, NATS, an object store and every role of Sluice, and stops them at Ctrl-C.
  --verbose  print the log, which is otherwise only in sluice.log of the data folder
Settings are environment variables, such as PORT=8090 npm start. deploy/env.example lists them.`;

/**
 * Stops all processes and exits.
 * @typedef {(code: number, reason?: string) => Promise<void>} End
 */

/**
 * Runs the whole service until a signal ends it. Never returns: the process exits with 0 after a clean stop, or with 1 when the start
 * failed. The last line on stderr is then the reason, with its position in the log file.
 * @param {string} root the project's folder
 * @param {readonly string[]} args of the command line
 * @returns {Promise<void>}
 */
export async function runStack(root, args) {
  /** @type {(() => Promise<void> | void)[]} */
  const closing = [];
  /** @type {{ log?: import("./log.mjs").Log }} */
  const opened = {};
  let ending = false;
  /** @type {End} */
  const end = async (code, reason = "") => {
    ending = true;
    const place = reason === "" ? undefined : opened.log?.say("warn", reason);
    for (const close of closing.toReversed()) await close();
    await closeReaper();
    if (reason !== "") process.stderr.write(`sluice: ${reason}\n${place === undefined ? "" : `log: ${place}\n`}`);
    process.exit(code);
  };
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  try {
    const { help, verbose } = readArguments(args);
    if (help) {
      process.stdout.write(`${USAGE}\n`);
      return;
    }
    await assemble({ root, verbose, closing, end, opened });
  } catch (error) {
    if (ending) return;
    if (!(error instanceof StartFault)) throw error;
    await end(1, error.message);
  }
}

/**
 * Parses the command line.
 * @param {readonly string[]} args
 * @throws {StartFault} for an unknown option
 */
function readArguments(args) {
  const isOn = /** @type {const} */ ({ type: "boolean", default: false });
  try {
    return parseArgs({ args: [...args], options: { verbose: isOn, help: isOn } }).values;
  } catch (error) {
    throw new StartFault(`${reasonOf(error).split("\n")[0]}; npm start has the options --verbose and --help.`);
  }
}

/**
 * Starts every process of the stack in order.
 * @param {object} options
 * @param {string} options.root
 * @param {boolean} options.verbose
 * @param {(() => Promise<void> | void)[]} options.closing functions that are run in reverse order at the end
 * @param {End} options.end
 * @param {{ log?: import("./log.mjs").Log }} options.opened its `log` is set as soon as the log is open
 */
async function assemble({ root, verbose, closing, end, opened }) {
  const began = Date.now();
  const settings = await readSettings(process.env);
  const colour = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const lock = takeLock(join(settings.dataDir, "lock"));
  if (lock.owner !== null) {
    throw new StartFault(
      `The data directory ${settings.dataDir} is in use by process ${lock.owner}; stop that one, or set SLUICE_DATA_DIR and PORT to run a second stack.`,
    );
  }
  closing.push(() => lock.release());
  const file = openLogFile(join(settings.dataDir, "sluice.log"));
  const log = createLog({ json: settings.jsonLogs, verbose, colour, out: process.stdout, file });
  opened.log = log;
  const children = createChildren(log);
  closing.push(() => children.stop());
  const graceMs = settings.graceMs + GRACE_MARGIN_MS;
  onSignals({ log, children, end, graceMs });

  const { caches } = settings;
  const progress = log.notify;
  // Fetched while packages are installed; an error is reported where the program is needed.
  const fetching = settings.natsUrl === undefined ? natsBinary({ caches, progress }) : undefined;
  fetching?.catch(() => undefined);
  const natsProgram = () => fetching ?? natsBinary({ caches, progress });
  const bun = await prepareBun({ root, caches, progress });
  const building = buildConsole({ root, bun, env: process.env });
  // An error is reported where the build is needed.
  building.catch(() => undefined);
  const services = await startServices({ root, bun, natsProgram, settings, children, log });
  const { dataDir } = settings;
  const key = keptSecret(process.env["SLUICE_BOOTSTRAP_KEY"], dataDir, "bootstrap-key");
  // Only the ingress receives it, like in compose.yaml.
  const { SLUICE_OPERATOR_TOKEN: givenToken, ...given } = process.env;
  const operatorToken = keptSecret(givenToken, dataDir, "operator-token");
  const env = {
    ...BUN_MEMORY,
    ...given,
    ...services.env,
    SLUICE_HOST: settings.host,
    SLUICE_ADMIN_HOST: "127.0.0.1",
    SLUICE_ADMIN_PORT: "0",
    SLUICE_BOOTSTRAP_KEY: key,
    SLUICE_DATA_DIR: dataDir,
    // Sandbox models are available, also in a shell whose NODE_ENV is production.
    SLUICE_PRODUCTION: process.env["SLUICE_PRODUCTION"]?.trim() || "off",
    // A person waits at the terminal: a missing server is reported soon.
    SLUICE_START_WAIT_MS: process.env["SLUICE_START_WAIT_MS"]?.trim() || "10000",
    SLUICE_SUPERVISED: "1",
  };
  const workspace = await migrate({ root, bun, env: { ...env, ...services.loginOf("janitor") }, log });
  await building;
  // A service that other machines reach without a known address prints no secret link, and JSON logs are stored by other programs.
  const hasLink = !settings.jsonLogs && (settings.publicUrl !== undefined || isLoopback(settings.host));
  const linking = hasLink ? createSignInCode({ root, bun, env, log }) : null;
  const roles = await Promise.all(
    ROLES.filter(({ user }) => user !== "auth" || services.natsUrl !== undefined).map(({ args, user }) => {
      const token = user === "ingress" ? { SLUICE_OPERATOR_TOKEN: operatorToken } : {};
      const own = { ...env, ...services.loginOf(user), ...token };
      return children.add(args[0], () => startRole(args, { root, bun, env: own, log }), graceMs);
    }),
  );
  const admin = await startAdmin({ host: settings.adminHost, port: settings.adminPort, states: children.states });
  closing.push(() => admin.close());

  const port = roles.find((role) => role.port !== undefined)?.port ?? settings.port;
  const databaseUrl = settings.databaseUrl === undefined ? (services.env["DATABASE_URL"] ?? null) : null;
  const baseUrl = baseUrlOf(settings.host, port);
  const ownToken = givenToken?.trim() ? {} : { operatorToken };
  closing.push(keepAddress(dataDir, { baseUrl, key, ...ownToken, databaseUrl }));
  log.say("info", "ready", { port, admin_port: admin.port, ms: Date.now() - began });
  const { host, adminHost } = settings;
  const parts = [...roles.map(({ name }) => name.split(" ")[0] ?? name), ...services.started];
  log.plain(
    welcome({
      host,
      port,
      publicUrl: settings.publicUrl,
      code: await linking,
      adminHost,
      adminPort: admin.port,
      key,
      workspace,
      natsUrl: services.natsUrl,
      logFile: file.path,
      parts: [...new Set(parts)],
      missing: roles.flatMap(({ missing }) => missing),
    }),
  );
}

/**
 * Handles signals. The first one stops everything and prints the number of running jobs; the second one kills every process.
 * @param {object} options
 * @param {import("./log.mjs").Log} options.log
 * @param {import("./children.mjs").Children} options.children
 * @param {End} options.end
 * @param {number} options.graceMs time for each process to stop, in milliseconds
 */
function onSignals({ log, children, end, graceMs }) {
  let first = 0;
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    if (first === 0) {
      first = Date.now();
      log.say("info", `${signal}: stopping`);
      void countRunning(children.states()).then((running) => log.notify(waitingText(running, graceMs)));
      void end(0);
    } else if (Date.now() - first > ECHO_MS) {
      log.notify(`${signal}: stopping at once`);
      children.kill();
    }
  };
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, stop);
}
