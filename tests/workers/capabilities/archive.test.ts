import { createHash } from "node:crypto";
import { gunzipSync, zstdDecompressSync } from "node:zlib";

import { describe, expect, test } from "bun:test";
import { pack } from "tar-stream";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { SPARSE_TARS, sparseContent } from "./sparse-tars.ts";

const BUNDLE = { file_id: "file-sample-bundle" } as const;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** A tar of these headers and texts. */
async function tarOf(
  entries: readonly (readonly [header: Parameters<ReturnType<typeof pack>["entry"]>[0], text?: string])[],
): Promise<Buffer> {
  const tar = pack();
  for (const [header, words] of entries) tar.entry(header, words ?? "");
  tar.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of tar) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

describe("a bundle", () => {
  test("is listed with names and sizes", async () => {
    const { output } = await runCapability("archive.list", { archive: BUNDLE });
    expect(output).toMatchObject({
      format: "zip",
      count: 3,
      entries: [
        { name: "readme.txt", kind: "file", bytes: 25 },
        { name: "notes/tea.txt" },
        { name: "images/chart.png" },
      ],
    });
  });

  test("is unpacked, only the requested files, under our own names on the disk", async () => {
    const made = await runCapability("archive.extract", { archive: BUNDLE }, { include: ["**/*.txt", "*.txt"] });
    expect(made.files?.map(({ name, mediaType }) => [name, mediaType])).toEqual([
      ["readme.txt", "text/plain"],
      ["notes_tea.txt", "text/plain"],
    ]);
    expect(text(made.bytes(1))).toBe("Three boxes of tea.\n");
  });

  test.each(["zip", "tar", "tar.gz", "tar.zst", "7z"])(
    "is converted to %s and back unchanged, with the same bytes each time",
    async (format) => {
      const files = [Buffer.from("one\n"), Buffer.from("two\n".repeat(1_000))];
      const create = () => runCapability("archive.create", { files }, { format, names: ["a/one.txt", "two.txt"] });
      const [made, again] = [await create(), await create()];
      expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
      const back = await runCapability("archive.extract", { archive: made.bytes() });
      expect([0, 1].map((at) => text(back.bytes(at)))).toEqual(files.map(String));
    },
  );

  test.each(["zip", "7z"])("encrypted as %s opens with its password only", async (format) => {
    const made = await runCapability(
      "archive.create",
      { files: [Buffer.from("secret\n")] },
      { format, names: ["a.txt"], password: "tea" },
    );
    expect(text(made.bytes())).not.toContain("secret");
    const open = (params: object) => runCapability("archive.extract", { archive: made.bytes() }, params);
    expect(text((await open({ password: "tea" })).bytes())).toBe("secret\n");
    expect(await refused(open({ password: "milk" }))).toBe(
      "invalid: Expected params.password to open the archive; it does not.",
    );
    expect(await refused(open({}))).toContain("invalid: Expected params.password");
  });
});

describe("a single file", () => {
  test("is packed readably for other programs, and unpacked again", async () => {
    const file = Buffer.from("tea ".repeat(500));
    const gzip = await runCapability("archive.compress", { file });
    const zstd = await runCapability("archive.compress", { file }, { format: "zstd", level: 9 });
    expect([gunzipSync(gzip.bytes()), zstdDecompressSync(zstd.bytes())].map(String)).toEqual([
      String(file),
      String(file),
    ]);
    const brotli = await runCapability("archive.compress", { file }, { format: "brotli" });
    const back = await runCapability("archive.decompress", { file: brotli.bytes() }, { format: "brotli" });
    expect(text(back.bytes())).toBe(String(file));
  });

  test("has the checksums of other programs", async () => {
    const file = Buffer.from("tea");
    const { output } = await runCapability("archive.checksum", { file }, { algorithms: ["sha256", "md5", "crc32"] });
    expect(output).toEqual({
      bytes: 3,
      checksums: {
        sha256: createHash("sha256").update("tea").digest("hex"),
        md5: createHash("md5").update("tea").digest("hex"),
        crc32: Bun.hash.crc32("tea").toString(16).padStart(8, "0"),
      },
    });
  });
});

