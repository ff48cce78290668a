import { join } from "node:path";

import { defineCapability, input } from "../define.ts";
import { choice, flag, number } from "../params.ts";
import { textOf } from "../text.ts";
import { missingLettersParam, NO_ADDRESS, withPage } from "../web/browser.ts";
import { wait } from "../web/page.ts";

import { MM, PAGE_POINTS, PAGE_SIZES } from "./page-size.ts";
import { openPdf, PDF } from "./pdf.ts";

/** CSS pixels per point. */
const PIXELS = 96 / 72;

export default defineCapability({
  id: "document.html_to_pdf",
  display_name: "HTML to PDF",
  description:
    "Prints HTML as a PDF in a browser. External resources are loaded only if the HTML itself was given by URL.",
  output_modality: "document",
  input: {
    html: input("text", "The HTML. If given by URL, relative addresses are resolved against it.", { takesText: true }),
  },
  params: {
    page_size: choice("Size of the pages.", PAGE_SIZES, { default: "a4" }),
    landscape: flag("Landscape orientation.", false),
    margin: number("Page margins.", { min: 0, max: 50, unit: "mm", default: 10 }),
    scale: number("Scale of the content.", { min: 0.1, max: 2, default: 1 }),
    print_background: flag("Print background colours and images.", true),
    javascript: flag("Run the scripts of the page.", false),
    wait: wait(),
    missing_letters: missingLettersParam("refuse"),
  },
  sample_input: { html: { text: "<h1>Tea</h1><p>Three boxes of <b>tea</b>.</p>" } },
  examples: [
    { title: "On A4", params: {} },
    { title: "On letter paper, landscape", params: { page_size: "letter", landscape: true, margin: 20 } },
  ],
  price: { unit: "per_operation", operation_price: "0.4" },
  engine: "browser",
  async run({ params, inputs, folder, tools, guard }) {
    const { html } = inputs;
    const page = join(folder, "page.html");
    await Bun.write(page, await textOf(html));
    const visit = {
      folder,
      tools,
      html: { path: page, contentType: "text/html; charset=utf-8" },
      address: html.address ?? NO_ADDRESS,
      guard,
      javascript: params.javascript,
      letters: params.missing_letters,
      waitMs: params.wait * 1_000,
    };
    const [width, height] = PAGE_POINTS[params.page_size];
    const margin = `${params.margin * MM * PIXELS}px`;
    const bytes = await withPage(visit, (page) =>
      page.pdf({
        width: `${(params.landscape ? height : width) * PIXELS}px`,
        height: `${(params.landscape ? width : height) * PIXELS}px`,
        margin: { top: margin, right: margin, bottom: margin, left: margin },
        scale: params.scale,
        printBackground: params.print_background,
      }),
    );
    const path = join(folder, "document.pdf");
    await Bun.write(path, bytes);
    const { pages } = await openPdf({ path, mediaType: PDF, bytes: bytes.length, name: "document.pdf" });
    return { output: { pages, bytes: bytes.length }, files: [{ path, mediaType: PDF, name: "document.pdf" }] };
  },
});
