/**
 * Caches which engines worked on this machine less than an hour ago, with the same packages and isolation. A restarted worker then skips
 * their trials, which take about ten seconds of CPU time. An engine that failed is tried at every start.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { newId } from "#shared/base/ids.ts";

import type { CapabilityChildren } from "./children.ts";

const KNOWN_MS = 3_600_000;
/** Package files whose changes invalidate the cache, because an engine may fail with another version of a package. */
const PACKAGES = ["package.json", "bun.lock"].map((name) =>
  fileURLToPath(new URL(`../../../${name}`, import.meta.url)),
);

/**
 * Returns a `tryEngine` that returns the cached result of a successful trial, and otherwise tries the engine.
 * @param facts everything on which engines depend besides the packages: isolation, programs of the system
 * @param known path of the cache file; default: a file in the temporary folder
 */
export function rememberEngines(
  { tryEngine }: Pick<CapabilityChildren, "tryEngine">,
  facts: readonly object[],
  known?: string,
): Pick<CapabilityChildren, "tryEngine"> {
  const packages = PACKAGES.map((path) => (existsSync(path) ? readFileSync(path, "utf8") : ""));
  const here = [Bun.version, process.execPath, ...packages, facts];
  const key = createHash("sha256").update(JSON.stringify(here)).digest("hex");
  // The facts are part of the name, so that two installations on one machine have separate caches.
  const file = known ?? join(tmpdir(), `sluice-engines-${process.getuid?.() ?? 0}-${key.slice(0, 12)}.json`);
  return {
    async tryEngine(engine) {
      const triedAt = read(file, key)[engine] ?? 0;
      const age = Date.now() - triedAt;
      if (age >= 0 && age < KNOWN_MS) return undefined;
      const fault = await tryEngine(engine);
      if (fault === undefined) write(file, key, { ...read(file, key), [engine]: Date.now() });
      return fault;
    },
  };
}

type Tried = Readonly<Record<string, number>>;

/** Reads the cache file. Returns no results if the file does not exist, belongs to another user or was written under other conditions. */
function read(file: string, key: string): Tried {
  try {
    const facts = lstatSync(file);
    if (!facts.isFile() || facts.uid !== process.getuid?.()) return {};
    const { key: known, tried } = JSON.parse(readFileSync(file, "utf8")) as { key?: string; tried?: Tried };
    return known === key ? (tried ?? {}) : {};
  } catch {
    return {};
  }
}

/** Replaces the cache file atomically, because other workers may write it too. If that fails, engines are tried at each start. */
function write(file: string, key: string, tried: Tried): void {
  const beside = `${file}.${newId()}`;
  try {
    writeFileSync(beside, JSON.stringify({ key, tried }), { mode: 0o600, flag: "wx" });
    renameSync(beside, file);
  } catch {
    // The folder is full or read-only.
  }
}
