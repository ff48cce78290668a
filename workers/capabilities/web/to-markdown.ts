import { defineCapability } from "../define.ts";
import { markdownOf } from "../document/html.ts";
import { choice, flag } from "../params.ts";
import { madeText } from "../text.ts";

import { readArticle } from "./article.ts";
import type { InputPage } from "../define.ts";
import type { BrowserVisit } from "./browser.ts";
import { formOf, htmlOf, PAGE_MEMBER, pageText, SAMPLE, WEB_PRICE } from "./page.ts";

export default defineCapability({
  id: "web.to_markdown",
  display_name: "Page to Markdown",
  description:
    "Reads a page as Markdown: the article in it, or all of its words. Its scripts are run only where that is asked for.",
  output_modality: "text",
  input: PAGE_MEMBER,
  params: {
    scope: choice("What is read; a page without an article is read whole.", ["article", "page"], {
      default: "article",
      labels: { article: "The article", page: "The whole page" },
    }),
    links: choice("Whether links and images keep their addresses, or only their words.", ["keep", "drop"], {
      default: "keep",
    }),
    render: flag("Loads the page in a browser first, with its scripts: for pages that are made by them.", false),
  },
  sample_input: SAMPLE,
  examples: [
    { title: "The article", params: {} },
    { title: "All words of the page", params: { scope: "page", links: "drop" } },
    { title: "What its scripts make", params: { render: true } },
  ],
  price: WEB_PRICE,
  engine: "web",
  engineBy: { param: "render", engine: "browser" },
  async run({ params, inputs: { url: page }, folder, tools, guard }) {
    const text = params.render ? await rendered(page, { folder, tools, guard }) : await pageText(page);
    const file = { name: "page.md", mediaType: "text/markdown" };
    const url = page.address;
    if (formOf(page, text) !== "html") return madeText(folder, text, { ...file, more: { url, scope: "page" } });
    const options = { address: url, scope: params.scope, keepsLinks: params.links === "keep" };
    const { html, scope, facts } = readArticle(text, options);
    return madeText(folder, markdownOf(html), { ...file, more: { url, scope, ...facts } });
  },
});

/** As a browser has it once it is loaded. */
async function rendered(page: InputPage, own: Pick<BrowserVisit, "folder" | "tools" | "guard">): Promise<string> {
  const { withPage } = await import("./browser.ts");
  const visit = { ...own, html: htmlOf(page), address: page.address, javascript: true, waitMs: 0 };
  return withPage(visit, (shown) => shown.content());
}
