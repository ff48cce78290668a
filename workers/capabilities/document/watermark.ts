import { degrees, type PDFFont, type PDFImage, type PDFPage, rgb, StandardFonts } from "@cantoo/pdf-lib";
import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { textOverlay } from "../image/overlay.ts";
import { checkColor, openImage } from "../image/sharp.ts";
import { choice, color, GRAVITIES, integer, number, text } from "../params.ts";
import { pagesOf, pagesParam } from "./pages.ts";
import { DOCUMENT_PRICE, openPdf, REPORT, savePdf, unreadable } from "./pdf.ts";
import { isWestern } from "./western.ts";

/** Returns the margin between watermark and page edge: 24 points, less on small pages. */
const marginOf = (side: number): number => Math.min(24, side / 8);
const LOGO_PIXELS_MAX = 2_000;

export default defineCapability({
  id: "document.watermark",
  display_name: "Watermark PDF",
  description: "Adds text, a logo or page numbers to the pages of a PDF.",
  output_modality: "document",
  input: {
    document: input("document", "The PDF."),
    logo: input("image", "Image to use as the watermark, instead of `params.text`.", { optional: true }),
  },
  params: {
    text: text("Watermark text.", { max: 500 }),
    page_numbers: choice(
      "Add page numbers instead of text: `n`, or `n_of_m` with the total.",
      ["none", "n", "n_of_m"],
      {
        default: "none",
        labels: { n: "3", n_of_m: "3 / 12" },
      },
    ),
    gravity: choice("Position on the page.", GRAVITIES, { default: "center" }),
    angle: number("Counter-clockwise rotation of the watermark in degrees.", {
      min: -360,
      max: 360,
      unit: "deg",
      default: 45,
    }),
    size: integer(
      "Font size in points, reduced where the page is too small; for a logo, its width as a percentage of the page width.",
      {
        min: 4,
        max: 500,
        default: 64,
      },
    ),
    opacity: number("Opacity: 0 is invisible, 1 is opaque.", { min: 0, max: 1, default: 0.2 }),
    color: color("Text colour.", { default: "red" }),
    pages: pagesParam("Pages to mark. Default: all."),
  },
  rules: [{ rule: "one", of: ["params.text", "input.logo"] }],
  sample_input: REPORT,
  examples: [
    { title: "Text across each page", params: { text: "Draft" } },
    {
      title: "Page numbers at the bottom",
      params: { page_numbers: "n_of_m", gravity: "south", angle: 0, size: 10, opacity: 1, color: "black" },
    },
  ],
  price: DOCUMENT_PRICE,
  engine: "pdf",
  async run({ params, inputs, folder }) {
    const markSources = [params.text, inputs.logo, params.page_numbers === "none" ? undefined : params.page_numbers];
    const count = markSources.filter((one) => one !== undefined).length;
    if (count !== 1) {
      const got = count === 0 ? "none" : "several";
      throw new MediaError("invalid", `Expected one of params.text, input.logo and params.page_numbers, got ${got}.`);
    }
    checkColor("params.color", params.color);
    const [red = 0, green = 0, blue = 0] = await sharp({
      create: { width: 1, height: 1, channels: 3, background: params.color },
    })
      .raw()
      .toBuffer();
    const { document, pages: all } = await openPdf(inputs.document);
    const pages = [...new Set(pagesOf(params.pages, all))];
    const font = document.embedStandardFont(StandardFonts.Helvetica);
    const markText = params.text?.replaceAll(/\p{Cc}+/gu, " ").trim();
    if (markText === "") throw new MediaError("invalid", "Expected params.text to have letters, got spaces alone.");
    const style: WatermarkStyle = { ...params, font, fill: rgb(red / 255, green / 255, blue / 255) };
    const drawn = async (): Promise<PDFImage | undefined> => {
      if (inputs.logo) {
        const { image } = await openImage(inputs.logo);
        const side = {
          width: LOGO_PIXELS_MAX,
          height: LOGO_PIXELS_MAX,
          fit: "inside",
          withoutEnlargement: true,
        } as const;
        return document.embedPng(await image.resize(side).ensureAlpha().png().toBuffer());
      }
      if (markText === undefined || isWestern(markText)) return undefined;
      // Text with characters that the standard fonts lack is drawn as an image with the packaged fonts.
      return document.embedPng((await textOverlay(markText, { size: 96, fill: params.color })).data);
    };
    const image = await drawn();
    try {
      for (const number of pages) {
        const page = document.getPage(number - 1);
        if (image) drawPicture(page, image, style, inputs.logo !== undefined);
        else drawText(page, markText ?? (params.page_numbers === "n" ? `${number}` : `${number} / ${all}`), style);
      }
    } catch (error) {
      throw unreadable(error);
    }
    return { output: { pages: pages.length }, files: [await savePdf(folder, document)] };
  },
});

