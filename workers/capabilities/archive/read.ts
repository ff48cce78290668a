/** Reads the entries of an archive in order, for every supported format. Nested archives are not opened. */
import { createReadStream } from "node:fs";
import { createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { join } from "node:path";
import { Readable } from "node:stream";

import { BlobReader, configure, type EntryMetaData, ERR_UNSUPPORTED_COMPRESSION, ZipReader } from "@zip.js/zip.js";
import { extract as openTar, type Header } from "tar-stream";

import { MediaError } from "#shared/children/media-error.ts";
import { sniffMediaType } from "#shared/media/sniff.ts";

import type { InputFile } from "../define.ts";
import { corruptOr } from "../faults.ts";
import { type Counter, openCounter } from "./counted.ts";
import { readSevenZip, unpackStream } from "./seven-zip.ts";
import { isTarHeader, plainTar, sparseFile, type SparseMaps } from "./sparse.ts";
import { checkZstdWhole } from "./zstd.ts";

configure({ useWebWorkers: false });

/** Encryption of an entry. `strong` is PKWARE's own format, which is not supported. */
export type Encryption = "aes" | "traditional" | "strong";

export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
  /** Unpacked size as stated in the header. It may be false, so the limits apply to the actual bytes. */
  readonly bytes: number;
  /** Encryption method of the entry; undefined if the entry is not encrypted. */
  readonly encryption: Encryption | undefined;
  /** Reads the entry's data. It must be called at most once, before the next entry is requested. @throws MediaError */
  read(onBytes: (bytes: Uint8Array) => Promise<void>): Promise<void>;
}

export interface Reading {
  readonly format: string;
  readonly counter: Counter;
  readonly entries: AsyncIterable<Entry>;
}

/** Opens an archive and reads its entries. @throws MediaError unsupported, corrupt, too_large */
export async function readArchive(file: InputFile, folder: string, password: string | undefined): Promise<Reading> {
  const counter = openCounter(file.bytes);
  const head = Buffer.from(await Bun.file(file.path).slice(0, 512).arrayBuffer());
  const format = formatOf(head);
  switch (format) {
    case "zip":
      return { format, counter, entries: counted(readZip(file, password), counter) };
    case "7z":
      return { format, counter, entries: counted(readSevenZip(file, folder, password), counter) };
    case undefined:
      throw new MediaError(
        "unsupported",
        `Expected a zip, tar, tar.gz, tar.xz, tar.bz2, tar.zst or 7z archive, got ${(await sniffMediaType(head)) ?? file.mediaType}.`,
      );
    case "tar.xz":
    case "tar.bz2": {
      const path = join(folder, "unpacked.tar");
      await unpackStream(file, format === "tar.xz" ? "xz" : "bzip2", path);
      return { format, counter, entries: counted(readTar({ ...file, path }, "tar"), counter) };
    }
    default:
      if (format === "tar.zst") await checkZstdWhole(file.path);
      return { format, counter, entries: counted(readTar(file, format), counter) };
  }
}

type Format = "zip" | "7z" | "tar" | "tar.gz" | "tar.xz" | "tar.bz2" | "tar.zst";

function formatOf(head: Buffer): Format | undefined {
  if (head.subarray(0, 2).toString("latin1") === "PK") return "zip";
  if (head.subarray(0, 6).toString("hex") === "377abcaf271c") return "7z";
  if (head.subarray(0, 2).toString("hex") === "1f8b") return "tar.gz";
  if (head.subarray(0, 4).toString("hex") === "28b52ffd") return "tar.zst";
  if (head.subarray(0, 6).toString("hex") === "fd377a585a00") return "tar.xz";
  if (/^BZh[1-9]$/.test(head.subarray(0, 4).toString("latin1"))) return "tar.bz2";
  // A tar without entries consists of zeros.
  return isTarHeader(head) || (head.length === 512 && head.every((byte) => byte === 0)) ? "tar" : undefined;
}

async function* counted(entries: AsyncIterable<Entry>, counter: Counter): AsyncGenerator<Entry> {
  try {
    for await (const entry of entries) {
      counter.entry();
      // The consumer calls `read`, so its errors are not caught below.
      yield { ...entry, read: (onBytes) => entry.read(onBytes).catch(throwUnread) };
    }
  } catch (error) {
    throwUnread(error);
  }
}

function throwUnread(error: unknown): never {
  throw corruptOr(error, "The archive cannot be read.");
}

const UNIX_TYPE = 0o170_000;
const UNIX_LINK = 0o120_000;

