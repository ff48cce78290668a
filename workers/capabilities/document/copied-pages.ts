/** Copies pages of a PDF with their form fields into another PDF, and lists the parts that are not copied. */
import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNull,
  type PDFObject,
  PDFObjectCopier,
  PDFPage,
  PDFPageLeaf,
  PDFRef,
} from "@cantoo/pdf-lib";

import { unreadable } from "./pdf.ts";

const [ACRO_FORM, ANNOTS, FIELDS, KIDS, PARENT, SUBTYPE] = [
  "AcroForm",
  "Annots",
  "Fields",
  "Kids",
  "Parent",
  "Subtype",
].map((name) => PDFName.of(name)) as [PDFName, PDFName, PDFName, PDFName, PDFName, PDFName];
const WIDGET = PDFName.of("Widget");
/**
 * Entries of a PDF's form dictionary that copied fields need: fonts, default appearance, alignment, and whether viewers draw the values.
 */
const FORM_ENTRIES = ["DR", "DA", "Q", "NeedAppearances"];
/** Maximum depth of nested fields. A deeper tree is a cycle. */
const NESTED_MAX = 50;

/**
 * Copies pages into `target`. Links between copied pages are kept.
 * @param pages page numbers from 1
 * @param options `keepsForm`: true if form fields remain editable; false if they become part of the page
 * @returns sentences about parts that are not copied
 * @throws MediaError corrupt
 */
export async function copiedPages(
  target: PDFDocument,
  from: PDFDocument,
  pages: readonly number[],
  { keepsForm }: { readonly keepsForm: boolean },
): Promise<readonly string[]> {
  const { context } = from;
  try {
    await from.flush();
    const all = from.getPages();
    const wanted = new Set(pages);
    const others = all.filter((_, at) => !wanted.has(at + 1));
    // The copier follows links to other pages and fields to their siblings, so both are null during the copy.
    const hidden = new Map<PDFRef, PDFObject>(others.map(({ ref, node }) => [ref, node]));
    const form = keepsForm ? from.catalog.lookupMaybe(ACRO_FORM, PDFDict) : undefined;
    for (const ref of otherFields(all.filter((_, at) => wanted.has(at + 1)))) {
      const field = context.lookup(ref);
      if (field) hidden.set(ref, field);
    }
    for (const ref of hidden.keys()) context.assign(ref, PDFNull);
    try {
      const copier = PDFObjectCopier.for(context, target.context);
      const copied = new Set<number>();
      for (const number of pages) {
        const page = all[number - 1];
        if (!page) throw new Error(`there is no page ${number}`);
        const ref = copied.has(number) ? target.context.register(copier.copy(page.node)) : copier.copy(page.ref);
        copied.add(number);
        const leaf = target.context.lookup(ref);
        if (leaf instanceof PDFPageLeaf) target.addPage(PDFPage.of(leaf, ref, target));
      }
      if (form) keepForm(target, copier, form);
    } finally {
      for (const [ref, object] of hidden) context.assign(ref, object);
    }
    return lostParts(from, keepsForm);
  } catch (error) {
    throw unreadable(error);
  }
}

/** Returns references to the form field widgets on the pages. */
function widgetsOf(pages: readonly PDFPage[]): readonly PDFRef[] {
  return pages.flatMap(({ node, doc: { context } }) => {
    const annotations = context.lookup(node.get(ANNOTS));
    if (!(annotations instanceof PDFArray)) return [];
    return annotations.asArray().filter((one): one is PDFRef => {
      const annotation = context.lookup(one);
      return one instanceof PDFRef && annotation instanceof PDFDict && annotation.get(SUBTYPE) === WIDGET;
    });
  });
}

/** Returns a form field and its ancestors, from the inside to the outside. */
function ancestorsOf(context: PDFDocument["context"], field: PDFRef): readonly PDFRef[] {
  const line = [field];
  for (let at = field; line.length < NESTED_MAX; line.push(at)) {
    const dict = context.lookup(at);
    const parent = dict instanceof PDFDict ? dict.get(PARENT) : undefined;
    if (!(parent instanceof PDFRef)) break;
    at = parent;
  }
  return line;
}

function kidsOf(context: PDFDocument["context"], field: PDFRef): PDFArray | undefined {
  const dict = context.lookup(field);
  const kids = dict instanceof PDFDict ? context.lookup(dict.get(KIDS)) : undefined;
  return kids instanceof PDFArray ? kids : undefined;
}

/**
 * Returns form fields that are not on the given pages, but share an ancestor with a field on them. They must be hidden during a copy,
 * because the library copies them too.
 */
function otherFields(pages: readonly PDFPage[]): readonly PDFRef[] {
  const context = pages[0]?.doc.context;
  if (!context) return [];
  const own = new Set(widgetsOf(pages).flatMap((widget) => ancestorsOf(context, widget)));
  return [...own].flatMap((field) =>
    (kidsOf(context, field)?.asArray() ?? []).filter((kid): kid is PDFRef => kid instanceof PDFRef && !own.has(kid)),
  );
}

function keepForm(target: PDFDocument, copier: PDFObjectCopier, form: PDFDict): void {
  const { context } = target;
  const fields = new Set<PDFRef>();
  for (const widget of widgetsOf(target.getPages())) {
    const line = ancestorsOf(context, widget);
    const outermost = line.at(-1);
    if (outermost) fields.add(outermost);
    for (const field of line) {
      const kids = kidsOf(context, field);
      for (let at = (kids?.size() ?? 0) - 1; at >= 0; at -= 1) {
        if (!(kids?.lookup(at) instanceof PDFDict)) kids?.remove(at);
      }
    }
  }
  if (fields.size === 0) return;
  const kept = context.obj({ Fields: [...fields] });
  for (const name of FORM_ENTRIES.map((entry) => PDFName.of(entry))) {
    const value = form.get(name);
    if (value) kept.set(name, copier.copy(value));
  }
  target.catalog.set(ACRO_FORM, context.register(kept));
}

/** Names of document parts that are not copied with pages, by their location in the PDF catalog. */
const PARTS: readonly (readonly [path: readonly string[], name: string])[] = [
  [["Outlines", "First"], "bookmarks"],
  [["PageLabels"], "page labels"],
  [["Names", "EmbeddedFiles"], "attachments"],
  [["Names", "Dests"], "named link targets"],
  [["Dests"], "named link targets"],
  [["Names", "JavaScript"], "scripts of the document"],
  [["OpenAction"], "the action on opening"],
  [["StructTreeRoot"], "tags for accessibility"],
  [["OCProperties"], "settings of layers"],
  [["AcroForm", "SigFlags"], "valid signatures"],
  [["AcroForm", "XFA"], "the XFA form"],
];

function lostParts({ catalog, context }: PDFDocument, keepsForm: boolean): readonly string[] {
  const has = (path: readonly string[]): boolean => {
    let at: PDFObject | undefined = catalog;
    for (const name of path) at = at instanceof PDFDict ? context.lookup(at.get(PDFName.of(name))) : undefined;
    return at !== undefined && at !== PDFNull;
  };
  const fields = keepsForm ? undefined : catalog.lookupMaybe(ACRO_FORM, PDFDict)?.lookupMaybe(FIELDS, PDFArray);
  const names = new Set(PARTS.flatMap(([path, name]) => (has(path) ? [name] : [])));
  return [
    ...(names.size === 0 ? [] : [`Not kept: ${[...names].join(", ")}.`]),
    ...(fields === undefined || fields.size() === 0 ? [] : ["Form fields stay visible, but can no longer be edited."]),
  ];
}
