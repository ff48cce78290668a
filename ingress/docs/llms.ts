/** /llms.txt (llmstxt.org): the name, a summary and a list of the pages as Markdown. */
import { markdownAddressOf } from "./links.ts";
import { type Page, SECTIONS } from "./pages.ts";

const HEAD = `# Sluice

> Self-hosted AI gateway: any model and media tools behind the OpenAI API, with exact prepaid billing.

Each page is Markdown. Addresses are relative to the installation. The OpenAPI document is at /openapi.json.
`;

export function llmsText(pages: readonly Page[]): string {
  const parts = SECTIONS.map((section) => {
    const own = pages.filter((page) => page.section === section && page.parent === undefined);
    return own.length === 0 ? "" : `\n## ${section}\n\n${own.map(lineOf).join("\n")}\n`;
  });
  const operations = pages.filter(({ parent }) => parent !== undefined);
  const more = operations.length === 0 ? "" : `\n## Optional\n\n${operations.map(lineOf).join("\n")}\n`;
  return `${HEAD}${parts.join("")}${more}`;
}

function lineOf(page: Page): string {
  return `- [${page.title}](${markdownAddressOf(page)}): ${page.summary}`;
}

/** A page as Markdown of its own: the title as first heading, then the summary. */
export function markdownOf({ title, summary, body }: Page): string {
  return `# ${title}\n\n${summary}\n\n${body.trim()}\n`;
}
