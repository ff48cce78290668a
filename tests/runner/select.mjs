// @ts-check
/** The test files of a suite. The gate runs at every change; `verify` adds the slow files, named `*.nightly.test.ts`. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** @typedef {"gate" | "verify"} Suite */

/** @param {string} file */
export const isNightly = (file) => file.endsWith(".nightly.test.ts");

/** Files that measure memory run after the rest, one by one: a garbage collector without a core of its own falls behind. @param {string} file */
export const isAlone = (file) => /\.alone(?:\.nightly)?\.test\.ts$/.test(file);

/**
 * @param {string} root
 * @returns {string[]} paths below the root, sorted, of both suites
 */
export function testFiles(root) {
  return readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" })
    .map((file) => `tests/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".test.ts"))
    .toSorted();
}

/** @param {Suite} suite @param {readonly string[]} all */
export function filesOf(suite, all) {
  return suite === "verify" ? [...all] : all.filter((file) => !isNightly(file));
}

/** @param {string} arg */
export const isChangedOption = (arg) => arg === "--changed" || arg.startsWith("--changed=");

/**
 * The first argument beside `--changed`, which takes none: paths, `--verify` and a reference without `=` would be ignored.
 * @param {readonly string[]} args
 * @returns {string | undefined} undefined where there is none, or no `--changed`
 */
export function excessOf(args) {
  const at = args.findIndex(isChangedOption);
  return at < 0 ? undefined : args.find((_arg, index) => index !== at);
}

/**
 * Reads the arguments of `npm test -- …`. A folder selects its files of the suite, a file itself, also a nightly one; everything
 * else is an option of `bun test`.
 * @param {readonly string[]} args
 * @param {{ root: string, suite: Suite }} options
 * @returns {{ files: string[], options: string[] }}
 * @throws {Error} when a path has no test file
 */
export function readArguments(args, { root, suite }) {
  const all = testFiles(root);
  /** @type {Set<string>} */
  const files = new Set();
  /** @type {string[]} */
  const options = [];
  for (const arg of args) {
    const path = arg.replace(/^\.\//, "").replace(/\/$/, "");
    if (arg.startsWith("-") || !existsSync(join(root, path))) {
      options.push(arg);
      continue;
    }
    const found = statSync(join(root, path)).isDirectory()
      ? filesOf(suite, all).filter((file) => file.startsWith(`${path}/`))
      : all.filter((file) => file === path);
    if (found.length === 0) throw new Error(`${arg} has no test file of the ${suite}`);
    for (const file of found) files.add(file);
  }
  return { files: [...files].toSorted(), options };
}
