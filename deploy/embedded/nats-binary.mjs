// @ts-check
/** Finding a nats-server program, or fetching one without touching the system. Why this way: deploy/decisions/0101. */
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { debianArchive } from "./apt-sources.mjs";
import { StartFault } from "./fault.mjs";
import { atLeast, NATS_FLOOR } from "./nats.mjs";
import { run } from "./process.mjs";

/** The Debian release whose nats-server is new enough; its binary runs on older releases too. */
const RELEASE = "forky";
const ADVICE = `Install nats-server ${NATS_FLOOR} or newer (for example \`brew install nats-server\`) so that it is on PATH, or set NATS_URL.`;

/**
 * The program to run: from PATH, else the one fetched earlier, else fetched now from the Debian archive.
 * @param {object} options
 * @param {readonly string[]} options.caches folders for the fetched program; the first usable one is taken
 * @param {(text: string) => void} options.progress
 * @returns {Promise<string>} absolute path
 * @throws {StartFault} when the one on PATH is too old, or none can be had
 */
export async function natsBinary({ caches, progress }) {
  const onPath = findOnPath("nats-server");
  if (onPath !== null) {
    const version = await versionOf(onPath);
    if (version !== null && atLeast(version, NATS_FLOOR)) return onPath;
    throw new StartFault(
      `${onPath} is nats-server ${version ?? "of an unknown version"}, and Sluice needs ${NATS_FLOOR} or newer; upgrade it, take it off PATH, or set NATS_URL.`,
    );
  }
  const kept = caches.map((cache) => join(cache, `nats-server-${process.arch}`));
  for (const path of kept) {
    const version = existsSync(path) ? await versionOf(path) : null;
    if (version !== null && atLeast(version, NATS_FLOOR)) return path;
  }
  return fetchFromDebian(kept, progress);
}

/**
 * @param {string} program
 * @returns {string | null}
 */
export function findOnPath(program) {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder === "") continue;
    try {
      accessSync(join(folder, program), constants.X_OK);
      return join(folder, program);
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * @param {string} binary
 * @returns {Promise<string | null>} null when it does not run
 */
async function versionOf(binary) {
  const { stdout } = await run({ name: "nats-server", command: binary, args: ["--version"], cwd: "/" });
  return /nats-server: v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
}

/**
 * apt checks the archive's signature and the package's digest; its lists, cache and settings for this go to a private
 * folder, so neither root nor a change of the system is needed.
 * @param {readonly string[]} targets
 * @param {(text: string) => void} progress
 * @returns {Promise<string>}
 */
async function fetchFromDebian(targets, progress) {
  const archive = debianArchive();
  if (archive === null || findOnPath("apt-get") === null || findOnPath("dpkg") === null) {
    throw new StartFault(`No nats-server was found, and this system has no Debian archive to take it from. ${ADVICE}`);
  }
  progress(`fetching nats-server from this machine's Debian mirror (release ${RELEASE})`);
  const work = mkdtempSync(join(tmpdir(), "sluice-nats-"));
  try {
    for (const folder of ["lists/partial", "cache/archives/partial", "out"]) {
      mkdirSync(join(work, folder), { recursive: true });
    }
    writeFileSync(join(work, "sources.list"), `deb [signed-by=${archive.keyring}] ${archive.uri} ${RELEASE} main\n`);
    await apt(work, ["update"]);
    await apt(work, ["download", "nats-server"]);
    const packed = readdirSync(work).find((name) => name.endsWith(".deb"));
    if (packed === undefined) throw new StartFault(`apt-get fetched no nats-server. ${ADVICE}`);
    const unpacked = await run({
      name: "dpkg",
      command: "dpkg",
      args: ["-x", join(work, packed), join(work, "out")],
      cwd: work,
    });
    const binary = ["usr/bin/nats-server", "usr/sbin/nats-server"]
      .map((path) => join(work, "out", path))
      .find((path) => existsSync(path));
    const version = binary === undefined ? null : await versionOf(binary);
    if (binary === undefined || version === null || !atLeast(version, NATS_FLOOR)) {
      throw new StartFault(`The fetched nats-server (${version ?? unpacked.stderr}) cannot be used here. ${ADVICE}`);
    }
    return keep(binary, targets);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * @param {string} work
 * @param {readonly string[]} command
 */
async function apt(work, command) {
  const settings = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": join(work, "lists"),
    "Dir::Cache": join(work, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "20",
    "Acquire::https::Timeout": "20",
    "APT::Update::Error-Mode": "any",
    // The unprivileged download account could not enter our private folder.
    ...(process.getuid?.() === 0 ? { "APT::Sandbox::User": "root" } : {}),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const { code, stderr } = await run({
    name: "apt-get",
    command: "apt-get",
    args: ["-qq", ...args, ...command],
    cwd: work,
    env: { ...process.env, LC_ALL: "C" },
  });
  if (code === 0) return;
  const reason = stderr.split("\n").find((line) => /^[EW]: /.test(line)) ?? stderr;
  throw new StartFault(
    `nats-server could not be fetched from the Debian mirror (${reason.slice(0, 300)}); check the network, or: ${ADVICE}`,
  );
}

/**
 * Copies under another name and renames, so that two starts at once never run half a file.
 * @param {string} binary
 * @param {readonly string[]} targets
 * @returns {string}
 */
function keep(binary, targets) {
  let last = "";
  for (const target of targets) {
    const part = `${target}.${process.pid}`;
    try {
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(binary, part);
      chmodSync(part, 0o755);
      renameSync(part, target);
      return target;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
  }
  throw new StartFault(`The fetched nats-server could not be stored: ${last}.`);
}
