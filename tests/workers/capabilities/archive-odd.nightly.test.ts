/** Archives as users have them: odd names, cut files, compressions that others use. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";

import { BlobWriter, TextReader, ZipWriter } from "@zip.js/zip.js";
import { describe, expect, test } from "bun:test";
import { pack } from "tar-stream";

import { readInputs } from "#workers/calls/capability/inputs.ts";
import { zipOf } from "#tests/support/hostile-files/documents.ts";
import { loadCapability } from "#workers/capabilities/list.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const FORMATS = ["zip", "tar", "tar.gz", "tar.zst", "7z"] as const;

const create = (texts: readonly string[], names: readonly string[], params: object = {}) =>
  runCapability("archive.create", { files: texts.map((words) => Buffer.from(words)) }, { names, ...params });
const extract = (archive: Uint8Array, params: object = {}) => runCapability("archive.extract", { archive }, params);
const namesOf = async (archive: Uint8Array, params: object = {}) =>
  (await extract(archive, params)).files?.map(({ name }) => name);

async function tarOf(names: readonly string[], words: string): Promise<Buffer> {
  const tar = pack();
  for (const name of names) tar.entry({ name }, words);
  tar.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of tar) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

describe.each(FORMATS)("a %s", (format) => {
  test("extracts the files after an empty one", async () => {
    const made = await create(["", "one", "two"], ["empty", "one.txt", "two.txt"], { format });
    const back = await extract(made.bytes());
    expect(back.output).toMatchObject({ extracted: 2, skipped: [{ name: "empty", why: "it is empty" }] });
    expect([0, 1].map((at) => Buffer.from(back.bytes(at)).toString())).toEqual(["one", "two"]);
  });

  test("may contain reserved names, and keeps folders of equal ones", async () => {
    const names = ["out.7z", "tmp/a", "dev/null", "x/a", "x/a"];
    const made = await create(["1", "2", "3", "4", "5"], names, { format });
    expect(made.output?.["names"]).toEqual([...names.slice(0, 4), "x/5-a"]);
    expect((await namesOf(made.bytes()))?.toSorted()).toEqual(["dev_null", "out.7z", "tmp_a", "x_5-a", "x_a"]);
  });

  test.each([
    ["a folder", ["d/"], "Expected params.names[0] to be a path of a file, got d/."],
    ["a part without a name", ["a//b"], "Expected params.names[0] to be a path of a file"],
    ["its own folder", ["./a"], "Expected params.names[0] to be a path of a file"],
    ["a file and its folder", ["x/a", "x"], "Expected x to be a file or a folder, got both."],
  ])("rejects names that are %s", async (_what, names, said) => {
    expect(await refused(create(names.map(String), names, { format }))).toContain(`invalid: ${said}`);
  });
});

describe("names of unpacked files", () => {
  test("differ if archive names become equal after cleaning, or lose their folders", async () => {
    const zip = zipOf(
      Object.fromEntries(["d/x.txt", "d_x.txt", "e/x.txt", "a?.txt", "a*.txt"].map((name) => [name, name])),
    );
    expect(await namesOf(zip)).toEqual(["d_x.txt", "2-d_x.txt", "e_x.txt", "a_.txt", "2-a_.txt"]);
    expect(await namesOf(zip, { flatten: true, include: ["*/x.txt"] })).toEqual(["x.txt", "2-x.txt"]);
  });

  test("keep their diacritics", async () => {
    expect(await namesOf(zipOf({ "हिन्दी.txt": "a" }))).toEqual(["हिन्दी.txt"]);
  });
});

describe("rejected as damaged:", () => {
  test("a zip with another checksum, or another compression", async () => {
    const zip = zipOf({ a: "words" }, { isStored: true });
    const other = Buffer.from(zip);
    other.write("W", other.indexOf("words"));
    expect(await refused(extract(other))).toBe("corrupt: The archive cannot be read.");
    // LZMA (14), in the entry's own header and in the directory.
    zip.writeUInt16LE(14, 8);
    zip.writeUInt16LE(14, zip.indexOf("PK\u0001\u0002") + 10);
    expect(await refused(extract(zip))).toContain("unsupported: Expected entries that are stored, deflated");
  });

  test("a tar truncated within a file", async () => {
    const tar = await tarOf(["a", "b"], "words".repeat(1_000));
    expect(await refused(extract(tar.subarray(0, 7_000)))).toBe("corrupt: The archive cannot be read.");
  });

  test("a 7z that is not encrypted, without mentioning passwords", async () => {
    const made = Buffer.from((await create(["words"], ["a"], { format: "7z" })).bytes());
    made[34] = (made[34] ?? 0) ^ 1;
    expect(await refused(extract(made))).toBe("corrupt: The archive cannot be read.");
  });

  test.each([
    ["cut in its first block", (whole: Buffer) => whole.subarray(0, 60)],
    ["cut by a byte", (whole: Buffer) => whole.subarray(0, -1)],
    ["followed by something else", (whole: Buffer) => Buffer.concat([whole, Buffer.from("words")])],
  ])("Zstandard that is %s", async (_what, part) => {
    const tar = await tarOf(["a"], crypto.randomUUID().repeat(30));
    const whole = zstdCompressSync(tar);
    const said = "corrupt: Expected complete Zstandard frames, got truncated ones or none.";
    expect(await refused(extract(part(whole)))).toBe(said);
    expect(await refused(runCapability("archive.decompress", { file: part(whole) }))).toBe(said);
    const two = Buffer.concat([zstdCompressSync("tea, "), zstdCompressSync(Buffer.alloc(300_000))]);
    const { output } = await runCapability("archive.decompress", { file: two });
    expect(output).toEqual({ format: "zstd", bytes: 300_005 });
  });
});

