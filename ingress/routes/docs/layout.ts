/** Builds the HTML of a whole page: header, navigation, content, table of contents, and links to the previous and next page. */
import { assetAddress } from "./assets.ts";
import { escapeHtml } from "./highlight.ts";
import { addressOf, markdownAddressOf } from "./links.ts";
import { type Heading, withWholeMail } from "./markdown.ts";
import { type Page, type Section, SECTIONS } from "./pages.ts";

const CARDS: Readonly<Record<Section, string>> = {
  "Get started": "Install Sluice, make the first call, connect a real model.",
  Guides: "Chat, media, files, batches, workflows, webhooks and MCP: one task per page.",
  Cookbook: "Short programs, each for one problem.",
  Migrate: "Move from LiteLLM, OpenRouter or Portkey.",
  Reference: "Every operation, error code, setting, capability and test model.",
  Operate: "Install, size, upgrade, back up and monitor an installation.",
};

export interface PageView {
  /** Page in the navigation. Undefined for a page outside it, such as search results. */
  readonly page?: Page | undefined;
  readonly title: string;
  readonly summary?: string;
  /** Content of the page, as HTML. */
  readonly html: string;
  readonly headings?: readonly Heading[];
  /** Text in the search field. */
  readonly query?: string;
}

const MENU =
  '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/></svg>';
const LENS =
  '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M7 11.5a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM13.500 13.500l-3.300-3.300"/></svg>';

const CROSS = '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M4 4l8 8M12 4l-8 8"/></svg>';

/** First row of the menu on narrow screens. It contains the header's link, which does not fit into the header there. */
const MENU_TOP = `<div class="nav-top"><a href="/docs/explorer">Try the API</a><a href="/console">Console</a><button class="btn" popovertarget="nav" popovertargetaction="hide" aria-label="Close navigation">${CROSS}</button></div>`;

/**
 * Returns the HTML of a page.
 * @param pages all pages in the order of the navigation
 */
export function pageHtml(view: PageView, pages: readonly Page[]): string {
  const { page, title, html, headings = [], query = "" } = view;
  const isHome = page?.path === "";
  const contents = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const summary = view.summary === undefined ? "" : summaryHtml(view.summary, page);
  const crumb = page && !isHome ? `<p class="crumb">${crumbOf(page)}</p>` : "";
  const hasContents = contents.length > 1 && !isHome;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isHome ? "Sluice documentation" : `${escapeHtml(title)} · Sluice documentation`}</title>
