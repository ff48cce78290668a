// @ts-check
/** Installs Bun and the dependencies on a machine that has only Node and npm. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartFault } from "./fault.mjs";
import { withLock } from "./lock.mjs";
import { atLeast } from "./nats.mjs";
import { findOnPath, run } from "./process.mjs";

/**
 * Settings of Bun's memory allocator for roles and commands. The operator's settings take precedence. By default the allocator returns
 * freed memory to the system ten times a second. That costs 6 % of a busy role's CPU time (decision 0064).
 */
export const BUN_MEMORY = { MIMALLOC_PURGE_DELAY: "10000", MIMALLOC_PURGE_HOLES: "0" };

/**
 * Installs the project's Bun and all dependencies in the lock file. Returns quickly if nothing has changed.
 * @param {object} options
 * @param {string} options.root
 * @param {readonly string[]} options.caches folders for the Bun that runs the installation; the first writable folder is used
 * @param {(text: string) => void} options.progress
 * @returns {Promise<string>} path of the bun program
 * @throws {StartFault} on Windows, when npm is missing, or when a download fails
 */
export async function prepareBun(options) {
  const { root, progress } = options;
  if (process.platform === "win32") {
    throw new StartFault("Sluice does not run on Windows itself; run the same command in WSL 2 (`wsl --install`).");
  }
  const wanted = wantedVersion(root);
  const own = join(root, "node_modules/.bin/bun");
  if (readOr(stampFile(root)) === stamp(root) && (await versionOf(own)) === wanted) return own;
  const lock = join(tmpdir(), `sluice-install-${digest(root).slice(0, 16)}.lock`);
  const wait = (/** @type {number} */ owner) => progress(`waiting for the installation of process ${owner}`);
  await withLock(lock, wait, async () => {
    if (readOr(stampFile(root)) === stamp(root) && (await versionOf(own)) === wanted) return;
    const bun = await bootstrapBun(own, wanted, options);
    await install(root, bun, progress);
  });
  if ((await versionOf(own)) !== wanted) throw new StartFault(`The installed Bun does not run on this system.`);
  return own;
}

/**
 * Returns the Bun version that package.json requires.
 * @param {string} root
 * @returns {string} such as 1.4.4
 */
function wantedVersion(root) {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return String(packageManager).replace(/^bun@/, "");
}

/**
 * Returns the version of a Bun program.
 * @param {string} program
 * @returns {Promise<string | null>} null if the program is missing or does not run
 */
async function versionOf(program) {
  if (!existsSync(program)) return null;
  const { code, stdout } = await run({ name: "bun", command: program, args: ["--version"], cwd: "/" });
  return code === 0 ? stdout.trim() : null;
}

/**
 * Returns a Bun that can install the dependencies. In order of preference: the project's Bun, one on PATH, an earlier download, a new
 * download.
 * @param {string} own
 * @param {string} wanted
 * @param {{ caches: readonly string[], progress: (text: string) => void }} options
 * @returns {Promise<string>}
 */
async function bootstrapBun(own, wanted, { caches, progress }) {
  if ((await versionOf(own)) === wanted) return own;
  const onPath = findOnPath("bun");
  const version = onPath === null ? null : await versionOf(onPath);
  if (onPath !== null && version !== null && atLeast(version, wanted)) return onPath;
  const folders = caches.map((cache) => join(cache, `bun-${wanted}`));
  for (const folder of folders) {
    const kept = await bunIn(folder, wanted);
    if (kept !== null) return kept;
  }
  progress(`fetching Bun ${wanted} with npm`);
  return fetchBun(folders, wanted);
}

/**
 * Returns the path of the program in an installed package `bun`. The package's install script, which npm may block, is not needed: it only
 * moves the program.
 * @param {string} folder
 * @param {string} wanted
 * @returns {Promise<string | null>} null if no program of the wanted version is installed
 */
async function bunIn(folder, wanted) {
  const packages = join(folder, "node_modules/@oven");
  for (const name of existsSync(packages) ? readdirSync(packages) : []) {
    const program = join(packages, name, "bin/bun");
    if ((await versionOf(program)) === wanted) return program;
  }
  return null;
}