interface WatermarkStyle {
  readonly gravity: string;
  readonly angle: number;
  readonly size: number;
  readonly opacity: number;
  readonly font: PDFFont;
  readonly fill: ReturnType<typeof rgb>;
}

function drawText(page: PDFPage, markText: string, style: WatermarkStyle): void {
  const { width, height } = seen(page);
  // The height of capitals in Helvetica is 0.72 of the size.
  const box = (size: number) => ({ width: style.font.widthOfTextAtSize(markText, size), height: size * 0.72 });
  const size = style.size * shrunk(box(style.size), style.angle, { width, height });
  page.drawText(markText, {
    ...origin(page, box(size), style),
    size,
    font: style.font,
    color: style.fill,
    opacity: style.opacity,
  });
}

function drawPicture(page: PDFPage, image: PDFImage, style: WatermarkStyle, isLogo: boolean): void {
  const outer = seen(page);
  const wanted = isLogo
    ? (outer.width * Math.min(style.size, 100)) / 100
    : (style.size * 1.2 * image.width) / image.height;
  const whole = { width: wanted, height: (wanted * image.height) / image.width };
  const share = shrunk(whole, style.angle, outer);
  const box = { width: whole.width * share, height: whole.height * share };
  page.drawImage(image, { ...origin(page, box, style), ...box, opacity: style.opacity });
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of a page as viewers display it, after cropping and rotation, in points. */
function seen(page: PDFPage): Size {
  const { width, height } = page.getCropBox();
  return page.getRotation().angle % 180 === 0 ? { width, height } : { width: height, height: width };
}

function turnedBox({ width, height }: Size, angle: number): Size {
  const [cos, sin] = [Math.abs(Math.cos((angle * Math.PI) / 180)), Math.abs(Math.sin((angle * Math.PI) / 180))];
  return { width: width * cos + height * sin, height: width * sin + height * cos };
}

function shrunk(box: Size, angle: number, outer: Size): number {
  const { width, height } = turnedBox(box, angle);
  return Math.min(1, (outer.width - marginOf(outer.width)) / width, (outer.height - marginOf(outer.height)) / height);
}

/** Returns the lower left corner and rotation for drawing a watermark, so that viewers show it at its position and angle. */
function origin(page: PDFPage, box: Size, { gravity, angle }: WatermarkStyle) {
  const outer = seen(page);
  const around = turnedBox(box, angle);
  const along = (size: number, own: number, low: string, high: string): number => {
    if (gravity.includes(low)) return marginOf(size) + own / 2;
    return gravity.includes(high) ? size - marginOf(size) - own / 2 : size / 2;
  };
  const centre = {
    x: along(outer.width, around.width, "west", "east"),
    y: along(outer.height, around.height, "south", "north"),
  };
  const radians = (angle * Math.PI) / 180;
  const x = centre.x - (box.width / 2) * Math.cos(radians) + (box.height / 2) * Math.sin(radians);
  const y = centre.y - (box.width / 2) * Math.sin(radians) - (box.height / 2) * Math.cos(radians);
  const crop = page.getCropBox();
  const turn = ((page.getRotation().angle % 360) + 360) % 360;
  const at =
    turn === 90
      ? { x: crop.width - y, y: x }
      : turn === 180
        ? { x: crop.width - x, y: crop.height - y }
        : turn === 270
          ? { x: y, y: crop.height - x }
          : { x, y };
  return { x: crop.x + at.x, y: crop.y + at.y, rotate: degrees(angle + turn) };
}
