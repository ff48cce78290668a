/**
 * Names the tests that a change needs, as JSON: `bun tests/runner/changed.ts [git reference]`. The change is everything that differs from the
 * reference, uncommitted and untracked files included. Default reference: where the branch left the first of `BASES` that there is, else
 * the last commit.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { importsOf, LAYERS, resolveImport, type Sources } from "../support/architecture.ts";
import { type Area, AREAS } from "./areas.ts";
import { isNightly, testFiles } from "./select.mjs";

export interface Selection {
  readonly changed: readonly string[];
  readonly tests: readonly string[];
  /** Changed file that every test depends on. The whole gate has to run. */
  readonly everything: string | undefined;
}

/** A change here can fail any test. */
const EVERYTHING =
  /^(?:package\.json|bun\.lock|bunfig\.toml|tsconfig\.json|\.ci\/.*|tests\/(?:run\.mjs|setup\.ts|runner\/.*|support\/(?:pace|infrastructure)\.ts))$/;

/**
 * Returns a function that selects test files of the gate: those that import a changed file, directly or not, and those of the areas that it belongs to. Imports of
 * types do not count, since the type check reads them all. A nightly file is selected when it changed itself, or when a helper
 * changed that nightly files alone import.
 * @param sources every source of the project by its path
 * @param tests every test file
 * @returns takes paths below the root, also of deleted files
 */
export function createSelector(
  sources: Sources,
  tests: readonly string[],
  areas: readonly Area[] = AREAS,
): (changed: readonly string[]) => Selection {
  const importers = importersOf(sources);
  const all = new Set(tests);
  const gate = tests.filter((file) => !isNightly(file));
  const testsOf = (file: string): string[] => {
    const reached = closureOf(file, importers).filter((one) => all.has(one));
    const inGate = reached.filter((one) => !isNightly(one));
    const found = [
      ...(inGate.length > 0 || !file.startsWith("tests/") ? inGate : reached),
      ...testsOfAreas(file, gate, areas),
      ...(all.has(file) ? [file] : []),
    ];
    return found.length > 0 ? found : mirrorOf(file, gate);
  };
  return (changed) => {
    const everything = changed.find((file) => EVERYTHING.test(file));
    const selected = everything === undefined ? changed.flatMap(testsOf) : gate;
    return { changed, tests: [...new Set(selected)].toSorted(), everything };
  };
}

/** File → files that import a value from it. */
function importersOf(sources: Sources): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    const values = source.replaceAll(/\b(?:import|export)\s+type\b[^;]*?\bfrom\s*["'][^"'\n]+["']/g, "");
    for (const specifier of importsOf(values)) {
      const target = resolveImport(file, specifier);
      if (target === undefined) continue;
      const known = importers.get(target) ?? new Set();
      importers.set(target, known.add(file));
    }
  }
  return importers;
}

function closureOf(file: string, importers: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const reached = new Set([file]);
  for (const one of reached) for (const importer of importers.get(one) ?? []) reached.add(importer);
  return [...reached];
}

function testsOfAreas(file: string, gate: readonly string[], areas: readonly Area[]): string[] {
  const touched = areas.filter(({ paths }) =>
    paths.some((path) => (path.endsWith("/") ? file.startsWith(path) : file === path)),
  );
  const named = touched.flatMap((area) => area.tests.map((test) => `tests/${test}`));
  return gate.filter((test) => named.some((name) => (name.endsWith("/") ? test.startsWith(name) : test === name)));
}

/** Tests of the folder below `tests/` that has the name of the file's own folder, or of the nearest one above it. */
function mirrorOf(file: string, gate: readonly string[]): string[] {
  const folders = file.split("/").slice(0, -1);
  for (; folders.length > 0; folders.pop()) {
    const mirror = folders[0] === "tests" ? `${folders.join("/")}/` : `tests/${folders.join("/")}/`;
    const found = gate.filter((test) => test.startsWith(mirror));
    if (found.length > 0) return found;
  }
  return [];
}

/** Every source below the layers' folders, by its path. */
export function projectSources(root: string): Map<string, string> {
  const files = LAYERS.flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, encoding: "utf8" }).map((file) => `${layer}/${file}`),
  ).filter((file) => /\.(?:ts|tsx|mts|js|mjs)$/.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

/** References that a branch may have left. A branch that was never pushed has no upstream, nor has a detached HEAD. */
const BASES = ["@{upstream}", "origin/HEAD", "origin/main", "main"];

export interface Change {
  /** Reference that the files are compared with, and its commit. */
  readonly base: string;
  /** Paths below the root, of deleted files too. */
  readonly files: readonly string[];
}

/** @throws Error with git's own words, for example when the reference is unknown */
export function readChange(root: string, reference?: string): Change {
  const git = (...args: string[]): { ok: boolean; out: string; why: string } => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd: root });
    return { ok: exitCode === 0, out: stdout.toString(), why: stderr.toString().trim() };
  };
  const findBase = (): [commit: string, base: string] => {
    const left = BASES.find((name) => git("rev-parse", "--verify", "--quiet", `${name}^{commit}`).ok);
    if (left === undefined) return ["HEAD", "the last commit"];
    const { ok, out } = git("merge-base", "HEAD", left);
    if (ok) return [out.trim(), `${out.slice(0, 12)}, where the branch left ${left}`];
    throw new Error(
      `git has no common commit of HEAD and ${left}, as in a shallow clone: run git fetch --unshallow, or name a commit with --changed=<reference>`,
    );
  };
  const [commit, base] = reference === undefined ? findBase() : [reference, reference];
  const lists = [
    git("diff", "--name-only", "--no-renames", "--relative", "-z", commit, "--"),
    git("ls-files", "--others", "--exclude-standard", "-z"),
  ];
  const failed = lists.find(({ ok }) => !ok);
  if (failed) throw new Error(`git cannot compare with "${commit}": ${failed.why}`);
  const files = lists.flatMap(({ out }) => out.split("\0").filter((file) => file !== ""));
  return { base, files: [...new Set(files)].toSorted() };
}

if (import.meta.main) {
  const root = join(import.meta.dir, "../..");
  try {
    const { base, files } = readChange(root, process.argv[2]);
    const selection = createSelector(projectSources(root), testFiles(root))(files);
    process.stdout.write(JSON.stringify({ base, ...selection }));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
