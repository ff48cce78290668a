/** Pages of PDF documents, honest ones and those that are made to mislead a count or to keep it busy. */
import { describe, expect, test } from "bun:test";

import { deflateSync } from "node:zlib";

import { PROBE_LIMITS } from "#shared/media/limits.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { countPdfPages } from "#shared/media/probe/pdf.ts";
import { HOSTILE_FILES, hostileFiles, type HostileName } from "#tests/support/hostile-files/corpus.ts";
import { spoilt } from "#tests/support/hostile-files/damage.ts";
import { documentOf, packedDocumentOf, unindexedPdf } from "#tests/support/hostile-files/documents.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

/** Returns the fault that keeps the pages from being counted. */
function faultOf(bytes: Uint8Array): string {
  try {
    return `no fault but ${countPdfPages(bytes, 1_000)} pages`;
  } catch (error) {
    if (error instanceof MediaError) return error.fault;
    throw error;
  }
}

const TRAILER = "trailer\n<< /Root 1 0 R >>\n";
const CATALOG = "1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n";

describe("the pages of a document", () => {
  test.each([1, 2, 40])("are counted if its objects are uncompressed: %d", (pages) => {
    expect(countPdfPages(documentOf(pages), 1_000)).toBe(pages);
  });

  test.each([1, 2, 40])("are counted if its objects are compressed: %d", (pages) => {
    expect(countPdfPages(packedDocumentOf(pages), 1_000)).toBe(pages);
  });

  test("are those of its latest revision", () => {
    const update = `2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj\n${TRAILER}`;
    expect(countPdfPages(Buffer.concat([documentOf(5), Buffer.from(update)]), 1_000)).toBe(1);
  });

  test("are counted along a tree of several levels, in dictionaries and lists of all forms", () => {
    const body =
      "1 0 obj<</Type/Catalog/Names(a \\) (b))/Pages 2 0 R/X<0aF>>>endobj\n" +
      "2 0 obj % the root\n<</Type/Pages/Kids 9 0 R/Count 3>>endobj\n9 0 obj[3 0 R 4 0 R]endobj\n" +
      "3 0 obj<</Type/P#61ges/Kids[5 0 R<</Type/Page/UserUnit -1.5>>]/Flag true>>endobj\n" +
      `4 0 obj<</Type/Page>>endobj\n5 0 obj<</Type/Page/Nothing null>>endobj\n${TRAILER}`;
    expect(countPdfPages(unindexedPdf(body), 1_000)).toBe(3);
  });

  test("exclude those of an attached document", () => {
    const inner = documentOf(9).toString("latin1");
    const attached = (length: string): string =>
      `700 0 obj << /Type /EmbeddedFile /Length ${length} >>\nstream\n${inner}\nendstream\nendobj\n`;
    expect(countPdfPages(documentOf(2, attached(String(inner.length))), 1_000)).toBe(2);
    expect(countPdfPages(documentOf(2, attached("701 0 R")), 1_000)).toBe(2);
  });

  test("are counted, regardless of the count in their tree", () => {
    const lying = documentOf(9).toString("latin1").replace("/Count 9", "/Count 1");
    expect(countPdfPages(Buffer.from(lying, "latin1"), 1_000)).toBe(9);
  });

  test("are counted as often as they are referenced", () => {
    const body = `${CATALOG}2 0 obj << /Kids [${"3 0 R ".repeat(7)}] >> endobj\n3 0 obj << /Type /Page >> endobj\n`;
    expect(countPdfPages(unindexedPdf(body + TRAILER), 1_000)).toBe(7);
  });

  test("are counted up to the requested limit", () => {
    expect(countPdfPages(documentOf(40), 3)).toBe(4);
  });
});

describe("a document is rejected", () => {
  test.each(hostileFiles("disguise"))("that is %s", async (_name, make) => {
    expect(faultOf(await make())).toBe("corrupt");
  });

  test("that is text, or is truncated before its pages", () => {
    expect(faultOf(Buffer.from("hello"))).toBe("corrupt");
    expect(faultOf(documentOf(5).subarray(0, 60))).toBe("corrupt");
  });

  test("that is encrypted together with its objects", () => {
    const encrypted = packedDocumentOf(2, "/Encrypt 5 0 R ").toString("latin1").replace("x\x9c", "y\x9c");
    expect(faultOf(Buffer.from(encrypted, "latin1"))).toBe("unsupported");
  });

  const PDFS: Record<Extract<HostileName<"document">, `a PDF ${string}`>, string> = {
    "a PDF of nothing": "corrupt",
    "a PDF whose pages hold themselves": "too_large",
    "a PDF whose page is its own parent": "no fault but 1 pages",
    "a PDF that claims endless pages": "corrupt",
    "a PDF of an endless page": "no fault but 1 pages",
    "a PDF whose drawing unpacks to too much": "no fault but 1 pages",
  };
  test.each(Object.entries(PDFS))("that is %s, or its pages are counted: %s", (name, fault) => {
    expect(faultOf(HOSTILE_FILES.document[name as keyof typeof PDFS]())).toBe(fault);
  });

  test("whose objects decompress to more than the limit", () => {
    const zeros = deflateSync(Buffer.alloc(PROBE_LIMITS.pdfInflatedBytesMax + 1)).toString("latin1");
    const head = `<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${zeros.length} >>`;
    expect(faultOf(unindexedPdf(`${CATALOG}5 0 obj ${head} stream\n${zeros}\nendstream\n${TRAILER}`))).toBe(
      "too_large",
    );
  });

  test.each([
    ["strings that never end", "1 0 obj("],
    ["lists within lists", "1 0 obj["],
    ["dictionaries within dictionaries", "1 0 obj<</A"],
    ["comments that never end", "1 0 obj%"],
    ["streams that never end", "1 0 obj<<>>stream\n"],
    ["digits", "1"],
    ["white space", " "],
    ["numbers and spaces", "1        0        "],
  ])("of only %s, after a number of steps that is a small multiple of its bytes", (_what, piece) => {
    const bytes = Buffer.from(piece.repeat(Math.ceil(1_000_000 / piece.length)));
    expect(["corrupt", "too_large"]).toContain(faultOf(bytes));
  });
});

test("damage makes a count fail only with an error of the document", () => {
  const random = seeded(testSeed("damaged documents"));
  for (const whole of [documentOf(6), packedDocumentOf(6)]) {
    for (let round = 0; round < 400; round += 1) {
      const fault = faultOf(spoilt(whole, random, 5));
      expect(["corrupt", "too_large", "unsupported", "no"]).toContain(fault.split(" ")[0] ?? "");
    }
  }
});
