/** JSONTestSuite and toml-test: texts that a reader must take, and texts that it must refuse. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { runCapability } from "../in-folder.ts";
import { type Case, isRefused, testCorpus } from "./corpus.ts";

await testCorpus(
  "JSONTestSuite",
  { name: "jsoncons", version: "1.5.0", release: "sid", folder: "test/corelib/input/JSONTestSuite" },
  { right: 283, refused: 0, wrong: 0 },
  jsonCases,
);

await testCorpus(
  "toml-test",
  { name: "python-tomlkit", version: "0.13.3", release: "sid", folder: "tests/toml-test/tests" },
  { right: 269, refused: 2, wrong: 0 },
  tomlCases,
);

/** Name of each file: `y_` must be read, `n_` must be refused; what a reader of `i_` does is its own matter. */
function* jsonCases(folder: string): Iterable<Case> {
  for (const name of readdirSync(folder).filter((one) => /^[yn]_/.test(one))) {
    const data = readFileSync(join(folder, name));
    const work = () => runCapability("code.transform_json", { data }, { from: "json" });
    yield {
      name,
      isRight: async () =>
        name.startsWith("n_")
          ? isRefused(work())
          : // As texts: a number that is minus zero is zero.
            JSON.stringify(JSON.parse(await textOf(work()))) === JSON.stringify(JSON.parse(data.toString())),
    };
  }
}

/** Texts that TOML 1.0 refuses and TOML 1.1 takes, and texts that are not in UTF-8, which are decoded first. */
const TAKEN =
  /datetime\/no-secs|encoding\/(?:bad-utf8-in-|utf16-bom)|inline-table\/(?:linebreak|trailing-comma)|string\/basic-byte-escapes/;

function* tomlCases(folder: string): Iterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".toml"));
  for (const name of names.toSorted()) {
    if (name.startsWith("invalid/") && TAKEN.test(name)) continue;
    const data = readFileSync(join(folder, name));
    const work = () => runCapability("code.transform_json", { data }, { from: "toml" });
    yield {
      name,
      isRight: async () => {
        if (name.startsWith("invalid/")) return isRefused(work());
        const tagged: unknown = JSON.parse(readFileSync(join(folder, name.replace(/toml$/, "json")), "utf8"));
        return isSame(tagged, JSON.parse(await textOf(work())));
      },
    };
  }
}

/** Compares a value with its expectation, in which single values are texts beside their type. */
function isSame(tagged: unknown, value: unknown): boolean {
  if (typeof tagged !== "object" || tagged === null || typeof value === "undefined") return false;
  if (Array.isArray(tagged)) {
    return Array.isArray(value) && value.length === tagged.length && tagged.every((one, at) => isSame(one, value[at]));
  }
  const { type, value: expected } = tagged as { readonly type?: unknown; readonly value?: unknown };
  if (typeof type === "string" && typeof expected === "string" && Object.keys(tagged).length === 2) {
    return isSingle(type, expected, value);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const [names, own] = [Object.keys(tagged), Object.keys(value)];
  return (
    names.length === own.length && names.every((name) => isSame((tagged as Members)[name], (value as Members)[name]))
  );
}

type Members = Readonly<Record<string, unknown>>;

function isSingle(type: string, expected: string, value: unknown): boolean {
  switch (type) {
    case "integer":
    case "float":
      return value === Number(expected);
    case "bool":
      return value === (expected === "true");
    case "string":
      return value === expected;
    case "datetime":
      // The same point in time, whose offset is not kept.
      return typeof value === "string" && Date.parse(value) === Date.parse(expected) && value.endsWith("Z");
    default: {
      // Local times differ in their zeros alone.
      const plain = (text: string) =>
        text
          .replace(" ", "T")
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, "");
      return typeof value === "string" && plain(value) === plain(expected);
    }
  }
}

async function textOf(work: ReturnType<typeof runCapability>): Promise<string> {
  const { output } = await work;
  return String(output?.["text"]);
}
