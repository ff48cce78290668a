/** Renders code blocks. Blocks that show the same call in several languages become tabs, without a script. */
import type { Token, Tokens } from "marked";

import { escapeHtml } from "./highlight.ts";

export interface TabGroup {
  readonly type: "tabs";
  readonly raw: string;
  /** Number of the tab group on its page, starting at 1. */
  readonly number: number;
  readonly tokens: readonly Tokens.Code[];
}

const NAMES: Readonly<Record<string, string>> = {
  sh: "Shell",
  bash: "Shell",
  js: "JavaScript",
  javascript: "JavaScript",
  ts: "TypeScript",
  python: "Python",
  json: "JSON",
  yaml: "YAML",
  toml: "TOML",
  sql: "SQL",
};

export function codeHtml(language: string, html: string): string {
  const name = Object.hasOwn(NAMES, language) ? NAMES[language] : undefined;
  const label = name === undefined ? "" : `<figcaption>${name}</figcaption>`;
  return `<figure class="code">${label}${preHtml(html)}</figure>\n`;
}

function preHtml(html: string): string {
  return `<pre tabindex="0"><code>${html}</code></pre>`;
}

/** Languages whose consecutive code blocks show the same call. These blocks and adjacent ones become one tab group. */
const ALTERNATIVES = ["python", "js"];

/** Joins adjacent code blocks of different languages into one tab group, if Python and JavaScript are among them. */
export function tabGroups(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  let run: Token[] = [];
  let number = 0;
  const close = (): void => {
    const codes = run.filter((token): token is Tokens.Code => token.type === "code");
    const languages = codes.map(({ lang = "" }) => lang);
    const isGroup = new Set(languages).size === codes.length && ALTERNATIVES.every((one) => languages.includes(one));
    if (isGroup) out.push({ type: "tabs", raw: "", number: ++number, tokens: codes } satisfies TabGroup);
    else out.push(...run);
    run = [];
  };
  for (const token of tokens) {
    if (token.type === "code" || (token.type === "space" && run.length > 0)) run.push(token);
    else {
      close();
      out.push(token);
    }
  }
  close();
  return out;
}

/** Returns the HTML of a tab group. Radio buttons select the visible block with CSS alone. */
export function tabsHtml({ number, tokens }: TabGroup, coloured: (code: Tokens.Code) => string): string {
  const group = `tabs-${number}`;
  const radios = tokens.map(
    (_, index) => `<input type="radio" name="${group}" id="${group}-${index}"${index === 0 ? " checked" : ""}>`,
  );
  const labels = tokens.map(({ lang = "" }, index) => {
    const name = lang === "sh" ? "curl" : (NAMES[lang] ?? lang);
    return `<label for="${group}-${index}">${escapeHtml(name)}</label>`;
  });
  const panels = tokens.map((code) => `<div class="tab-panel">${preHtml(coloured(code))}</div>`);
  return `<div class="code tabs-of">${radios.join("")}<div class="tab-names">${labels.join("")}</div>${panels.join("")}</div>\n`;
}
