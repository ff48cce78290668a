import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip, createZstdCompress } from "node:zlib";

import { BlobReader, configure, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";
import { pack } from "tar-stream";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, type InputFile, inputs, type RunOutput } from "../define.ts";
import { choice, integer, list, text } from "../params.ts";
import { ARCHIVE_PRICE, badName } from "./counted.ts";
import { writeSevenZip } from "./seven-zip.ts";

configure({ useWebWorkers: false });

const FORMATS = ["zip", "tar", "tar.gz", "tar.zst", "7z"] as const;
type Format = (typeof FORMATS)[number];

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  zip: "application/zip",
  tar: "application/x-tar",
  "tar.gz": "application/gzip",
  "tar.zst": "application/zstd",
  "7z": "application/x-7z-compressed",
};
/** Fixed date of all entries, so that the same files give the same archive. */
const DATE = new Date(Date.UTC(2000, 0, 1));

export default defineCapability({
  id: "archive.create",
  display_name: "Create archive",
  description: "Packs files into a zip, tar or 7z archive.",
  output_modality: "archive",
  input: { files: inputs("any", "The files, in order.", [1, 1_000]) },
  params: {
    names: list(
      "Paths of the files in the archive, in order. Default: their own names.",
      text("Path of one file.", { max: 1_024, required: true }),
      { max: 1_000 },
    ),
    format: choice("Format of the archive.", FORMATS, { default: "zip" }),
    level: integer("Compression level; 0 stores without compression.", { min: 0, max: 9, default: 6 }),
    password: text("Password to encrypt with; for zip (AES-256) and 7z only.", { max: 127 }),
  },
  rules: [],
  sample_input: { files: [{ file_id: "file-sample-photo" }, { file_id: "file-sample-chart" }] },
  examples: [
    { title: "A zip", params: {} },
    { title: "A tar.gz with names and folders", params: { format: "tar.gz", names: ["images/a.jpg", "images/b.png"] } },
  ],
  price: ARCHIVE_PRICE,
  engine: "archive",
  async run({ params, inputs: runInputs, folder }) {
    const { format, level, password } = params;
    const names = namesOf(runInputs.files, params.names);
    if (password !== undefined && format !== "zip" && format !== "7z") {
      throw new MediaError("invalid", `Expected params.format zip or 7z with params.password, got ${format}.`);
    }
    const name = `archive.${format}`;
    const path = join(folder, name);
    if (format === "zip") await writeZip(path, runInputs.files, names, level, password);
    else if (format === "7z") {
      const files = await Promise.all(
        runInputs.files.map(async (file, at) => ({
          name: names[at] ?? "",
          bytes: new Uint8Array(await Bun.file(file.path).arrayBuffer()),
        })),
      );
      await writeSevenZip(path, files, { level, password });
    } else await writeTar(path, runInputs.files, names, format, level);
    const result: RunOutput = {
      output: { format, entries: names.length, names },
      files: [{ path, mediaType: MEDIA_TYPES[format], name }],
    };
    return result;
  },
});

function namesOf(files: readonly InputFile[], wanted: readonly string[] | undefined): string[] {
  if (wanted !== undefined && wanted.length !== files.length) {
    throw new MediaError("invalid", `Expected params.names to have ${files.length} names, got ${wanted.length}.`);
  }
  const taken = new Set<string>();
  return files
    .map((file, at) => {
      const name = wanted?.[at] ?? file.name.replaceAll(/[/\\\0]/g, "_");
      const fault = badName(name);
      if (fault !== undefined)
        throw new MediaError("invalid", `Expected params.names[${at}] to be a path inside, but ${fault}.`);
      if (name.split("/").some((part) => part === "" || part === ".")) {
        throw new MediaError(
          "invalid",
          `Expected params.names[${at}] to be a path of a file, got ${name.slice(0, 100)}.`,
        );
      }
      const own = taken.has(name) ? name.replace(/[^/]*$/, (last) => `${at + 1}-${last}`) : name;
      if (taken.has(own)) throw new MediaError("invalid", `Expected unique names, got ${own} twice.`);
      taken.add(own);
      return own;
    })
    .map((name) => {
      const folder = foldersOf(name).find((one) => taken.has(one));
      if (folder === undefined) return name;
      throw new MediaError("invalid", `Expected ${folder.slice(0, 100)} to be a file or a folder, got both.`);
    });
}

/** Returns the parent folders of a file: `a` and `a/b` for `a/b/c`. */
function foldersOf(name: string): string[] {
  return [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index));
}

async function writeZip(
  path: string,
  files: readonly InputFile[],
  names: readonly string[],
  level: number,
  password: string | undefined,
): Promise<void> {
  const options = {
    level,
    lastModDate: DATE,
    extendedTimestamp: false,
    ...(password === undefined ? {} : { password, encryptionStrength: 3 as const }),
  };
  const writer = new ZipWriter(new Uint8ArrayWriter(), options);
  for (const [at, file] of files.entries()) await writer.add(names[at] ?? "", new BlobReader(Bun.file(file.path)));
  await Bun.write(path, await writer.close());
}

async function writeTar(
  path: string,
  files: readonly InputFile[],
  names: readonly string[],
  format: Exclude<Format, "zip" | "7z">,
  level: number,
): Promise<void> {
  const tar = pack();
  const packers = {
    tar: [],
    "tar.gz": [createGzip({ level })],
    "tar.zst": [createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: Math.max(1, level * 2) } })],
  }[format];
  const written = pipeline([Readable.from(tar), ...packers, createWriteStream(path)]);
  // Awaited below. This handler prevents an unhandled rejection before that.
  written.catch(() => undefined);
  for (const [at, file] of files.entries()) {
    const entry = tar.entry({ name: names[at] ?? "", size: file.bytes, mtime: DATE, mode: 0o644 });
    await pipeline(Readable.fromWeb(Bun.file(file.path).stream() as never), entry);
  }
  tar.finalize();
  await written;
}
