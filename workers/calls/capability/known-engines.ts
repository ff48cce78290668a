/**
 * Engines that have worked on this machine less than an hour ago, with the same packages and the same isolation: a worker that
 * starts again does not try them anew, which takes some ten seconds of a core. One that failed is tried at every start.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { newId } from "#shared/ids.ts";

import type { CapabilityChildren } from "./children.ts";

const KNOWN_MS = 3_600_000;
/** An engine may work in one version of these and not in the next. */
const PACKAGES = ["package.json", "bun.lock"].map((name) =>
  fileURLToPath(new URL(`../../../${name}`, import.meta.url)),
);

/**
 * @param facts what an engine depends on beside the packages: isolation, programs of the system
 * @param known file of what has worked; one in the temporary folder when absent
 */
export function rememberEngines(
  { tryEngine }: Pick<CapabilityChildren, "tryEngine">,
  facts: readonly object[],
  known?: string,
): Pick<CapabilityChildren, "tryEngine"> {
  const packages = PACKAGES.map((path) => (existsSync(path) ? readFileSync(path, "utf8") : ""));
  const here = [Bun.version, process.execPath, ...packages, facts];
  const key = createHash("sha256").update(JSON.stringify(here)).digest("hex");
  // Named by the facts too: two installations on one machine do not forget each other's.
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

/** Nothing where there is no such file, another user's, or one of other facts. */
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

/** Replaces the file at once, since other workers may write it too; if it cannot be written, engines are tried at each start. */
function write(file: string, key: string, tried: Tried): void {
  const beside = `${file}.${newId()}`;
  try {
    writeFileSync(beside, JSON.stringify({ key, tried }), { mode: 0o600, flag: "wx" });
    renameSync(beside, file);
  } catch {
    // A full or read-only folder.
  }
}
