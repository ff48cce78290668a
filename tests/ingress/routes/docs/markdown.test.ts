import { describe, expect, test } from "bun:test";

import { createHighlight } from "#ingress/routes/docs/highlight.ts";
import { linkAddress } from "#ingress/routes/docs/links.ts";
import { renderMarkdown, textParts } from "#ingress/routes/docs/markdown.ts";
import type { Page } from "#ingress/routes/docs/pages.ts";

const html = async (markdown: string): Promise<string> =>
  (await renderMarkdown(markdown, { linkOf: (href) => href })).html;

describe("Markdown", () => {
  test.each([
    ["a script", "<script>alert(1)</script>"],
    ["a script within a sentence", "Text <script>alert(1)</script> text"],
    ["an image with a handler", '<img src="x" onerror="alert(1)">'],
    ["a handler in a table", "| A |\n|---|\n| <b onclick=alert(1)>b</b> |"],
    ["a handler in a heading", "## <img src=x onerror=alert(1)>"],
    ["a breakout of a code block", "```js\n</code></pre><script>alert(1)</script>\n```"],
  ])("renders %s as text", async (_name, markdown) => {
    const text = await html(markdown);
    expect(text).not.toMatch(/<(?:script|img|b)\b/);
    expect(text).toContain("&lt;");
  });

  test("does not copy the language of a fence into the page", async () => {
    expect(await html('```"><script>alert(1)</script>\nx\n```')).toBe(
      '<figure class="code"><pre tabindex="0"><code>x</code></pre></figure>\n',
    );
  });

  test("does not link to scripts", async () => {
    const page: Page = {
      path: "a",
      file: "schemas/docs/a.md",
      title: "A",
      section: "Guides",
      order: 0,
      summary: "",
      body: "",
    };
    for (const href of [
      "javascript:alert(1)",
      "JavaScript:alert(1)",
      "data:text/html,x",
      "//example.com",
      "vbscript:x",
    ]) {
      expect([href, linkAddress(page, href, new Map())]).toEqual([href, undefined]);
    }
  });

  test("links to other pages by their address", () => {
    const page = (path: string): Page => ({
      path,
      file: `schemas/docs/${path}.md`,
      title: path,
      section: "Guides",
      order: 0,
      summary: "",
      body: "",
    });
    const [from, to] = [page("guides/a"), page("reference/b")];
    const byFile = new Map([from, to].map((one) => [one.file, one]));
    expect(linkAddress(from, "../reference/b.md#here", byFile)).toBe("/docs/reference/b#here");
    expect(linkAddress(from, "#here", byFile)).toBe("#here");
    expect(linkAddress(from, "/openapi.json", byFile)).toBe("/openapi.json");
    expect(linkAddress(from, "https://example.com/a.md", byFile)).toBe("https://example.com/a.md");
    expect(linkAddress(from, "../../../deploy/runbook.md", byFile)).toBeUndefined();
  });

  test("gives headings the anchors of code hosts, each unique", async () => {
    const { headings, html } = await renderMarkdown("## Set `A_B`: *now*?\n\n## Twice\n\n### Twice\n", {
      linkOf: () => undefined,
    });
    expect(headings.map(({ id }) => id)).toEqual(["set-a_b-now", "twice", "twice-1"]);
    expect(html).toContain('<h3 id="twice-1">Twice<a class="anchor" href="#twice-1"');
  });

  test("renders the same call in several languages as tabs without a script", async () => {
    const text = await html("```sh\na\n```\n\n```python\nb\n```\n\n```js\nc\n```\n");
    expect(text.match(/<input type="radio"/g)).toHaveLength(3);
    expect(text).toContain('<label for="tabs-1-1">Python</label>');
    expect(await html("```sh\na\n```\n\n```json\nb\n```\n")).not.toContain("radio");
    expect(await html("```python\na\n```\n\nText\n\n```js\nb\n```\n")).not.toContain("radio");
  });

  test("renders nested members as a block that opens, and other tables in a box", async () => {
    const members = "| Property | Type | Description |\n|---|---|---|\n| `a[].b` | string | |\n";
    const nested = await html(`#### Properties of \`a\`\n\n${members}\n## After\n`);
    expect(nested).toContain('<details class="nested"><summary>Properties of <code>a</code></summary>');
    expect(nested).toContain('<span class="dim">a[].</span><wbr>b');
    expect(nested).toContain('<h2 id="after">');
    expect(await html("| A | B | C |\n|---|---|---|\n| 1 | 2 | 3 |")).toContain(
      '<div class="table-box stacks" tabindex="0"',
    );
  });

  test("renders notes and warnings", async () => {
    expect(await html("> [!WARNING]\n> Do **not**.")).toContain(
      '<div class="callout warn" role="note"><p class="callout-name">Warning</p><p>Do <strong>not</strong>.</p>',
    );
    expect(await html("> Said.")).toContain("<blockquote><p>Said.</p>");
  });

  test("colours code by classes and keeps its text", async () => {
    const highlight = createHighlight();
    const code = 'curl -s "$A" # <b>\n';
    const coloured = await highlight(code, "sh");
    expect(coloured).toContain('<span class="t-');
    expect(coloured).not.toContain("style=");
    expect(
      coloured
        .replaceAll(/<[^>]*>/g, "")
        .replaceAll("&quot;", '"')
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">"),
    ).toBe(code);
    expect(await highlight("<b>", "constructor")).toBe("&lt;b&gt;");
    expect(await highlight("<b>".repeat(10_000), "js")).not.toContain("span");
  });

  test("is split into parts for the search index", () => {
    const parts = textParts(
      "First.\n\n## A `b`\n\n- one\n- two\n\n| H | I |\n|---|---|\n| cell | other |\n| next | |\n\n```sh\nrun\n```\n\n> [!NOTE]\n> Said.\n",
    );
    expect(parts).toEqual([
      { heading: "", id: "", text: "First.", hidden: "" },
      { heading: "A b", id: "a-b", text: "one · two · cell – other · next · Said.", hidden: "H I run" },
    ]);
  });

  test("breaks code in a table after a space, and in a path after a slash", async () => {
    const row = async (code: string): Promise<string> =>
      /<tbody><tr><td>(.*?)<\/td>/.exec(await html(`| A |\n|---|\n| \`${code}\` |`))?.[1] ?? "";
    expect(await row("SLUICE_SMTP_URL")).toBe("<code>SLUICE_SMTP_URL</code>");
    expect(await row("application/json")).toBe("<code>application/json</code>");
    expect(await row("a <b>")).toBe('<code class="pieces"><span>a </span><wbr><span>&lt;b&gt;</span></code>');
    expect(await row("POST /v1/jobs/{id}")).toBe(
      '<code class="pieces"><span>POST </span><wbr><span>/v1/</span><wbr><span>jobs/</span><wbr><span>{id}</span></code>',
    );
    expect(await row("http://127.0.0.1:8080/v1")).toBe(
      '<code class="pieces"><span>http://127.0.0.1:8080/</span><wbr><span>v1</span></code>',
    );
  });

  test("repeats the head of a column in rows that may be stacked", async () => {
    const text = await html('| A | `"b"` | C |\n|---|---|---|\n| 1 | 2 | |');
    expect(text).toContain('<td>1</td><td data-label="&quot;b&quot;">2</td><td data-label="C"></td>');
    expect(await html("| A | B |\n|---|---|\n| 1 | 2 |")).toContain("<td>1</td><td>2</td>");
  });

  test("keeps an e-mail address in one line, but not in code", async () => {
    expect(await html("An e-mail, `e-mail`.\n\n> [!NOTE]\n> E-mail")).toMatch(
      /An e\u2011mail, <code>e-mail<\/code>[^]*E\u2011mail/,
    );
  });
});