<meta name="description" content="${escapeHtml(view.summary ?? title)}">
<link rel="icon" type="image/svg+xml" href="${assetAddress("icon.svg")}">
<script src="${assetAddress("theme.js")}"></script>
<link rel="stylesheet" href="${assetAddress("tokens.css")}">
<link rel="stylesheet" href="${assetAddress("text.css")}">
<link rel="stylesheet" href="${assetAddress("site.css")}">
${page ? `<link rel="alternate" type="text/markdown" href="${markdownAddressOf(page)}">` : ""}
<script src="${assetAddress("site.js")}" type="module" data-search="${assetAddress("minisearch.js")}" data-ranking="${assetAddress("search.js")}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="header">
<button class="btn menu-open" popovertarget="nav" aria-label="Open navigation">${MENU}</button>
<a class="brand" href="/docs"><span class="mark" aria-hidden="true">S</span><span>Sluice</span><span class="brand-docs">Docs</span></a>
<form class="search" action="/docs/search" role="search">${LENS}<input class="input" type="search" name="q" value="${escapeHtml(query)}" maxlength="200" placeholder="Search" aria-label="Search the documentation" autocomplete="off"></form>
<nav class="links" aria-label="Interactive API"><a href="/docs/explorer">Try the API</a><a href="/console">Console</a></nav>
</header>
<div class="shell">
<nav class="nav" id="nav" popover aria-label="Documentation">${MENU_TOP}${navigation(page, pages)}</nav>
<main class="page${hasContents ? " has-contents" : ""}" id="main" tabindex="-1">
<article class="prose">
${crumb}<h1>${escapeHtml(title)}</h1>
${summary}
${isHome ? cards(pages) : ""}${hasContents ? contentsHtml(contents, "contents-small") : ""}
${html}
${page && !isHome ? neighbours(page, pages) : ""}
</article>
${hasContents ? `<aside class="contents">${contentsHtml(contents, "contents-list")}</aside>` : ""}
</main>
</div>
</body>
</html>
`;
}

/** Returns a page's summary as HTML. The summary of an API operation is its method and path. */
function summaryHtml(summary: string, page: Page | undefined): string {
  const [, method, url] = page?.parent === "api" ? (/^([A-Z]+) (.*)$/.exec(summary) ?? []) : [];
  if (method === undefined || url === undefined) return `<p class="summary">${inlineCode(summary)}</p>`;
  return `<p class="endpoint"><b>${method}</b> <span>${escapeHtml(url)}</span></p>`;
}

/** Converts text to HTML. Text in backquotes becomes code; everything else is escaped. */
function inlineCode(text: string): string {
  return escapeHtml(withWholeMail(text)).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function crumbOf(page: Page): string {
  if (page.parent === undefined) return escapeHtml(page.section);
  const group = page.group === undefined ? "" : ` / ${escapeHtml(page.group)}`;
  return `<a href="/docs/${page.parent}">API reference</a>${group}`;
}

function navigation(current: Page | undefined, pages: readonly Page[]): string {
  const parts = SECTIONS.map((section) => {
    const own = pages.filter((page) => page.section === section && page.parent === undefined && page.path !== "");
    if (own.length === 0) return "";
    const links = own.map((page) => {
      // The page itself lists its groups in its table of contents.
      const isOpen = page.path === current?.parent;
      return `<li>${linkTo(page, current)}${isOpen ? children(page, current, pages) : ""}</li>`;
    });
    const isOpen = section === (current?.path === "" ? "Get started" : current?.section);
    return `<details${isOpen ? " open" : ""}><summary class="nav-head">${section}</summary><ul>${links.join("")}</ul></details>`;
  });
  return parts.join("");
}

/** Returns the navigation links below a page: the groups of its child pages, and the pages of the group that contains the current page. */
function children(parent: Page, current: Page | undefined, pages: readonly Page[]): string {
  const own = pages.filter((page) => page.parent === parent.path);
  const groups = [...new Set(own.map(({ group = "" }) => group))];
  if (groups.length === 0) return "";
  const items = groups.map((group) => {
    const isOpen = group === current?.group;
    const inGroup = own.filter((page) => page.group === group);
    const links = isOpen ? `<ul>${inGroup.map((page) => `<li>${linkTo(page, current)}</li>`).join("")}</ul>` : "";
    const [first = parent] = inGroup;
    return `<li><a class="group" href="${addressOf(first)}">${escapeHtml(group)}</a>${links}</li>`;
  });
  return `<ul class="sub">${items.join("")}</ul>`;
}

function linkTo(page: Page, current: Page | undefined): string {
  const here = page.path === current?.path ? ' aria-current="page"' : "";
  return `<a href="${addressOf(page)}"${here}>${escapeHtml(page.title)}</a>`;
}

function contentsHtml(contents: readonly Heading[], className: string): string {
  const items = contents.map(
    ({ id, text, depth }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  const list = `<ul>${items.join("")}</ul>`;
  return className === "contents-small"
    ? `<details class="${className}"><summary>On this page</summary>${list}</details>`
    : `<nav class="${className}" aria-label="On this page"><p>On this page</p>${list}</nav>`;
}

function cards(pages: readonly Page[]): string {
  const items = SECTIONS.flatMap((section) => {
    const first = pages.find((page) => page.section === section && page.path !== "");
    if (!first) return [];
    return `<li><a href="${addressOf(first)}"><strong>${section}</strong><span>${CARDS[section]}</span></a></li>`;
  });
  return `<ul class="cards">${items.join("")}</ul>`;
}

function neighbours(page: Page, pages: readonly Page[]): string {
  const row = pages.filter((one) => one.parent === page.parent && one.path !== "");
  const index = row.indexOf(page);
  const link = (one: Page | undefined, rel: "prev" | "next"): string =>
    one
      ? `<a rel="${rel}" href="${addressOf(one)}"><small>${rel === "prev" ? "Previous" : "Next"}</small><span>${escapeHtml(one.title)}</span></a>`
      : "<span></span>";
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(row[index - 1], "prev")}${link(row[index + 1], "next")}</nav>
<p class="as-markdown"><a href="${markdownAddressOf(page)}">View this page as Markdown</a></p>`;
}