/** Bit in the general purpose flags of a ZIP entry that indicates strong encryption (APPNOTE 4.4.4). */
const STRONG_FLAG = 0x40;
const STRONG =
  "Expected entries that are encrypted by AES or in the traditional way, got PKWARE's strong encryption: no password opens it here.";

function encryptionOf({ rawBitFlag, zipCrypto }: EntryMetaData): Encryption {
  if (((rawBitFlag ?? 0) & STRONG_FLAG) !== 0) return "strong";
  return zipCrypto ? "traditional" : "aes";
}

async function* readZip({ path }: InputFile, password: string | undefined): AsyncGenerator<Entry> {
  // Unsafe paths are accepted here: the callers skip such entries and use the others.
  const options = { filenameValidation: "tolerant", ...(password === undefined ? {} : { password }) } as const;
  const reader = new ZipReader(new BlobReader(Bun.file(path)), options);
  try {
    for await (const entry of reader.getEntriesGenerator()) {
      const { filename: name, directory, uncompressedSize: bytes, encrypted, externalFileAttributes: mode } = entry;
      const encryption = encrypted ? encryptionOf(entry) : undefined;
      const isLink = ((mode >>> 16) & UNIX_TYPE) === UNIX_LINK;
      yield {
        name,
        kind: directory ? "folder" : isLink ? "other" : "file",
        bytes,
        encryption,
        async read(onBytes) {
          if (entry.directory) return;
          if (encryption === "strong") throw new MediaError("unsupported", STRONG);
          if (encrypted && password === undefined)
            throw new MediaError("invalid", "Expected params.password for an encrypted entry, got none.");
          let refusal: MediaError | undefined;
          const write = async (bytes: Uint8Array): Promise<void> => {
            try {
              await onBytes(bytes);
            } catch (error) {
              if (error instanceof MediaError) refusal = error;
              throw error;
            }
          };
          const sink = new WritableStream<Uint8Array>({ write });
          try {
            await entry.getData(sink, { checkSignature: true });
          } catch (error) {
            // If the last piece is rejected, the library throws an error of its own at the stream's end.
            if (refusal) throw refusal;
            if (error instanceof MediaError) throw error;
            const isPassword = /password/i.test(String(error));
            if (error instanceof Error && error.message === ERR_UNSUPPORTED_COMPRESSION) {
              const said = "Expected entries that are stored, deflated or deflated by 64 KB, got another compression.";
              throw new MediaError("unsupported", said, { cause: error });
            }
            if (isPassword)
              throw new MediaError("invalid", "Expected params.password to open the archive; it does not.", {
                cause: error,
              });
            throw error;
          }
        },
      };
    }
  } finally {
    await reader.close();
  }
}

/** Tar header, with the members that the library's types lack. */
type TarHeader = Header & {
  /** Offset of the entry's data in the tar file, in bytes. */
  readonly byteOffset: number;
  readonly pax: Readonly<Record<string, string>> | null;
};

/** Options of the tar parser. Unknown formats are allowed, because the oldest tar files contain no format name. */
const TAR_OPTIONS: object = { allowUnknownFormat: true };

async function* readTar({ path }: InputFile, format: Format): AsyncGenerator<Entry> {
  const source = createReadStream(path);
  const inflated: Readable =
    format === "tar.gz"
      ? source.pipe(createGunzip())
      : format === "tar.zst"
        ? source.pipe(createZstdDecompress())
        : source;
  const tar = openTar(TAR_OPTIONS);
  const fail = (error: Error): void => {
    tar.destroy(error);
  };
  source.on("error", fail);
  inflated.on("error", fail);
  const maps: SparseMaps = new Map();
  Readable.from(plainTar(inflated, maps)).on("error", fail).pipe(tar);
  try {
    for await (const entry of tar) {
      const { type, size, pax, byteOffset } = entry.header as TarHeader;
      const sparse = sparseFile(maps.get(byteOffset), pax);
      maps.delete(byteOffset);
      const isFile = type === "file" || type === "contiguous-file";
      yield {
        name: sparse?.name ?? entry.header.name,
        kind: isFile ? "file" : type === "directory" ? "folder" : "other",
        bytes: sparse?.size ?? size,
        encryption: undefined,
        async read(onBytes) {
          const data = entry as AsyncIterable<Uint8Array>;
          for await (const bytes of sparse?.read(data) ?? data) await onBytes(bytes);
        },
      };
      entry.resume();
    }
  } finally {
    source.destroy();
  }
}

/** Decompressors for single compressed files. */
export const INFLATERS = { gzip: createGunzip, zstd: createZstdDecompress, brotli: createBrotliDecompress } as const;
