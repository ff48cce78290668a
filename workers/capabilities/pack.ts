/** Packs result files into one ZIP archive, or returns them as single files. */
import { join } from "node:path";

import { BlobReader, configure, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";

import { MediaError } from "#shared/children/media-error.ts";

import type { OutputFile } from "./define.ts";
import { choice } from "./params.ts";
import { CAPABILITY_FILES_MAX } from "./limits.ts";

configure({ useWebWorkers: false });

/** Fixed date of all entries, so that the same files give the same archive. */
const DATE = new Date(Date.UTC(2000, 0, 1));

export const PACK = choice(
  "Return one ZIP archive of all files, or the files one by one, in order.",
  ["zip", "files"],
  {
    default: "zip",
  },
);

/** Checks the number of files that are returned without an archive. @throws MediaError too_large */
export function checkFiles(pack: "zip" | "files", count: number): void {
  const max = CAPABILITY_FILES_MAX;
  if (pack === "zip" || count <= max) return;
  throw new MediaError("too_large", `Expected at most ${max} files with params.pack files, got ${count}.`);
}

export async function packed(
  folder: string,
  files: readonly OutputFile[],
  pack: "zip" | "files",
  name: string,
): Promise<readonly OutputFile[]> {
  if (pack === "files") return files;
  const writer = new ZipWriter(new Uint8ArrayWriter(), { lastModDate: DATE, extendedTimestamp: false, level: 6 });
  for (const file of files) await writer.add(file.name, new BlobReader(Bun.file(file.path)));
  const path = join(folder, name);
  await Bun.write(path, await writer.close());
  return [{ path, mediaType: "application/zip", name }];
}

/** Returns a file name such as `page-007.png`. The number has at least three digits. */
export function numbered(prefix: string, number: number, ending: string): string {
  return `${prefix}-${String(number).padStart(3, "0")}.${ending}`;
}
