/**
 * Generates the index of the decision records, deploy/decisions/README.md, from the records, so that a record and its index entry cannot
 * differ.
 */
import { join } from "node:path";

import { Glob } from "bun";

import { ROOT_DIR } from "./schema-files.ts";

/** Areas of decisions, in the order of the index, each with its heading. */
const AREAS: Readonly<Record<string, string>> = {
  admission: "Admission",
  ledger: "Ledger",
  calls: "Calls",
  providers: "Providers",
  media: "Media",
  capabilities: "Capabilities",
  workflows: "Workflows",
  queue: "Queue",
  batches: "Batches",
  responses: "Responses",
  mcp: "MCP",
  api: "API",
  settings: "Settings",
  storage: "Storage",
  webhooks: "Webhooks",
  security: "Security",
  operations: "Operations",
  performance: "Performance",
  platform: "Platform",
  tests: "Tests",
};

/** Maximum length of a decision's first sentence, in words. Code in backticks counts as one word. */
export const SUMMARY_WORDS_MAX = 25;

const SECTIONS = ["Context", "Decision", "Consequences"] as const;
const TEMPLATE = "0000-template.md";
const FILE_NAME = /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/;
const STATUS_LINE =
  /^Status: (accepted|(?:superseded|amended) by (\d{4}(?:, \d{4})*))(?: \(outdated: [^()]+\))? · Area: ([a-z]+)$/;

export interface DecisionRecord {
  /** File name without its folder. */
  readonly file: string;
  /** Number of the record, as four digits. */
  readonly number: string;
  readonly title: string;
  /** Status of the record: the text between `Status: ` and ` · Area: `. */
  readonly status: string;
  /** Area of the decision, a key of AREAS. */
  readonly area: string;
  /** First sentence of the section Decision. */
  readonly summary: string;
  /** Numbers of the records that supersede or amend this one. */
  readonly successors: readonly string[];
}

const HEAD = `# Decision records

Each record explains one decision: the problem and its measurements, the decision, and its consequences.
\`npm run generate\` writes this index from the records.

To add a record:

1. Copy [0000-template.md](0000-template.md) to the next free number. The template lists the areas and the forms of a
   status.
2. Begin the section Decision with one sentence of at most ${SUMMARY_WORDS_MAX} words; the index shows it.
3. Run \`npm run generate\`.

A record is not rewritten when the decision changes. A new record states the change, and the status of the old one names
the new one. The status says \`outdated\` where a record no longer describes the code.
`;

/**
 * Reads a decision record.
 * @throws Error that names the file, the missing part and the expected form
 */
export function readDecision(file: string, text: string): DecisionRecord {
  const fail = (fault: string): never => {
    throw new Error(`deploy/decisions/${file}: ${fault}`);
  };
  const number = FILE_NAME.exec(file)?.[1] ?? fail("expected a name of four digits and a slug, such as 0123-slug.md");
  const [heading = "", blank, status = ""] = text.split("\n");
  if (!heading.startsWith(`# ${number} `) || blank !== "") fail(`expected "# ${number} <title>" and an empty line`);
  const found = STATUS_LINE.exec(status) ?? fail('expected "Status: <status> · Area: <area>" as third line');
  const [, state = "", successors, area = ""] = found;
  if (AREAS[area] === undefined) fail(`unknown area "${area}", expected one of ${Object.keys(AREAS).join(", ")}`);
  const headings = Array.from(text.matchAll(/^## (.+)$/gm), ([, name]) => name);
  const sections = headings.filter((name) => SECTIONS.some((section) => section === name));
  if (sections.join() !== SECTIONS.join()) fail(`expected the sections ${SECTIONS.join(", ")}, once and in this order`);
  return {
    file,
    number,
    title: heading.slice(`# ${number} `.length),
    status: status.slice("Status: ".length, status.lastIndexOf(" · ")),
    area,
    summary: summaryOf(text) ?? fail(`expected a sentence of at most ${SUMMARY_WORDS_MAX} words below "## Decision"`),
    successors: state === "accepted" ? [] : (successors ?? "").split(", "),
  };
}

/**
 * Returns the first sentence of the section Decision. Undefined if the section does not begin with a paragraph, or the sentence is too
 * long.
 */
function summaryOf(text: string): string | undefined {
  const [, paragraph = ""] = /^## Decision\n\n((?:.+\n)+)/m.exec(text) ?? [];
  if (!/^[A-Z0-9`]/.test(paragraph)) return undefined;
  const [sentence = ""] = paragraph
    .trim()
    .replaceAll("\n", " ")
    .split(/(?<=\.) (?=[A-Z`*])/);
  const words = sentence.replaceAll(/`[^`]+`/g, "code").split(" ").length;
  return words > SUMMARY_WORDS_MAX ? undefined : sentence.replace(/:$/, ".");
}

/**
 * Reads every decision record of a folder except the template, sorted by number.
 * @throws Error for a malformed record, a duplicate number, or a successor that does not exist
 */
export async function readDecisions(dir: string): Promise<readonly DecisionRecord[]> {
  const files = (await Array.fromAsync(new Glob("*.md").scan({ cwd: dir }))).toSorted();
  const records: DecisionRecord[] = [];
  for (const file of files) {
    if (file === "README.md" || file === TEMPLATE) continue;
    const record = readDecision(file, await Bun.file(join(dir, file)).text());
    if (records.at(-1)?.number === record.number) throw new Error(`deploy/decisions/${file}: the number is taken`);
    records.push(record);
  }
  const numbers = new Set(records.map(({ number }) => number));
  for (const { file, successors } of records) {
    const missing = successors.find((number) => !numbers.has(number));
    if (missing !== undefined)
      throw new Error(`deploy/decisions/${file}: its status names ${missing}, which does not exist`);
  }
  return records;
}

/** Returns the index page: a table of records for each area that has records. */
export function decisionIndex(records: readonly DecisionRecord[]): string {
  const files = new Map(records.map(({ number, file }) => [number, file]));
  const tables = Object.entries(AREAS).flatMap(([area, heading]) => {
    const rows = records.filter((record) => record.area === area).map((record) => rowOf(record, files));
    return rows.length === 0
      ? []
      : [`\n## ${heading}\n\n| Record | Status | Decision |\n|---|---|---|\n${rows.join("")}`];
  });
  return `${HEAD}${tables.join("")}`;
}

/**
 * Returns a record's row of the index table, with links to the records that its status mentions.
 * @param files file names of all records, by number
 */
function rowOf({ file, number, title, status, summary }: DecisionRecord, files: ReadonlyMap<string, string>): string {
  const linked = status.replaceAll(/\b\d{4}\b/g, (other) =>
    files.has(other) ? `[${other}](${files.get(other)})` : other,
  );
  const cells = [`[${number} ${title}](${file})`, linked, summary];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
}

export async function decisionFiles(): Promise<Readonly<Record<string, string>>> {
  return { "deploy/decisions/README.md": decisionIndex(await readDecisions(join(ROOT_DIR, "deploy/decisions"))) };
}
