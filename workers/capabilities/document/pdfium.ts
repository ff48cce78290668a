/** Pages as they are read and drawn, through pdfium. For child processes only. */
import { PDFiumLibrary, type PDFiumDocument } from "@hyzyla/pdfium";

import type { InputFile } from "../define.ts";
import { checkPageCount, checkPageSize, pdfBytes, unreadable, wrongPassword } from "./pdf.ts";

let library: Promise<PDFiumLibrary> | undefined;

/**
 * Does the work on a document and frees it.
 * @throws MediaError unsupported, corrupt, too_large, invalid
 */
export async function withPdfium<T>(
  file: InputFile,
  password: string | undefined,
  work: (document: PDFiumDocument, pages: number) => Promise<T>,
): Promise<T> {
  const bytes = await pdfBytes(file);
  library ??= PDFiumLibrary.init();
  const engine = await library;
  let document: PDFiumDocument;
  try {
    document = await engine.loadDocument(bytes, password);
  } catch (error) {
    if (/password/i.test(String(error))) throw wrongPassword(password, "params.password", error);
    throw unreadable(error);
  }
  try {
    const pages = document.getPageCount();
    if (pages === 0) throw unreadable(new Error("it has no pages"));
    checkPageCount(pages);
    return await work(document, pages);
  } finally {
    document.destroy();
  }
}

/** In points. @throws MediaError too_large, corrupt */
export function pageSize(document: PDFiumDocument, page: number): { readonly width: number; readonly height: number } {
  const { originalWidth: width, originalHeight: height } = document.getPage(page - 1).getOriginalSize();
  checkPageSize(width, height);
  return { width, height };
}
