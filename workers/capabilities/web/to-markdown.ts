import { defineCapability } from "../define.ts";
import { markdownOf } from "../html.ts";
import { choice, flag } from "../params.ts";
import { type DecodedText, madeText } from "../text.ts";

import { readArticle } from "./article.ts";
import type { InputPage } from "../define.ts";
import type { BrowserVisit } from "./browser.ts";
import { formOf, htmlOf, PAGE_MEMBER, pageText, SAMPLE, WEB_PRICE } from "./page.ts";

export default defineCapability({
  id: "web.to_markdown",
  display_name: "Page to Markdown",
  description: "Converts a web page to Markdown: its main article, or the whole page. Scripts run only with `render`.",
  output_modality: "text",
  input: PAGE_MEMBER,
  params: {
    scope: choice(
      "`article` extracts the main content, falling back to the whole page; `page` converts everything.",
      ["article", "page"],
      {
        default: "article",
        labels: { article: "The article", page: "The whole page" },
      },
    ),
    links: choice("Keep links and images with their addresses, or only their text.", ["keep", "drop"], {
      default: "keep",
    }),
    render: flag(
      "Load the page in a browser first and run its scripts, for pages that are rendered by JavaScript.",
      false,
    ),
  },
  sample_input: SAMPLE,
  examples: [
    { title: "The article", params: {} },
    { title: "The whole page", params: { scope: "page", links: "drop" } },
    { title: "A page rendered by JavaScript", params: { render: true } },
  ],
  price: WEB_PRICE,
  engine: "web",
  engineBy: { param: "render", engine: "browser" },
  async run({ params, inputs: { url: page }, folder, tools, guard }) {
    const { text, charset } = params.render ? await rendered(page, { folder, tools, guard }) : await pageText(page);
    const file = { name: "page.md", mediaType: "text/markdown" };
    const source = { url: page.address, charset };
    if (formOf(page, text) !== "html") return madeText(folder, text, { ...file, more: { ...source, scope: "page" } });
    const options = { address: page.address, scope: params.scope, keepsLinks: params.links === "keep" };
    const { html, scope, facts } = readArticle(text, options);
    return madeText(folder, markdownOf(html), { ...file, more: { ...source, scope, ...facts } });
  },
});

/** HTML of the page once a browser has loaded it. */
async function rendered(page: InputPage, own: Pick<BrowserVisit, "folder" | "tools" | "guard">): Promise<DecodedText> {
  const { withPage } = await import("./browser.ts");
  const visit = { ...own, html: htmlOf(page), address: page.address, javascript: true, waitMs: 0 };
  return withPage(visit, async (shown) => ({
    text: await shown.content(),
    charset: (await shown.evaluate<string>("document.characterSet")).toLowerCase(),
  }));
}
