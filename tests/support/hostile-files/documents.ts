/** Creates archives and documents with any content: valid ones, bombs, cycles, and names that lead out of the folder. */
import { crc32, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { bytesOf, le } from "../file-parts.ts";

/** Returns a ZIP file with these members. Their names are written unchanged. */
export function zipOf(members: Readonly<Record<string, string | Uint8Array>>, { isStored = false } = {}): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [title, content] of Object.entries(members)) {
    const [name, data] = [Buffer.from(title), Buffer.from(content as Uint8Array)];
    const packed = isStored ? data : deflateRawSync(data, { level: 9 });
    // Names are UTF-8; there is no time.
    const facts = bytesOf(
      [20, 0, 0, 8, isStored ? 0 : 8, 0, 0, 0, 0, 0],
      le(crc32(data), 4),
      le(packed.length, 4),
      le(data.length, 4),
      le(name.length, 2),
      [0, 0],
    );
    const local = bytesOf("PK\u0003\u0004", facts, name, packed);
    entries.push(bytesOf("PK\u0001\u0002\u0014\0", facts, le(0, 10), le(offset, 4), name));
    parts.push(local);
    offset += local.length;
  }
  const directory = bytesOf(...entries);
  const count = le(entries.length, 2);
  const end = bytesOf("PK\u0005\u0006", le(0, 4), count, count, le(directory.length, 4), le(offset, 4), le(0, 2));
  return bytesOf(...parts, directory, end);
}

export function gzipOf(bytes: number): Buffer {
  return gzipSync(Buffer.alloc(bytes), { level: 9 });
}

const NAMESPACE = "http://schemas.openxmlformats.org";

/** Namespaces of the parts of a Word file: of text and of formulas. */
export const WORD_NAMESPACES = `xmlns:w="${NAMESPACE}/wordprocessingml/2006/main" xmlns:m="${NAMESPACE}/officeDocument/2006/math"`;

export const wordText = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** Returns a Word file with this body, after an optional prologue, and with further parts by their names. */
export function docxOf(body: string, prologue = "", parts: Readonly<Record<string, string>> = {}): Buffer {
  const contentType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  return zipOf({
    "[Content_Types].xml": `<Types xmlns="${NAMESPACE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${contentType}"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${NAMESPACE}/package/2006/relationships"><Relationship Id="r1" Type="${NAMESPACE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<?xml version="1.0"?>${prologue}<w:document ${WORD_NAMESPACES}><w:body>${body}</w:body></w:document>`,
    ...parts,
  });
}

/** XML entities that each expand to ten times the previous one. */
export const LAUGHS = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 30 }, (_, at) => `<!ENTITY a${at} "${`&a${at === 0 ? "" : at - 1};`.repeat(10)}">`).join("")}]>`;
export const OUTSIDE = `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>`;

export function nested(depth: number, open = "[", close = "]"): string {
  return open.repeat(depth) + close.repeat(depth);
}

function objectOf(number: number, text: string): string {
  return `${number} 0 obj\n${text}\nendobj\n`;
}

/** Returns a PDF with these objects, numbered from 1. The first one must be the catalog. */
export function pdfOf(objects: readonly string[]): Buffer {
  let text = "%PDF-1.7\n";
  const rows = objects.map((body, at) => {
    const row = `${String(text.length).padStart(10, "0")} 00000 n \n`;
    text += objectOf(at + 1, body);
    return row;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${rows.join("")}`;
  return bytesOf(`${text}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`);
}

const CATALOGUE = "<< /Type /Catalog /Pages 2 0 R >>";

/** Returns a PDF with this page list and one page. Both are given as text of a PDF dictionary. */
export function pdfOfPages(pages: string, page = "<< /Type /Page /Parent 2 0 R >>", ...more: string[]): Buffer {
  return pdfOf([CATALOGUE, `<< /Type /Pages ${pages} >>`, page, ...more]);
}

/** Returns a PDF with a page whose drawing decompresses to `bytes` bytes. */
export function pdfBomb(bytes: number): Buffer {
  const packed = deflateSync(Buffer.alloc(bytes, "q Q "), { level: 9 }).toString("latin1");
  return pdfOfPages(
    "/Kids [3 0 R] /Count 1",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>",
    `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed}\nendstream`,
  );
}

/** Returns a PDF without a cross-reference table. */
export function unindexedPdf(body: string): Buffer {
  return bytesOf(`%PDF-1.7\n%\xe2\xe3\xcf\xd3\n${body}startxref\n0\n%%EOF\n`);
}

/** Returns the objects of a PDF in order of their numbers, the catalog first, with all pages in one list. */
function objectsOf(pages: number): string[] {
  const kids = Array.from({ length: pages }, (_, at) => `${3 + at} 0 R`);
  return [
    CATALOGUE,
    `<< /Type /Pages /Count ${pages} /Kids [ ${kids.join(" ")} ] >>`,
    ...kids.map(() => "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>"),
  ];
}

/** Returns a PDF with uncompressed objects. @param more further objects and text before the trailer */
export function documentOf(pages: number, more = ""): Buffer {
  const body = objectsOf(pages).map((text, at) => objectOf(at + 1, text));
  return unindexedPdf(`${body.join("")}${more}trailer\n<< /Size ${pages + 3} /Root 1 0 R >>\n`);
}

/** Returns a PDF whose objects are all compressed in one stream, as newer programs write them. @param trailer further trailer entries */
export function packedDocumentOf(pages: number, trailer = ""): Buffer {
  const objects = objectsOf(pages);
  const offsets = objects.map((_, at) => objects.slice(0, at).reduce((sum, text) => sum + text.length + 1, 0));
  const index = offsets.map((offset, at) => `${at + 1} ${offset}`).join(" ");
  const packed = deflateSync(bytesOf(`${index} ${objects.join(" ")}`)).toString("latin1");
  const head = `<< /Type /ObjStm /N ${objects.length} /First ${index.length + 1} /Filter /FlateDecode`;
  const stream = `${head} /Length ${packed.length} >>\nstream\n${packed}\nendstream`;
  const reference = `<< /Type /XRef /Root 1 0 R /Size 9 /W [1 2 1] /Length 4 ${trailer}>>\nstream\r\n\x01\x02\x03\x04\nendstream`;
  return unindexedPdf(objectOf(800, stream) + objectOf(801, reference));
}
