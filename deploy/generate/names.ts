/**
 * Inserts names that several schemas list. They are defined once in schemas/names.json: kinds of call with their endpoints, modalities,
 * events.
 */
import { join } from "node:path";

import { SCHEMAS_DIR } from "./schema-files.ts";

interface Names {
  /** Path of the endpoint, by kind of job. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Path of the endpoint that creates workflow runs, which are not jobs. */
  readonly runs: string;
  readonly modalities: readonly string[];
  readonly events: readonly string[];
}

/**
 * Schema files, and the list of names that each file must contain. Each file has exactly one `enum` with names of its list. The generator
 * replaces that `enum` by the list.
 */
const LISTS: readonly (readonly [path: string, list: (names: Names) => readonly string[]])[] = [
  ["job-message.schema.json", ({ kinds }) => Object.keys(kinds)],
  ["batch-message.schema.json", ({ kinds, runs }) => [...Object.values(kinds), runs]],
  ["model-entry.schema.json", ({ modalities }) => modalities],
  ["results/event-type-list.schema.json", ({ events }) => events],
  ["results/subscription.schema.json", ({ events }) => events],
  ["requests/subscription-create.schema.json", ({ events }) => events],
];

/** Line width at which oxfmt wraps, in characters. */
const WIDTH = 120;

/** Returns the text of the schema files with the names inserted. @throws Error that names the file without such an `enum` */
export async function filesWithNames(dir: string = SCHEMAS_DIR): Promise<Record<string, string>> {
  const names = (await Bun.file(join(dir, "names.json")).json()) as Names;
  const files = LISTS.map(async ([path, list]) => {
    const text = await Bun.file(join(dir, path)).text();
    return [`schemas/${path}`, withList(text, list(names), path)] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

function withList(text: string, list: readonly string[], path: string): string {
  const enums = [...text.matchAll(/^( *)"enum": \[([^\]]*)\](,?)$/gm)];
  const [found, ...others] = enums.filter(([, , members = ""]) => list.some((name) => members.includes(`"${name}"`)));
  if (!found || others.length > 0) throw new Error(`schemas/${path}: expected one enum of names.json`);
  const [old, indent = "", , comma = ""] = found;
  const members = list.map((name) => JSON.stringify(name));
  const line = `${indent}"enum": [${members.join(", ")}]${comma}`;
  const inner = `${indent}  `;
  const lines = `${indent}"enum": [\n${inner}${members.join(`,\n${inner}`)}\n${indent}]${comma}`;
  return text.replace(old, () => (line.length <= WIDTH ? line : lines));
}
