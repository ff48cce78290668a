import { join } from "node:path";

import { decodeHTMLStrict } from "entities";
import type { Marked } from "marked";

import { defineCapability, input } from "../define.ts";
import { choice, flag } from "../params.ts";
import { textOf } from "../text.ts";
import { blocksOf, guarded, MARKDOWN, markdownReader, safeLink, TEXT_PRICE, titleOf } from "./markdown.ts";

export default defineCapability({
  id: "document.markdown_to_html",
  display_name: "Markdown to HTML",
  description:
    "Converts GitHub Flavored Markdown to HTML. HTML in the Markdown is shown as text unless `allow_html` is set.",
  output_modality: "document",
  input: { markdown: input("text", "The Markdown.", { takesText: true }) },
  params: {
    standalone: flag("Return a complete page instead of a fragment.", true),
    allow_html: flag(
      "Pass HTML in the Markdown through unchanged, including scripts. If false, it is shown as text.",
      false,
    ),
    theme: choice("Style of a complete page.", ["plain", "github"], { default: "plain", labels: { github: "GitHub" } }),
  },
  sample_input: MARKDOWN,
  examples: [
    { title: "A complete page", params: {} },
    { title: "A fragment for your own page", params: { standalone: false } },
  ],
  price: TEXT_PRICE,
  engine: "office",
  async run({ params, inputs, folder }) {
    // A footnote's label becomes part of an address, which cannot contain lone surrogates.
    const markdown = (await textOf(inputs.markdown)).toWellFormed();
    const title = titleOf(blocksOf(markdown)) ?? "Document";
    const html = guarded(() => readerOf(params.allow_html).parse(markdown, { async: false }));
    const style = params.theme === "github" ? `<style>${GITHUB}</style>` : "";
    const page = `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<title>${escaped(title)}</title>${style}\n</head>\n<body>\n${html}</body>\n</html>\n`;
    const path = join(folder, "document.html");
    await Bun.write(path, params.standalone ? page : html === "" ? "\n" : html);
    return { output: { title }, files: [{ path, mediaType: "text/html", name: "document.html" }] };
  },
});

function readerOf(allowsHtml: boolean): Marked {
  if (allowsHtml) return markdownReader();
  return markdownReader({
    renderer: {
      html: ({ text }) => escaped(text),
      link({ href: written, title, tokens }) {
        const href = decodeHTMLStrict(written);
        const label = this.parser.parseInline(tokens);
        const link = safeLink(href) ?? (isNear(href) ? href : undefined);
        return link === undefined ? label : `<a href="${escaped(link)}"${titled(title)}>${label}</a>`;
      },
      image({ href: written, title, text }) {
        const href = decodeHTMLStrict(written);
        const isPicture = /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(href);
        const source = isPicture ? href : (safeLink(href) ?? (isNear(href) ? href : undefined));
        return source === undefined
          ? escaped(decodeHTMLStrict(text))
          : `<img src="${escaped(source)}" alt="${escaped(decodeHTMLStrict(text))}"${titled(title)}>`;
      },
    },
  });
}

/**
 * True for a relative link: a path or anchor without a scheme. Control characters are rejected, because browsers ignore them inside a
 * scheme.
 */
function isNear(href: string): boolean {
  return !/\p{Cc}/u.test(href) && /^[^:]*(?:[/?#]|$)/.test(href.trim());
}

function titled(title: string | null | undefined): string {
  return title == null || title === "" ? "" : ` title="${escaped(decodeHTMLStrict(title))}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

const GITHUB =
  "body{font:16px/1.5 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif;max-width:46em;margin:2em auto;padding:0 1em;color:#1f2328}h1,h2{border-bottom:1px solid #d1d9e0;padding-bottom:.3em}a{color:#0969da}code{background:#818b981f;border-radius:6px;padding:.2em .4em;font:85% ui-monospace,Menlo,monospace}pre{background:#f6f8fa;border-radius:6px;padding:1em;overflow:auto}pre code{background:none;padding:0}blockquote{border-left:.25em solid #d1d9e0;color:#59636e;margin:0;padding:0 1em}table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:.4em .8em}img{max-width:100%}hr{border:0;border-top:.25em solid #d1d9e0}.sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}[data-footnote-ref]::before{content:'['}[data-footnote-ref]::after{content:']'}.footnotes{border-top:1px solid #d1d9e0;font-size:85%}";