/**
 * Downloads Bun with npm into the first writable folder, and returns the path of the program.
 * @param {readonly string[]} folders
 * @param {string} wanted
 * @returns {Promise<string>}
 */
async function fetchBun(folders, wanted) {
  const folder = folders.find(writable);
  if (folder === undefined) throw new StartFault(`There is no writable folder for Bun among ${folders.join(", ")}.`);
  const fresh = mkdtempSync(`${folder}-`);
  try {
    // An empty manifest prevents npm from searching the parent folders for one.
    writeFileSync(join(fresh, "package.json"), "{}\n");
    const { code, stderr } = await npm(fresh, [
      "install",
      `bun@${wanted}`,
      "--prefix",
      fresh,
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--fetch-retries=1",
      "--fetch-retry-mintimeout=1000",
    ]);
    if (code !== 0) throw new StartFault(`npm could not fetch Bun ${wanted} (${reason(stderr)}); check the network.`);
    if ((await bunIn(fresh, wanted)) === null) throw new StartFault(`Bun ${wanted} does not run on this system.`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  const program = await bunIn(folder, wanted);
  if (program === null) throw new StartFault(`Bun ${wanted} could not be stored in ${folder}.`);
  return program;
}

/**
 * Runs npm with the machine's own settings, such as registry, proxy and certificates.
 * @param {string} cwd
 * @param {readonly string[]} args
 */
async function npm(cwd, args) {
  const script = process.env["npm_execpath"];
  if (script !== undefined && /npm-cli\.c?js$/.test(script)) {
    return run({ name: "npm", command: process.execPath, args: [script, ...args], cwd });
  }
  const program = findOnPath("npm");
  if (program === null) throw new StartFault("npm was not found on PATH; it comes with Node and is needed once.");
  return run({ name: "npm", command: program, args, cwd });
}

/**
 * Installs the project's dependencies.
 * @param {string} root
 * @param {string} bun
 * @param {(text: string) => void} progress
 */
async function install(root, bun, progress) {
  progress("installing the dependencies");
  // Bun reads the user's .npmrc, but not npm's global one.
  const registry = await npm(root, ["config", "get", "registry"]).catch(() => null);
  const address = registry?.stdout.trim() ?? "";
  const { code, stdout, stderr } = await run({
    name: "bun install",
    command: bun,
    args: ["install", "--frozen-lockfile", "--no-progress"],
    cwd: root,
    env: { ...process.env, ...(URL.canParse(address) ? { NPM_CONFIG_REGISTRY: address } : {}) },
  });
  if (code !== 0) {
    const text = `${stderr}\n${stdout}`;
    throw new StartFault(
      text.includes("lockfile had changes")
        ? "bun.lock does not fit package.json; run `npx bun install` and commit the result."
        : `The dependencies could not be installed (${reason(text)}); check the network.`,
    );
  }
  writeFileSync(stampFile(root), stamp(root));
}

/**
 * Returns the path of the file that contains the digest of the last installation.
 * @param {string} root
 * @returns {string}
 */
function stampFile(root) {
  return join(root, "node_modules/.sluice-installed");
}

/**
 * Returns a digest of everything on which an installation depends: package.json, the lock file, and the system, because node_modules
 * contains binaries.
 * @param {string} root
 * @returns {string}
 */
function stamp(root) {
  const files = ["package.json", "bun.lock"].map((name) => readFileSync(join(root, name), "utf8"));
  return digest([process.platform, process.arch, ...files].join("\0"));
}

/**
 * Returns the SHA-256 of a text in hexadecimal.
 * @param {string} text
 * @returns {string}
 */
function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns the line of a tool's output that contains the error.
 * @param {string} output
 * @returns {string}
 */
function reason(output) {
  const lines = output.split("\n").map((line) => line.trim());
  const found =
    lines.find((line) => /^(error|npm error|npm ERR!)/i.test(line) && /\s\S+\s/.test(line)) ?? lines.find(Boolean);
  return (found ?? "no reason given").slice(0, 300);
}

/**
 * Returns true if the folder exists, or can be created, and is writable.
 * @param {string} folder
 * @returns {boolean}
 */
function writable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the text of a file; null if the file does not exist.
 * @param {string} file
 * @returns {string | null}
 */
function readOr(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
