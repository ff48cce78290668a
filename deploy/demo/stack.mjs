// @ts-check
/**
 * Options of `npm run demo`, and the stack that the demo calls: the stack in the options, the one that `npm start` runs, or a stack of its
 * own.
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { reasonOf, StartFault } from "../embedded/fault.mjs";
import { describeExit, launch } from "../embedded/process.mjs";
import { dataDirOf } from "../embedded/settings.mjs";
import { runningStack } from "../supervisor/address.mjs";

export const USAGE = `usage: npm run demo -- [--base-url URL --key KEY] [--out FOLDER] [--model CALL=MODEL]…

Calls each kind of model and one capability of each category, and saves the results.
Without --base-url it calls the stack that \`npm start\` runs. If none runs, it starts one and stops it afterwards.

  --base-url  address of a Sluice, such as http://127.0.0.1:8080/v1 (default: SLUICE_BASE_URL)
  --key       API key of that Sluice (default: SLUICE_KEY)
  --out       folder for the results (default: demo-output)
  --model     model for one call, such as image=gpt-image-1; may be repeated`;

/** Maximum time for starting the stack, in milliseconds. The first start on a machine downloads a NATS server and creates a database. */
const START_TIMEOUT_MS = 15 * 60_000;

/**
 * Reads the options of the demo. `baseUrl` ends in /v1, `out` is an absolute path, and `models` maps names of calls to models.
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @param {string} folder base of relative paths; npm runs scripts in the project's folder and sets INIT_CWD to the user's folder
 * @throws {StartFault} for an unknown option or a malformed value
 */
export function readOptions(args, environment = process.env, folder = process.env["INIT_CWD"] ?? process.cwd()) {
  const values = parse(args);
  const address = values["base-url"] ?? (environment["SLUICE_BASE_URL"]?.trim() || undefined);
  return {
    isHelp: values.help ?? false,
    baseUrl: address === undefined ? undefined : withVersion(address),
    key: values.key ?? (environment["SLUICE_KEY"]?.trim() || undefined),
    out: resolve(folder, values.out ?? "demo-output"),
    models: new Map((values.model ?? []).map(splitModel)),
  };
}

/**
 * Parses the command line into option values.
 * @param {readonly string[]} args
 */
function parse(args) {
  const text = /** @type {const} */ ({ type: "string" });
  const models = /** @type {const} */ ({ type: "string", multiple: true });
  const help = /** @type {const} */ ({ type: "boolean" });
  try {
    return parseArgs({ args: [...args], options: { "base-url": text, key: text, out: text, model: models, help } })
      .values;
  } catch (error) {
    throw new StartFault(`${reasonOf(error)}\n\n${USAGE}`);
  }
}

/**
 * Returns an address that ends in /v1, which is added if it is missing.
 * @param {string} address
 */
function withVersion(address) {
  if (/^https?:\/\//.test(address) && URL.canParse(address))
    return `${address.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
  throw new StartFault(
    `--base-url must be an address such as http://127.0.0.1:8080/v1, got "${address.slice(0, 100)}".`,
  );
}

/**
 * Splits a value of `--model` into the name of a call and its model.
 * @param {string} text such as image=gpt-image-1
 * @returns {[string, string]}
 */
function splitModel(text) {
  const [, call, model] = /^([a-z0-9-]+)=(\S+)$/.exec(text) ?? [];
  if (call !== undefined && model !== undefined) return [call, model];
  throw new StartFault(`--model must be CALL=MODEL, such as image=gpt-image-1, got "${text.slice(0, 100)}".`);
}

/**
 * Returns the stack in the options, or else the running local stack; null if there is none.
 * @param {Pick<ReturnType<typeof readOptions>, "baseUrl" | "key">} options
 * @throws {StartFault} when the options have an address without a key: the key of the local stack is not sent elsewhere
 */
export function findStack({ baseUrl, key }) {
  const address = baseUrl === undefined ? runningStack(dataDirOf(process.env)) : { baseUrl, key };
  if (address === null) return null;
  const apiKey = key ?? address.key;
  if (apiKey === undefined) throw new StartFault("--base-url needs an API key: pass --key, or set SLUICE_KEY.");
  return { baseUrl: address.baseUrl, apiKey };
}

/**
 * Launches `npm start` on free ports of 127.0.0.1, so that it runs beside other programs.
 * @param {string} root the project's folder
 * @param {string} node path of the Node program
 */
export function launchStack(root, node) {
  const ports = { PORT: "0", SLUICE_HOST: "127.0.0.1", SLUICE_ADMIN_PORT: "0" };
  const env = { ...ports, ...process.env, SLUICE_DATA_DIR: dataDirOf(process.env) };
  return launch({ name: "npm start", command: node, args: ["deploy/start.mjs"], cwd: root, env });
}

/**
 * Waits until the launched stack accepts calls, and returns its address.
 * @param {ReturnType<typeof launchStack>} stack
 * @param {Parameters<typeof findStack>[0]} options
 * @throws {StartFault} with the stack's own error message when the stack does not start
 */
export async function waitForStack(stack, options) {
  for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await delay(100)) {
    const address = findStack(options);
    if (address !== null) return address;
    if (stack.alive()) continue;
    const end = describeExit(await stack.exited);
    const message = stack.lines().findLast((line) => line.startsWith("sluice: "));
    throw new StartFault(
      message?.slice("sluice: ".length) ?? `npm start ${end}:\n${stack.lines().slice(-8).join("\n")}`,
    );
  }
  throw new StartFault(`npm start was not ready after ${START_TIMEOUT_MS / 60_000} minutes.`);
}
