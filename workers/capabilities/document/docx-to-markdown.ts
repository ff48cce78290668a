import { defineCapability, input } from "../define.ts";
import { choice } from "../params.ts";
import { writeTextResult } from "../text.ts";
import { TEXT_PRICE } from "./markdown.ts";

export default defineCapability({
  id: "document.docx_to_markdown",
  display_name: "Word to Markdown",
  description: "Converts a Word document to Markdown or HTML.",
  output_modality: "text",
  input: { document: input("document", "The Word document, as docx.") },
  params: {
    to: choice("Format of the result.", ["markdown", "html"], { default: "markdown", labels: { html: "HTML" } }),
    images: choice("Drop images, or embed them as data URLs.", ["drop", "embed"], { default: "drop" }),
  },
  sample_input: { document: { file_id: "file-sample-letter" } },
  examples: [
    { title: "As Markdown", params: {} },
    { title: "As HTML with embedded images", params: { to: "html", images: "embed" } },
  ],
  price: TEXT_PRICE,
  engine: "office",
  async run({ params, inputs, folder }) {
    const { docxBytes, wordHtml } = await import("./word.ts");
    const { content: html, notes } = await wordHtml(await docxBytes(inputs.document, folder), params.images);
    if (params.to === "html") {
      return { ...(await writeTextResult(folder, html, { name: "document.html", mediaType: "text/html" })), notes };
    }
    const { markdownOf } = await import("../html.ts");
    return {
      ...(await writeTextResult(folder, markdownOf(html), { name: "document.md", mediaType: "text/markdown" })),
      notes,
    };
  },
});
