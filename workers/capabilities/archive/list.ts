import { defineCapability, input } from "../define.ts";
import { integer, text } from "../params.ts";
import { badName, FACT_PRICE } from "./counted.ts";
import { readArchive } from "./read.ts";

export default defineCapability({
  id: "archive.list",
  display_name: "List archive",
  description:
    "Lists the entries of a zip, tar (also tar.gz, tar.xz, tar.bz2 and tar.zst) or 7z archive without extracting it.",
  output_modality: "text",
  input: { archive: input("archive", "The archive.") },
  params: {
    password: text("Password, if the file names are encrypted.", { max: 127 }),
    max: integer("Maximum number of entries to list; all are counted.", { min: 1, max: 10_000, default: 1_000 }),
  },
  sample_input: { archive: { file_id: "file-sample-bundle" } },
  examples: [
    { title: "All entries", params: {} },
    { title: "The first entry", params: { max: 1 } },
  ],
  price: FACT_PRICE,
  engine: "archive",
  async run({ params, inputs, folder }) {
    const { format, entries } = await readArchive(inputs.archive, folder, params.password);
    const named: object[] = [];
    let [count, bytes] = [0, 0];
    for await (const entry of entries) {
      count += 1;
      bytes += entry.bytes;
      if (named.length >= params.max) continue;
      const fault = badName(entry.name);
      named.push({
        name: entry.name.slice(0, 1_024),
        kind: entry.kind,
        bytes: entry.bytes,
        ...(entry.encryption === undefined ? {} : { is_encrypted: true, encryption: entry.encryption }),
        ...(fault === undefined ? {} : { fault }),
      });
    }
    return { output: { format, count, bytes, entries: named } };
  },
});
