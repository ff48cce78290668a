import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type FileGenerator, run } from "#deploy/generate.ts";
import { filesWithNames } from "#deploy/generate/names.ts";
import { namedParts, readSchemaFiles, ROOT_DIR, SCHEMAS_DIR } from "#deploy/generate/schema-files.ts";
import components from "#schemas/generated/components.json" with { type: "json" };
import { validators } from "#schemas/generated/validators.js";

const directory = await mkdtemp(join(tmpdir(), "sluice-generated-"));
afterAll(() => rm(directory, { recursive: true }));

const VALIDATORS = join(ROOT_DIR, "schemas/generated/validators.js");

interface Names {
  readonly kinds: Record<string, string>;
  readonly modalities: string[];
  readonly events: string[];
}

/** Every `enum` of texts in a schema. */
function enumsOf(schema: unknown): string[][] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "enum" in schema && Array.isArray(schema.enum) ? [schema.enum.map(String)] : [];
  return [...own, ...Object.values(schema).flatMap((part) => enumsOf(part))];
}

/** A folder of schema files, as deploy/generate.ts would read it. */
async function schemasFolder(files: Readonly<Record<string, object>>): Promise<string> {
  const folder = await mkdtemp(join(directory, "schemas-"));
  for (const [path, schema] of Object.entries(files)) await Bun.write(join(folder, path), JSON.stringify(schema));
  return folder;
}

async function partsOf(files: Readonly<Record<string, object>>): Promise<ReadonlyMap<string, object>> {
  return namedParts(await readSchemaFiles(await schemasFolder(files)), (name) => `@${name}`);
}

