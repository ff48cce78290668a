/** Pages of the user documentation below `schemas/docs`, as their tests read them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

export const DOCS = join(PROJECT_ROOT, "schemas/docs");

/** Folders whose pages these tests check. Other folders below DOCS have tests of their own. */
const FOLDERS = ["get-started", "guides", "cookbook", "migrate"] as const;

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence in the file, from 1. */
  readonly line: number;
  /** Output that the page shows for this block. Undefined: the page shows none. */
  readonly output: { readonly language: string; readonly text: string } | undefined;
}

export interface Page {
  /** Path below `schemas/docs`, with `.md`. */
  readonly path: string;
  /** Members of the front matter. */
  readonly head: Readonly<Record<string, string>>;
  /** Text below the front matter. */
  readonly body: string;
  readonly lines: number;
  readonly blocks: readonly Block[];
}

/** A block of output follows the block that a reader runs after at most one line of text, which ends with a colon. */
const OUTPUT_AFTER = /^(?:[^\n]*:)?$/;

/** @throws Error for a page without front matter */
export function readPage(path: string): Page {
  const text = readFileSync(join(DOCS, path), "utf8");
  const [, front, body] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
  if (front === undefined || body === undefined) throw new Error(`${path} has no front matter`);
  const head = Object.fromEntries(
    front.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  return { path, head, body, lines: text.split("\n").length - 1, blocks: blocksIn(text) };
}

/** Code blocks of a Markdown text, in order. */
export function blocksIn(text: string): readonly Block[] {
  const found = [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(
    ({ 0: whole, 1: language = "", 2: code = "", index }) => ({
      language,
      text: code,
      line: text.slice(0, index).split("\n").length,
      index,
      end: index + whole.length,
    }),
  );
  return found.map(({ index: _index, end, ...block }, at) => {
    const next = found[at + 1];
    const isOutput =
      next !== undefined &&
      isRun(block.language) &&
      (next.language === "json" || next.language === "text") &&
      OUTPUT_AFTER.test(text.slice(end, next.index).trim());
    return { ...block, output: isOutput ? { language: next.language, text: next.text } : undefined };
  });
}

/** True for a language whose blocks a reader runs. */
export function isRun(language: string): boolean {
  return language === "sh" || language === "js" || language === "python";
}

/** All pages of FOLDERS, by path. */
export const PAGES: readonly Page[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(DOCS, folder))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => readPage(`${folder}/${name}`)),
);
