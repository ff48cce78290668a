import { stop, transform } from "esbuild";
import { minify as minifyHtml } from "html-minifier-next";
import { transform as transformCss } from "lightningcss";
import { optimize } from "svgo";

import { defineCapability, input } from "../define.ts";
import { choice } from "../params.ts";
import { CODE_PRICE, madeText, textOf, unreadable } from "../text.ts";

const LANGUAGES = ["js", "ts", "css", "html", "svg", "json"] as const;

const MINIFY: Readonly<Record<(typeof LANGUAGES)[number], (code: string) => Promise<string> | string>> = {
  js: (code) => script(code, "js"),
  ts: (code) => script(code, "ts"),
  css: (code) => transformCss({ filename: "a.css", code: Buffer.from(code), minify: true }).code.toString(),
  html: (code) =>
    minifyHtml(code, { collapseWhitespace: true, removeComments: true, minifyCSS: false, minifyJS: false }),
  svg: (code) => optimize(code, { multipass: true }).data,
  json: (code) => JSON.stringify(JSON.parse(code)),
};

/** In a process that esbuild keeps for the next time, unless it is stopped. */
async function script(code: string, loader: "js" | "ts"): Promise<string> {
  try {
    return (await transform(code, { loader, minify: true, legalComments: "none" })).code;
  } finally {
    await stop();
  }
}

export default defineCapability({
  id: "code.minify",
  display_name: "Minify code",
  description: "Makes code as short as it can be without changing what it does.",
  output_modality: "text",
  input: { code: input("text", "The code.", { takesText: true }) },
  params: { language: choice("Of the code.", LANGUAGES, { required: true }) },
  sample_input: { code: { text: "/* a */ .a { color: #ff0000; margin: 0px 0px }" } },
  examples: [
    { title: "CSS", params: { language: "css" } },
    { title: "The same as HTML", params: { language: "html" } },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const code = await textOf(inputs.code);
    let text: string;
    try {
      text = await MINIFY[params.language](code);
    } catch (error) {
      throw unreadable("code", error);
    }
    const more = { bytes_before: Buffer.byteLength(code), bytes_after: Buffer.byteLength(text) };
    return madeText(folder, text, { name: `code.${params.language}`, mediaType: "text/plain", more });
  },
});