describe("the generated files", () => {
  /** A project with one fresh file, one stale file and one missing file. The real generators run in a step of every whole run. */
  async function staleProject(name: string): Promise<readonly [root: string, generators: readonly FileGenerator[]]> {
    const root = join(directory, name);
    await Bun.write(join(root, "schemas/fresh.ts"), "fresh");
    await Bun.write(join(root, "schemas/stale.ts"), "old");
    const generators = [
      { name: "first", generate: async () => ({ "schemas/fresh.ts": "fresh", "schemas/stale.ts": "new" }) },
      { name: "second", generate: async () => ({ "deploy/missing.json": "{}" }) },
    ];
    return [root, generators];
  }

  test("are reported as stale, with the command that fixes them, when one differs or is missing", async () => {
    const [root, generators] = await staleProject("stale");
    const stderr = spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      expect(await run(["--check"], root, generators)).toBe(1);
      expect(stderr.mock.calls.join()).toContain("stale: schemas/stale.ts, deploy/missing.json");
      expect(stderr.mock.calls.join()).toContain("npm run generate");
    } finally {
      stderr.mockRestore();
    }
    expect(await Bun.file(join(root, "schemas/stale.ts")).text()).toBe("old");
  });

  test("are written if they are stale, and pass the check afterwards", async () => {
    const [root, generators] = await staleProject("fixed");
    expect(await run([], root, generators)).toBe(0);
    expect(await Bun.file(join(root, "schemas/stale.ts")).text()).toBe("new");
    expect(await Bun.file(join(root, "deploy/missing.json")).text()).toBe("{}");
    expect(await run(["--check"], root, generators)).toBe(0);
  });

  test("list the names of schemas/names.json, and no others", async () => {
    const folder = join(directory, "names");
    await cp(SCHEMAS_DIR, folder, { recursive: true, filter: (path) => !path.includes("generated") });
    const names = (await Bun.file(join(folder, "names.json")).json()) as Names;
    const lists = [Object.keys(names.kinds), Object.values(names.kinds), names.modalities, names.events];
    const listing = (await readSchemaFiles()).filter(({ schema }) =>
      enumsOf(schema).some((members) => lists.some((list) => list.every((name) => members.includes(name)))),
    );
    names.kinds["toys"] = "/v1/toys";
    names.modalities.push("toy");
    names.events.push("toy.broken");
    await Bun.write(join(folder, "names.json"), JSON.stringify(names));
    const written = await filesWithNames(folder);
    expect(Object.keys(written).toSorted()).toEqual(listing.map(({ path }) => `schemas/${path}`).toSorted());
    for (const [path, text] of Object.entries(written)) {
      expect([
        path,
        enumsOf(JSON.parse(text))
          .flat()
          .some((name) => /\btoys?\b/.test(name)),
      ]).toEqual([path, true]);
    }
  });

  test("hold a validator, a component and a type for every schema", async () => {
    const types = await Bun.file(join(ROOT_DIR, "schemas/generated/types.ts")).text();
    const files = await readSchemaFiles();
    expect(Object.keys(validators).toSorted()).toEqual(files.map((file) => file.title).toSorted());
    for (const name of namedParts(files, String).keys()) {
      expect(Object.keys(components.schemas)).toContain(name);
      expect(types).toMatch(new RegExp(`^export (interface|type) ${name}\\b`, "m"));
    }
  });

  test("refer only to existing components", () => {
    const references = [...JSON.stringify(components).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? "");
    expect(references.length).toBeGreaterThan(20);
    for (const target of references) {
      expect(Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`)).toContain(target);
    }
  });
});

describe("the components", () => {
  type Node = Readonly<Record<string, unknown>>;
  const nodesOf = function* (node: unknown, place: string): Generator<readonly [string, Node]> {
    if (typeof node !== "object" || node === null) return;
    if (!Array.isArray(node)) yield [place, node as Node];
    for (const [key, value] of Object.entries(node)) yield* nodesOf(value, `${place}/${key}`);
  };
  const nodes = [...nodesOf(components.schemas, "")];

  test("map each value of a discriminator to its schema: otherwise generators use the schema's name", () => {
    const unions = nodes.filter(([, { discriminator, oneOf }]) => discriminator !== undefined && Array.isArray(oneOf));
    expect(unions.length).toBeGreaterThan(15);
    for (const [place, { discriminator, oneOf }] of unions) {
      const { propertyName, mapping } = discriminator as { propertyName: string; mapping?: Record<string, string> };
      const branches = (oneOf as { $ref: string }[]).map(({ $ref }) => $ref);
      // A schema may have several values.
      expect([place, [...new Set(Object.values(mapping ?? {}))].toSorted()]).toEqual([place, branches.toSorted()]);
      for (const [value, target] of Object.entries(mapping ?? {})) {
        const branch = components.schemas[target.slice("#/components/schemas/".length) as "UserMessage"] as object;
        const tag = (branch as { properties: Record<string, { const?: string; enum?: string[] }> }).properties[
          propertyName
        ];
        expect([place, tag?.enum ?? [tag?.const]]).toEqual([place, expect.arrayContaining([value]) as string[]]);
      }
    }
  });

  test("have names that no web language reserves", () => {
    const taken = Object.keys(components.schemas).filter((name) => name in globalThis || name === "FileList");
    expect(taken).toEqual([]);
  });

  test("declare open objects explicitly: otherwise generators read them as empty", () => {
    const bare = nodes.filter(
      ([, node]) => node["type"] === "object" && !("properties" in node) && !("additionalProperties" in node),
    );
    expect(bare.map(([place]) => place)).toEqual([]);
  });

  test("link from a workflow's definition to its description", () => {
    for (const title of [
      "WorkflowCreateRequest",
      "WorkflowUpdateRequest",
      "PipelineRunRequest",
      "WorkflowTemplate",
      "WorkflowEstimateRequest",
      "Workflow",
    ] as const) {
      // prettier-ignore
      const { definition } = components.schemas[title].properties;
      expect([title, definition]).toMatchObject([title, { $ref: "#/components/schemas/WorkflowDefinition" }]);
    }
    expect(JSON.stringify(components)).not.toContain("x-schema");
  });
});

describe("the validators", () => {
  test("import nothing", async () => {
    const source = await Bun.file(VALIDATORS).text();
    const imports = new Bun.Transpiler({ loader: "js" }).scanImports(source);
    expect(imports).toEqual([]);
    expect(source.replaceAll(/'require\([^']*'/g, "")).not.toMatch(/\brequire\(/);
  });

  test("work under Node, away from the project", async () => {
    const copy = join(directory, "validators.mjs");
    await cp(VALIDATORS, copy);
    const script = `
      const { validators } = await import(${JSON.stringify(copy)});
      const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
      const bad = { ...body, temperature: 3 };
      const job = validators.JobMessage({ job_id: "no uuid" });
      process.stdout.write(JSON.stringify([validators.ChatCompletionRequest(body), validators.ChatCompletionRequest(bad),
        validators.ChatCompletionRequest.errors[0].instancePath, job]));`;
    const node = Bun.spawn(["node", "--input-type=module", "-e", script], {
      cwd: directory,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, complaint] = await Promise.all([new Response(node.stdout).text(), new Response(node.stderr).text()]);
    expect(complaint).toBe("");
    expect(JSON.parse(output)).toEqual([true, false, "/temperature", false]);
  });
});

describe("reading schema files", () => {
  test("names files and parts, and replaces references by names", async () => {
    const parts = await partsOf({
      "a.schema.json": {
        title: "Apple",
        properties: { b: { $ref: "sub/b.schema.json" }, c: { $ref: "#/$defs/core" } },
        $defs: { core: {} },
      },
      "sub/b.schema.json": {
        title: "Bean",
        items: { $ref: "../a.schema.json#/$defs/core" },
        $defs: { x: { title: "Xylem" } },
      },
    });
    expect(Object.fromEntries(parts)).toEqual({
      Apple: { title: "Apple", properties: { b: { $ref: "@Bean" }, c: { $ref: "@AppleCore" } } },
      AppleCore: {},
      Bean: { title: "Bean", items: { $ref: "@AppleCore" } },
      Xylem: { title: "Xylem" },
    });
  });

  test.each<[string, Record<string, object>, string]>([
    [
      "without a title",
      { "a.schema.json": {} },
      "schemas/a.schema.json: expected a title in PascalCase, got undefined",
    ],
    ["with a title in lower case", { "a.schema.json": { title: "apple" } }, 'got "apple"'],
    ["with an $id", { "a.schema.json": { title: "A", $id: "x" } }, "leave $id out"],
    [
      "with a title that is taken",
      { "a.schema.json": { title: "A" }, "b.schema.json": { title: "A" } },
      "the title A is taken by schemas/a.schema.json",
    ],
    [
      "with a reference that leads nowhere",
      { "a.schema.json": { title: "A", items: { $ref: "b.schema.json" } } },
      "nothing to refer to at b.schema.json",
    ],
    [
      "with something beside a reference",
      { "a.schema.json": { title: "A", items: { $ref: "#", minItems: 1 } } },
      "nothing may stand beside",
    ],
  ])("rejects one %s", async (_name, files, message) => {
    const refusal = await partsOf(files).catch(String);
    expect(refusal).toContain(message);
  });
});
