import { dirname, join } from "node:path";
import { createRequire } from "node:module";

import { createWorker, OEM } from "tesseract.js";

import { defineCapability, input } from "../define.ts";
import { choice, integer } from "../params.ts";
import { openImage } from "./sharp.ts";

export default defineCapability({
  id: "image.ocr",
  display_name: "Read text (OCR)",
  description: "Recognizes the text in an image.",
  output_modality: "text",
  input: { image: input("image", "The image.") },
  params: {
    language: choice("Language of the text.", ["eng"], {
      default: "eng",
      labels: { eng: "English" },
    }),
    detail: choice(
      "`text` returns the plain text; `lines` and `words` add each line or word with its position and confidence.",
      ["text", "lines", "words"],
      { default: "text" },
    ),
    min_confidence: integer("Minimum confidence of the returned words.", {
      min: 0,
      max: 100,
      unit: "percent",
      default: 0,
    }),
  },
  sample_input: { image: { file_id: "file-sample-scan" } },
  examples: [
    { title: "Plain text", params: {} },
    { title: "Each word with its position", params: { detail: "words", min_confidence: 50 } },
  ],
  price: { unit: "per_operation", operation_price: "0.4" },
  engine: "ocr",
  async run({ params, inputs, folder, progress }) {
    const { image } = await openImage(inputs.image);
    const page = join(folder, "page.png");
    await image.flatten({ background: "white" }).greyscale().png().toFile(page);
    const data = dirname(createRequire(import.meta.url).resolve(`@tesseract.js-data/${params.language}/package.json`));
    const worker = await createWorker(params.language, OEM.LSTM_ONLY, {
      langPath: join(data, "4.0.0_best_int"),
      gzip: true,
      cacheMethod: "none",
      logger: ({ progress: share }) => progress(share),
    });
    try {
      const isPicky = params.min_confidence > 0;
      const { data: found } = await worker.recognize(
        page,
        {},
        { text: true, blocks: isPicky || params.detail !== "text" },
      );
      const isSure = ({ confidence }: { readonly confidence: number }): boolean => confidence >= params.min_confidence;
      const lines = (found.blocks ?? []).flatMap(({ paragraphs }) =>
        paragraphs.flatMap((paragraph) => paragraph.lines),
      );
      const parts =
        params.detail === "words" ? lines.flatMap(({ words }) => words) : params.detail === "lines" ? lines : [];
      return {
        output: {
          text: isPicky ? textOf(lines.map(({ words }) => words.filter(isSure))) : found.text.trim(),
          confidence: Math.round(found.confidence),
          ...(params.detail === "text" ? {} : { [params.detail]: parts.filter(isSure).map(placed) }),
        },
      };
    } finally {
      await worker.terminate();
    }
  },
});

function textOf(lines: readonly (readonly { readonly text: string }[])[]): string {
  const lineTexts = lines
    .filter((line) => line.length > 0)
    .map((line) => line.map(({ text }) => text.trim()).join(" "));
  return lineTexts.join("\n");
}

function placed({
  text,
  confidence,
  bbox,
}: {
  text: string;
  confidence: number;
  bbox: { x0: number; y0: number; x1: number; y1: number };
}) {
  return {
    text: text.trim(),
    confidence: Math.round(confidence),
    x: bbox.x0,
    y: bbox.y0,
    width: bbox.x1 - bbox.x0,
    height: bbox.y1 - bbox.y0,
  };
}
