/** Documents of office programs as PDF, where LibreOffice and bubblewrap are installed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { sampleFile } from "#shared/calls/capabilities/samples.ts";
import { zipOf } from "#tests/support/hostile-files/documents.ts";

import { hasLibreOffice, runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-outside-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RED = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#f00" } })
  .png()
  .toBuffer();
const OUTSIDE = join(folder, "red.png");
writeFileSync(OUTSIDE, RED);

const ODF = "application/vnd.oasis.opendocument";
const NAMES = ["office", "text", "table", "draw", "style"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name === "draw" ? "drawing" : name}:1.0"`)
  .join(" ");
const SVG = 'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"';
const XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"';

/** With a picture at `Pictures/red.png`, shown where `body` names it. */
function odf(kind: string, body: string, styles = ""): Uint8Array {
  const entry = (path: string, type: string): string =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${type}"/>`;
  const type = `${ODF}.${kind}`;
  return zipOf({
    mimetype: type,
    "Pictures/red.png": RED,
    "content.xml": `<office:document-content ${NAMES} ${SVG} ${XLINK} office:version="1.2"><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    "META-INF/manifest.xml": `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">${entry("/", type)}${entry("content.xml", "text/xml")}${entry("Pictures/red.png", "image/png")}</manifest:manifest>`,
  });
}

const picture = (address: string): string =>
  `<draw:frame svg:width="5cm" svg:height="5cm" svg:x="1cm" svg:y="1cm"><draw:image xlink:href="${address}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>`;
const letter = (address: string): Uint8Array =>
  odf("text", `<office:text><text:p>Tea${picture(address)}</text:p></office:text>`);
const slides = (address: string): Uint8Array =>
  odf(
    "presentation",
    `<office:presentation><draw:page draw:name="p">${picture(address)}</draw:page></office:presentation>`,
  );
const background = (address: string): Uint8Array =>
  odf(
    "text",
    '<office:text><text:p text:style-name="P1">Tea</text:p></office:text>',
    `<style:style style:name="P1" style:family="paragraph"><style:paragraph-properties><style:background-image xlink:href="${address}" xlink:type="simple" xlink:actuate="onLoad"/></style:paragraph-properties></style:style>`,
  );
const rich = (address: string): Uint8Array =>
  Buffer.from(String.raw`{\rtf1 Tea {\field{\*\fldinst INCLUDEPICTURE "${address}" \\d}{\fldrslt x}}\par}`);

async function redPixels(document: Uint8Array): Promise<number> {
  const made = await runCapability("document.office_to_pdf", { document });
  const page = await runCapability("document.render_pages", { document: made.bytes() }, { dpi: 36, pack: "files" });
  const { data, info } = await sharp(page.bytes()).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels) {
    if ((data[at] ?? 0) > 200 && (data[at + 1] ?? 255) < 60) count += 1;
  }
  return count;
}

describe.skipIf(!hasLibreOffice)("document.office_to_pdf", () => {
  test("prints a letter, which needs neither a name nor a type", async () => {
    const document = sampleFile("file-sample-letter")?.read() ?? new Uint8Array();
    const made = await runCapability("document.office_to_pdf", { document });
    expect(made.output).toMatchObject({ pages: 1 });
    expect((await runCapability("document.extract_text", { document: made.bytes() })).output?.["text"]).toContain(
      "tea",
    );
  }, 60_000);

  test.each<[string, (address: string) => Uint8Array]>([
    ["a text", letter],
    ["slides", slides],
    ["the background of a paragraph", background],
  ])(
    "contains the document's image, and none of this machine: %s",
    async (_name, document) => {
      expect(await redPixels(document("Pictures/red.png"))).toBeGreaterThan(100);
      expect(await redPixels(document(`file://${OUTSIDE}`))).toBe(0);
    },
    60_000,
  );

  test("reads no image that a field of an RTF names", async () => {
    expect(await redPixels(rich(`file://${OUTSIDE}`))).toBe(0);
  }, 60_000);
});

test.each<[string, Uint8Array]>([
  ["text", Buffer.from("Tea")],
  ["a zip of other things", zipOf({ "a.txt": "Tea" })],
  ["HTML", Buffer.from(`<html><body><img src="file://${OUTSIDE}"></body></html>`)],
])("rejects files other than office documents: %s", async (_name, document) => {
  expect(await refused(runCapability("document.office_to_pdf", { document }))).toMatch(
    /^unsupported: Expected a docx, xlsx, pptx, odt, ods, odp or rtf, got /,
  );
});
