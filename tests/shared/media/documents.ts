/** PDF documents of as many pages as wanted, in the forms that writers give them. */
import { deflateSync } from "node:zlib";

const PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>";

function objectOf(number: number, text: string): string {
  return `${number} 0 obj\n${text}\nendobj\n`;
}

/** Its objects by number, the catalogue first, of pages in one list. */
function objectsOf(pages: number): string[] {
  const kids = Array.from({ length: pages }, (_, at) => `${3 + at} 0 R`);
  return [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [ ${kids.join(" ")} ] >>`,
    ...kids.map(() => PAGE),
  ];
}

/** With every object in the open. @param more objects and text behind them, before the trailer */
export function documentOf(pages: number, more = ""): Buffer {
  const body = objectsOf(pages).map((text, at) => objectOf(at + 1, text));
  return fileOf(`${body.join("")}${more}trailer\n<< /Size ${pages + 3} /Root 1 0 R >>\n`);
}

/** With every object packed into one stream, as newer writers do it. @param trailer further members of its trailer */
export function packedDocumentOf(pages: number, trailer = ""): Buffer {
  const objects = objectsOf(pages);
  const offsets = objects.map((_, at) => objects.slice(0, at).reduce((sum, text) => sum + text.length + 1, 0));
  const index = offsets.map((offset, at) => `${at + 1} ${offset}`).join(" ");
  const packed = deflateSync(Buffer.from(`${index} ${objects.join(" ")}`, "latin1")).toString("latin1");
  const head = `<< /Type /ObjStm /N ${objects.length} /First ${index.length + 1} /Filter /FlateDecode`;
  const stream = `${head} /Length ${packed.length} >>\nstream\n${packed}\nendstream`;
  const reference = `<< /Type /XRef /Root 1 0 R /Size 9 /W [1 2 1] /Length 4 ${trailer}>>\nstream\r\n\x01\x02\x03\x04\nendstream`;
  return fileOf(objectOf(800, stream) + objectOf(801, reference));
}

export function fileOf(body: string): Buffer {
  return Buffer.from(`%PDF-1.7\n%\xe2\xe3\xcf\xd3\n${body}startxref\n0\n%%EOF\n`, "latin1");
}
