/** A HEIC file (ISO/IEC 23008-12) of one image whose pixels are not there, for tests of what looks at heads. */

const box = (name: string, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(name, 4, "latin1");
  return Buffer.concat([head, body]);
};
const full = (name: string, version: number, ...parts: readonly Uint8Array[]): Buffer =>
  box(name, Buffer.from([version, 0, 0, 0]), ...parts);
const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, at) => bytes.writeUInt32BE(value, at * 4));
  return bytes;
};
const shorts = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, at) => bytes.writeUInt16BE(value, at * 2));
  return bytes;
};
const text = (letters: string): Buffer => Buffer.from(letters, "latin1");

/** One that names HEVC, which is not decoded here. */
export function heic(width: number, height: number): Buffer {
  const config = Buffer.alloc(23);
  config.set([1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 0]);
  const properties = box("ipco", box("hvcC", config), full("ispe", 0, words(width, height)));
  const meta = (offset: number): Buffer =>
    full(
      "meta",
      0,
      full("hdlr", 0, words(0), text("pict"), words(0, 0, 0), text("\0")),
      full("pitm", 0, shorts(1)),
      full("iloc", 0, shorts(0x4400, 1, 1, 0, 1), words(offset, 16)),
      full("iinf", 0, shorts(1), full("infe", 2, shorts(1, 0), text("hvc1"), text("\0"))),
      box("iprp", properties, full("ipma", 0, words(1), shorts(1), Buffer.from([2, 0x81, 0x02]))),
    );
  const start = box("ftyp", text("heic"), words(0), text("mif1heic"));
  const data = box("mdat", Buffer.alloc(16));
  return Buffer.concat([start, meta(start.length + meta(0).length + 8), data]);
}
