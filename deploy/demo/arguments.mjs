// @ts-check
/** Options of `npm run demo`, from its command line or else from the environment. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { reasonOf, StartFault } from "../embedded/fault.mjs";

export const USAGE = `usage: npm run demo -- [--base-url URL --key KEY] [--out FOLDER] [--model CALL=MODEL]…

Calls every kind of model and capability once and saves what they make. Without --base-url it calls the stack that \`npm start\` runs
on this data directory, or starts one for as long as it takes.

  --base-url  address of a Sluice, such as http://127.0.0.1:8080/v1   (or SLUICE_BASE_URL)
  --key       an API key of it                                       (or SLUICE_KEY)
  --out       where the results go; ./demo-output unless told otherwise
  --model     another model for one call, such as --model image=gpt-image-1`;

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
 * @param {string} folder that relative paths start from
 * @returns {Wishes}
 * @throws {StartFault} for what cannot be understood
 */
export function readWishes(args, environment, folder) {
  const given = parse(args);
  const address = given["base-url"] ?? (environment["SLUICE_BASE_URL"]?.trim() || undefined);
  return {
    isHelp: given.help ?? false,
    baseUrl: address === undefined ? undefined : withVersion(address),
    key: given.key ?? (environment["SLUICE_KEY"]?.trim() || undefined),
    out: given.out === undefined ? join(folder, "demo-output") : resolve(folder, given.out),
    models: Object.fromEntries((given.model ?? []).map(pair)),
  };
}

/**
 * @param {readonly string[]} args
 */
function parse(args) {
  try {
    const text = /** @type {const} */ ({ type: "string" });
    return parseArgs({
      args: [...args],
      options: {
        "base-url": text,
        key: text,
        out: text,
        model: { type: "string", multiple: true },
        help: { type: "boolean" },
      },
    }).values;
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
  const bare = address.replace(/\/+$/, "");
  return bare.endsWith("/v1") ? bare : `${bare}/v1`;
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
