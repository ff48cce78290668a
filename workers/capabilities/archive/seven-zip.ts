/** Reads and writes 7z archives, xz and bzip2 through 7-Zip in WebAssembly, which has a separate in-memory file system. */
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

import SevenZip from "7z-wasm";

import { MediaError } from "#shared/children/media-error.ts";

import type { InputFile } from "../define.ts";
import type { Entry } from "./read.ts";
import { ARCHIVE_UNPACKED_BYTES_MAX, openCounter } from "./counted.ts";

/** Called with each chunk of data that 7-Zip writes. */
type OnWrite = (bytes: Uint8Array) => void;

interface Called {
  readonly code: number;
  readonly printed: readonly string[];
  readonly files: { read(path: string): Uint8Array; write(path: string, bytes: Uint8Array): void };
}

/** Fixed time of all files, so that the same files give the same archive. */
const TIME_MS = Date.UTC(2000, 0, 1);

const FOLDER = "/run";

/**
 * Runs 7-Zip once, in a new in-memory file system that contains the given files.
 * @param onWrite receives the data that 7-Zip writes below `out`; this data is not stored in the in-memory file system
 */
async function call(
  args: readonly string[],
  files: Readonly<Record<string, Uint8Array>> = {},
  onWrite?: OnWrite,
): Promise<Called> {
  const printed: string[] = [];
  const wasm = createRequire(import.meta.url).resolve("7z-wasm/7zz.wasm");
  const module = await SevenZip({
    wasmBinary: readFileSync(wasm).buffer,
    print: (line: string) => void printed.push(line),
    printErr: (line: string) => void printed.push(line),
  });
  // A new folder, because callers' names may equal Emscripten's own folders.
  module.FS.mkdir(FOLDER);
  module.FS.chdir(FOLDER);
  const folders = new Set<string>();
  for (const [path, bytes] of Object.entries(files)) {
    path
      .split("/")
      .slice(0, -1)
      .reduce((above, name) => {
        const folder = `${above}${name}/`;
        if (!folders.has(folder)) module.FS.mkdir(folder);
        folders.add(folder);
        return folder;
      }, "");
    module.FS.writeFile(path, bytes);
    module.FS.utime(path, TIME_MS, TIME_MS);
  }
  if (onWrite) divertWrites(module.FS as unknown as FileSystem, onWrite);
  let code = 0;
  try {
    const status: unknown = module.callMain([...args]);
    code = typeof status === "number" ? status : 0;
  } catch {
    // 7-Zip throws failures as pointers to C++ objects, without a readable message.
    code = 2;
  }
  return {
    code,
    printed,
    files: {
      read: (path) => module.FS.readFile(path),
      write: (path, bytes) => module.FS.writeFile(path, bytes),
    },
  };
}

/** Write functions of Emscripten's file system, which its type definitions lack. */
interface FileSystem {
  write(stream: OpenFile, buffer: Uint8Array, offset: number, length: number, position?: number, own?: boolean): number;
  readonly ErrnoError: new (code: number) => Error;
}

interface OpenFile {
  readonly path: string;
  position: number;
}

/** Emscripten's error code for a file that is too large. */
const EFBIG = 22;

/** Makes the file system pass data written below `out` to `onWrite`. Otherwise the whole unpacked file would be stored in memory. */
function divertWrites(fs: FileSystem, onWrite: OnWrite): void {
  const write = fs.write.bind(fs);
  fs.write = (stream, buffer, offset, length, position, own) => {
    if (!stream.path.startsWith(`${FOLDER}/out/`)) return write(stream, buffer, offset, length, position, own);
    try {
      onWrite(buffer.subarray(offset, offset + length));
    } catch {
      // The caller keeps the original error, because 7-Zip can only handle errors of its file system.
      throw new fs.ErrnoError(EFBIG);
    }
    if (position === undefined) stream.position += length;
    return length;
  };
}

/**
 * Unpacks a file that consists of one compressed stream, and counts the bytes as they are written.
 * @throws MediaError corrupt, too_large
 */
