/** HTML of the CommonMark specification as Markdown, and that as HTML again: the same document. */
import { expect, test } from "bun:test";
import { tests as examples } from "commonmark-spec";
import { Marked } from "marked";

import { markdownOf } from "#workers/capabilities/html.ts";

const marked = new Marked({ gfm: true });

/** Elements and words of a document, without the spaces that no reader sees. */
function partsOf(html: string): string {
  const parts: string[] = [];
  const add = (part: string): void => void parts.push(part);
  let preformatted = 0;
  new HTMLRewriter()
    .on("*", {
      element(element) {
        const attributes = [...element.attributes].map(([name, value]) => `${name}=${value}`).toSorted();
        add(`<${[element.tagName, ...attributes].join(" ")}>`);
        if (element.tagName === "pre") preformatted++;
        if (element.canHaveContent) {
          element.onEndTag(({ name }) => {
            if (name === "pre") preformatted--;
            add(`</${name}>`);
          });
        }
      },
    })
    .onDocument({ text: ({ text }) => add(preformatted > 0 ? text : text.replaceAll(/\s+/g, " ")) })
    .transform(html);
  const block = "(</?(?:p|h[1-6]|ul|ol|li|blockquote|pre|hr|br|table|thead|tbody|tr|td|th)\\b[^>]*>)";
  return parts
    .join("")
    .replaceAll(new RegExp(` *${block} *`, "g"), "$1")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .trim();
}

/** Sections whose examples are HTML of any kind, most of it no document that Markdown has words for. */
const OTHER_SECTIONS: ReadonlySet<string> = new Set(["HTML blocks", "Raw HTML"]);

/** Number of examples of a section that are the same document; the others differ by an empty element, a list item's space, or a bare address. */
const SAME: Readonly<Record<string, number>> = {
  Tabs: 11,
  "Backslash escapes": 12,
  "Entity and numeric character references": 16,
  Precedence: 1,
  "Thematic breaks": 19,
  "ATX headings": 17,
  "Setext headings": 27,
  "Indented code blocks": 12,
  "Fenced code blocks": 24,
  "Link reference definitions": 23,
  Paragraphs: 8,
  "Blank lines": 1,
  "Block quotes": 22,
  "List items": 41,
  Lists: 18,
  Inlines: 1,
  "Code spans": 17,
  "Emphasis and strong emphasis": 110,
  Links: 81,
  Images: 22,
  Autolinks: 14,
  "Hard line breaks": 13,
  "Soft line breaks": 2,
  "Textual content": 3,
};

test.each(Object.entries(SAME))("%s: %d examples give the same document", (section, expected) => {
  const found = examples.filter((one) => one.section === section);
  const differing = found.filter(({ html }) => {
    const again = marked.parse(markdownOf(html), { async: false });
    return partsOf(again) !== partsOf(html);
  });
  const same = found.length - differing.length;
  expect([same, same >= expected ? [] : differing.map(({ number }) => number)]).toEqual([Math.max(same, expected), []]);
});

test("every section is counted, or omitted by name", () => {
  const sections = new Set(examples.map(({ section }) => section));
  expect([...sections].filter((section) => !OTHER_SECTIONS.has(section)).toSorted()).toEqual(
    Object.keys(SAME).toSorted(),
  );
  expect(Object.values(SAME).reduce((sum, count) => sum + count, 0)).toBe(515);
});
