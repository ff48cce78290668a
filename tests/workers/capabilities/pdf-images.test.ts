/** Images of scans: black and white, packed as scanners and printers do. */
import { describe, expect, test } from "bun:test";

import sharp from "sharp";

import { pdfOfPages } from "#tests/support/hostile-files/documents.ts";
import { jbig2Of } from "#tests/support/jbig2.ts";

import { runCapability } from "./in-folder.ts";

const SIDE = 64;

/** The same page four times over: black on its right half, and a black corner on top. */
function scanOf(filter: string, data: Uint8Array, more = ""): Buffer {
  const bytes = Buffer.from(data).toString("latin1");
  const image = `/Type /XObject /Subtype /Image /Width ${SIDE} /Height ${SIDE} /BitsPerComponent 1 /ColorSpace /DeviceGray`;
  const draw = `${SIDE} 0 0 ${SIDE} 0 0 cm /I Do`;
  return pdfOfPages(
    "/Kids [3 0 R] /Count 1",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${SIDE} ${SIDE}] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>`,
    `<< ${image} /Filter /${filter} ${more} /Length ${bytes.length} >>\nstream\n${bytes}\nendstream`,
    `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
  );
}

/** Black: the right half. */
const isBlack = (x: number): boolean => x >= SIDE / 2;

/** The first row in horizontal mode, a run of 32 white and 32 black pixels; each further one as it is above (ITU-T T.6). */
const FAX = (() => {
  const bits = ["001", "00011011", "000001101010", "11".repeat(SIDE - 1), "000000000001".repeat(2)].join("");
  const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
})();

const SCANS: readonly (readonly [string, Buffer])[] = [
  ["JBIG2", scanOf("JBIG2Decode", jbig2Of(SIDE, SIDE, isBlack))],
  ["fax", scanOf("CCITTFaxDecode", FAX, `/DecodeParms << /K -1 /Columns ${SIDE} /Rows ${SIDE} >>`)],
];

async function valuesOf(png: Uint8Array): Promise<readonly (readonly number[])[]> {
  const { data, info } = await sharp(png).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  const rows = Array.from({ length: info.height }, (_, y) => [...data.subarray(y * info.width, (y + 1) * info.width)]);
  return rows;
}

const WANTED = Array.from({ length: SIDE }, () => Array.from({ length: SIDE }, (_, x) => (isBlack(x) ? 0 : 255)));

describe.each(SCANS)("a scan as %s", (_name, document) => {
  test("is extracted unchanged", async () => {
    const made = await runCapability("document.extract_images", { document }, { pack: "files" });
    expect(made.output).toEqual({ images: [{ page: 1, width: SIDE, height: SIDE }] });
    expect(await valuesOf(made.bytes())).toEqual(WANTED);
  });

  test("is rendered unchanged", async () => {
    const made = await runCapability("document.render_pages", { document }, { pack: "files", dpi: 72 });
    expect(await valuesOf(made.bytes())).toEqual(WANTED);
  });
});

test.each(["JBIG2Decode", "JPXDecode", "DCTDecode", "NoSuchDecode"])(
  "a %s image that cannot be decoded is omitted, with a note",
  async (filter) => {
    const document = scanOf(filter, jbig2Of(SIDE, SIDE, isBlack).subarray(0, -20));
    const made = await runCapability("document.extract_images", { document });
    expect(made.output).toEqual({ images: [], notes: ["Page 1: 1 image was skipped: too large, or not decodable."] });
    const drawn = await runCapability("document.render_pages", { document }, { dpi: 72 });
    expect(drawn.output?.["notes"]).toEqual(["Page 1: 1 image is missing: not decodable."]);
  },
);
