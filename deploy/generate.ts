/**
 * Writes every generated file, or lists the outdated files with --check. Each generator is a row in GENERATORS: a name, and a function that
 * returns its files as text.
 */
import { join } from "node:path";

import { definedCapabilities } from "./generate/capabilities.ts";
import { capabilitiesPage } from "./generate/capabilities-page.ts";
import { errorsPage } from "./generate/errors-page.ts";
import { decisionFiles } from "./generate/decisions.ts";
import { componentsJson } from "./generate/openapi-components.ts";
import { monitoringFiles } from "./generate/monitoring.ts";
import { filesWithNames } from "./generate/names.ts";
import { pageWithProviders } from "./generate/providers-table.ts";
import { requestShapesJson } from "./generate/request-shapes.ts";
import { readSchemaFiles, ROOT_DIR } from "./generate/schema-files.ts";
import { settingsPage } from "./generate/settings-page.ts";
import { kubernetesFiles } from "./kubernetes/files.ts";
import { typesModule } from "./generate/types.ts";
import { validatorsDeclaration, validatorsModule } from "./generate/validators.ts";

export interface FileGenerator {
  readonly name: string;
  /** Returns the complete text of each generated file, by path below the project root. Equal inputs must give equal bytes. */
  generate(): Promise<Readonly<Record<string, string>>>;
}

/** Generators in the order of execution: each reads the output of the previous ones. */
const GENERATORS: readonly FileGenerator[] = [
  { name: "names", generate: () => filesWithNames() },
  {
    name: "contract",
    async generate() {
      const files = await readSchemaFiles();
      return {
        "schemas/generated/types.ts": await typesModule(files),
        "schemas/generated/validators.js": await validatorsModule(files),
        "schemas/generated/validators.d.ts": validatorsDeclaration(),
        "schemas/generated/components.json": componentsJson(files),
        "schemas/generated/request-shapes.json": requestShapesJson(files),
      };
    },
  },
  {
    name: "capabilities",
    async generate() {
      const all = await definedCapabilities();
      return {
        "schemas/generated/capabilities.json": `${JSON.stringify(all, null, 1)}\n`,
        "schemas/docs/reference/capabilities.md": capabilitiesPage(all),
      };
    },
  },
  {
    name: "documentation",
    async generate() {
      return {
        "schemas/docs/reference/errors.md": errorsPage(),
        "schemas/docs/reference/settings.md": await settingsPage(),
      };
    },
  },
  {
    name: "console",
    async generate() {
      // Loaded here, because it imports the files of the first generators.
      const { consoleOperations } = await import("./generate/console-operations.ts");
      return { "ingress/console/web/api/operations.ts": consoleOperations() };
    },
  },
  { name: "kubernetes", generate: () => Promise.resolve(kubernetesFiles()) },
  { name: "monitoring", generate: async () => monitoringFiles() },
  { name: "decisions", generate: () => decisionFiles() },
  { name: "providers", generate: () => pageWithProviders() },
];

/** Returns the paths of the generated files whose current text differs from the generator's output. */
async function staleFiles(root: string, generators: readonly FileGenerator[]): Promise<readonly string[]> {
  const outputs = await Promise.all(generators.map((generator) => generator.generate()));
  const stale: string[] = [];
  for (const [path, text] of outputs.flatMap((files) => Object.entries(files))) {
    const file = Bun.file(join(root, path));
    if (!(await file.exists()) || (await file.text()) !== text) stale.push(path);
  }
  return stale;
}

/** Writes the generated files below `root`, or with --check only compares them. Returns the exit code. */
export async function run(
  options: readonly string[],
  root: string = ROOT_DIR,
  generators: readonly FileGenerator[] = GENERATORS,
): Promise<number> {
  if (!options.includes("--check")) {
    for (const generator of generators) {
      for (const [path, text] of Object.entries(await generator.generate())) await Bun.write(join(root, path), text);
    }
    return 0;
  }
  const stale = await staleFiles(root, generators);
  if (stale.length === 0) return 0;
  process.stderr.write(`stale: ${stale.join(", ")}\nfix with: npm run generate\n`);
  return 1;
}

if (import.meta.main) process.exit(await run(process.argv.slice(2)));
