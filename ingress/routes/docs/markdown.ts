/** Converts a page's Markdown to HTML, headings, and the text of each section. Raw HTML in Markdown is shown as text. */
import { Marked, type Token, type Tokens } from "marked";

import { escapeHtml, type Highlight } from "./highlight.ts";
import { isNestedTable, nestedTables, tableHtml } from "./table.ts";
import { codeHtml, tabGroups, type TabGroup, tabsHtml } from "./code.ts";

export interface Heading {
  readonly depth: number;
  /** Fragment of the heading in links to it. */
  readonly id: string;
  readonly text: string;
}

/** Text below a heading, up to the next heading. */
export interface TextPart {
  /** Text of the heading; empty for the text above the first heading. */
  readonly heading: string;
  readonly id: string;
  /** Prose of the section. Table cells are separated by ` – `, rows and list items by ` · `. */
  readonly text: string;
  /** Code and table headings of the section, which are searched but not shown in results. */
  readonly hidden: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

export interface RenderOptions {
  /** Returns the address for a link. Undefined if the target is not a page of the site; only the link's text is then shown. */
  readonly linkOf: (href: string) => string | undefined;
  /** Adds syntax colours to code. Absent: code has no colours. */
  readonly highlight?: Highlight;
}

export async function renderMarkdown(markdown: string, { linkOf, highlight }: RenderOptions): Promise<Rendered> {
  const parser = new Marked({ gfm: true });
  const tokens = nestedTables(tabGroups(parser.lexer(markdown)));
  const headings = headingsOf(tokens);
  visit(tokens, keepMailWhole);
  const html = new Map<Tokens.Code, string>();
  for (const code of codesOf(tokens)) {
    html.set(code, highlight ? await highlight(code.text, languageOf(code)) : escapeHtml(code.text));
  }
  const coloured = (code: Tokens.Code): string => html.get(code) ?? escapeHtml(code.text);
  /** Number of headings rendered so far. */
  let index = 0;
  parser.use({
    extensions: [
      { name: "tabs", renderer: (token) => tabsHtml(token as unknown as TabGroup, coloured) },
      {
        name: "nested",
        renderer(token) {
          if (!isNestedTable(token)) return false;
          index += 1;
          const [heading, table] = token.tokens;
          const name = this.parser.parseInline(heading.tokens);
          return `<details class="nested"><summary>${name}</summary>${this.parser.parse([table])}</details>\n`;
        },
      },
    ],
    renderer: {
      html: ({ text }) => escapeHtml(text),
      code: (code) => codeHtml(languageOf(code), coloured(code)),
      heading({ tokens: inline, depth }) {
        const { id, text } = headings[index++] ?? { id: "", text: "" };
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(text)}">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(inline)}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens: inline }) {
        const text = this.parser.parseInline(inline);
        const target = linkOf(href);
        if (target === undefined) return text;
        const isForeign = /^[a-z]+:/i.test(target);
        return `<a href="${escapeHtml(target)}"${isForeign ? ' rel="noreferrer"' : ""}>${text}</a>`;
      },
      image: ({ text }) => escapeHtml(text),
      table(token) {
        return tableHtml(token, (cell) => this.parser.parseInline(cell.tokens));
      },
      blockquote({ tokens: inner }) {
        const [first] = inner;
        const [mark = "", kind = ""] = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/.exec(first?.raw ?? "") ?? [];
        if (kind === "") return `<blockquote>${this.parser.parse(inner)}</blockquote>\n`;
        const bodyTokens = parser.lexer(
          inner
            .map(({ raw }) => raw)
            .join("")
            .slice(mark.length),
        );
        visit(bodyTokens, keepMailWhole);
        const className = kind === "WARNING" || kind === "CAUTION" ? "callout warn" : "callout";
        const name = kind.charAt(0) + kind.slice(1).toLowerCase();
        return `<div class="${className}" role="note"><p class="callout-name">${name}</p>${this.parser.parse(bodyTokens)}</div>\n`;
      },
    },
  });
  return { html: parser.parser(tokens), headings };
}

/** Replaces the hyphen in "e-mail" by U+2011, after which browsers do not break the line. */
export function withWholeMail(text: string): string {
  return text.replaceAll(/\b([Ee])-mail/g, "$1\u{2011}mail");
}

function keepMailWhole(token: Token): void {
  const { tokens, text } = token as Tokens.Generic;
  if (token.type === "text" && tokens === undefined) (token as Tokens.Text).text = withWholeMail(String(text));
}

