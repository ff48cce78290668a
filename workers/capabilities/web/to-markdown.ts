import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import type { Page } from "playwright-core";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, type InputPage } from "../define.ts";
import { checkParts, TABLE_PARTS } from "../html-parts.ts";
import { markdownOf } from "../html.ts";
import { choice, flag } from "../params.ts";
import { type DecodedText, writeTextResult } from "../text.ts";
import type { BrowserVisit } from "./browser.ts";
import { formOf, htmlOf, PAGE_MEMBER, pageText, resolved, SAMPLE, wait, WEB_PRICE } from "./page.ts";

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
    if (formOf(page, text) !== "html")
      return writeTextResult(folder, text, { ...file, more: { ...source, scope: "page" } });
    const options = {
      address: page.address,
      scope: params.scope,
      keepsLinks: params.links === "keep",
      hasRunScripts: params.render,
    };
    const { html, scope, facts } = readArticle(text, options);
    return writeTextResult(folder, markdownOf(html), { ...file, more: { ...source, scope, ...facts } });
  },
});

/** Maximum number of frames of a page whose content is read. */
const WEB_FRAMES_MAX = 50;

/**
 * Copies the content of each frame into its `srcdoc` attribute, innermost frames first. The page's HTML then contains the content of its
 * frames.
 */
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

/** Loads the page in a browser, and returns its HTML. */
async function rendered(
  page: InputPage,
  own: Pick<BrowserVisit, "folder" | "tools" | "guard" | "waitMs">,
): Promise<DecodedText> {
  const { withPage } = await import("./browser.ts");
  const visit = { ...own, html: htmlOf(page), address: page.address, javascript: true };
  return withPage(visit, async (browserPage) => {
    const charset = (await browserPage.evaluate<string>("document.characterSet")).toLowerCase();
    await writeFrames(browserPage);
    return { text: await browserPage.content(), charset };
  });
}

// Extracts the article from HTML, or the whole page as readable content.

/** Maximum characters of HTML that is converted to Markdown. Parsers keep several copies of it, and traverse it several times. */
const WEB_HTML_CHARACTERS_MAX = 5 * 1_048_576;
const WEB_ELEMENTS_MAX = 50_000;

/** Maximum number of tags and character entities in HTML. Each of them splits a text node in two. */
const WEB_MARKS_MAX = 250_000;

/** Maximum nesting depth of HTML elements. Parsers recurse for each level. */
const WEB_DEPTH_MAX = 400;

interface Article {
  readonly html: string;
  readonly scope: "article" | "page";
  readonly facts: Readonly<Record<string, string>>;
}

interface ReadOptions {
  /** Address of the page, the base of its relative links. */
  readonly address: string;
  readonly scope: "article" | "page";
  readonly keepsLinks: boolean;
  /** True if the page's scripts have run; its `noscript` elements are then ignored. */
  readonly hasRunScripts: boolean;
}

/** Returns the article of a page, or the whole page if it has no article. @throws MediaError too_large */
function readArticle(html: string, options: ReadOptions): Article {
  try {
    return read(html, options);
  } catch (error) {
    // The parser passes collected parts as call arguments, whose number is limited.
    if (!(error instanceof RangeError)) throw error;
    throw new MediaError("too_large", "Expected HTML with fewer and shorter parts.", { cause: error });
  }
}

function read(html: string, options: ReadOptions): Article {
  if (options.scope === "page") return wholePage(html, options);
  const document = openPage(html, options);
  const language = document.documentElement.lang;
  const found = new Readability(document, {
    keepClasses: true,
    maxElemsToParse: WEB_ELEMENTS_MAX,
    serializer: (node) => markup(node),
  }).parse();
  if (!found?.content || found.textContent?.trim() === "") return wholePage(html, options);
  const { title, byline, excerpt, siteName, lang, publishedTime } = found;
  const facts = { title, byline, excerpt, site: siteName, language: lang ?? language, published: publishedTime };
  return { html: found.content, scope: "article", facts: present(facts) };
}

function wholePage(html: string, options: ReadOptions): Article {
  const document = openPage(html, options);
  const facts = present({
    title: document.querySelector("title")?.textContent?.trim(),
    language: document.documentElement.lang,
  });
  for (const node of document.querySelectorAll(UNREAD)) node.remove();
  return { html: markup(document.body), scope: "page", facts };
}

/** Selector of elements that contain no readable content. */
const UNREAD =
  "script,style,noscript,template,iframe,object,embed,frame,svg,canvas,input,button,select,textarea,title,meta,link";

