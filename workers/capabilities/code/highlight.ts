import { join } from "node:path";

import { bundledLanguages, bundledThemes, codeToHtml } from "shiki";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, flag, text } from "../params.ts";
import { CODE_PRICE, textOf } from "../text.ts";

const THEMES = [
  "github-light",
  "github-dark",
  "min-light",
  "min-dark",
  "nord",
  "one-dark-pro",
  "solarized-light",
  "vitesse-dark",
] as const;

export default defineCapability({
  id: "code.highlight",
  display_name: "Highlight code",
  description: "Highlights source code as HTML that needs no script.",
  output_modality: "document",
  input: { code: input("text", "The code.", { takesText: true }) },
  params: {
    language: text("Programming language, such as python, rust or ts; `text` for none.", {
      max: 30,
      required: true,
      pattern: "^[a-zA-Z0-9+#._-]+$",
    }),
    theme: choice("Colour theme.", THEMES, { default: "github-light" }),
    line_numbers: flag("Show line numbers.", false),
    standalone: flag("Return a complete page instead of a fragment.", true),
  },
  sample_input: { code: { text: "def area(r):\n    return 3.14159 * r ** 2\n" } },
  examples: [
    { title: "Python", params: { language: "python" } },
    {
      title: "A fragment for a dark page, with line numbers",
      params: { language: "python", theme: "nord", line_numbers: true, standalone: false },
    },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const code = await textOf(inputs.code);
    const { language, theme, line_numbers: isNumbered, standalone } = params;
    if (language !== "text" && !Object.hasOwn(bundledLanguages, language)) {
      throw new MediaError("invalid", `Expected params.language to be a supported language, got ${language}.`);
    }
    if (!(theme in bundledThemes)) throw new Error(`the theme ${theme} is not there`);
    const html = await codeToHtml(code, { lang: language, theme });
    const piece = isNumbered ? `${NUMBERS}${html}` : html;
    const page = standalone
      ? `<!doctype html><meta charset="utf-8"><title>${language}</title>${piece}\n`
      : `${piece}\n`;
    const path = join(folder, "code.html");
    await Bun.write(path, page);
    return { output: { lines: code.split("\n").length }, files: [{ path, mediaType: "text/html", name: "code.html" }] };
  },
});

const NUMBERS =
  "<style>.shiki code{counter-reset:line}.shiki .line::before{counter-increment:line;content:counter(line);display:inline-block;width:3em;margin-right:1em;text-align:right;opacity:.5}</style>";
