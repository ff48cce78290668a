/** Office files that cannot be opened: the sentence names the reason, at every operation that takes them. */
import { describe, expect, test } from "bun:test";

import { bytesOf } from "#tests/support/file-parts.ts";
import { docxOf, wordText, zipOf } from "#tests/support/hostile-files/documents.ts";

import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

/** A compound file with a stream of this name in its directory. */
const compound = (stream: string): Buffer =>
  bytesOf(
    [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    Buffer.alloc(504),
    Buffer.from(stream, "utf16le"),
    Buffer.alloc(600),
  );
const letter = docxOf(wordText("tea ".repeat(100)));
/** The same with all its members marked as encrypted. */
const locked = Buffer.from(letter);
for (const [mark, offset] of [
  ["PK\u0001\u0002", 8],
  ["PK\u0003\u0004", 6],
] as const) {
  for (let at = locked.indexOf(mark, 0, "latin1"); at !== -1; at = locked.indexOf(mark, at + 4, "latin1")) {
    locked[at + offset] = (locked[at + offset] ?? 0) | 1;
  }
}
const swapped = Buffer.from(letter);
const inside = letter.indexOf("word/document.xml") + 60;
swapped.fill(0x55, inside, inside + 20);

const PROTECTED = "invalid: Expected an office document without a password, got a protected one.";
const ZIP = "corrupt: The office document is damaged: its zip archive cannot be read.";
const MAIN = "corrupt: The office document is damaged: its main part is missing.";
const odf = "application/vnd.oasis.opendocument.spreadsheet";

const FILES: readonly (readonly [string, Buffer, string])[] = [
  ["a password", compound("EncryptedPackage"), PROTECTED],
  [
    "a password of LibreOffice",
    zipOf({
      mimetype: odf,
      "content.xml": "\u0001\u0002",
      "META-INF/manifest.xml":
        '<manifest:file-entry><manifest:encryption-data manifest:checksum="x"/></manifest:file-entry>',
    }),
    PROTECTED,
  ],
  ["encrypted members", locked, PROTECTED],
  ["a cut", letter.subarray(0, -30), ZIP],
  ["other bytes in its text", swapped, ZIP],
  ["no main part", zipOf({ "[Content_Types].xml": "<Types/>", "word/styles.xml": "<a/>" }), MAIN],
  ["no main part of LibreOffice", zipOf({ mimetype: odf }), MAIN],
  [
    "the format of 1997, of Word",
    compound("WordDocument"),
    "unsupported: Expected a docx, got a doc of Office 97 to 2003.",
  ],
  [
    "the format of 1997, of Excel",
    compound("Workbook"),
    "unsupported: Expected a xlsx, got a xls of Office 97 to 2003.",
  ],
];

const OPERATIONS: readonly (readonly [id: string, params: object])[] = [
  ["document.extract_text", {}],
  ["document.docx_to_markdown", {}],
  ["document.convert_spreadsheet", { to: "csv" }],
  ["document.office_to_pdf", {}],
];

describe.each(OPERATIONS)("%s rejects an office file", (id, params) => {
  test.each(FILES)("with %s", async (_what, document, said) => {
    expect(await refused(runCapability(id, { document }, params))).toContain(said);
  });
});
