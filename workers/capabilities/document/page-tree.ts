/**
 * Repairs page trees that pdfium reads and pdf-lib rejects: nodes without type, parent or count, missing kids, and pages without a usable
 * size. For child processes only.
 */
import {
  PDFArray,
  PDFCatalog,
  type PDFContext,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFPageLeaf,
  PDFPageTree,
  PDFRef,
} from "@cantoo/pdf-lib";

import { MediaError } from "#shared/children/media-error.ts";

const name = (text: string): PDFName => PDFName.of(text);
/** Maximum number of nodes and depth of the tree. A deeper tree is a cycle. */
const NODES_MAX = 100_000;
const NESTED_MAX = 100;
/** US letter in points: pdfium's size for pages without one. */
const LETTER = [0, 0, 612, 792];

/** @throws MediaError corrupt */
export function settlePages(document: PDFDocument): void {
  const { context } = document;
  const root = context.trailerInfo.Root;
  const catalog = context.lookup(root);
  if (!(catalog instanceof PDFDict)) throw new MediaError("corrupt", "Expected a PDF with pages, got none.");
  if (!(catalog instanceof PDFCatalog)) {
    const typed = PDFCatalog.fromMapWithContext(catalog.asMap(), context);
    if (root instanceof PDFRef) context.assign(root, typed);
    Object.assign(document, { catalog: typed });
  }
  const given = document.catalog.get(name("Pages"));
  const pages = given instanceof PDFRef ? given : given === undefined ? undefined : context.register(given);
  if (pages === undefined) return;
  document.catalog.set(name("Pages"), pages);
  settle(context, pages, { seen: new Set(), depth: 0 });
}

interface Walk {
  readonly seen: Set<PDFRef>;
  readonly depth: number;
  readonly parent?: PDFRef;
  readonly box?: PDFArray;
}

/** Returns the number of pages below the node; 0 if the object is not a node. */
function settle(context: PDFContext, ref: PDFRef, { seen, depth, parent, box }: Walk): number {
  const node = context.lookup(ref);
  if (!(node instanceof PDFDict) || seen.has(ref) || seen.size > NODES_MAX || depth > NESTED_MAX) return 0;
  seen.add(ref);
  const kids = context.lookup(node.get(name("Kids")));
  const isTree = kids instanceof PDFArray;
  const own = boxOf(context, node) ?? box;
  const typed = isTree
    ? node instanceof PDFPageTree ? node : PDFPageTree.fromMapWithContext(node.asMap(), context)
    : node instanceof PDFPageLeaf ? node : PDFPageLeaf.fromMapWithContext(node.asMap(), context); // prettier-ignore
  if (typed !== node) context.assign(ref, typed);
  typed.set(name("Type"), name(isTree ? "Pages" : "Page"));
  if (parent) typed.set(name("Parent"), parent);
  else typed.delete(name("Parent"));
  if (!isTree) {
    if (own) typed.set(name("MediaBox"), own);
    else typed.set(name("MediaBox"), context.obj(LETTER));
    return 1;
  }
  let count = 0;
  const kept = context.obj([]);
  for (const kid of kids.asArray()) {
    const at = pageOfItsOwn(context, kid, seen);
    const more = settle(context, at, { seen, depth: depth + 1, parent: ref, ...(own ? { box: own } : {}) });
    if (more === 0) continue;
    count += more;
    kept.push(at);
  }
  typed.set(name("Kids"), kept);
  typed.set(name("Count"), PDFNumber.of(count));
  return count;
}

/** Returns the reference of a kid. A page that is already in the tree is copied, with the same content. */
function pageOfItsOwn(context: PDFContext, kid: PDFObject, seen: ReadonlySet<PDFRef>): PDFRef {
  if (!(kid instanceof PDFRef)) return context.register(kid);
  const node = seen.has(kid) && seen.size <= NODES_MAX ? context.lookup(kid) : undefined;
  return node instanceof PDFPageLeaf ? context.register(node.clone(context)) : kid;
}

/** Returns the node's media box; undefined if its size is invalid. */
function boxOf(context: PDFContext, node: PDFDict): PDFArray | undefined {
  const box = context.lookup(node.get(name("MediaBox")));
  if (!(box instanceof PDFArray) || box.size() !== 4) return undefined;
  const sides = box.asArray().map((side) => context.lookup(side));
  const [left, bottom, right, top] = sides.map((side) => (side instanceof PDFNumber ? side.asNumber() : Number.NaN));
  const isBox = Math.abs(Number(right) - Number(left)) > 0 && Math.abs(Number(top) - Number(bottom)) > 0;
  return isBox ? box : undefined;
}