/** Returns the language of a code block, such as `sh` for `sh title="a"`. */
function languageOf({ lang = "" }: Tokens.Code): string {
  return /^[a-z0-9+-]*/i.exec(lang)?.[0].toLowerCase() ?? "";
}

function codesOf(tokens: readonly Token[]): Tokens.Code[] {
  const found: Tokens.Code[] = [];
  visit(tokens, (token) => {
    if (token.type === "code") found.push(token as Tokens.Code);
  });
  return found;
}

/** Calls `see` for each Markdown token and all tokens within it. */
export function visit(tokens: readonly Token[], see: (token: Token) => void): void {
  for (const token of tokens) {
    see(token);
    const { tokens: inner, items, header, rows } = token as Tokens.Generic;
    for (const list of [
      inner,
      items as Token[] | undefined,
      header as Token[] | undefined,
      ...((rows as Token[][] | undefined) ?? []),
    ]) {
      if (Array.isArray(list)) visit(list, see);
    }
  }
}

function headingsOf(tokens: readonly Token[]): Heading[] {
  const headings: Heading[] = [];
  const taken = new Map<string, number>();
  visit(tokens, (token) => {
    if (token.type !== "heading") return;
    const { depth, tokens: inline } = token as Tokens.Heading;
    const text = plainText(inline);
    const slug = slugOf(text);
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    headings.push({ depth, id: count === 0 ? slug : `${slug}-${count}`, text });
  });
  return headings;
}

/** Returns the fragment of a heading, by the same rules as code hosts. */
function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Returns the text of inline tokens without formatting. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      const { tokens: inner, text } = token as Tokens.Generic;
      if (token.type === "br") return " ";
      return Array.isArray(inner) && inner.length > 0 ? plainText(inner) : unescapeHtml(String(text ?? ""));
    })
    .join("");
}

const LETTERS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Reverses HTML escaping, which marked applies to the text of some tokens. */
function unescapeHtml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => LETTERS[name] ?? whole);
}

/** Returns the sections of a page for the search index. */
export function textParts(markdown: string): readonly TextPart[] {
  const tokens = new Marked({ gfm: true }).lexer(markdown);
  const headings = headingsOf(tokens);
  const parts: { heading: string; id: string; text: string; hidden: string }[] = [
    { heading: "", id: "", text: "", hidden: "" },
  ];
  let index = 0;
  /** True after a list or a table. The next text then needs a separator, because the last entry may end without a full stop. */
  let wasApart = false;
  for (const token of tokens) {
    if (token.type === "heading") {
      wasApart = false;
      const { text = "", id = "" } = headings[index++] ?? {};
      parts.push({ heading: text, id, text: "", hidden: "" });
      continue;
    }
    const last = parts.at(-1);
    if (!last) continue;
    const prose = proseOf(token);
    const isApart = (token.type === "list" || token.type === "table" || wasApart) && /[^.:!?]$/.test(last.text);
    if (prose !== "") last.text = `${last.text}${isApart ? " · " : " "}${prose}`.trim();
    wasApart = token.type === "list" || token.type === "table" || (prose === "" && wasApart);
    last.hidden = `${last.hidden} ${hiddenOf(token)}`.trim();
  }
  return parts.filter(({ heading, text, hidden }) => heading !== "" || text !== "" || hidden !== "");
}

function proseOf(token: Token): string {
  const { items, rows, tokens, text } = token as Tokens.Generic;
  if (token.type === "code" || token.type === "space" || token.type === "hr") return "";
  if (Array.isArray(items)) return joined((items as Token[]).map(proseOf), " · ");
  if (Array.isArray(rows)) {
    return joined(
      (rows as Token[][]).map((cells) => joined(cells.map(proseOf), " – ")),
      " · ",
    );
  }
  if (token.type === "blockquote" || token.type === "list_item") {
    return joined((tokens as Token[]).map(proseOf), " ").replace(/^\[![A-Z]+\]\s*/, "");
  }
  return Array.isArray(tokens) ? plainText(tokens) : String(text ?? "");
}

function joined(texts: readonly string[], separator: string): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join(separator);
}

function hiddenOf(token: Token): string {
  const found: string[] = [];
  visit([token], (one) => {
    if (one.type === "code") found.push((one as Tokens.Code).text);
    if (one.type === "table") found.push(...(one as Tokens.Table).header.map(({ tokens }) => plainText(tokens)));
  });
  return found.join(" ");
}
