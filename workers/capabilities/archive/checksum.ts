import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";

import { defineCapability, input } from "../define.ts";
import { choice, list } from "../params.ts";
import { FACT_PRICE } from "./counted.ts";

const ALGORITHMS = ["sha256", "sha512", "sha1", "md5", "crc32", "blake2b512"] as const;

export default defineCapability({
  id: "archive.checksum",
  display_name: "Checksum",
  description: "Computes checksums of a file.",
  output_modality: "text",
  input: { file: input("any", "The file.", { takesText: true }) },
  params: {
    algorithms: list("Checksum algorithms.", choice("One algorithm.", ALGORITHMS, { required: true }), {
      max: ALGORITHMS.length,
      default: ["sha256"] as (typeof ALGORITHMS)[number][],
    }),
  },
  sample_input: { file: { file_id: "file-sample-photo" } },
  examples: [
    { title: "SHA-256", params: {} },
    { title: "SHA-512, MD5 and CRC-32", params: { algorithms: ["sha512", "md5", "crc32"] } },
  ],
  price: FACT_PRICE,
  engine: "archive",
  async run({ params, inputs }) {
    const hashes = params.algorithms
      .filter((name) => name !== "crc32")
      .map((name) => [name, createHash(name)] as const);
    let crc = 0;
    for await (const bytes of createReadStream(inputs.file.path)) {
      for (const [, hash] of hashes) hash.update(bytes as Uint8Array);
      crc = crc32(bytes as Uint8Array, crc);
    }
    const sums = Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest("hex")]));
    const all = params.algorithms.includes("crc32") ? { ...sums, crc32: crc.toString(16).padStart(8, "0") } : sums;
    return { output: { bytes: inputs.file.bytes, checksums: all } };
  },
});
