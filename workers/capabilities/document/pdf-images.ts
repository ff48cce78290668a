/** Extracts images of PDF pages with pdfium, which also decodes JPEG 2000, JBIG2 and fax images. For child processes only. */
import type { PDFiumDocument } from "@hyzyla/pdfium";
import sharp from "sharp";

import { IMAGE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { handlesOf, type Pdfium, withMemory, withPage } from "./pdfium.ts";

export interface PageImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
  readonly channels: 1 | 3 | 4;
}

/** Constants of pdfium for types of page objects and bitmap formats (fpdf_edit.h, fpdfview.h). */
const IMAGE = 3;
const FORM = 5;
const BGRA = 4;
const NESTED_MAX = 10;
/** Maximum number of objects on one page, including objects within its form objects. */
const OBJECTS_MAX = 1_000_000;

/**
 * Calls `onImage` for each image of a page that has at least the given size. The image is upright, masked, and has its original size. The
 * argument is undefined for an image that is too large or cannot be decoded.
 * @throws MediaError corrupt
 */
export async function pageImages(
  document: PDFiumDocument,
  page: number,
  { width: minWidth, height: minHeight }: { readonly width: number; readonly height: number },
  onImage: (image: PageImage | undefined) => Promise<void>,
): Promise<void> {
  const { documentIdx } = handlesOf(document);
  await withPage(document, page, async (pdfium, handle) => {
    for (const image of imagesOf(pdfium, handle)) {
      const [width, height] = sizeOf(pdfium, image);
      if (width < minWidth || height < minHeight) continue;
      const isTooLarge = width * height > IMAGE_PIXELS_MAX;
      await onImage(isTooLarge ? undefined : drawn(pdfium, [documentIdx, handle, image], [width, height]));
    }
  });
}

/** Counts the images of a page that pdfium cannot decode. It omits these images when it draws the page. @throws MediaError corrupt */
export async function countUndecoded(document: PDFiumDocument, page: number): Promise<number> {
  return withPage(document, page, (pdfium, handle) => {
    let count = 0;
    for (const image of imagesOf(pdfium, handle)) {
      const bitmap = pdfium._FPDFImageObj_GetBitmap(image);
      if (bitmap === 0) count += 1;
      else pdfium._FPDFBitmap_Destroy(bitmap);
    }
    return count;
  });
}

function imagesOf(pdfium: Pdfium, page: number): readonly number[] {
  const images: number[] = [];
  let objects = 0;
  const visitEach = (count: number, objectAt: (at: number) => number, depth: number): void => {
    for (let at = 0; at < Math.min(count, OBJECTS_MAX); at += 1) visit(objectAt(at), depth);
  };
  const visit = (object: number, depth: number): void => {
    objects += 1;
    if (objects > OBJECTS_MAX) return;
    const kind = pdfium._FPDFPageObj_GetType(object);
    if (kind === IMAGE) images.push(object);
    if (kind !== FORM || depth >= NESTED_MAX) return;
    visitEach(pdfium._FPDFFormObj_CountObjects(object), (at) => pdfium._FPDFFormObj_GetObject(object, at), depth + 1);
  };
  visitEach(pdfium._FPDFPage_CountObjects(page), (at) => pdfium._FPDFPage_GetObject(page, at), 0);
  return images;
}

function sizeOf(pdfium: Pdfium, image: number): readonly [width: number, height: number] {
  return withMemory(pdfium, 8, (pointer) => {
    const isKnown = pdfium._FPDFImageObj_GetImagePixelSize(image, pointer, pointer + 4) === 1;
    const numbers = new DataView(pdfium.HEAPU8.buffer);
    return isKnown ? [numbers.getUint32(pointer, true), numbers.getUint32(pointer + 4, true)] : [0, 0];
  });
}

function drawn(
  pdfium: Pdfium,
  [document, page, image]: readonly [number, number, number],
  [width, height]: readonly [number, number],
): PageImage | undefined {
  pdfium._FPDFImageObj_SetMatrix(image, width, 0, 0, height, 0, 0);
  const bitmap = pdfium._FPDFImageObj_GetRenderedBitmap(document, page, image);
  if (bitmap === 0) return undefined;
  try {
    if (pdfium._FPDFBitmap_GetFormat(bitmap) !== BGRA) return undefined;
    const size = { width: pdfium._FPDFBitmap_GetWidth(bitmap), height: pdfium._FPDFBitmap_GetHeight(bitmap) };
    const start = pdfium._FPDFBitmap_GetBuffer(bitmap);
    return packed(pdfium.HEAPU8, start, pdfium._FPDFBitmap_GetStride(bitmap), size);
  } finally {
    pdfium._FPDFBitmap_Destroy(bitmap);
  }
}

/** Converts BGRA pixels to the fewest channels that the image needs. */
function packed(
  heap: Uint8Array,
  start: number,
  stride: number,
  { width, height }: { readonly width: number; readonly height: number },
): PageImage | undefined {
  let [isOpaque, isGray, isEmpty] = [true, true, true];
  const each = (visit: (at: number) => void): void => {
    for (let y = 0; y < height; y += 1) {
      const row = start + y * stride;
      for (let at = row; at < row + width * 4; at += 4) visit(at);
    }
  };
  each((at) => {
    isEmpty &&= heap[at + 3] === 0;
    isOpaque &&= heap[at + 3] === 255;
    isGray &&= heap[at] === heap[at + 1] && heap[at] === heap[at + 2];
  });
  // pdfium leaves the bitmap empty if its decoder fails.
  if (isEmpty) return undefined;
  const channels = isOpaque ? (isGray ? 1 : 3) : 4;
  const pixels = Buffer.allocUnsafe(width * height * channels);
  let to = 0;
  each((at) => {
    pixels[to++] = heap[at + 2] ?? 0;
    if (channels === 1) return;
    pixels[to++] = heap[at + 1] ?? 0;
    pixels[to++] = heap[at] ?? 0;
    if (channels === 4) pixels[to++] = heap[at + 3] ?? 0;
  });
  return { width, height, pixels, channels };
}

/** Writes an image as PNG; a grey image has one channel. */
export async function writePng({ pixels, width, height, channels }: PageImage, path: string): Promise<void> {
  const image = sharp(pixels, { raw: { width, height, channels } });
  await (channels === 1 ? image.toColourspace("b-w") : image).png().toFile(path);
}
