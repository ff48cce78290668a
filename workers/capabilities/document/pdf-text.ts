/** Reads the text of PDF pages, with the values of form fields, through pdfium. For child processes only. */
import type { PDFiumDocument } from "@hyzyla/pdfium";

import { type Pdfium, textFrom, withMemory, withPage } from "./pdfium.ts";

export interface PageText {
  readonly text: string;
  /** Number of visible characters without a Unicode mapping, which `text` omits. */
  readonly unreadable: number;
}

/** Reads the text of one page. @throws MediaError corrupt */
export async function pageText(document: PDFiumDocument, page: number): Promise<PageText> {
  const form = document.initializeFormFields();
  return withPage(document, page, (pdfium, handle) => {
    const { text, unreadable } = drawnText(pdfium, handle);
    // pdfium reads the state of check boxes only between these two calls.
    pdfium._FORM_OnAfterLoadPage(handle, form);
    try {
      const values = annotationTexts(pdfium, handle, form).join("\n");
      return { text: [text, values].filter((part) => part !== "").join("\n\n"), unreadable };
    } finally {
      pdfium._FORM_OnBeforeClosePage(handle, form);
    }
  });
}

/**
 * Matches control characters, private-use characters and noncharacters. For a glyph without a Unicode mapping, pdfium returns such a
 * character.
 */
const NO_TEXT = /[\p{Co}\ufffd\uffff]|(?![\t\n])\p{Cc}/gu;

/** Bullet characters of the fonts Symbol and Wingdings, as Word encodes them. */
const BULLETS = /[\uf0b7\uf0a7]/g;

function drawnText(pdfium: Pdfium, page: number): PageText {
  const handle = pdfium._FPDFText_LoadPage(page);
  if (handle === 0) throw new Error("the text of the page cannot be loaded");
  try {
    const count = pdfium._FPDFText_CountChars(handle);
    const places = Array.from({ length: Math.max(0, count) }, (_, at) => at);
    const unmapped = places.filter((at) => pdfium._FPDFText_HasUnicodeMapError(handle, at) === 1);
    const lost = isPlainText(unmapped.map((at) => piece(pdfium, handle, at, 1)).join("")) ? [] : unmapped;
    let unreadable = lost.length;
    const pieces: string[] = [];
    let from = 0;
    for (const at of [...lost, count]) {
      if (at > from) pieces.push(piece(pdfium, handle, from, at - from));
      from = at + 1;
    }
    const drawn = pieces.join("").replaceAll("\0", "").replaceAll(/\r\n?/g, "\n");
    const text = joinHyphenatedWords(drawn).replaceAll(BULLETS, "•");
    unreadable += text.match(NO_TEXT)?.length ?? 0;
    return { text: text.replaceAll(NO_TEXT, "").trim(), unreadable };
  } finally {
    pdfium._FPDFText_ClosePage(handle);
  }
}

/**
 * True if character codes without a Unicode mapping are readable text, as in ASCII Type 3 fonts. Glyph numbers are not readable: in the
 * usual glyph order, spaces and digits become control characters, and lowercase letters become capitals.
 */
function isPlainText(codes: string): boolean {
  const small = codes.match(/[a-zß-öø-ÿ]/g)?.length ?? 0;
  return (
    codes.match(NO_TEXT) === null && small > 0 && small >= SMALL_LETTERS_MIN * (codes.match(/\p{L}/gu)?.length ?? 0)
  );
}

/** Minimum fraction of lowercase letters among the letters of a text. Text with a lower fraction counts as unreadable. */
const SMALL_LETTERS_MIN = 0.3;

function piece(pdfium: Pdfium, handle: number, from: number, count: number): string {
  return withMemory(pdfium, (count * 2 + 1) * 2, (pointer) => {
    const units = pdfium._FPDFText_GetText(handle, from, count, pointer);
    return new TextDecoder("utf-16le").decode(pdfium.HEAPU8.slice(pointer, pointer + Math.max(0, units - 1) * 2));
  });
}

