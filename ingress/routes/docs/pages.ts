/** Reads the pages of the documentation: Markdown files with front matter below schemas/docs, and the changelog. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** Sections of the navigation, in order. */
export const SECTIONS = ["Get started", "Guides", "Cookbook", "Migrate", "Reference", "Operate"] as const;
export type Section = (typeof SECTIONS)[number];

export interface Page {
  /** Path of the page below `/docs`, without a suffix, such as `guides/webhooks`. Empty for the home page. */
  readonly path: string;
  /** Path of the Markdown file below the project root. Relative links are resolved against it. */
  readonly file: string;
  readonly title: string;
  readonly section: Section;
  /** Position of the page within its section. Pages with equal positions are sorted by title. */
  readonly order: number;
  /** Summary of the page, in one sentence. */
  readonly summary: string;
  /** Markdown text without front matter. */
  readonly body: string;
  /** Path of the parent page, below whose navigation entry this page is listed. Absent: the page has its own entry. */
  readonly parent?: string;
  /** Heading below the parent's navigation entry under which the page is listed. */
  readonly group?: string;
  /** Text for the search index. Default: the text of the body. */
  readonly searchText?: string;
}

const PROJECT_ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = "schemas/docs";
/** Path of the changelog. Code hosts expect the file at the root of a project. */
const CHANGELOG = "CHANGELOG.md";

/** Reads all pages, in the order of the navigation. @throws Error with file and line of malformed front matter */
export async function readPages(root: string = PROJECT_ROOT): Promise<readonly Page[]> {
  const names = await Array.fromAsync(new Bun.Glob("**/*.md").scan({ cwd: join(root, FOLDER) }));
  const pages = names.map(async (name) => {
    const file = `${FOLDER}/${name}`;
    return parsePage(file, await Bun.file(join(root, file)).text());
  });
  return sortPages([...(await Promise.all(pages)), ...(await changelogPage(root))]);
}

/** Returns a list with the page of the changelog; an empty list if the installation has no changelog. */
async function changelogPage(root: string): Promise<readonly Page[]> {
  const file = Bun.file(join(root, CHANGELOG));
  if (!(await file.exists())) return [];
  return [
    {
      path: "reference/changelog",
      file: CHANGELOG,
      title: "Changelog",
      section: "Reference",
      order: 90,
      summary: "Changes of each release, with the action that each change needs.",
      body: (await file.text()).replace(/^# .*\n/, ""),
    },
  ];
}

export function sortPages(pages: readonly Page[]): readonly Page[] {
  return pages.toSorted(
    (a, b) =>
      Number(a.path !== "") - Number(b.path !== "") ||
      SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section) ||
      a.order - b.order ||
      a.title.localeCompare(b.title, "en"),
  );
}

/** Parses one Markdown file into a page. @throws Error with file and line of malformed front matter */
export function parsePage(file: string, text: string): Page {
  const [head, yaml = ""] = /^---\n([^]*?)\n---\n/.exec(text) ?? [];
  if (head === undefined) throw new Error(`${file}:1: expected front matter between two lines of ---`);
  const { title, section, order, summary } = Bun.YAML.parse(yaml) as Readonly<Record<string, unknown>>;
  const fault = (what: string): Error => new Error(`${file}:1: expected front matter with ${what}`);
  if (typeof title !== "string" || title === "") throw fault("a title");
  if (!isSection(section)) throw fault(`a section of ${SECTIONS.join(", ")}; got ${String(section)}`);
  if (typeof order !== "number") throw fault("an order, a number");
  if (typeof summary !== "string" || summary === "") throw fault("a summary of one sentence");
  const body = text.slice(head.length);
  return { path: pathOf(file), file, title, section, order, summary, body };
}

function isSection(value: unknown): value is Section {
  return SECTIONS.some((section) => section === value);
}

/** Returns the page path of a file: `schemas/docs/guides/webhooks.md` → `guides/webhooks`. `index.md` becomes the page of its folder. */
function pathOf(file: string): string {
  return file
    .slice(`${FOLDER}/`.length)
    .replace(/\.md$/, "")
    .replace(/(?:^|\/)index$/, "");
}

/**
 * Returns the page whose path is most similar to an unknown `path`. In order of preference: the first page below it, a page with the same
 * last segment, the page with the fewest changed letters.
 */
export function nearestPage(path: string, pages: readonly Page[]): Page | undefined {
  const asked = path.slice(0, PATH_CHARS_MAX).toLowerCase();
  const last = asked.split("/").at(-1) ?? "";
  const below = asked === "" ? undefined : pages.find(({ path: own }) => own.startsWith(`${asked}/`));
  if (below) return below;
  const scored = pages.map((page) => {
    const own = page.path.toLowerCase();
    const isNamesake = last !== "" && own.split("/").at(-1) === last;
    return { page, score: isNamesake ? -1 : distance(asked, own) };
  });
  return scored.toSorted((a, b) => a.score - b.score)[0]?.page;
}

const PATH_CHARS_MAX = 100;

/** Returns the Levenshtein distance of two texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
