import { format as pretty } from "prettier";
import { format as formatSql } from "sql-formatter";

import { defineCapability, input } from "../define.ts";
import { choice, flag, integer } from "../params.ts";
import { CODE_PRICE, writeTextResult, textOf, unreadableAt } from "../text.ts";

/** Name of Prettier's parser for each language. */
const PARSERS = {
  javascript: "babel",
  jsx: "babel",
  typescript: "typescript",
  tsx: "typescript",
  flow: "flow",
  json: "json",
  json5: "json5",
  jsonc: "jsonc",
  css: "css",
  scss: "scss",
  less: "less",
  html: "html",
  vue: "vue",
  angular: "angular",
  markdown: "markdown",
  mdx: "mdx",
  yaml: "yaml",
  graphql: "graphql",
  handlebars: "glimmer",
  lwc: "lwc",
  mjml: "mjml",
  sql: "",
  postgresql: "",
} as const;
type Language = keyof typeof PARSERS;

export default defineCapability({
  id: "code.format",
  display_name: "Format code",
  description: "Formats source code in the standard style of its language.",
  output_modality: "text",
  input: { code: input("text", "The code.", { takesText: true }) },
  params: {
    language: choice("Programming language of the code.", Object.keys(PARSERS) as Language[], { required: true }),
    width: integer("Preferred maximum line length in characters.", { min: 40, max: 200, default: 80 }),
    indent: integer("Spaces per indentation level.", { min: 1, max: 8, default: 2 }),
    tabs: flag("Indent with tabs.", false),
  },
  sample_input: { code: { text: "const a = {b:1,c:[1,2,3]};function f( x ){return x+1}" } },
  examples: [
    { title: "JavaScript", params: { language: "javascript" } },
    { title: "TypeScript with tabs", params: { language: "typescript", tabs: true, width: 100 } },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const code = await textOf(inputs.code);
    const { language, width, indent, tabs } = params;
    try {
      const text =
        language === "sql" || language === "postgresql"
          ? `${formatSql(code, { language, tabWidth: indent, useTabs: tabs, expressionWidth: width })}\n`
          : await pretty(code, { parser: PARSERS[language], printWidth: width, tabWidth: indent, useTabs: tabs });
      return await writeTextResult(folder, text, { name: "code.txt", mediaType: "text/plain" });
    } catch (error) {
      throw unreadableAt("code", error);
    }
  },
});
