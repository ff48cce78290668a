import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";
import { MediaError } from "#shared/children/media-error.ts";
import { unpackedPackages } from "#tests/support/debian-program.ts";

import { runCapability } from "./in-folder.ts";

/** The official tests of JSON Schema, of which Debian's package ends at draft 07. */
const SUITE = {
  release: "trixie",
  packages: ["json-schema-test-suite"],
  path: "usr/share/json-schema-test-suite/tests",
};

interface Group {
  readonly schema: unknown;
  readonly tests: readonly { readonly data: unknown; readonly valid: boolean }[];
}

const $schema = "http://json-schema.org/draft-07/schema#";

test.skipIf((await debianArchive()) === null)(
  "official tests of JSON Schema draft 07 are decided as they say",
  async () => {
    const folder = join(await unpackedPackages(SUITE), SUITE.path, "draft7");
    const counts = { right: 0, wrong: 0, refused: 0 };
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".json"))) {
      const groups = JSON.parse(readFileSync(join(folder, name), "utf8")) as readonly Group[];
      for (const { schema, tests } of groups) {
        // `true` and `false` are schemas, and no objects.
        if (typeof schema !== "object" || schema === null) continue;
        for (const { data, valid } of tests) {
          const answer = await isValid({ $schema, ...schema }, data);
          counts[answer === undefined ? "refused" : answer === valid ? "right" : "wrong"] += 1;
        }
      }
    }
    // Refused: references to other servers. Wrong: draft 07 ignores what stands beside `$ref`, later drafts and Ajv do not.
    expect(counts).toEqual({ right: 389, wrong: 1, refused: 15 });
  },
);

/** Undefined for a schema that the capability refuses. */
async function isValid(schema: object, data: unknown): Promise<boolean | undefined> {
  try {
    await runCapability("code.transform_json", { data: { text: JSON.stringify(data) } }, { from: "json", schema });
    return true;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return error.fault === "corrupt" ? false : undefined;
  }
}
