/** A colour profile of a printer whose inks look like no other's, for tests: what heeds another profile shows other colours. */

const LAB_WHITE = [63_190, 65_536, 54_061] as const;
const pad = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

/** ICC.1:2001, class `prtr`: of each mix of cyan, magenta, yellow and black, a corner of its table. Its cyan is red. */
export function printerProfile(): Buffer {
  const lab = (lightness: number, a: number, b: number): number[] => [Math.round(lightness * 2.55), a + 128, b + 128];
  const corners = Array.from({ length: 16 }, (_, mix) => {
    if (mix & 1) return lab(0, 0, 0);
    if (mix & 8) return lab(50, 70, 50);
    if (mix & 4) return lab(60, -60, 40);
    return mix & 2 ? lab(90, 0, 80) : lab(100, 0, 0);
  }).flat();
  const ramps = (count: number): number[] => Array.from({ length: count * 256 }, (_, at) => at % 256);
  const head = Buffer.alloc(48);
  head.write("mft1", 0, "latin1");
  head.set([4, 3, 2], 8);
  for (const diagonal of [12, 28, 44]) head.writeInt32BE(65_536, diagonal);
  const table = Buffer.concat([head, Buffer.from([...ramps(4), ...corners, ...ramps(3)])]);
  const white = Buffer.alloc(20);
  white.write("XYZ ", 0, "latin1");
  LAB_WHITE.forEach((value, at) => white.writeInt32BE(value, 8 + at * 4));
  const name = Buffer.concat([Buffer.from("desc\0\0\0\0\0\0\0\u0005Test\0", "latin1"), Buffer.alloc(78)]);
  const tags = [
    ["desc", name],
    ["cprt", Buffer.from("text\0\0\0\0none\0", "latin1")],
    ["wtpt", white],
    ["A2B0", table],
  ] as const;
  const list = Buffer.alloc(4 + 12 * tags.length);
  list.writeUInt32BE(tags.length, 0);
  let end = 128 + list.length;
  for (const [at, [tag, data]] of tags.entries()) {
    list.write(tag, 4 + at * 12, "latin1");
    list.writeUInt32BE(end, 8 + at * 12);
    list.writeUInt32BE(data.length, 12 + at * 12);
    end += pad(data).length;
  }
  const header = Buffer.alloc(128);
  header.writeUInt32BE(end, 0);
  header.writeUInt32BE(0x0240_0000, 8);
  header.write("prtrCMYKLab ", 12, "latin1");
  for (const [at, value] of [2_000, 1, 1].entries()) header.writeUInt16BE(value, 24 + at * 2);
  header.write("acsp", 36, "latin1");
  LAB_WHITE.forEach((value, at) => header.writeInt32BE(value, 68 + at * 4));
  return Buffer.concat([header, list, ...tags.map(([, data]) => pad(data))]);
}

/** A JPEG with this profile instead of its own. */
export function withProfile(jpeg: Uint8Array, profile: Buffer): Buffer {
  const head = Buffer.concat([
    Buffer.from([0xff, 0xe2, 0, 0]),
    Buffer.from("ICC_PROFILE\0\u0001\u0001", "latin1"),
    profile,
  ]);
  head.writeUInt16BE(head.length - 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, jpeg.subarray(2)]);
}
