import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";

import { defineCapability, input } from "../define.ts";
import { choice, integer } from "../params.ts";
import { ARCHIVE_PRICE } from "./counted.ts";

const FORMATS = ["gzip", "zstd", "brotli"] as const;
type Format = (typeof FORMATS)[number];
const ENDINGS: Readonly<Record<Format, readonly [ending: string, mediaType: string]>> = {
  gzip: ["gz", "application/gzip"],
  zstd: ["zst", "application/zstd"],
  brotli: ["br", "application/octet-stream"],
};

export default defineCapability({
  id: "archive.compress",
  display_name: "Compress file",
  description: "Compresses a single file with gzip, zstd or brotli.",
  output_modality: "any",
  input: { file: input("any", "The file.", { takesText: true }) },
  params: {
    format: choice("Compression format.", FORMATS, { default: "gzip" }),
    level: integer("Compression level.", { min: 1, max: 9, default: 6 }),
  },
  sample_input: { file: { text: "Sluice ".repeat(50) } },
  examples: [
    { title: "With gzip", params: {} },
    { title: "With brotli, best compression", params: { format: "brotli", level: 9 } },
  ],
  price: ARCHIVE_PRICE,
  engine: "archive",
  async run({ params, inputs, folder }) {
    const { format, level } = params;
    const [ending, mediaType] = ENDINGS[format];
    const name = `file.${ending}`;
    const path = join(folder, name);
    const packer = {
      gzip: () => createGzip({ level }),
      zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level * 2 } }),
      brotli: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: level } }),
    }[format]();
    await pipeline(createReadStream(inputs.file.path), packer, createWriteStream(path));
    const bytes = Bun.file(path).size;
    return {
      output: { format, bytes_before: inputs.file.bytes, bytes_after: bytes },
      files: [{ path, mediaType, name }],
    };
  },
});
