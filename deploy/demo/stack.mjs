// @ts-check
/** Options of `npm run demo`, and the stack that it calls: the one that is named, that runs, or that is started for as long as it takes. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { reasonOf, StartFault } from "../embedded/fault.mjs";
import { launch, LaunchError, launchUntil } from "../embedded/process.mjs";
import { dataDirOf } from "../embedded/settings.mjs";
import { runningStack } from "../supervisor/address.mjs";

export const USAGE = `usage: npm run demo -- [--base-url URL --key KEY] [--out FOLDER] [--model CALL=MODEL]…

Calls every kind of model and capability once and saves what they make. Without --base-url it calls the stack that \`npm start\` runs
on this data directory, or starts one for as long as it takes.

  --base-url  address of a Sluice, such as http://127.0.0.1:8080/v1   (or SLUICE_BASE_URL)
  --key       an API key of it                                       (or SLUICE_KEY)
  --out       where the results go; ./demo-output unless told otherwise
  --model     another model for one call, such as --model image=gpt-image-1`;

const TEXT = /** @type {const} */ ({ type: "string" });
const MODELS = /** @type {const} */ ({ type: "string", multiple: true });
const OPTIONS = {
  "base-url": TEXT,
  key: TEXT,
  out: TEXT,
  model: MODELS,
  help: /** @type {const} */ ({ type: "boolean" }),
};

/** The first start on a machine fetches Bun, NATS and the packages. */
const READY_WITHIN_MS = 15 * 60_000;
/** Above the sum of the graces that the roles and servers have. */
const STOPPED_WITHIN_MS = 120_000;

/**
 * @typedef {object} Wishes
 * @property {boolean} isHelp
 * @property {string | undefined} baseUrl ends in /v1
 * @property {string | undefined} key
 * @property {string} out absolute
 * @property {Record<string, string>} models by the call's name
 */

/**
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @param {string} folder that relative paths start from; npm runs scripts in the project's, INIT_CWD is where the person stands
 * @returns {Wishes}
 * @throws {StartFault} for what cannot be understood
 */
export function readWishes(args, environment = process.env, folder = process.env["INIT_CWD"] ?? process.cwd()) {
  const given = parse(args);
  const address = given["base-url"] ?? (environment["SLUICE_BASE_URL"]?.trim() || undefined);
  return {
    isHelp: given.help ?? false,
    baseUrl: address === undefined ? undefined : withVersion(address),
    key: given.key ?? (environment["SLUICE_KEY"]?.trim() || undefined),
    out: resolve(folder, given.out ?? "demo-output"),
    models: Object.fromEntries((given.model ?? []).map(pair)),
  };
}

/** @param {readonly string[]} args */
function parse(args) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new StartFault(`${reasonOf(error)}\n\n${USAGE}`);
  }
}

/**
 * @param {string} address with or without /v1
 * @returns {string}
 */
function withVersion(address) {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new StartFault(`"${address.slice(0, 100)}" is no address such as http://127.0.0.1:8080/v1.`);
  }
  return `${address.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/**
 * @param {string} text such as image=gpt-image-1
 * @returns {readonly [string, string]}
 */
function pair(text) {
  const [, call, model] = /^([a-z0-9-]+)=(\S+)$/.exec(text) ?? [];
  if (call === undefined || model === undefined) {
    throw new StartFault(`--model takes a call and a model, such as image=gpt-image-1; got "${text.slice(0, 100)}".`);
  }
  return [call, model];
}

/**
 * @typedef {object} Starting
 * @property {string} root the project's folder
 * @property {string} node the program that starts a stack
 * @property {(text: string) => void} progress
 * @property {(stop: () => Promise<unknown>) => void} onLaunch told how to end a stack of our own as soon as there is something to end
 */

/**
 * @param {Wishes} wishes
 * @param {Starting} starting
 * @returns {Promise<{ baseUrl: string, key: string, isOwn: boolean }>}
 * @throws {StartFault} where a named stack has no key, or with the stack's own sentence when it does not start
 */
export async function findStack({ baseUrl, key }, starting) {
  if (baseUrl !== undefined) {
    // It is told no key but the one that was named for it.
    if (key === undefined) throw new StartFault(`A key for ${baseUrl} is needed: pass --key, or set SLUICE_KEY.`);
    return { baseUrl, key, isOwn: false };
  }
  const dataDir = dataDirOf(process.env);
  const running = runningStack(dataDir);
  if (running === null) await startStack(dataDir, starting);
  const address = running ?? runningStack(dataDir);
  if (address === null) throw new StartFault("The stack started and did not say where it is.");
  return { baseUrl: address.baseUrl, key: key ?? address.key, isOwn: running === null };
}

/**
 * @param {string} dataDir
 * @param {Starting} starting
 */
async function startStack(dataDir, { root, node, progress, onLaunch }) {
  // Nobody else is to call it, so no port that somebody may have is needed.
  const ours = { PORT: "0", SLUICE_HOST: "127.0.0.1", SLUICE_ADMIN_PORT: "0" };
  const env = { ...ours, ...process.env, SLUICE_DATA_DIR: dataDir, SLUICE_LOG_FORMAT: "json" };
  const command = { name: "npm start", command: node, args: [join("deploy", "start.mjs")], cwd: root, env };
  let isReady = false;
  try {
    await launchUntil(
      (onLine) => {
        const running = launch({ ...command, onLine });
        onLaunch(() => running.stop("SIGTERM", STOPPED_WITHIN_MS));
        return running;
      },
      (line) => {
        const said = ownWords(line);
        // What it says later is about its stop, which is ours and no news.
        if (isReady || said === null) return null;
        isReady = said === "ready";
        if (!isReady) progress(said);
        return isReady || null;
      },
      READY_WITHIN_MS,
    );
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const sentence = error.lines.find((line) => line.startsWith("sluice: "))?.slice("sluice: ".length);
    throw new StartFault(sentence ?? error.message);
  }
}

/**
 * Message of the supervisor in a line of the log; null for lines of others, as the roles say `ready` too.
 * @param {string} line
 * @returns {string | null}
 */
function ownWords(line) {
  if (!line.startsWith("{")) return null;
  try {
    const { role, msg } = JSON.parse(line);
    return role === "start" && typeof msg === "string" ? msg : null;
  } catch {
    return null;
  }
}
