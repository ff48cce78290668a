import { join } from "node:path";

import { defineCapability, input } from "../define.ts";
import { choice, text } from "../params.ts";
import { textOf } from "../text.ts";
import { blocksOf, MARKDOWN, TEXT_PRICE, titleOf } from "./markdown.ts";
import { PAGE_POINTS, PAGE_SIZES } from "./page-size.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

export default defineCapability({
  id: "document.markdown_to_docx",
  display_name: "Markdown to Word",
  description:
    "Converts Markdown to a Word document with headings, lists, tables, code and footnotes. Images are replaced by their alternative text.",
  output_modality: "document",
  input: { markdown: input("text", "The Markdown.", { takesText: true }) },
  params: {
    page_size: choice("Size of the pages.", PAGE_SIZES, { default: "a4" }),
    title: text("Document title. Default: the first heading.", { max: 200 }),
  },
  sample_input: MARKDOWN,
  examples: [
    { title: "On A4", params: {} },
    { title: "On letter paper, with a title", params: { page_size: "letter", title: "Tea" } },
  ],
  price: TEXT_PRICE,
  engine: "office",
  async run({ params, inputs, folder }) {
    const blocks = blocksOf(await textOf(inputs.markdown));
    const title = (params.title ?? titleOf(blocks) ?? "Document").replaceAll(/\p{Cc}/gu, " ");
    const { docxOf } = await import("./docx.ts");
    const path = join(folder, "document.docx");
    await Bun.write(path, await docxOf(blocks, { title, size: PAGE_POINTS[params.page_size] }));
    return { output: { title }, files: [{ path, mediaType: DOCX, name: "document.docx" }] };
  },
});
