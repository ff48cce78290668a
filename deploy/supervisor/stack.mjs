// @ts-check
/** `npm start` as a whole: the order in which everything comes up, and goes down again. */
import { join } from "node:path";
import { BUN_MEMORY, prepareBun } from "../embedded/bun.mjs";
import { natsBinary } from "../embedded/nats-binary.mjs";
import { StartFault } from "../embedded/fault.mjs";
import { takeLock } from "../embedded/lock.mjs";
import { closeReaper } from "../embedded/reaper.mjs";
import { keepAddress } from "./address.mjs";
import { countRunning, startAdmin, waitingText } from "./admin.mjs";
import { createChildren } from "./children.mjs";
import { createLog } from "./log.mjs";
import { migrate, ROLES, startRole } from "./roles.mjs";
import { startServices } from "./services.mjs";
import { keptSecret, readSettings } from "../embedded/settings.mjs";
import { baseUrlOf, welcome } from "./welcome.mjs";

/** One Ctrl-C arrives twice, from the terminal and passed on by npm. */
const ECHO_MS = 500;
/** Time beyond its own grace period after which a role is killed, in milliseconds. */
const GRACE_MARGIN_MS = 5_000;

/**
 * Runs the whole service until a signal ends it. Never returns: the process ends with 0 after a clean stop, with 1 when
 * the start failed, and then one sentence on stderr says why.
 * @param {string} root the project's folder
 * @returns {Promise<void>}
 */
export async function runStack(root) {
  /** @type {(() => Promise<void> | void)[]} */
  const closing = [];
  let ending = false;
  const end = async (/** @type {number} */ code, /** @type {string} */ reason = "") => {
    ending = true;
    for (const close of closing.toReversed()) await close();
    await closeReaper();
    // The last line of the output: what the processes log while they stop would hide it.
    if (reason !== "") process.stderr.write(`sluice: ${reason}\n`);
    process.exit(code);
  };
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  try {
    await assemble(root, closing, end);
  } catch (error) {
    if (ending) return;
    if (!(error instanceof StartFault)) throw error;
    await end(1, error.message);
  }
}

/**
 * @param {string} root
 * @param {(() => Promise<void> | void)[]} closing run in reverse at the end
 * @param {(code: number) => Promise<void>} end
 */
async function assemble(root, closing, end) {
  const began = Date.now();
  const settings = await readSettings(process.env);
  const colour = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const log = createLog({ json: settings.jsonLogs, colour, out: process.stdout });
  const lock = takeLock(join(settings.dataDir, "lock"));
  if (lock.owner !== null) {
    throw new StartFault(
      `The data directory ${settings.dataDir} is in use by process ${lock.owner}; stop that one, or set SLUICE_DATA_DIR and PORT to run a second stack.`,
    );
  }
  closing.push(() => lock.release());
  const children = createChildren(log);
  closing.push(() => children.stop());
  const graceMs = settings.graceMs + GRACE_MARGIN_MS;
  onSignals({ log, children, end, graceMs });

  const { caches } = settings;
  const progress = (/** @type {string} */ text) => log.say("info", text);
  // Fetched beside the packages on a new machine; a failure is told where the program is needed.
  const fetching = settings.natsUrl === undefined ? natsBinary({ caches, progress }) : undefined;
  fetching?.catch(() => undefined);
  const natsProgram = () => fetching ?? natsBinary({ caches, progress });
  const bun = await prepareBun({ root, caches, progress });
  const services = await startServices({ root, bun, natsProgram, settings, children, log });
  const { dataDir } = settings;
  const key = keptSecret(process.env["SLUICE_BOOTSTRAP_KEY"], dataDir, "bootstrap-key");
  // As in compose.yaml, the ingress alone is told it.
  const { SLUICE_OPERATOR_TOKEN: givenToken, ...given } = process.env;
  const operatorToken = keptSecret(givenToken, dataDir, "operator-token");
  const env = {
    ...BUN_MEMORY,
    ...given,
    ...services.env,
    SLUICE_ADMIN_HOST: "127.0.0.1",
    SLUICE_ADMIN_PORT: "0",
    SLUICE_BOOTSTRAP_KEY: key,
    SLUICE_DATA_DIR: dataDir,
    // One machine with the sandbox to try, even in a shell whose NODE_ENV is production.
    SLUICE_PRODUCTION: process.env["SLUICE_PRODUCTION"]?.trim() || "off",
    // A person sits before it: a server that is not there at all is to be told of soon.
    SLUICE_START_WAIT_MS: process.env["SLUICE_START_WAIT_MS"]?.trim() || "10000",
    SLUICE_SUPERVISED: "1",
  };
  const workspace = await migrate({ root, bun, env: { ...env, ...services.loginOf("janitor") }, log });
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
  log.plain(welcome({ host, port, adminHost, adminPort: admin.port, key, workspace, natsUrl: services.natsUrl }));
}

/**
 * The first signal stops everything tidily and says how much work it waits for; the second one kills every process.
 * @param {object} options
 * @param {import("./log.mjs").Log} options.log
 * @param {import("./children.mjs").Children} options.children
 * @param {(code: number) => Promise<void>} options.end
 * @param {number} options.graceMs time that each process has for its stop, in milliseconds
 */
function onSignals({ log, children, end, graceMs }) {
  let first = 0;
  const stop = (/** @type {NodeJS.Signals} */ signal) => {
    if (first === 0) {
      first = Date.now();
      log.say("info", `${signal}: stopping`);
      void countRunning(children.states()).then((running) => log.say("info", waitingText(running, graceMs)));
      void end(0);
    } else if (Date.now() - first > ECHO_MS) {
      log.say("warn", `${signal}: stopping at once`);
      children.kill();
    }
  };
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, stop);
}
