// @ts-check
/**
 * Settings that `npm start` reads from the environment before Bun, which runs shared/config/config.ts, is installed. The roles validate
 * these and all other settings.
 */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { reasonOf, StartFault } from "./fault.mjs";
import { freePort, portFault } from "./probe.mjs";

/**
 * Settings of `npm start`.
 * @typedef {object} Settings
 * @property {string} dataDir absolute path
 * @property {readonly string[]} caches folders of downloaded programs, in order of preference
 * @property {number} port 0 for any free port
 * @property {string} host
 * @property {string | undefined} publicUrl address at which browsers reach the service, without a slash at its end
 * @property {number} adminPort
 * @property {string} adminHost
 * @property {string} bucket
 * @property {number} graceMs
 * @property {boolean} jsonLogs
 * @property {string | undefined} databaseUrl address of an external Postgres; undefined: an embedded one is started
 * @property {string | undefined} natsUrl address of an external NATS server, likewise
 * @property {string | undefined} s3Endpoint address of an external object store, likewise
 */

/** Default of SLUICE_ADMIN_PORT. Another free port is used if this one is occupied. */
const ADMIN_PORT = 9464;

/**
 * Reads and checks the settings.
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {Promise<Settings>}
 * @throws {StartFault} for a malformed setting, an occupied port, or a directory that cannot be written
 */
export async function readSettings(environment) {
  const text = (/** @type {string} */ name) => environment[name]?.trim() || undefined;
  const number = (/** @type {string} */ name, /** @type {number} */ fallback, /** @type {number} */ max) => {
    const value = text(name) ?? String(fallback);
    if (/^\d+$/.test(value) && Number(value) <= max) return Number(value);
    throw new StartFault(`${name} must be a whole number from 0 to ${max}, got "${value.slice(0, 40)}".`);
  };
  const logFormat = text("SLUICE_LOG_FORMAT") ?? "text";
  if (logFormat !== "text" && logFormat !== "json") {
    throw new StartFault(`SLUICE_LOG_FORMAT must be text or json, got "${logFormat.slice(0, 40)}".`);
  }
  const natsUrl = text("NATS_URL");
  if (natsUrl?.split(",").every((url) => URL.canParse(url.trim())) === false) {
    throw new StartFault("NATS_URL is not a URL such as nats://host:4222.");
  }
  const port = number("PORT", 8080, 65_535);
  const host = text("SLUICE_HOST") ?? "127.0.0.1";
  const adminHost = text("SLUICE_ADMIN_HOST") ?? "127.0.0.1";
  await requireFree({ name: "PORT", port, host, hostName: "SLUICE_HOST" });
  const admin = {
    given: text("SLUICE_ADMIN_PORT"),
    port: number("SLUICE_ADMIN_PORT", ADMIN_PORT, 65_535),
    host: adminHost,
  };
  if (admin.given !== undefined && admin.port === port && port !== 0 && adminHost === host) {
    throw new StartFault(`PORT and SLUICE_ADMIN_PORT are both ${port}; set them to two different ports.`);
  }
  const dataDir = dataDirOf(environment);
  requireWritable(dataDir);
  return {
    dataDir,
    caches: cachesOf(environment, dataDir),
    port,
    host,
    publicUrl: text("SLUICE_PUBLIC_URL")?.replace(/\/+$/, ""),
    adminPort: await freeAdminPort(admin),
    adminHost,
    bucket: text("SLUICE_S3_BUCKET") ?? "sluice",
    graceMs: number("SLUICE_GRACE_MS", 30_000, 3_600_000),
    jsonLogs: logFormat === "json",
    databaseUrl: text("DATABASE_URL"),
    natsUrl,
    s3Endpoint: text("S3_ENDPOINT"),
  };
}

/**
 * Returns the folder with all data of `npm start`.
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {string} absolute path
 */
export function dataDirOf(environment) {
  return resolve(environment["SLUICE_DATA_DIR"]?.trim() || ".sluice");
}

