/** Names that several schemas list, written once in schemas/names.json: kinds of call with their endpoints, modalities, events. */
import { join } from "node:path";

import { SCHEMAS_DIR } from "./schema-files.ts";

interface Names {
  /** Path of the endpoint, by the name of each kind of job. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Path of the endpoint that creates runs, which are not jobs. */
  readonly runs: string;
  readonly modalities: readonly string[];
  readonly events: readonly string[];
}

/** Schema files with exactly one `enum` that contains a name of the list; this `enum` is replaced by the list. */
const LISTS: readonly (readonly [path: string, list: (names: Names) => readonly string[]])[] = [
  ["job-message.schema.json", ({ kinds }) => Object.keys(kinds)],
  ["batch-message.schema.json", ({ kinds, runs }) => [...Object.values(kinds), runs]],
  ["model-entry.schema.json", ({ modalities }) => modalities],
  ["results/event-type-list.schema.json", ({ events }) => events],
  ["results/subscription.schema.json", ({ events }) => events],
  ["requests/subscription-create.schema.json", ({ events }) => events],
];

/** Width at which oxfmt wraps a line, in characters. */
const WIDTH = 120;

/** Returns the schema files with the listed names. @throws Error naming a file without such an `enum` */
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