describe("an encrypted zip", () => {
  const locked = async (options: object): Promise<Buffer> => {
    const writer = new ZipWriter(new BlobWriter(), { password: "tea", ...options });
    await writer.add("a.txt", new TextReader("secret"));
    return Buffer.from(await (await writer.close()).arrayBuffer());
  };
  /** Only its flag: what a reader that does not know it sees. */
  const strong = async (): Promise<Buffer> => {
    const zip = await locked({ zipCrypto: true });
    for (const at of [6, zip.indexOf("PK\u0001\u0002") + 8]) zip.writeUInt16LE(zip.readUInt16LE(at) | 0x40, at);
    return zip;
  };

  test.each([
    ["aes", () => locked({})],
    ["traditional", () => locked({ zipCrypto: true })],
    ["strong", strong],
  ] as const)("lists its encryption as %s", async (encryption, zip) => {
    const { output } = await runCapability("archive.list", { archive: await zip() });
    expect(output).toMatchObject({ entries: [{ name: "a.txt", is_encrypted: true, encryption }] });
  });

  test("opens with its password, unless the encryption is unsupported", async () => {
    for (const zip of [await locked({}), await locked({ zipCrypto: true })]) {
      expect(Buffer.from((await extract(zip, { password: "tea" })).bytes()).toString()).toBe("secret");
      expect(await refused(extract(zip))).toBe("invalid: Expected params.password for an encrypted entry, got none.");
      expect(await refused(extract(zip, { password: "milk" }))).toContain(
        "params.password to open the archive; it does not.",
      );
    }
    const said =
      "unsupported: Expected entries that are encrypted by AES or in the traditional way, got PKWARE's strong encryption: no password opens it here.";
    for (const params of [{}, { password: "tea" }]) expect(await refused(extract(await strong(), params))).toBe(said);
  });

  test("as 7z uses AES", async () => {
    const made = await create(["secret"], ["a.txt"], { format: "7z", password: "tea" });
    const { output } = await runCapability("archive.list", { archive: made.bytes() }, { password: "tea" });
    expect(output).toMatchObject({ entries: [{ is_encrypted: true, encryption: "aes" }] });
  });
});

test("an unsupported archive is rejected by its name", async () => {
  const rar = Buffer.concat([Buffer.from("526172211a070100", "hex"), Buffer.alloc(600)]);
  expect(await refused(extract(rar))).toBe(
    "unsupported: Expected a zip, tar, tar.gz, tar.xz, tar.bz2, tar.zst or 7z archive, got application/x-rar-compressed.",
  );
});

test("a tar is detected by its checksum: of the oldest kind, and without entries", async () => {
  const tar = await tarOf(["a.txt"], "tea");
  tar.fill(0, 257, 265);
  const sum = tar.subarray(0, 512).reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  expect(await namesOf(tar)).toEqual(["a.txt"]);
  expect((await runCapability("archive.list", { archive: Buffer.alloc(10_240) })).output).toMatchObject({ count: 0 });
});

test("compressed text is returned as text", async () => {
  const made = await runCapability("archive.decompress", { file: Bun.gzipSync(Buffer.from("tea\n")) });
  expect(made.files).toMatchObject([{ mediaType: "text/plain" }]);
});

test.each(["tar", "tar.zst"])("a %s is detected as an archive before it is opened", async (format) => {
  const archive = { base64: Buffer.from((await create(["tea"], ["a"], { format })).bytes()).toString("base64") };
  const folder = mkdtempSync(join(tmpdir(), "sluice-archive-"));
  try {
    const { members } = await loadCapability("archive.list");
    const run = {
      context: {} as never,
      workspaceId: "none",
      params: {},
      input: { archive },
      stored: {},
      folder,
      members,
    };
    const reserveBytes = () => Promise.resolve();
    const judgeRobots = () => Promise.resolve(true);
    const signal = new AbortController().signal;
    expect(await readInputs({ ...run, reserveBytes, judgeRobots, signal })).toMatchObject({
      archive: { name: "archive" },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
