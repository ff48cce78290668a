/** Documents of tests, and what is in those that were made. */
import { PDFDocument } from "@cantoo/pdf-lib";
import { PDFiumLibrary } from "@hyzyla/pdfium";
import { TextWriter, Uint8ArrayReader, ZipReader } from "@zip.js/zip.js";

/** The text of each page, as pdfium reads it: what is judged was written by other engines. */
export async function pagesOf(bytes: Uint8Array, password?: string): Promise<string[]> {
  const document = await (await PDFiumLibrary.init()).loadDocument(bytes, password);
  const pages = [...document.pages()].map((page) => page.getText().replaceAll("\r\n", "\n"));
  document.destroy();
  return pages;
}

export async function pdfOf(pages: readonly string[], size: [number, number] = [300, 300]): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  for (const words of pages) document.addPage(size).drawText(words, { x: 20, y: 100, size: 12 });
  return document.save();
}

/** Entries of a zip, by name. */
export async function unzipped(bytes: Uint8Array): Promise<Map<string, string>> {
  const reader = new ZipReader(new Uint8ArrayReader(bytes));
  const entries = await reader.getEntries();
  const texts = await Promise.all(
    entries.map(
      async (entry) => [entry.filename, entry.directory ? "" : await entry.getData(new TextWriter())] as const,
    ),
  );
  return new Map(texts);
}

export const five = await pdfOf(["one", "two", "three", "four", "five"]);
