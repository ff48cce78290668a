/** Parses Markdown into blocks and text runs, from which PDF and Word files are written. Links are never fetched. */
import { decodeHTMLStrict } from "entities";
import { Marked, type MarkedExtension, type Token, type Tokens } from "marked";
import markedFootnote, { type Footnotes } from "marked-footnote";

import { MediaError } from "#shared/children/media-error.ts";

import { isOfDepth } from "../faults.ts";

/**
 * Creates a Markdown parser for a single text. If a parser were shared and failed, it would add the footnotes of one text to the next text.
 */
export function markdownReader(...extensions: readonly MarkedExtension[]): Marked {
  // Fixed label, because the library writes it into the HTML without escaping.
  return new Marked({ gfm: true }, markedFootnote({ backRefLabel: "Back to reference" }), ...extensions);
}

/** Run of text with one style. */
export interface Run {
  readonly text: string;
  readonly isBold?: boolean;
  readonly isItalic?: boolean;
  readonly isStruck?: boolean;
  readonly isCode?: boolean;
  /** True for superscript. */
  readonly isRaised?: boolean;
  readonly link?: string;
}

export type Block =
  | { readonly kind: "heading"; readonly depth: number; readonly runs: readonly Run[] }
  | { readonly kind: "paragraph"; readonly runs: readonly Run[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly kind: "list";
      /** First number of the list; undefined for a bullet list. */
      readonly start: number | undefined;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Run[])[];
      readonly rows: readonly (readonly (readonly Run[])[])[];
      readonly align: readonly ("left" | "center" | "right")[];
    }
  | { readonly kind: "rule" };

/** Parses Markdown to blocks. @throws MediaError too_large if the text has too many parts or is nested too deeply */
export function blocksOf(markdown: string): readonly Block[] {
  checkMarkdown(markdown);
  return guarded(() => {
    const tokens = markdownReader().lexer(markdown);
    const notes = tokens.find((token): token is Footnotes => token.type === "footnotes")?.items ?? [];
    const own = blocks(tokens, 0);
    if (notes.length === 0) return own;
    return [...own, { kind: "rule" }, { kind: "list", start: 1, items: notes.map((note) => blocks(note.content, 1)) }];
  });
}

/**
 * Runs a parser that calls itself for each nesting level.
 * @throws MediaError too_large if the text is nested so deeply that the call stack overflows
 */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isOfDepth(error) ? tooDeep(error) : error;
  }
}

function blocks(tokens: readonly Token[], depth: number): Block[] {
  if (depth > DOCUMENT_DEPTH_MAX) throw tooDeep();
  return tokens.flatMap((token) => blockOf(token as Tokens.Generic, depth));
}

function blockOf(token: Tokens.Generic, depth: number): Block[] {
  const inner = token.tokens ?? [];
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", depth: (token as Tokens.Heading).depth, runs: runs(inner, {}) }];
    case "paragraph":
      return [{ kind: "paragraph", runs: runs(inner, {}) }];
    case "text":
      return [
        { kind: "paragraph", runs: inner.length > 0 ? runs(inner, {}) : [{ text: decodeHTMLStrict(textIn(token)) }] },
      ];
    case "code":
      return [{ kind: "code", text: textIn(token) }];
    case "blockquote":
      return [{ kind: "quote", blocks: blocks(inner, depth + 1) }];
    case "hr":
      return [{ kind: "rule" }];
    case "list":
      return [listOf(token as Tokens.List, depth)];
    case "table": {
      const { header, rows, align } = token as Tokens.Table;
      const of = (cell: Tokens.TableCell) => runs(cell.tokens, {});
      const sides = align.map((one) => one ?? "left");
      return [{ kind: "table", head: header.map(of), rows: rows.map((row) => row.map(of)), align: sides }];
    }
    case "html": {
      const text = decodeHTMLStrict(textIn(token).replaceAll(/<[^<>]*>/g, "")).trim();
      return text === "" ? [] : [{ kind: "paragraph", runs: [{ text }] }];
    }
    default:
      return [];
  }
}

function listOf({ ordered, start, items }: Tokens.List, depth: number): Block {
  const itemBlocks = items.map((item) => {
    const own = blocks(item.tokens, depth + 1);
    if (!item.task) return own;
    const [first, ...others] = own;
    const mark = { text: item.checked === true ? "☑ " : "☐ " };
    if (first?.kind === "paragraph") return [{ ...first, runs: [mark, ...first.runs] }, ...others];
    return [{ kind: "paragraph", runs: [mark] } as const, ...own];
  });
  return { kind: "list", start: ordered ? (start === "" ? 1 : start) : undefined, items: itemBlocks };
}

type RunFormatting = Omit<Run, "text">;

function runs(tokens: readonly Token[], formatting: RunFormatting): Run[] {
  return tokens.flatMap((token): Run[] => {
    const one = token as Tokens.Generic;
    const inner = one.tokens ?? [];
    switch (one.type) {
      case "strong":
        return runs(inner, { ...formatting, isBold: true });
      case "em":
        return runs(inner, { ...formatting, isItalic: true });
      case "del":
        return runs(inner, { ...formatting, isStruck: true });
      case "codespan":
        return [{ ...formatting, text: textIn(one), isCode: true }];
      case "link": {
        const link = safeLink(decodeHTMLStrict((one as Tokens.Link).href));
        return runs(inner, link === undefined ? formatting : { ...formatting, link });
      }
      case "image":
        return [{ ...formatting, text: `[${decodeHTMLStrict(textIn(one)) || "image"}]`, isItalic: true }];
      case "br":
        return [{ ...formatting, text: "\n" }];
      case "html":
        return /^<br\s*\/?>$/i.test(textIn(one).trim()) ? [{ ...formatting, text: "\n" }] : [];
      case "checkbox":
        return [];
      case "footnoteRef":
        return [{ ...formatting, text: `[${String(one["id"])}]`, isRaised: true }];
      default:
        if (inner.length > 0) return runs(inner, formatting);
        return [{ ...formatting, text: inOneLine(decodeHTMLStrict(textIn(one))) }];
    }
  });
}