/**
 * Returns folders for downloaded programs, in order of preference.
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @param {string} dataDir
 * @returns {readonly string[]}
 */
export function cachesOf(environment, dataDir) {
  const home = environment["XDG_CACHE_HOME"]?.trim() || join(homedir(), ".cache");
  return [join(home, "sluice"), join(dataDir, "cache")];
}

/**
 * Checks that a port is free.
 * @param {{ name: string, port: number, host: string, hostName: string }} wanted the port and host, and the names of the settings that
 * contain them
 * @throws {StartFault} if the process cannot listen on the port
 */
async function requireFree({ name, port, host, hostName }) {
  const fault = await portFault(port, host);
  if (fault === null) return;
  if (fault === "EADDRINUSE") {
    throw new StartFault(`Port ${port} is already in use; set ${name} to a free one or stop the program that has it.`);
  }
  if (fault === "EACCES") {
    throw new StartFault(`Port ${port} needs privileges this user lacks; set ${name} to one above 1023.`);
  }
  // The port is valid, so the host is not: no address of this machine, or no name that it can resolve.
  throw new StartFault(
    `${hostName} must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, got "${host.slice(0, 80)}" (${fault}).`,
  );
}

/**
 * Returns the admin port. If SLUICE_ADMIN_PORT is not set and the default port is in use, returns another free port.
 * @param {{ given: string | undefined, port: number, host: string }} wanted
 * @returns {Promise<number>}
 * @throws {StartFault} if the process cannot listen on the port
 */
async function freeAdminPort({ given, port, host }) {
  const names = { name: "SLUICE_ADMIN_PORT", hostName: "SLUICE_ADMIN_HOST" };
  const wanted = given === undefined ? await freePort(port) : port;
  await requireFree({ ...names, port: wanted, host });
  return wanted;
}

/**
 * Creates a folder and its parents. Node's recursive mkdir is not used, because it never ends below folders that reject new folders with
 * ENOENT. Such folders are /proc and folders of an automounter.
 * @param {string} folder absolute
 */
function createFolder(folder) {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another start may have created it.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Checks that files can be written to a directory. Creates the directory if it is missing.
 * @param {string} directory
 * @throws {StartFault} if no file can be written to the directory
 */
function requireWritable(directory) {
  const probe = join(directory, `.write-test-${process.pid}`);
  try {
    createFolder(directory);
    accessSync(directory, constants.W_OK);
    writeFileSync(probe, "");
    rmSync(probe);
  } catch (error) {
    throw new StartFault(
      `The data directory ${directory} cannot be written (${reasonOf(error)}); set SLUICE_DATA_DIR to one that can.`,
    );
  }
}

/**
 * Returns a secret of the stack: from the environment, or generated once and saved in the data directory.
 * @param {string | undefined} given
 * @param {string} dataDir
 * @param {"bootstrap-key" | "operator-token"} name file name of the secret
 * @returns {string}
 */
export function keptSecret(given, dataDir, name) {
  const trimmed = given?.trim();
  if (trimmed) return trimmed;
  const file = join(dataDir, name);
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const secret = `${name === "bootstrap-key" ? "sk" : "op"}_local_${randomBytes(24).toString("base64url")}`;
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/**
 * Returns free ports for the embedded services. The ports of the last start are reused if they are free.
 * @template {string} Name
 * @param {string} dataDir
 * @param {readonly Name[]} names
 * @returns {Promise<Record<Name, number>>}
 */
export async function rememberedPorts(dataDir, names) {
  const file = join(dataDir, "ports.json");
  /** @type {Partial<Record<Name, unknown>>} */
  let last = {};
  try {
    last = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // The file is missing at the first start, or truncated; new ports are then used.
  }
  const chosen = /** @type {Record<Name, number>} */ ({});
  for (const name of names) {
    const before = last[name];
    chosen[name] = await freePort(Number.isInteger(before) ? Number(before) : undefined);
  }
  writeFileSync(file, `${JSON.stringify(chosen)}\n`);
  return chosen;
}
