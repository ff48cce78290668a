// @ts-check
/** Finds a nats-server program, or downloads one without changing the system. Reasons: deploy/decisions/0101. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDebian, unpackFromDebian } from "./apt-sources.mjs";
import { reasonOf, StartFault } from "./fault.mjs";
import { atLeast, NATS_FLOOR } from "./nats.mjs";
import { releasedNats } from "./nats-release.mjs";
import { findAllOnPath, run } from "./process.mjs";

/** Debian release from which nats-server is downloaded. Its nats-server is recent enough and also runs on older releases. */
const RELEASE = "forky";
/** Timeout of `nats-server --version`, in milliseconds. A wrapper script on PATH may ignore its arguments and start a server. */
const VERSION_MS = 10_000;
const ADVICE = `You can also install nats-server ${NATS_FLOOR} or newer on PATH (for example \`brew install nats-server\`), or set NATS_URL.`;

/**
 * Options of the search. All except `caches` and `progress` are for tests.
 * @typedef {object} Options
 * @property {readonly string[]} caches folders for the downloaded program; the first writable one is used
 * @property {(text: string) => void} progress
 * @property {import("./proxy.mjs").Environment} [environment]
 * @property {string} [root] folder with this system's `etc`
 * @property {string} [platform]
 * @property {string} [arch]
 * @property {import("./nats-release.mjs").Release} [release]
 * @property {import("./download.mjs").Limits} [limits]
 * @property {number} [versionMs] timeout of `nats-server --version`, in milliseconds
 */

/**
 * Returns the nats-server program to run. In order of preference: on PATH, an earlier download, the Debian archive, the official release.
 * @param {Options} options
 * @returns {Promise<string>} absolute path
 * @throws {StartFault} if no program is found and no download succeeds
 */
export async function natsBinary(options) {
  const targets = options.caches.map((cache) => join(cache, `nats-server-${options.arch ?? process.arch}`));
  /** @type {string[]} */
  const old = [];
  for (const path of findAllOnPath("nats-server")) {
    const version = await versionOf(path, options.versionMs);
    if (isNewEnough(version)) return use(path, old, options);
    old.push(`${path} (${version === null ? "its version is unknown" : `version ${version}`})`);
  }
  for (const path of targets)
    if (existsSync(path) && isNewEnough(await versionOf(path))) return use(path, old, options);
  try {
    return use(await fetchProgram(targets, options), old, options);
  } catch (error) {
    if (!(error instanceof StartFault) || old.length === 0) throw error;
    throw new StartFault(`${error.message} (${passedOver(old)})`);
  }
}

/**
 * Returns a message about outdated programs that are not used.
 * @param {readonly string[]} old
 */
function passedOver(old) {
  return `not using ${old.join(", ")}: Sluice needs nats-server ${NATS_FLOOR} or newer`;
}

/**
 * Returns the selected program, after reporting outdated programs that were found first.
 * @param {string} path
 * @param {readonly string[]} old paths of the outdated programs
 * @param {Options} options
 * @returns {string}
 */
function use(path, old, { progress }) {
  if (old.length > 0) progress(`${passedOver(old)}; using ${path} instead`);
  return path;
}

/**
 * Returns true if the version is known and Sluice supports it.
 * @param {string | null} version
 */
function isNewEnough(version) {
  return version !== null && atLeast(version, NATS_FLOOR);
}

/**
 * Returns the version of a nats-server program.
 * @param {string} binary
 * @param {number} [timeoutMs]
 * @returns {Promise<string | null>} null if the program does not run, or after the timeout
 */
async function versionOf(binary, timeoutMs = VERSION_MS) {
  const { stdout } = await run({ name: "nats-server", command: binary, args: ["--version"], cwd: "/", timeoutMs });
  return /nats-server: v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
}

/**
 * Downloads nats-server from the Debian archive or the official release, and stores it.
 * @param {readonly string[]} targets possible paths of the program, in order of preference
 * @param {Options} options
 * @returns {Promise<string>} the path in `targets` that now contains the program
 */
async function fetchProgram(targets, options) {
  const { progress, root, platform = process.platform, arch = process.arch, environment = process.env } = options;
  if (isDebian(root)) {
    try {
      const program = await debianNats(progress, root);
      return await keep(program, targets);
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      progress(`${error.message} The official release is used instead.`);
    }
  }
  const { release, limits } = options;
  const wanted = { platform, arch, environment, progress, advice: ADVICE };
  const program = await releasedNats({ ...wanted, ...(release ? { release } : {}), ...(limits ? { limits } : {}) });
  return keep(program, targets);
}

/**
 * Downloads nats-server from this machine's Debian mirror.
 * @param {(text: string) => void} progress
 * @param {string} [root]
 * @returns {Promise<Buffer>}
 */
function debianNats(progress, root) {
  progress(`fetching nats-server from this machine's Debian mirror (release ${RELEASE})`);
  return unpackFromDebian({ release: RELEASE, packages: ["nats-server"], root }, async (folder) => {
    const paths = ["usr/bin/nats-server", "usr/sbin/nats-server"].map((path) => join(folder, path));
    const path = paths.find((one) => existsSync(one));
    if (path === undefined) throw new StartFault("The Debian package of nats-server contains no such program.");
    return readFileSync(path);
  });
}

/**
 * Stores the downloaded program in the first possible path. The file has a temporary name until a test run succeeds, so that a concurrent
 * start never runs a partial file.
 * @param {Buffer} program
 * @param {readonly string[]} targets
 * @returns {Promise<string>}
 */
async function keep(program, targets) {
  /** @type {string[]} */
  const faults = [];
  for (const target of targets) {
    const part = `${target}.${process.pid}`;
    try {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(part, program, { mode: 0o755 });
      const version = await versionOf(part);
      if (!isNewEnough(version))
        throw new Error(version === null ? "it does not run there" : `it is version ${version}`);
      renameSync(part, target);
      return target;
    } catch (error) {
      if (existsSync(part)) rmSync(part);
      faults.push(`${target}: ${reasonOf(error)}`);
    }
  }
  throw new StartFault(`The fetched nats-server cannot be used (${faults.join("; ")}). ${ADVICE}`);
}
