import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";

import { settleMediaType } from "#shared/files/media-type.ts";
import { sniffMediaType, SNIFF_BYTES } from "#shared/media/sniff.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { choice } from "../params.ts";
import { ARCHIVE_PRICE, openCounter, openOutput } from "./counted.ts";
import { INFLATERS } from "./read.ts";
import { unpackStream } from "./seven-zip.ts";
import { checkZstdWhole } from "./zstd.ts";

const MARKS = [
  ["1f8b", "gzip"],
  ["fd377a58", "xz"],
  ["425a68", "bzip2"],
  ["28b52ffd", "zstd"],
] as const;

export default defineCapability({
  id: "archive.decompress",
  display_name: "Decompress file",
  description: "Decompresses a single gzip, xz, bzip2, zstd or brotli file.",
  output_modality: "any",
  input: { file: input("any", "The compressed file.") },
  params: {
    format: choice(
      "Compression format. `auto` detects all but brotli, which has no signature and must be named.",
      ["auto", "gzip", "xz", "bzip2", "zstd", "brotli"],
      { default: "auto" },
    ),
  },
  sample_input: {
    file: { base64: Buffer.from(Bun.gzipSync(Buffer.from("Sluice unpacks this.\n"))).toString("base64") },
  },
  examples: [
    { title: "Detect the format", params: {} },
    { title: "As gzip", params: { format: "gzip" } },
  ],
  price: ARCHIVE_PRICE,
  engine: "archive",
  async run({ params, inputs, folder }) {
    const { file } = inputs;
    const start = Buffer.from(await Bun.file(file.path).slice(0, 4).arrayBuffer()).toString("hex");
    const sniffed = MARKS.find(([mark]) => start.startsWith(mark))?.[1];
    const format = params.format === "auto" ? sniffed : params.format;
    if (format === undefined)
      throw new MediaError(
        "unsupported",
        "Expected a file packed with gzip, xz, bzip2 or zstd, or params.format brotli.",
      );
    const path = join(folder, "file.bin");
    if (format === "zstd") await checkZstdWhole(file.path);
    if (format === "xz" || format === "bzip2") await unpackStream(file, format, path);
    else await inflate(file, format, path);
    const { size } = await stat(path);
    if (size === 0) return { output: { format, bytes: 0 } };
    const head = await Bun.file(path).slice(0, SNIFF_BYTES).bytes();
    const mediaType = (await sniffMediaType(head)) ?? (await settleMediaType(head, undefined, ""));
    return { output: { format, bytes: size }, files: [{ path, mediaType, name: "file.bin" }] };
  },
});

/** Decompresses a single file. @throws MediaError corrupt, too_large */
async function inflate(file: InputFile, format: keyof typeof INFLATERS, path: string): Promise<void> {
  const output = openOutput(path, openCounter(file.bytes));
  try {
    for await (const bytes of createReadStream(file.path).pipe(INFLATERS[format]()))
      await output.write(bytes as Uint8Array);
  } catch (error) {
    throw corruptOr(error, `The file cannot be unpacked as ${format}.`);
  }
  await output.end();
}
