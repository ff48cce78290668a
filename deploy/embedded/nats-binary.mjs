// @ts-check
/** Finding a nats-server program, or fetching one without touching the system. Why this way: deploy/decisions/0101. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { unpackFromDebian } from "./apt-sources.mjs";
import { StartFault } from "./fault.mjs";
import { atLeast, NATS_FLOOR } from "./nats.mjs";
import { findOnPath, run } from "./process.mjs";

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
 * @param {string} binary
 * @returns {Promise<string | null>} null when it does not run
 */
async function versionOf(binary) {
  const { stdout } = await run({ name: "nats-server", command: binary, args: ["--version"], cwd: "/" });
  return /nats-server: v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
}

/**
 * @param {readonly string[]} targets
 * @param {(text: string) => void} progress
 * @returns {Promise<string>}
 */
async function fetchFromDebian(targets, progress) {
  const onFetch = () => progress(`fetching nats-server from this machine's Debian mirror (release ${RELEASE})`);
  return unpackFromDebian({ release: RELEASE, packages: ["nats-server"], advice: ADVICE, onFetch }, async (folder) => {
    const binary = ["usr/bin/nats-server", "usr/sbin/nats-server"]
      .map((path) => join(folder, path))
      .find((path) => existsSync(path));
    const version = binary === undefined ? null : await versionOf(binary);
    if (binary === undefined || version === null || !atLeast(version, NATS_FLOOR)) {
      throw new StartFault(
        `The fetched nats-server (${version ?? "of an unknown version"}) cannot be used here. ${ADVICE}`,
      );
    }
    return keep(binary, targets);
  });
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
