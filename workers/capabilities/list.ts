/** Lists all capabilities in the order of `GET /v1/tools`. A new capability needs a line here and a file in the folder of its category. */
import { CATEGORIES, type Category } from "#shared/calls/capabilities/entry.ts";

import type { DefinedCapability } from "./define.ts";

/** Operations of each category. The code of an operation is in `<category>/<operation>.ts`. */
const OPERATIONS: Readonly<Record<Category, readonly string[]>> = {
  video: [
    "probe",
    "transcode",
    "trim",
    "concat",
    "resize",
    "crop",
    "rotate",
    "speed",
    "watermark",
    "text",
    "subtitle",
    "extract_audio",
    "set_audio",
    "thumbnail",
    "frames",
    "to_gif",
    "from_images",
    "hls",
    "stack",
    "pipeline",
  ],
  audio: [
    "probe",
    "convert",
    "trim",
    "concat",
    "mix",
    "volume",
    "normalize",
    "fade",
    "speed",
    "remove_silence",
    "denoise",
    "split",
    "waveform",
    "tag",
    "pipeline",
  ],
  image: [
    "metadata",
    "convert",
    "resize",
    "crop",
    "rotate",
    "adjust",
    "filter",
    "watermark",
    "composite",
    "montage",
    "strip_metadata",
    "optimize",
    "palette",
    "compare",
    "chroma_key",
    "render_svg",
    "barcode",
    "read_barcode",
    "ocr",
    "pipeline",
  ],
  document: [
    "info",
    "merge_pdf",
    "split_pdf",
    "select_pages",
    "extract_text",
    "render_pages",
    "extract_images",
    "watermark",
    "encrypt_pdf",
    "decrypt_pdf",
    "fill_form",
    "images_to_pdf",
    "html_to_pdf",
    "markdown_to_html",
    "markdown_to_pdf",
    "markdown_to_docx",
    "docx_to_markdown",
    "convert_spreadsheet",
    "office_to_pdf",
  ],
  archive: ["list", "create", "extract", "compress", "decompress", "checksum"],
  web: ["fetch", "to_markdown", "links", "screenshot"],
  code: ["format", "highlight", "minify", "diff", "transform_json", "run_javascript", "regex", "run_python"],
};

export const CAPABILITY_IDS: readonly string[] = CATEGORIES.flatMap((category) =>
  OPERATIONS[category].map((operation) => `${category}.${operation}`),
);

/** Loads the definition of a capability together with its engine, for child processes and the generator. @throws Error for an unknown id */
export async function loadCapability(id: string): Promise<DefinedCapability> {
  if (!CAPABILITY_IDS.includes(id)) throw new Error(`there is no capability ${id}`);
  const [category = "", operation = ""] = id.split(".");
  const module = (await import(`./${category}/${operation.replaceAll("_", "-")}.ts`)) as { default: DefinedCapability };
  return module.default;
}
