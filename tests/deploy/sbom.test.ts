/** The bill of materials is valid by the published schema, and says of every package of the lock file what is known of it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { Ajv } from "ajv";
import addFormats from "ajv-formats";

import { billOfMaterials, installedLicenses, type LicenseOf } from "#deploy/sbom.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import manifest from "../../package.json" with { type: "json" };

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly "bom-ref": string;
  readonly scope?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

interface Bom {
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

const SCHEMAS = join(PROJECT_ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
const schema = (name: string): Promise<object> =>
  Bun.file(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`)).json() as Promise<object>;
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
// Formats of international names, which no member of ours has.
ajv.addFormat("iri-reference", true).addFormat("idn-email", true);
ajv.addSchema(await schema("spdx"), "http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json");
ajv.addSchema(await schema("jsf-0.82"), "http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json");
const isValid = ajv.compile(await schema("bom-1.6"));

const lockText = await Bun.file(join(PROJECT_ROOT, "bun.lock")).text();
const make = async (isProduction: boolean, text = lockText, licenseOf: LicenseOf = installedLicenses(PROJECT_ROOT)) =>
  JSON.parse(await billOfMaterials(text, manifest, { isProduction, licenseOf })) as Bom;
const whole = await make(false);

describe("the bill of materials of this project", () => {
  test("is valid CycloneDX 1.6", () => {
    expect([isValid(whole), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...whole, components: [{ name: "without a type" }] })).toBe(false);
  });

  test("has every package of the lock file with its hash", () => {
    const ids = Array.from(lockText.matchAll(/^ {4}"[^"]+": \["([^"]+)"/gm), ([, id = ""]) => id);
    const listed = whole.components.map(
      ({ group, name, version }) => `${group === undefined ? "" : `${group}/`}${name}@${version}`,
    );
    expect(ids.length).toBeGreaterThan(900);
    expect(listed.toSorted()).toEqual([...new Set(ids)].toSorted());
    expect(whole.components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? ""))).toEqual([]);
    expect(whole.components.every((one) => one.purl === one["bom-ref"])).toBe(true);
  });

  test("has the licence of every package that is installed here", () => {
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const direct = whole.components.filter(({ group, name }) =>
      names.includes(`${group === undefined ? "" : `${group}/`}${name}`),
    );
    expect(direct.length).toBeGreaterThan(100);
    expect(direct.filter(({ licenses = [] }) => licenses.length === 0).map(({ purl }) => purl)).toEqual([]);
    expect(whole.metadata.component.licenses).toEqual([{ license: { id: "Apache-2.0" } }]);
  });

  test("separates production dependencies from development dependencies", async () => {
    const scopeOf = (name: string) => whole.components.find((one) => `${one.group ?? ""}/${one.name}` === name)?.scope;
    expect(["/elysia", "/sharp", "@img/sharp-linux-x64", "/typescript", "/knip"].map(scopeOf)).toEqual([
      "required",
      "required",
      "optional",
      "excluded",
      "excluded",
    ]);
    const production = await make(true);
    expect(isValid(production)).toBe(true);
    expect(production.components.some(({ scope }) => scope === "excluded")).toBe(false);
    expect(production.components.map(({ purl }) => purl)).toEqual(
      whole.components.filter(({ scope }) => scope !== "excluded").map(({ purl }) => purl),
    );
  });

  test("has the same bytes each time", async () => {
    const options = { isProduction: false, licenseOf: installedLicenses(PROJECT_ROOT) };
    expect(await billOfMaterials(lockText, manifest, options)).toBe(await billOfMaterials(lockText, manifest, options));
    expect((await make(true)).serialNumber).not.toBe(whole.serialNumber);
  });
});

const SHA = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;
/** `b` lies twice: version 2 inside `@s/a`, which needs it, and version 1 at the top. */
const NESTED = `{
  "lockfileVersion": 2,
  "workspaces": { "": { "name": "x", "dependencies": { "@s/a": "1.0.0", }, "devDependencies": { "b": "1.0.0", "alias": "npm:b@1.0.0", }, }, },
  "packages": {
    "@s/a": ["@s/a@1.0.0", "", { "dependencies": { "b": "^2.0.0", "absent": "1" }, "peerDependencies": { "c": "*" }, }, "${SHA}"],
    "@s/a/b": ["b@2.0.0", "", {}, "${SHA}"],
    "b": ["b@1.0.0", "", {}, "${SHA}"],
    "alias": ["b@1.0.0", "", {}, "${SHA}"],
    "c": ["c@1.0.0-rc.1+a", "", { "optionalDependencies": { "@s/a": "1" } }, "${SHA}"],
  },
}`;

describe("a lock file", () => {
  test("with nested folders, peers, cycles and aliases is resolved like in Node", async () => {
    const licenses: Readonly<Record<string, string>> = {
      "@s/a": "(MIT OR GPL-3.0-only)",
      "@s/a/b": "mit",
      b: "SEE LICENSE IN X",
      c: "MIT AND OFL-1.1",
    };
    const bom = await make(false, NESTED, (place) => Promise.resolve(licenses[place]));
    expect([isValid(bom), isValid.errors]).toEqual([true, null]);
    expect(bom.components.map(({ purl, scope }) => [purl, scope])).toEqual([
      ["pkg:npm/%40s/a@1.0.0", "required"],
      ["pkg:npm/b@1.0.0", "excluded"],
      ["pkg:npm/b@2.0.0", "required"],
      ["pkg:npm/c@1.0.0-rc.1%2Ba", "required"],
    ]);
    const dependsOn = (ref: string) => bom.dependencies.find((one) => one.ref === ref)?.dependsOn;
    expect(dependsOn("pkg:npm/%40s/a@1.0.0")).toEqual(["pkg:npm/b@2.0.0", "pkg:npm/c@1.0.0-rc.1%2Ba"]);
    expect(dependsOn("pkg:npm/c@1.0.0-rc.1%2Ba")).toEqual(["pkg:npm/%40s/a@1.0.0"]);
    expect(dependsOn(bom.metadata.component["bom-ref"])).toEqual(["pkg:npm/%40s/a@1.0.0", "pkg:npm/b@1.0.0"]);
    expect(bom.components.map(({ licenses: own }) => own)).toEqual([
      [{ expression: "(MIT OR GPL-3.0-only)" }],
      [{ license: { name: "SEE LICENSE IN X" } }],
      [{ license: { id: "MIT" } }],
      [{ expression: "MIT AND OFL-1.1" }],
    ]);
  });

  test.each(["", "{}", "[]", '{"packages":{}}', "<xml/>"])("%p is refused", async (text) => {
    const options = { isProduction: false, licenseOf: () => Promise.resolve(undefined) };
    const outcome = await billOfMaterials(text, manifest, options).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(Error);
  });
});
