/** Creates HEIC files (ISO/IEC 23008-12) with one image without pixels, for tests that read only headers. */
import { be, box, bytesOf, type Part } from "./file-parts.ts";

const full = (name: string, version: number, ...parts: readonly Part[]): Buffer =>
  box(name, [version, 0, 0, 0], ...parts);
const words = (...values: readonly number[]): number[] => values.flatMap((value) => be(value, 4));
const shorts = (...values: readonly number[]): number[] => values.flatMap((value) => be(value, 2));

/** Returns a HEIC file with HEVC, which the service does not decode. */
export function heic(width: number, height: number): Buffer {
  const config = [1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 0];
  const properties = box("ipco", box("hvcC", config), full("ispe", 0, words(width, height)));
  const meta = (offset: number): Buffer =>
    full(
      "meta",
      0,
      full("hdlr", 0, words(0), "pict", words(0, 0, 0), "\0"),
      full("pitm", 0, shorts(1)),
      full("iloc", 0, shorts(0x4400, 1, 1, 0, 1), words(offset, 16)),
      full("iinf", 0, shorts(1), full("infe", 2, shorts(1, 0), "hvc1", "\0")),
      box("iprp", properties, full("ipma", 0, words(1), shorts(1), [2, 0x81, 0x02])),
    );
  const start = box("ftyp", "heic", words(0), "mif1heic");
  return bytesOf(start, meta(start.length + meta(0).length + 8), box("mdat", Buffer.alloc(16)));
}