describe("a hostile archive", () => {
  test("writes nothing outside: outer paths, absolute ones, links and devices are skipped and reported", async () => {
    const archive = await tarOf([
      [{ name: "../../etc/passwd" }, "x"],
      [{ name: "/abs" }, "x"],
      [{ name: "a\\b" }, "x"],
      [{ name: "link", type: "symlink", linkname: "/etc/passwd" }],
      [{ name: "null", type: "character-device" }],
      [{ name: "good.txt" }, "good"],
    ]);
    const made = await runCapability("archive.extract", { archive });
    expect(made.files?.map(({ name }) => name)).toEqual(["good.txt"]);
    expect(made.output?.["skipped"]).toHaveLength(5);
  });

  test("with a bomb is rejected by its unpacked size", async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(64 * 1_048_576));
    expect(await refused(runCapability("archive.decompress", { file: bomb }))).toBe(
      "too_large: Expected no more than 200 bytes of each packed one, got more.",
    );
  });

  test("of too many entries is rejected", async () => {
    const archive = await tarOf(Array.from({ length: 10_001 }, (_, at) => [{ name: `${at}` }] as const));
    expect(await refused(runCapability("archive.list", { archive }))).toBe(
      "too_large: Expected at most 10000 entries, got more.",
    );
  });

  test("of more files than requested is rejected, with a solution", async () => {
    expect(await refused(runCapability("archive.extract", { archive: BUNDLE }, { max_files: 2 }))).toContain(
      "too_large: Expected at most 2 files",
    );
  });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      "that is cut",
      async () =>
        runCapability("archive.extract", {
          archive: (
            await runCapability(
              "archive.create",
              { files: [Buffer.alloc(9_999, 7)] },
              { format: "tar.gz", names: ["a"] },
            )
          )
            .bytes()
            .subarray(0, 40),
        }),
      "corrupt: The archive cannot be read.",
    ],
    [
      "that is none",
      () => runCapability("archive.list", { archive: Buffer.from("just words") }),
      "unsupported: Expected a zip",
    ],
    [
      "with a password where it has no place",
      () => runCapability("archive.create", { files: [Buffer.from("a")] }, { format: "tar", password: "x" }),
      "invalid: Expected params.format zip or 7z with params.password, got tar.",
    ],
    [
      "with a name that leads outside",
      () => runCapability("archive.create", { files: [Buffer.from("a")] }, { names: ["../a"] }),
      "invalid: Expected params.names[0] to be a path inside",
    ],
  ])("%s is rejected", async (_what, run, said) => {
    expect(await refused(run())).toContain(said);
  });
});

describe.each(SPARSE_TARS)("a sparse file of GNU tar (%s)", (format, archive) => {
  test("is listed with its full size, and is unpacked with its holes as zeros", async () => {
    const content = sparseContent();
    const { output } = await runCapability("archive.list", { archive });
    expect(output).toMatchObject({
      bytes: content.length + 6,
      entries: [
        { name: "holes.bin", kind: "file", bytes: content.length },
        { name: "z.txt", kind: "file", bytes: 6 },
      ],
    });
    const made = await runCapability("archive.extract", { archive });
    expect(made.files?.map(({ name }) => name)).toEqual(["holes.bin", "z.txt"]);
    expect(Buffer.compare(made.bytes(0), content)).toBe(0);
    expect(text(made.bytes(1))).toBe("after\n");
  });

  test("is rejected if its map and its data differ", async () => {
    const broken = Buffer.from(archive);
    // The length of the last piece: one less than the archive has of it.
    const [is, becomes] = format.startsWith("pax") ? ["4096", "4095"] : ["00000010000", "00000007777"];
    broken.write(becomes, broken.lastIndexOf(is));
    expect(await refused(runCapability("archive.extract", { archive: broken }))).toStartWith("corrupt: The archive");
  });
});