/** Replaces line breaks within a paragraph with spaces. */
function inOneLine(text: string): string {
  const lines = text.split("\n");
  const last = lines.length - 1;
  const trimmed = lines.map((line, at) => (at > 0 ? line.trimStart() : line));
  return trimmed.map((line, at) => (at < last ? line.trimEnd() : line)).join(" ");
}

function textIn(token: Tokens.Generic): string {
  return typeof token["text"] === "string" ? token["text"] : token.raw;
}

/** Returns the link if it is an http, https or mailto URL; undefined for others, such as scripts and files. */
export function safeLink(href: string): string | undefined {
  const address = href.replaceAll(/\p{Cc}/gu, "").trim();
  return /^(?:https?:\/\/|mailto:)/i.test(address) ? address.slice(0, 2_000) : undefined;
}

/** Returns the text of the first heading as the document's title; undefined if there is no heading. */
export function titleOf(all: readonly Block[]): string | undefined {
  const heading = all.find((block) => block.kind === "heading");
  return heading?.kind === "heading"
    ? plain(heading.runs.filter(({ isRaised }) => isRaised !== true)).slice(0, 200)
    : undefined;
}

export function plain(all: readonly Run[]): string {
  return all.map(({ text }) => text).join("");
}

export const MARKDOWN = {
  markdown: {
    text: "# Tea\n\nThree *boxes* of **green** tea, from [Uji](https://example.com/uji).\n\n- one\n- two\n  1. first\n  2. second\n\n| Box | Price |\n|---|---:|\n| small | 4.50 |\n| large | 12.00 |\n\n> It is kept dry.\n\n```\nbrew(3)\n```\n",
  },
} as const;
export const TEXT_PRICE = { unit: "per_operation", operation_price: "0.1" } as const;

/** Maximum nesting of lists or quotes in Markdown. */
export const DOCUMENT_DEPTH_MAX = 30;

/** Maximum number of cells in Markdown tables, including the empty cells that complete a row. Layout of this many cells takes 2 s. */
export const MARKDOWN_CELLS_MAX = 20_000;

/**
 * Maximum number of asterisks, underscores and tildes in one paragraph. Parsing 5,000 of them takes 0.5 to 1.5 s; parsing 40,000 takes 34
 * s.
 */
export const MARKDOWN_EMPHASIS_MAX = 5_000;

/**
 * Maximum number of footnotes and references to them. The limit is low, because for each one the parser searches all footnotes and scans
 * the rest of the line.
 */
const MARKDOWN_FOOTNOTES_MAX = 2_000;

/** Matches a line that can begin a new block without an empty line before it. */
const BLOCK = /^\s*(?:[-+*>|]|#{1,6}\s|\d{1,9}[.)]\s|$)/;
/** Matches the delimiter row below the head of a table. */
const COLUMNS = /^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$/;
/** Maximum number of quote marks at the start of a line. A text with more of them in one line is rejected as nested too deeply. */
const QUOTE_MARKS_MAX = 10 * DOCUMENT_DEPTH_MAX;

/**
 * Checks the number of footnotes, table cells and other parts of a Markdown text before parsing, because parse time is superlinear in them.
 * @throws MediaError too_large
 */
function checkMarkdown(markdown: string): void {
  const notes = countOf(markdown, /\[\^/g);
  if (notes > MARKDOWN_FOOTNOTES_MAX) throw tooMany("footnotes and references", MARKDOWN_FOOTNOTES_MAX, notes);
  let [emphasis, columns, cells] = [0, 0, 0];
  for (const line of markdown.split("\n")) {
    const quotes = countOf(/^(?:[ \t]*>)+/.exec(line)?.[0] ?? "", />/g);
    if (quotes > QUOTE_MARKS_MAX) throw tooDeep();
    if (line.trim() === "") columns = 0;
    else if (COLUMNS.test(line)) columns = countOf(line, /-+/g);
    // The parser fills each row up to the table's columns.
    cells += columns;
    if (cells > MARKDOWN_CELLS_MAX) throw tooMany("table cells", MARKDOWN_CELLS_MAX, cells);
    emphasis = (BLOCK.test(line) ? 0 : emphasis) + countOf(line, /\*+|_+|~+/g);
    if (emphasis > MARKDOWN_EMPHASIS_MAX) {
      throw tooMany("marks of emphasis in a paragraph", MARKDOWN_EMPHASIS_MAX, emphasis);
    }
  }
}

function tooDeep(cause?: unknown): MediaError {
  const max = DOCUMENT_DEPTH_MAX;
  return new MediaError("too_large", `Expected lists and quotes nested at most ${max} deep.`, { cause });
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}

function tooMany(what: string, max: number, got: number): MediaError {
  return new MediaError("too_large", `Expected at most ${max} ${what}, got ${got}.`);
}