export async function unpackStream(file: InputFile, type: "xz" | "bzip2", path: string): Promise<void> {
  const packed = new Uint8Array(await Bun.file(file.path).arrayBuffer());
  const counter = openCounter(packed.length);
  const target = openSync(path, "wx");
  let refusal: unknown;
  let size = 0;
  try {
    const got = await call(["e", "-y", `-t${type}`, "-oout", "in.bin"], { "in.bin": packed }, (bytes) => {
      try {
        size += bytes.length;
        counter.bytes(bytes.length);
        if (size > UNPACKED_MAX) {
          throw new MediaError("too_large", `Expected at most ${UNPACKED_MAX} bytes unpacked of ${type}, got more.`);
        }
        writeFileSync(target, bytes);
      } catch (error) {
        refusal = error;
        throw error;
      }
    });
    if (refusal !== undefined) throw refusal;
    if (got.code !== 0) throw new MediaError("corrupt", `The file cannot be unpacked as ${type}.`);
  } finally {
    closeSync(target);
  }
}

/** Maximum size of a file or archive that is unpacked in memory, in bytes. */
const UNPACKED_MAX = 512 * 1_048_576;

export async function* readSevenZip(
  file: InputFile,
  _folder: string,
  password: string | undefined,
): AsyncGenerator<Entry> {
  const archive = new Uint8Array(await Bun.file(file.path).arrayBuffer());
  const secret = password === undefined ? ["-p"] : [`-p${password}`];
  const listed = await call(["l", "-slt", ...secret, "in.7z"], { "in.7z": archive });
  if (listed.code !== 0) throw wrong(listed.printed);
  const entries = blocks(listed.printed);
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > Math.min(UNPACKED_MAX, ARCHIVE_UNPACKED_BYTES_MAX)) {
    throw new MediaError("too_large", `Expected a 7z archive of at most ${UNPACKED_MAX} bytes unpacked, got ${total}.`);
  }
  for (const entry of entries) {
    yield {
      ...entry,
      async read(onBytes) {
        if (entry.encryption !== undefined && password === undefined) {
          throw new MediaError("invalid", "Expected params.password for an encrypted entry, got none.");
        }
        // `e` extracts into the folder `out`, without the paths of entries.
        const got = await call(["e", "-y", ...secret, "-oout", "in.7z", "--", entry.name], { "in.7z": archive });
        if (got.code !== 0) throw entry.encryption !== undefined ? wrong(got.printed) : damaged();
        await onBytes(got.files.read(`out/${entry.name.split("/").at(-1) ?? ""}`));
      },
    };
  }
}

function damaged(): MediaError {
  return new MediaError("corrupt", "The archive cannot be read.");
}

function wrong(printed: readonly string[]): MediaError {
  if (printed.some((line) => /Headers Error|Is not archive|Unexpected end|Cannot open the file as/i.test(line))) {
    return damaged();
  }
  return new MediaError("invalid", "Expected params.password to open the archive; it does not.");
}

/** Parses the output of 7-Zip's list command. After the line of dashes, each entry is one block of lines of the form `Name = value`. */
function blocks(printed: readonly string[]) {
  const from = printed.findIndex((line) => /^-{10,}$/.test(line));
  const found: Omit<Entry, "read">[] = [];
  for (const block of printed
    .slice(from + 1)
    .join("\n")
    .split(/\n\n+/)) {
    const facts = new Map(
      block.split("\n").map((line) => [line.slice(0, line.indexOf(" = ")), line.slice(line.indexOf(" = ") + 3)]),
    );
    const name = facts.get("Path");
    if (name === undefined) continue;
    const attributes = facts.get("Attributes") ?? "";
    const kind = attributes.startsWith("D") ? "folder" : / l/.test(attributes) ? "other" : "file";
    const encryption = facts.get("Encrypted") === "+" ? "aes" : undefined;
    found.push({ name, kind, bytes: Number(facts.get("Size") ?? 0), encryption });
  }
  return found;
}

/** Path of the new archive, outside of the folder that contains the caller's files. */
const OUT = "/out.7z";

/** Writes files into a 7z archive. @throws Error of 7-Zip */
export async function writeSevenZip(
  path: string,
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  { level, password }: { readonly level: number; readonly password: string | undefined },
): Promise<void> {
  const bytesByName = Object.fromEntries(files.map(({ name, bytes }) => [name, bytes]));
  const secret = password === undefined ? [] : [`-p${password}`, "-mhe=on"];
  // No times, so that the same files give the same archive.
  const result = await call(
    ["a", `-mx=${level}`, "-mtm=off", "-mtc=off", "-mta=off", ...secret, OUT, "--", ...files.map(({ name }) => name)],
    bytesByName,
  );
  if (result.code !== 0) throw new Error(`7-Zip failed: ${result.printed.slice(-3).join(" ")}`);
  writeFileSync(path, result.files.read(OUT));
}
