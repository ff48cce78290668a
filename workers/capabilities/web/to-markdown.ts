import { MediaError } from "#shared/children/media-error.ts";

import type { Page } from "playwright-core";

import { defineCapability } from "../define.ts";
import { markdownOf } from "../html.ts";
import { choice, flag } from "../params.ts";
import { type DecodedText, madeText } from "../text.ts";

import { readArticle } from "./article.ts";
import type { InputPage } from "../define.ts";
import type { BrowserVisit } from "./browser.ts";
import { formOf, htmlOf, PAGE_MEMBER, pageText, SAMPLE, wait, WEB_PRICE } from "./page.ts";

export default defineCapability({
  id: "web.to_markdown",
  display_name: "Page to Markdown",
  description: "Converts a web page to Markdown: its main article, or the whole page. Scripts run only with `render`.",
  long_description:
    "Text is escaped, so that the Markdown renders like the page. A frame is a link, and its content with `render`. `noscript` elements are included " +
    "without `render`. `charset` is the encoding that the page was decoded with.",
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
    wait: wait(" Needs `render`."),
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
    if (params.wait > 0 && !params.render) {
      throw new MediaError("invalid", "Expected params.render to be true where params.wait is given.");
    }
    const { text, charset } = params.render
      ? await rendered(page, { folder, tools, guard, waitMs: params.wait * 1_000 })
      : await pageText(page);
    const file = { name: "page.md", mediaType: "text/markdown" };
    const source = { url: page.address, charset };
    if (formOf(page, text) !== "html") return madeText(folder, text, { ...file, more: { ...source, scope: "page" } });
    const options = {
      address: page.address,
      scope: params.scope,
      keepsLinks: params.links === "keep",
      hasRunScripts: params.render,
    };
    const { html, scope, facts } = readArticle(text, options);
    return madeText(folder, markdownOf(html), { ...file, more: { ...source, scope, ...facts } });
  },
});

/** Most frames of a page whose content is read. */
const WEB_FRAMES_MAX = 50;

/** Copies the content of each frame into its `srcdoc`, innermost frames first, so that the page's HTML contains it. */
async function writeFrames(page: Page): Promise<void> {
  for (const frame of page
    .frames()
    .slice(1, WEB_FRAMES_MAX + 1)
    .toReversed()) {
    try {
      const base = await frame.evaluate<string>("document.baseURI");
      const element = await frame.frameElement();
      const html = (await frame.content()).replace(
        /<head\b[^<>]*>/i,
        (head) => `${head}<base href="${base.replaceAll('"', "%22")}">`,
      );
      await element.evaluate(
        (node, content) =>
          (node as unknown as { setAttribute(name: string, value: string): void }).setAttribute("srcdoc", content),
        html,
      );
    } catch {
      // The frame was removed, navigates, or rejects a `srcdoc`: it remains a link. A broken page also fails the next call.
    }
  }
}

/** Returns the page's HTML after a browser has loaded it. */
async function rendered(
  page: InputPage,
  own: Pick<BrowserVisit, "folder" | "tools" | "guard" | "waitMs">,
): Promise<DecodedText> {
  const { withPage } = await import("./browser.ts");
  const visit = { ...own, html: htmlOf(page), address: page.address, javascript: true };
  return withPage(visit, async (shown) => {
    const charset = (await shown.evaluate<string>("document.characterSet")).toLowerCase();
    await writeFrames(shown);
    return { text: await shown.content(), charset };
  });
}
