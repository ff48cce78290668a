import { stop, transform } from "esbuild";
import { minify as minifyHtml } from "html-minifier-next";
import { transform as transformCss } from "lightningcss";
import { optimize } from "svgo";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice } from "../params.ts";
import { CODE_PRICE, writeTextResult, textOf, unreadableAt } from "../text.ts";

const LANGUAGES = ["js", "ts", "css", "html", "svg", "json"] as const;

const MINIFY: Readonly<Record<(typeof LANGUAGES)[number], (code: string) => Promise<string> | string>> = {
  js: (code) => script(code, "js"),
  ts: (code) => script(code, "ts"),
  css: (code) => {
    checkBraces(code);
    return withLegalComments(
      code,
      transformCss({ filename: "a.css", code: Buffer.from(code), minify: true }).code.toString(),
    );
  },
  html: (code) =>
    minifyHtml(code, { collapseWhitespace: true, removeComments: true, minifyCSS: false, minifyJS: false }),
  svg: (code) => optimize(code, { multipass: true }).data,
  json: (code) => {
    JSON.parse(code);
    // Removes whitespace between tokens: numbers and duplicate names remain as written.
    return code.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
  },
};

/** Matches CSS comments, and also strings and URLs, because these may contain text that looks like a comment. */
const CSS_COMMENTS = /"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|url\([^)]*|\/\*[^]*?(?:\*\/|$)/gi;

/** Moves legal comments (`/*! … *\/`) to the beginning of the minified code, because the CSS engine drops legal comments elsewhere. */
function withLegalComments(code: string, minified: string): string {
  const legal = Array.from(code.matchAll(CSS_COMMENTS), ([text]) => text).filter((text) => text.startsWith("/*!"));
  const dropped = legal.filter((text) => !minified.includes(text));
  return dropped.map((text) => `${text}\n`).join("") + minified;
}

/** Maximum nesting of CSS. The engine recurses for each level, and deeper CSS would crash its process. */
const CSS_DEPTH_MAX = 200;

function checkBraces(code: string): void {
  let depth = 0;
  for (const [bracket] of code.matchAll(/[{}()[\]]/g)) {
    depth = "{([".includes(bracket) ? depth + 1 : Math.max(0, depth - 1);
    if (depth <= CSS_DEPTH_MAX) continue;
    throw new MediaError("too_large", `Expected CSS nested at most ${CSS_DEPTH_MAX} deep, got more.`);
  }
}

/** Minifies a script with esbuild, and then stops esbuild's process, which would otherwise remain running. */
async function script(code: string, loader: "js" | "ts"): Promise<string> {
  try {
    return (await transform(code, { loader, minify: true, legalComments: "inline" })).code;
  } finally {
    await stop();
  }
}

export default defineCapability({
  id: "code.minify",
  display_name: "Minify code",
  description:
    "Minifies source code without changing its behaviour. Comments are removed, except legal ones (`/*! … */`, and `@license` in scripts).",
  output_modality: "text",
  input: { code: input("text", "The code.", { takesText: true }) },
  params: { language: choice("Language of the code.", LANGUAGES, { required: true }) },
  sample_input: { code: { text: "/* a */ .a { color: #ff0000; margin: 0px 0px }" } },
  examples: [
    { title: "CSS", params: { language: "css" } },
    { title: "HTML", params: { language: "html" } },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const code = await textOf(inputs.code);
    let text: string;
    try {
      text = await MINIFY[params.language](code);
    } catch (error) {
      throw unreadableAt("code", error);
    }
    const more = { bytes_before: Buffer.byteLength(code), bytes_after: Buffer.byteLength(text) };
    return writeTextResult(folder, text, { name: `code.${params.language}`, mediaType: "text/plain", more });
  },
});
