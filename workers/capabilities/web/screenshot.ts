import { join } from "node:path";

import type { Locator } from "playwright-core";

import { MediaError } from "#shared/children/media-error.ts";
import { IMAGE_SIDE_PIXELS_MAX, IMAGE_PIXELS_MAX } from "#shared/calls/capabilities/limits.ts";

import { defineCapability } from "../define.ts";
import { choice, flag, integer, number, text } from "../params.ts";
import { missingLettersParam, missingOnPage, withPage } from "./browser.ts";
import { htmlOf, PAGE_MEMBER, SAMPLE, wait } from "./page.ts";

export default defineCapability({
  id: "web.screenshot",
  display_name: "Screenshot",
  description: "Takes a screenshot of a web page in a browser.",
  long_description:
    "The page and its resources are fetched with the same checks as all caller-supplied addresses: private networks cannot be reached. There " +
    "are no cookies and no stored state. Scripts run unless `javascript` is false; they can only load resources of the page, and cannot open " +
    "other pages, download files or show dialogs. Pages that do not load in time are refused.",
  output_modality: "image",
  input: PAGE_MEMBER,
  params: {
    width: integer("Width of the browser window.", { min: 320, max: 3_840, unit: "px", default: 1_280 }),
    height: integer("Height of the browser window.", { min: 240, max: 2_160, unit: "px", default: 800 }),
    full_page: flag("Capture the whole page instead of the visible window.", false),
    device_scale: number("Device pixel ratio: image pixels per CSS pixel.", { min: 1, max: 3, default: 1 }),
    selector: text("CSS selector: capture the first matching element instead of the window.", { max: 500 }),
    wait: wait(),
    dark: flag("Use the dark colour scheme of the page.", false),
    javascript: flag("Run the scripts of the page.", true),
    missing_letters: missingLettersParam("draw", " The result names the first of them in `missing_letters`."),
    format: choice("Format of the image.", ["png", "jpeg", "webp"], { default: "png" }),
    quality: integer("Quality of JPEG and WebP.", { min: 1, max: 100, default: 80 }),
  },
  sample_input: SAMPLE,
  examples: [
    { title: "The visible window", params: {} },
    {
      title: "The whole page at phone size, dark, as WebP",
      params: { width: 390, height: 844, full_page: true, dark: true, format: "webp" },
    },
  ],
  price: { unit: "per_operation", operation_price: "0.4" },
  engine: "browser",
  async run({ params, inputs: { url: page }, folder, tools, guard }) {
    const { width, height, device_scale: scale, selector, format } = params;
    const options = {
      width,
      height,
      scale,
      isDark: params.dark,
      javascript: params.javascript,
      letters: params.missing_letters,
      waitMs: params.wait * 1_000,
    };
    const taken = await withPage(
      { folder, tools, html: htmlOf(page), address: page.address, guard, ...options },
      async (browserPage) => {
        const target = selector === undefined ? undefined : browserPage.locator(selector).first();
        if (target) await checkTarget(target, selector ?? "");
        const bytes = target
          ? await target.screenshot({ type: "png" })
          : await browserPage.screenshot({ type: "png", fullPage: params.full_page });
        return { bytes, title: await browserPage.title(), missing: await missingOnPage(browserPage) };
      },
    );
    const { default: sharp } = await import("sharp");
    const picture = sharp(taken.bytes, { limitInputPixels: false });
    const size = await picture.metadata();
    checkSize(size.width, size.height);
    const encoded =
      format === "png"
        ? picture.png()
        : format === "jpeg"
          ? picture.jpeg({ quality: params.quality })
          : picture.webp({ quality: params.quality });
    const name = `page.${format === "jpeg" ? "jpg" : format}`;
    const path = join(folder, name);
    const written = await encoded.toFile(path);
    const output = {
      url: page.address,
      title: taken.title.slice(0, 1_000),
      width: written.width,
      height: written.height,
      format,
      ...(taken.missing.length > 0 ? { missing_letters: taken.missing } : {}),
    };
    return { output, files: [{ path, mediaType: `image/${format}`, name }] };
  },
});

/**
 * Checks that the requested element is visible. Otherwise the screenshot would wait for it until its timeout. @throws MediaError invalid
 */
async function checkTarget(target: Locator, selector: string): Promise<void> {
  const isSeen = await target.isVisible().catch((error: unknown) => {
    const message = `Expected params.selector to be a CSS selector, got ${selector.slice(0, 100)}.`;
    throw new MediaError("invalid", message, { cause: error });
  });
  if (isSeen) return;
  throw new MediaError("invalid", `Expected params.selector to match a visible element, got none for ${selector}.`);
}

/** Checks the size of a screenshot's image file, because the page's reported size is unreliable. @throws MediaError too_large */
function checkSize(width: number, height: number): void {
  const max = IMAGE_SIDE_PIXELS_MAX;
  if (Math.max(width, height) <= max && width * height <= IMAGE_PIXELS_MAX) return;
  throw new MediaError("too_large", `Expected a picture of at most ${max} pixels on a side, got ${width} × ${height}.`);
}
