/** Reads and draws PDF pages with pdfium. For child processes only. */
import { PDFiumLibrary, type PDFiumDocument } from "@hyzyla/pdfium";

import type { InputFile } from "../define.ts";
import {
  checkPageCount,
  checkPageSize,
  DOCUMENT_PAGES_MAX,
  openPdf,
  type PdfPassword,
  pdfBytes,
  unreadable,
  wrongPassword,
} from "./pdf.ts";

let library: Promise<PDFiumLibrary> | undefined;

/**
 * Opens a document, calls `work`, and frees the document.
 * @param options `password`: the document's password; `passwordParam`: name of the param for it
 * @throws MediaError unsupported, corrupt, too_large, invalid
 */
export async function withPdfium<T>(
  file: InputFile,
  options: PdfPassword,
  work: (document: PDFiumDocument, pages: number) => Promise<T>,
): Promise<T> {
  library ??= PDFiumLibrary.init();
  const engine = await library;
  const document = await loaded(engine, file, options);
  try {
    const pages = document.getPageCount();
    if (pages === 0) throw unreadable(new Error("it has no pages"));
    checkPageCount(pages);
    return await work(document, pages);
  } finally {
    document.destroy();
  }
}

async function loaded(engine: PDFiumLibrary, file: InputFile, options: PdfPassword): Promise<PDFiumDocument> {
  const bytes = await pdfBytes(file);
  const { password, passwordParam } = options;
  try {
    const document = await engine.loadDocument(bytes, password);
    if (document.getPageCount() > DOCUMENT_PAGES_MAX || hasItsPages(document)) return document;
    document.destroy();
  } catch (error) {
    if (/password/i.test(String(error))) throw wrongPassword(password, passwordParam, error);
  }
  // pdf-lib finds objects and pages that pdfium misses, so its output is complete.
  const { document: repaired } = await openPdf(file, options);
  try {
    return await engine.loadDocument(await repaired.save({ updateFieldAppearances: false }));
  } catch (error) {
    throw unreadable(error);
  }
}

/** True if the document has pages, and pdfium can open every page that the page count includes. */
function hasItsPages(document: PDFiumDocument): boolean {
  const { pdfium, documentIdx } = handlesOf(document);
  return withMemory(pdfium, 8, (pointer) => {
    for (let at = document.getPageCount() - 1; at >= 0; at -= 1) {
      if (pdfium._FPDF_GetPageSizeByIndexF(documentIdx, at, pointer) === 0) return false;
    }
    return document.getPageCount() > 0;
  });
}

/** Returns the page size in points. @throws MediaError too_large, corrupt */
export function pageSize(document: PDFiumDocument, page: number): { readonly width: number; readonly height: number } {
  const { originalWidth: width, originalHeight: height } = document.getPage(page - 1).getOriginalSize();
  checkPageSize(width, height);
  return { width, height };
}

/**
 * Names of the pdfium functions (fpdf_*.h) that this project calls. The library does not wrap most of them. Pointers and handles are
 * numbers; 0 is the null pointer.
 */
type PdfiumFunction =
  | "_FORM_OnAfterLoadPage"
  | "_FORM_OnBeforeClosePage"
  | "_FPDFAnnot_GetFlags"
  | "_FPDFAnnot_GetFormFieldExportValue"
  | "_FPDFAnnot_GetFormFieldFlags"
  | "_FPDFAnnot_GetFormFieldName"
  | "_FPDFAnnot_GetFormFieldType"
  | "_FPDFAnnot_GetFormFieldValue"
  | "_FPDFAnnot_GetOptionCount"
  | "_FPDFAnnot_GetOptionLabel"
  | "_FPDFAnnot_GetStringValue"
  | "_FPDFAnnot_GetSubtype"
  | "_FPDFAnnot_IsChecked"
  | "_FPDFAnnot_IsOptionSelected"
  | "_FPDFBitmap_Destroy"
  | "_FPDFBitmap_GetBuffer"
  | "_FPDFBitmap_GetFormat"
  | "_FPDFBitmap_GetHeight"
  | "_FPDFBitmap_GetStride"
  | "_FPDFBitmap_GetWidth"
  | "_FPDFFormObj_CountObjects"
  | "_FPDFFormObj_GetObject"
  | "_FPDFImageObj_GetBitmap"
  | "_FPDFImageObj_GetImagePixelSize"
  | "_FPDFImageObj_GetRenderedBitmap"
  | "_FPDFImageObj_SetMatrix"
  | "_FPDFPageObj_GetType"
  | "_FPDFPage_CloseAnnot"
  | "_FPDFPage_CountObjects"
  | "_FPDFPage_GetAnnot"
  | "_FPDFPage_GetAnnotCount"
  | "_FPDFPage_GetObject"
  | "_FPDFText_ClosePage"
  | "_FPDFText_CountChars"
  | "_FPDFText_GetText"
  | "_FPDFText_HasUnicodeMapError"
  | "_FPDFText_LoadPage"
  | "_FPDF_ClosePage"
  | "_FPDF_GetPageSizeByIndexF"
  | "_FPDF_LoadPage";

export interface Pdfium extends Readonly<Record<PdfiumFunction, (...args: number[]) => number>> {
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void };
}

export function handlesOf(document: PDFiumDocument): { readonly pdfium: Pdfium; readonly documentIdx: number } {
  const { module: pdfium, documentIdx } = document as unknown as { module: Pdfium; documentIdx: number };
  return { pdfium, documentIdx };
}

/** Opens a page, calls `work`, and closes the page. @throws MediaError corrupt */
export async function withPage<T>(
  document: PDFiumDocument,
  page: number,
  work: (pdfium: Pdfium, handle: number) => T | Promise<T>,
): Promise<T> {
  const { pdfium, documentIdx } = handlesOf(document);
  const handle = pdfium._FPDF_LoadPage(documentIdx, page - 1);
  if (handle === 0) throw unreadable(new Error(`page ${page} cannot be loaded`));
  try {
    return await work(pdfium, handle);
  } finally {
    pdfium._FPDF_ClosePage(handle);
  }
}

/** Allocates memory in pdfium, calls `work` with it, and frees the memory. */
export function withMemory<T>({ wasmExports }: Pdfium, bytes: number, work: (pointer: number) => T): T {
  const pointer = wasmExports.malloc(bytes);
  if (pointer === 0) throw unreadable(new Error(`pdfium has no ${bytes} bytes`));
  try {
    return work(pointer);
  } finally {
    wasmExports.free(pointer);
  }
}

/**
 * Reads a text that a pdfium function writes as zero-terminated UTF-16.
 * @param write calls the pdfium function, and returns the size of the text in bytes; with pointer 0, it only returns the size
 */
export function textFrom(pdfium: Pdfium, write: (pointer: number, bytes: number) => number): string {
  const bytes = write(0, 0);
  if (bytes <= 2) return "";
  return withMemory(pdfium, bytes, (pointer) => {
    write(pointer, bytes);
    return new TextDecoder("utf-16le").decode(pdfium.HEAPU8.slice(pointer, pointer + bytes - 2));
  });
}