const FACT_CHARACTERS_MAX = 1_000;

function present(facts: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => (value ? [[name, value.slice(0, FACT_CHARACTERS_MAX)]] : [])),
  );
}

/** Returns the content of an element as HTML. linkedom does not escape ampersands in attributes, so they are escaped before. */
function markup(root: Element): string {
  for (const { attributes } of root.querySelectorAll("*")) {
    for (const attribute of attributes) attribute.value = attribute.value.replaceAll("&", "&amp;");
  }
  return root.innerHTML;
}

/** Members of linkedom's elements that this file uses. */
interface Element {
  readonly nodeName: string;
  readonly attributes: Iterable<{ value: string }>;
  readonly previousElementSibling: Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  innerHTML: string;
  readonly lang: string;
  textContent: string | null;
  append(node: unknown): void;
  readonly childNodes: Iterable<unknown>;
  readonly firstElementChild: Element | null;
  readonly nextElementSibling: Element | null;
  readonly parentElement: Element | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  replaceWith(...nodes: readonly unknown[]): void;
  remove(): void;
}

interface Document {
  readonly documentElement: Element;
  readonly body: Element;
  createElement(name: string): Element;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
}

/**
 * Parses a page, and inserts the content of its frames. Page and frames together must be within the limits of a page. @throws MediaError
 * too_large
 */
function openPage(html: string, options: ReadOptions): Document {
  const document = openDocument(html, options);
  checkDepth(document.documentElement);
  const elements = [...document.querySelectorAll("*")].length;
  if (elements > WEB_ELEMENTS_MAX) {
    const expected = `Expected HTML of at most ${WEB_ELEMENTS_MAX} elements, including its frames, got ${elements}.`;
    throw new MediaError("too_large", expected);
  }
  return document;
}

function openDocument(html: string, options: ReadOptions, depth = 0): Document {
  const { address, keepsLinks, hasRunScripts } = options;
  checkSize(html);
  const { document } = parseHTML(whole(html)) as unknown as { readonly document: Document };
  checkDepth(document.documentElement);
  const base = resolved(document.querySelector("base[href]")?.getAttribute("href") ?? "", address)?.href ?? address;
  for (const part of document.querySelectorAll("noscript")) {
    if (hasRunScripts || part.parentElement?.nodeName === "HEAD") part.remove();
    else showWithoutScripts(part);
  }
  for (const frame of document.querySelectorAll("iframe,frame")) {
    const replacement = isSeen(frame) ? frameContent(document, frame, { ...options, address: base }, depth) : undefined;
    if (replacement) frame.replaceWith(replacement);
    else frame.remove();
  }
  for (const frames of document.querySelectorAll("frameset")) frames.replaceWith(...frames.childNodes);
  for (const link of document.querySelectorAll("a")) {
    const url = resolved(link.getAttribute("href") ?? "", base)?.href;
    if (keepsLinks && url !== undefined && link.getAttribute("href") !== null) link.setAttribute("href", url);
    else link.replaceWith(...link.childNodes);
  }
  for (const image of document.querySelectorAll("img")) {
    const url = resolved(imageSource(image) ?? "data:", base)?.href;
    if (keepsLinks && url !== undefined) image.setAttribute("src", url);
    else image.replaceWith(image.getAttribute("alt") ?? "");
  }
  return document;
}

/**
 * Replaces a `noscript` element by its content. If the content is one visible image, it also replaces the placeholder image before the
 * element.
 */
function showWithoutScripts(part: Element): void {
  const pictures = [...part.querySelectorAll("img")];
  for (const picture of pictures) if (!isSeen(picture)) picture.remove();
  const before = part.previousElementSibling;
  if (before?.nodeName === "IMG" && pictures.length === 1 && pictures.every(isSeen)) before.remove();
  part.replaceWith(...part.childNodes);
}

/** True if an element is visible. Examples of invisible elements are tracking pixels and empty frames. */
function isSeen(element: Element): boolean {
  const [width, height] = ["width", "height"].map((name) => Number.parseFloat(element.getAttribute(name) ?? "2"));
  const style = element.getAttribute("style") ?? "";
  const isHidden =
    element.getAttribute("hidden") !== null || /display:\s{0,9}none|visibility:\s{0,9}hidden/i.test(style);
  return !isHidden && !((width ?? 2) <= 1 || (height ?? 2) <= 1);
}

