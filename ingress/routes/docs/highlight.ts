/** Adds syntax colours to code blocks as class names, so that pages need no inline styles. */
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createOnigurumaEngine } from "shiki/engine/oniguruma";

/** Grammar of each code block language. Languages that are not listed have no colours. */
const GRAMMARS = {
  sh: { name: "shellscript", load: () => import("shiki/langs/shellscript.mjs") },
  python: { name: "python", load: () => import("shiki/langs/python.mjs") },
  js: { name: "javascript", load: () => import("shiki/langs/javascript.mjs") },
  ts: { name: "typescript", load: () => import("shiki/langs/typescript.mjs") },
  json: { name: "json", load: () => import("shiki/langs/json.mjs") },
  yaml: { name: "yaml", load: () => import("shiki/langs/yaml.mjs") },
  toml: { name: "toml", load: () => import("shiki/langs/toml.mjs") },
  sql: { name: "sql", load: () => import("shiki/langs/sql.mjs") },
} as const;

const ALIASES: Readonly<Record<string, keyof typeof GRAMMARS>> = {
  bash: "sh",
  shell: "sh",
  py: "python",
  javascript: "js",
  typescript: "ts",
  yml: "yaml",
};

/** Maximum length of coloured code, in characters. Longer code is shown without colours. */
const CODE_CHARS_MAX = 20_000;

const THEME = createCssVariablesTheme({ name: "site", variablePrefix: "--", variableDefaults: {}, fontStyle: false });

/** Returns code as HTML: text and `<span class="t-…">`, without an element around it. */
export type Highlight = (code: string, language: string) => Promise<string>;

/** Creates the highlighter. It loads its engine at the first call and each grammar at the grammar's first use. */
export function createHighlight(): Highlight {
  let engine: Promise<HighlighterCore> | undefined;
  return async (code, language) => {
    const grammar = grammarOf(language);
    if (!grammar || code.length > CODE_CHARS_MAX) return escapeHtml(code);
    const highlighter = await (engine ??= createHighlighterCore({
      engine: createOnigurumaEngine(import("shiki/wasm")),
      themes: [THEME],
      langs: [],
    }));
    await highlighter.loadLanguage(grammar.load);
    const lines = highlighter.codeToTokensBase(code, { lang: grammar.name, theme: "site" });
    return lines.map((tokens) => tokens.map(spanOf).join("")).join("\n");
  };
}

function grammarOf(language: string): (typeof GRAMMARS)[keyof typeof GRAMMARS] | undefined {
  const name = Object.hasOwn(ALIASES, language) ? ALIASES[language] : language;
  return name !== undefined && Object.hasOwn(GRAMMARS, name) ? GRAMMARS[name as keyof typeof GRAMMARS] : undefined;
}

function spanOf({ content, color = "" }: { readonly content: string; readonly color?: string }): string {
  const [, name] = /^var\(--token-([a-z-]+)\)$/.exec(color) ?? [];
  const text = escapeHtml(content);
  return name === undefined ? text : `<span class="t-${name}">${text}</span>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);
}