/** Joins words that a hyphen splits at the end of a line. pdfium writes most of these hyphens as U+FFFE, without a line break. */
export function joinHyphenatedWords(text: string): string {
  return text
    .replaceAll(/\ufffe\n?/g, "")
    .replaceAll(/(?<=\p{L})[-\u2010\u00ad]\n(?=\p{Ll})/gu, "")
    .replaceAll("\u00ad", "");
}

/** Constants of pdfium for the types and flags of annotations and form fields (fpdf_annot.h, fpdf_formfill.h). */
const FREE_TEXT = 3;
const WIDGET = 20;
const HIDDEN = 0x02 | 0x20;
const FIELD = { button: 1, checkBox: 2, radio: 3, list: 5, text: 6, signature: 7 } as const;
const PASSWORD = 1 << 13;
/** Maximum number of annotations that are read on one page. */
const ANNOTATIONS_MAX = 10_000;

/** Returns one line `name: value` per form field, and the texts of FreeText annotations. */
function annotationTexts(pdfium: Pdfium, page: number, form: number): readonly string[] {
  const lines = new Set<string>();
  const count = Math.min(pdfium._FPDFPage_GetAnnotCount(page), ANNOTATIONS_MAX);
  for (let at = 0; at < count; at += 1) {
    const annotation = pdfium._FPDFPage_GetAnnot(page, at);
    if (annotation === 0) continue;
    try {
      if ((pdfium._FPDFAnnot_GetFlags(annotation) & HIDDEN) !== 0) continue;
      const kind = pdfium._FPDFAnnot_GetSubtype(annotation);
      const line =
        kind === WIDGET
          ? fieldLine(pdfium, form, annotation)
          : kind === FREE_TEXT
            ? contentsOf(pdfium, annotation)
            : "";
      if (line !== "") lines.add(line);
    } finally {
      pdfium._FPDFPage_CloseAnnot(annotation);
    }
  }
  return [...lines];
}

function contentsOf(pdfium: Pdfium, annotation: number): string {
  const key = Buffer.from("Contents\0");
  return withMemory(pdfium, key.length, (pointer) => {
    pdfium.HEAPU8.set(key, pointer);
    return clean(textFrom(pdfium, (into, bytes) => pdfium._FPDFAnnot_GetStringValue(annotation, pointer, into, bytes)));
  });
}

function fieldLine(pdfium: Pdfium, form: number, annotation: number): string {
  const value = clean(fieldValue(pdfium, form, annotation));
  if (value === "") return "";
  const name = textFrom(pdfium, (into, bytes) => pdfium._FPDFAnnot_GetFormFieldName(form, annotation, into, bytes));
  return `${clean(name)}: ${value}`;
}

function fieldValue(pdfium: Pdfium, form: number, annotation: number): string {
  const kind = pdfium._FPDFAnnot_GetFormFieldType(form, annotation);
  if (kind <= FIELD.button || kind >= FIELD.signature) return "";
  if (kind === FIELD.text && (pdfium._FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD) !== 0) return "";
  if (kind === FIELD.checkBox || kind === FIELD.radio) {
    if (pdfium._FPDFAnnot_IsChecked(form, annotation) !== 1) return "";
    return textFrom(pdfium, (into, bytes) => pdfium._FPDFAnnot_GetFormFieldExportValue(form, annotation, into, bytes));
  }
  if (kind === FIELD.list) {
    const count = Math.min(pdfium._FPDFAnnot_GetOptionCount(form, annotation), ANNOTATIONS_MAX);
    return Array.from({ length: Math.max(0, count) }, (_, at) => at)
      .filter((at) => pdfium._FPDFAnnot_IsOptionSelected(form, annotation, at) === 1)
      .map((at) =>
        textFrom(pdfium, (into, bytes) => pdfium._FPDFAnnot_GetOptionLabel(form, annotation, at, into, bytes)),
      )
      .join(", ");
  }
  return textFrom(pdfium, (into, bytes) => pdfium._FPDFAnnot_GetFormFieldValue(form, annotation, into, bytes));
}

function clean(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(NO_TEXT, "").trim();
}
