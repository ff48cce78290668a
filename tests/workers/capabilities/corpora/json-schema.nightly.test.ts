/** Official tests of JSON Schema: what each draft calls valid, by `params.schema` of code.transform_json. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";
import type { DebianSource } from "#tests/support/debian-source.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, type Counts, testCorpus } from "./corpus.ts";

/** The package of the suite alone ends at draft 07. */
const OLDER: DebianSource = {
  name: "json-schema-test-suite",
  version: "2.0.0",
  release: "trixie",
  folder: "tests",
};
const NEWER: DebianSource = {
  name: "jsoncons",
  version: "1.5.0",
  release: "sid",
  folder: "test/jsonschema/JSON-Schema-Test-Suite/tests",
};

interface Draft {
  readonly source: DebianSource;
  readonly folder: string;
  readonly $schema: string;
  readonly expected: Counts;
}

/** Refused: references to schemas of other servers, vocabularies, numbers beyond 2^53, and keywords that the validator would decide otherwise. */
const DRAFTS: readonly Draft[] = [
  // Wrong: drafts 06 and 07 ignore what stands beside `$ref`, later drafts and Ajv do not.
  {
    source: OLDER,
    folder: "draft7",
    $schema: "http://json-schema.org/draft-07/schema#",
    expected: { right: 389, refused: 15, wrong: 1 },
  },
  {
    source: NEWER,
    folder: "draft6",
    $schema: "http://json-schema.org/draft-06/schema#",
    expected: { right: 738, refused: 35, wrong: 3 },
  },
  {
    source: NEWER,
    folder: "draft2019-09",
    $schema: "https://json-schema.org/draft/2019-09/schema",
    expected: { right: 1060, refused: 121, wrong: 0 },
  },
  {
    source: NEWER,
    folder: "draft2020-12",
    $schema: "https://json-schema.org/draft/2020-12/schema",
    expected: { right: 1068, refused: 136, wrong: 0 },
  },
];

for (const { source, folder, $schema, expected } of DRAFTS) {
  await testCorpus(`${folder} of JSON Schema (${source.name})`, source, expected, (root) =>
    casesIn(join(root, folder), $schema),
  );
}

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

function* casesIn(folder: string, $schema: string): Iterable<Case> {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".json"))) {
    const groups = JSON.parse(readFileSync(join(folder, name), "utf8")) as readonly Group[];
    for (const { description, schema, tests } of groups) {
      // `true` and `false` are schemas, and no objects.
      if (typeof schema !== "object" || schema === null) continue;
      for (const one of tests) {
        yield {
          name: `${name} ${description}: ${one.description}`,
          isRight: async () => (await isValid({ $schema, ...schema }, one.data)) === one.valid,
        };
      }
    }
  }
}

/** @throws MediaError for a schema that the capability refuses */
async function isValid(schema: object, data: unknown): Promise<boolean> {
  try {
    await runCapability("code.transform_json", { data: { text: JSON.stringify(data) } }, { from: "json", schema });
    return true;
  } catch (error) {
    if (error instanceof MediaError && error.fault === "corrupt") return false;
    throw error;
  }
}
