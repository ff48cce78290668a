/** Links of pages that lead nowhere, each with its file and line. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Marked, type Tokens } from "marked";

import { linkAddress, targetFile } from "#ingress/routes/docs/links.ts";
import { renderMarkdown, visit } from "#ingress/routes/docs/markdown.ts";
import type { Page } from "#ingress/routes/docs/pages.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

interface Target {
  readonly page: Page;
  readonly ids: ReadonlySet<string>;
}

/** @param routes paths of other routes of the ingress, to which pages may link */
export async function linkFaults(pages: readonly Page[], routes: ReadonlySet<string>): Promise<readonly string[]> {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const targets = new Map<string, Target>();
  for (const page of pages) {
    const { headings } = await renderMarkdown(page.body, { linkOf: (href) => href });
    targets.set(page.path === "" ? "/docs" : `/docs/${page.path}`, {
      page,
      ids: new Set(headings.map(({ id }) => id)),
    });
  }
  return pages.flatMap((page) =>
    linksOf(page).flatMap(({ href, line }) => {
      const fault = faultOf(page, href);
      return fault === undefined ? [] : [`${page.file}:${line}: ${href} ${fault}`];
    }),
  );

  function faultOf(page: Page, href: string): string | undefined {
    if (/^(?:https?:|mailto:)/.test(href)) return undefined;
    const file = targetFile(page, href);
    const address = linkAddress(page, href, byFile);
    if (address === undefined) {
      // A file of the project that is no page: its name is shown without a link.
      return file !== undefined && existsSync(join(PROJECT_ROOT, file)) ? undefined : "names neither a page nor a file";
    }
    const [path = "", id] = address.split("#");
    const target = path === "" ? targets.get(page.path === "" ? "/docs" : `/docs/${page.path}`) : targets.get(path);
    if (!target) return routes.has(path) ? undefined : "is no path of the service";
    return id === undefined || target.ids.has(id) ? undefined : `has no heading #${id}`;
  }
}

function linksOf(page: Page): readonly { readonly href: string; readonly line: number }[] {
  const tokens = new Marked({ gfm: true }).lexer(page.body);
  // Front matter is not part of the body.
  const before = sourceOf(page).indexOf(page.body);
  let line = before < 0 ? 1 : sourceOf(page).slice(0, before).split("\n").length;
  return tokens.flatMap((token) => {
    const from = line;
    line += token.raw.split("\n").length - 1;
    const found: { href: string; line: number }[] = [];
    visit([token], (inner) => {
      if (inner.type !== "link") return;
      const { href, raw } = inner as Tokens.Link;
      const at = token.raw.indexOf(raw);
      found.push({ href, line: from + (at < 0 ? 0 : token.raw.slice(0, at).split("\n").length - 1) });
    });
    return found;
  });
}

const sources = new Map<string, string>();

/** Text of the page's file; of a page that is made from the OpenAPI document its body. */
function sourceOf({ file, body }: Page): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const path = join(PROJECT_ROOT, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : body;
  sources.set(file, text);
  return text;
}
