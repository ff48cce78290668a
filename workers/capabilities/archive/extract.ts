import { join } from "node:path";

import { sniffMediaType } from "#shared/media/sniff.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input, type OutputFile } from "../define.ts";
import { flag, integer, list, text } from "../params.ts";
import { ARCHIVE_PRICE, badName, globOf, openOutput } from "./counted.ts";
import { readArchive } from "./read.ts";

/** Maximum number of skipped entries that are listed in the output. */
const SKIPPED_MAX = 100;

const GLOB = text("Glob pattern, such as images/*.png.", { max: 200, required: true });

export default defineCapability({
  id: "archive.extract",
  display_name: "Extract archive",
  description:
    "Extracts the files of a zip, tar (also tar.gz, tar.xz, tar.bz2 and tar.zst) or 7z archive. Links, devices and empty files are skipped and listed in `output.skipped`. Sparse files are filled with their zeros.",
  output_modality: "any",
  input: { archive: input("archive", "The archive.") },
  params: {
    include: list("Files to extract. Default: all.", GLOB, { max: 50 }),
    exclude: list("Files to skip.", GLOB, { max: 50 }),
    password: text(
      "Password, if the archive is encrypted. ZIP files with PKWARE's strong encryption cannot be opened.",
      { max: 127 },
    ),
    max_files: integer("Maximum number of files; archives with more are refused.", { min: 1, max: 200, default: 200 }),
    flatten: flag("Drop folder names from the file names.", false),
  },
  sample_input: { archive: { file_id: "file-sample-bundle" } },
  examples: [
    { title: "Everything", params: {} },
    { title: "Text files only, without folders", params: { include: ["**/*.txt", "*.txt"], flatten: true } },
  ],
  price: ARCHIVE_PRICE,
  engine: "archive",
  async run({ params, inputs, folder }) {
    const { format, counter, entries } = await readArchive(inputs.archive, folder, params.password);
    const isWanted = chooser(params.include, params.exclude);
    const files: OutputFile[] = [];
    const names = new Set<string>();
    let opened = 0;
    const skipped: { name: string; why: string }[] = [];
    for await (const entry of entries) {
      if (entry.kind === "folder") continue;
      const fault = entry.kind === "other" ? "it is a link or a device" : badName(entry.name);
      if (fault !== undefined) {
        skipped.push({ name: entry.name.slice(0, 200), why: fault });
        continue;
      }
      if (!isWanted(entry.name)) continue;
      if (files.length >= params.max_files) {
        throw new MediaError(
          "too_large",
          `Expected at most ${params.max_files} files, got more; list the wanted files in params.include.`,
        );
      }
      // Numbered, because entry names must never be used as paths on disk.
      const path = join(folder, `${String(++opened).padStart(4, "0")}.bin`);
      const output = openOutput(path, counter);
      await entry.read((bytes) => output.write(bytes));
      const size = await output.end();
      if (size === 0) skipped.push({ name: entry.name.slice(0, 200), why: "it is empty" });
      else files.push(await describeFile(path, entry.name, ownName(entry.name, params.flatten, names)));
    }
    const more = skipped.length - SKIPPED_MAX;
    const notes = more > 0 ? [`${more} more entries were skipped and are not listed; archive.list lists them.`] : [];
    return { output: { format, extracted: files.length, skipped: skipped.slice(0, SKIPPED_MAX) }, files, notes };
  },
});

function chooser(include: readonly string[] | undefined, exclude: readonly string[] = []): (name: string) => boolean {
  const [wanted, unwanted] = [include?.map(globOf), exclude.map(globOf)];
  return (name) => (wanted?.some((is) => is(name)) ?? true) && !unwanted.some((is) => is(name));
}

async function describeFile(path: string, name: string, own: string): Promise<OutputFile> {
  const head = new Uint8Array(await Bun.file(path).slice(0, 4_096).arrayBuffer());
  const mediaType = (await sniffMediaType(head)) ?? typeByName(name);
  return { path, mediaType, name: own };
}

/** Converts an entry's name to a unique file name without folders. A duplicate name gets the lowest free number. */
function ownName(name: string, isFlat: boolean, taken: Set<string>): string {
  const short = isFlat ? (name.split("/").at(-1) ?? "file") : name.replaceAll("/", "_");
  const clean = short
    .replaceAll(/[^\p{L}\p{M}\p{N} ._-]/gu, "_")
    .slice(-200)
    .toWellFormed();
  let own = clean;
  for (let number = 2; taken.has(own); number++) own = `${number}-${clean}`;
  taken.add(own);
  return own;
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
};

function typeByName(name: string): string {
  return TEXT_TYPES[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}