/** Maximum depth of nested frames whose content is read; deeper frames become links. */
const FRAME_DEPTH_MAX = 3;

/** Returns the content of a frame if the page contains it, else a link to the frame. */
function frameContent(document: Document, frame: Element, options: ReadOptions, depth: number): Element | undefined {
  const content = frame.getAttribute("srcdoc");
  const container = document.createElement("div");
  if (content !== null && depth < FRAME_DEPTH_MAX) {
    const { body } = openDocument(content, options, depth + 1);
    for (const part of body.querySelectorAll("script,style")) part.remove();
    container.innerHTML = markup(body);
    return container;
  }
  const url = resolved(frame.getAttribute("src") || "data:", options.address)?.href;
  const name = [frame.getAttribute("title"), frame.getAttribute("name"), url].find(Boolean);
  if (url === undefined || !name) return undefined;
  const link = document.createElement("a");
  link.setAttribute("href", url);
  link.textContent = name;
  container.append(link);
  return container;
}

/** Attributes that may contain the URL of a lazily loaded image. */
const LAZY = ["data-src", "data-lazy-src", "data-original", "data-lazy"];

/** Returns the URL of an image: the lazily loaded one, else `src`, else the largest candidate in `srcset`. */
function imageSource(image: Element): string | undefined {
  const of = (name: string): string => image.getAttribute(name)?.trim() ?? "";
  const address = [...LAZY, "src"].map(of).find((value) => value !== "" && !/^(?:data|about|blob):/i.test(value));
  if (address !== undefined) return address;
  const sources =
    image.parentElement?.nodeName === "PICTURE" ? [...image.parentElement.querySelectorAll("source")] : [];
  const sets = [image, ...sources].flatMap((one) => [one.getAttribute("data-srcset"), one.getAttribute("srcset")]);
  return sets.map((set) => largest(set ?? "")).find((value) => value !== undefined);
}

const SRCSET_CHARACTERS_MAX = 20_000;

/** Returns the `srcset` candidate with the largest width or density. */
function largest(set: string): string | undefined {
  let [best, most] = [undefined as string | undefined, 0];
  for (const [, address, size = "1"] of set
    .slice(0, SRCSET_CHARACTERS_MAX)
    .matchAll(/(?:^|[\s,])([^\s,](?:\S*[^\s,])?)(?:\s+([\d.]+)[wx])?(?=\s*(?:,|$))/g)) {
    if (Number(size) <= most || address === undefined || /^data:/i.test(address)) continue;
    [best, most] = [address, Number(size)];
  }
  return best;
}

const TITLE = /<title\b[^<>]*>[^<]*<\/title\s*>/i;

/** Adds missing `html`, `head` and `body` elements to an HTML text, because linkedom does not add them. */
function whole(html: string): string {
  if (/<body[\s>]/i.test(html) && /<html[\s>]/i.test(html)) return html;
  const root = /<html\b[^<>]*>/i.exec(html)?.[0] ?? "<html>";
  const rest = html
    .replace(TITLE, "")
    .replace(/<html\b[^<>]*>/i, "")
    .replaceAll(/<!doctype\b[^<>]*>|<\/(?:html|head|body)\s*>|<(?:head|body)\b[^<>]*>/gi, "");
  const title = TITLE.exec(html)?.[0] ?? "";
  return `<!doctype html>${root}<head>${title}</head><body>${rest}</body></html>`;
}

function checkSize(html: string): void {
  const charactersMax = WEB_HTML_CHARACTERS_MAX;
  if (html.length > charactersMax) {
    throw new MediaError("too_large", `Expected HTML of at most ${charactersMax} characters, got ${html.length}.`);
  }
  checkParts(html, PARTS);
}

const PARTS = [
  { name: "tags and entities", pattern: /[<&]/g, max: WEB_MARKS_MAX },
  { name: "elements", pattern: /<[a-z]/gi, max: WEB_ELEMENTS_MAX },
  ...TABLE_PARTS,
] as const;

function checkDepth(root: Element): void {
  const max = WEB_DEPTH_MAX;
  let [depth, at] = [1, root as Element | null];
  while (at) {
    if (depth > max) throw new MediaError("too_large", `Expected elements nested at most ${max} deep, got more.`);
    if (at.firstElementChild) {
      at = at.firstElementChild;
      depth++;
      continue;
    }
    while (at && at !== root && !at.nextElementSibling) {
      at = at.parentElement;
      depth--;
    }
    at = at === root ? null : (at?.nextElementSibling ?? null);
  }
}
