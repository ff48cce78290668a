/** HTML as Markdown: what a reader of Markdown makes of it is the text that the page shows. */
import { describe, expect, test } from "bun:test";
import { decodeHTML, decodeHTMLAttribute, escapeUTF8 } from "entities";
import fc from "fast-check";
import { Marked } from "marked";

import { sized, testSeed } from "#tests/support/seed.ts";
import { markdownOf, textOfHtml } from "#workers/capabilities/html.ts";

const seed = testSeed("markdown-of");
const marked = new Marked({ gfm: true });
const again = (html: string): string => marked.parse(markdownOf(html), { async: false });

/** Content of the first element of a name, as text; undefined if there are none or several, or other elements are within. */
function textIn(html: string, selector: string): string | undefined {
  let [count, text, inner] = [0, "", 0];
  new HTMLRewriter()
    .on(selector, { element: () => void count++, text: (piece) => void (text += piece.text) })
    .on(`${selector} *`, { element: () => void inner++ })
    .transform(html);
  return count === 1 && inner === 0 ? decodeHTML(text) : undefined;
}

/** Text that Markdown could read as markup, in the spaces that HTML keeps. */
const text = fc
  .array(
    fc.constantFrom(
      ...Array.from("\\`*_{}[]()#+-.!~<>|&:=\"'/$^@%;,? a1b x-"),
      "<b>",
      "&lt;",
      "~~",
      "**",
      "1. ",
      "# ",
      "- ",
      "---",
      "```",
      "![",
      "](",
    ),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => parts.join("").replaceAll(/ +/g, " ").trim())
  .filter((one) => one !== "" && !/@/.test(one));

/** Marked does not escape an ampersand that its source has escaped there. */
const plain = text.map((one) => one.replaceAll("&", "+"));

describe("the text of a page is equal when its Markdown is rendered", () => {
  test.each<[string, (html: string) => string, string]>([
    ["a paragraph", (html) => `<p>${html}</p>`, "p"],
    ["a heading", (html) => `<h2>${html}</h2>`, "h2"],
    ["a list item", (html) => `<ul><li>${html}</li></ul>`, "li"],
    ["a quote", (html) => `<blockquote><p>${html}</p></blockquote>`, "p"],
    ["bold text", (html) => `<p>x <b>${html}</b> x</p>`, "strong"],
    ["a link", (html) => `<p>!<a href="/x">${html}</a></p>`, "a"],
    ["a cell", (html) => `<table><tr><th>${html}</th><td>b</td></tr></table>`, "td:first-child"],
    ["code", (html) => `<p>x <code>x${html}x</code> x</p>`, "code"],
    ["code in a cell", (html) => `<table><tr><th>a</th></tr><tr><td><code>x${html}x</code></td></tr></table>`, "code"],
    ["a block of code", (html) => `<pre>${html}</pre>`, "code"],
  ])(
    "in %s",
    (_what, wrap, selector) => {
      fc.assert(
        fc.property(text, (one) => {
          const html = wrap(escapeUTF8(one));
          const expected = selector === "code" && wrap("").includes("xx") ? `x${one}x` : one;
          expect([markdownOf(html), textIn(again(html), selector)?.trim()]).toEqual([markdownOf(html), expected]);
        }),
        { numRuns: sized(150, 1_000), seed },
      );
    },
    60_000,
  );

  test("in the address, the title and the description of an image", () => {
    fc.assert(
      fc.property(plain, plain, (alt, title) => {
        const html = `<p>!<img src="/a" alt="${escapeUTF8(alt)}" title="${escapeUTF8(title)}"></p>`;
        const found: unknown[] = [];
        new HTMLRewriter()
          .on("img", {
            element: (element) =>
              void found.push(...["alt", "title"].map((name) => decodeHTMLAttribute(element.getAttribute(name) ?? ""))),
          })
          .transform(again(html));
        expect([markdownOf(html), ...found]).toEqual([markdownOf(html), alt, title]);
      }),
      { numRuns: sized(150, 1_000), seed },
    );
  }, 60_000);
});

test.each([
  ["tags in text", "<p>&lt;script&gt;alert(1)&lt;/script&gt; a &lt; b</p>", "\\<script>alert(1)\\</script> a < b\n"],
  ["references in text", "<p>&amp;lt; &amp;copy; AT&amp;T</p>", "\\&lt; \\&copy; AT&T\n"],
  ["strikethrough in text", "<p>~~no~~</p>", "\\~\\~no\\~\\~\n"],
  ["marks that are none", "<p>A snake_case _x_ in ~/a is ~5 b~c</p>", "A snake_case \\_x\\_ in ~/a is ~5 b\\~c\n"],
  ["a table in text", "<p>a|b<br>-|-</p>", "a|b  \n\\-|-\n"],
  ["an image after a shout", '<p>Hello!<a href="/x">there</a></p>', "Hello\\![there](/x)\n"],
  ["emphasis within a word", "<p>a<i>b</i>c d<b>e</b></p>", "a*b*c d**e**\n"],
  [
    "emphasis that marks cannot write",
    "<p>a<b>(b)</b>c <i>d</i><i>e</i></p>",
    "a<strong>(b)</strong>c <em>d</em><em>e</em>\n",
  ],
  ["bold around paragraphs", "<b><p>one</p><p>two</p></b>", "one\n\ntwo\n"],
  ["a link around blocks", '<a href="/x"><h3>Head</h3><p>Text</p></a>', "[Head Text](/x)\n"],
  ["marks within code", "<p><code>a<b>b</b><a href=/x>c</a></code></p>", "`abc`\n"],
  ["preformatted text without code", "<pre>a *b*\n  c\n</pre>", "```\na *b*\n  c\n```\n"],
  ["a fence within code", "<pre><code class='language-md'>  ```\n</code></pre>", "````md\n  ```\n````\n"],
  ["the end of a heading", "<h1>C #</h1>", "# C \\#\n"],
  [
    "a caption",
    "<table><caption>a * b</caption><tr><th>c</th><th>d</th></tr></table>",
    "a \\* b\n\n| c   | d   |\n| --- | --- |\n",
  ],
])("escapes text that would be markup: %s", (_what, html, markdown) => {
  expect(markdownOf(html)).toBe(markdown);
});

/** Rows of a table, their cells parted by a slash. */
const rowsOf = (html: string): string[] => markdownOf(html).trim().split("\n").map((row) => row.slice(1, -1).split("|").map((cell) => cell.trim()).join("/")); // prettier-ignore

test.each([
  ["in the first column", "<tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3", ["a/b", "---/---", "1/2", "/3"]],
  ["in the last column", "<tr><th>a<th>b<tr><td>1<td rowspan=2>2<tr><td>3", ["a/b", "---/---", "1/2", "3"]],
  [
    "in the middle, beside a colspan",
    "<tr><th>a<th>b<th>c<th>d<tr><td>1<td rowspan=2 colspan=2>2<td>3<tr><td>4<td>5",
    ["a/b/c/d", "---/---/---/---", "1/2//3", "4///5"],
  ],
  ["in the head", "<thead><tr><th rowspan=2>a<th>b<tr><th>c</thead><tr><td>1<td>2", ["a/b", "---/---", "/c", "1/2"]],
  [
    "to the end of its section, and no further",
    "<tbody><tr><th>a<th>b<tr><td rowspan=0>1<td>2<tr><td>3</tbody><tbody><tr><td>4<td>5",
    ["a/b", "---/---", "1/2", "/3", "4/5"],
  ],
  ["beyond the table", "<tr><th>a<th>b<tr><td rowspan=65534>1<td>2", ["a/b", "---/---", "1/2"]],
])("leaves a cell empty if one from above spans it: %s", (_what, rows, expected) => {
  expect(rowsOf(`<table>${rows}</table>`)).toEqual(expected);
});

test("rejects a table whose cells span too many columns of other rows", () => {
  const wide = "<td rowspan=2000 colspan=50>".repeat(100);
  expect(() => markdownOf(`<table><tr>${wide}${"<tr><td>x".repeat(1_900)}</table>`)).toThrow(
    "span at most 600000 columns",
  );
});

/** Elements that the style sheet of the HTML standard displays as blocks (15.3.3 and 15.3.7), without list items and those that have no text beside others. */
const BLOCKS =
  "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 header hgroup legend main menu nav ol optgroup option p pre search section summary ul".split(
    " ",
  );

test.each(BLOCKS)("text in the block element %s does not join the text beside it", (name) => {
  const html = `<div>one<${name}>two</${name}>three</div>`;
  for (const text of [markdownOf(html), textOfHtml(html)])
    expect(text.match(/\b\p{L}+\b/gu)).toEqual(["one", "two", "three"]);
});
