import { expect, test } from "bun:test";

import sharp from "sharp";

import { hasPayload } from "#shared/media/payload.ts";

const image = sharp({ create: { width: 9, height: 7, channels: 3, background: "teal" } });
const [png, jpeg, webp, gif] = await Promise.all([
  image.clone().png().toBuffer(),
  image.clone().jpeg().toBuffer(),
  image.clone().webp().toBuffer(),
  image.clone().gif().toBuffer(),
]);

const u32 = (...values: number[]): Buffer =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    }),
  );
const box = (name: string, content: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([u32(8 + content.length), Buffer.from(name), content]);
const glb = (scene: string, bytes: Buffer = Buffer.alloc(0)): Buffer => {
  const chunk = (name: string, content: Buffer): Buffer =>
    Buffer.concat([u32(content.length).swap32(), Buffer.from(name), content]);
  const body = Buffer.concat([chunk("JSON", Buffer.from(scene)), ...(bytes.length > 0 ? [chunk("BIN\0", bytes)] : [])]);
  return Buffer.concat([Buffer.from("glTF"), u32(2, 12 + body.length).swap32(), body]);
};
const ogg = (position: bigint): Buffer => {
  const head = Buffer.alloc(28);
  head.write("OggS");
  head.writeBigInt64LE(position, 6);
  head.writeUInt8(1, 26);
  head.writeUInt8(2, 27);
  return Buffer.concat([head, Buffer.from("xx")]);
};
const wav = Buffer.concat([
  Buffer.from("RIFF"),
  u32(0),
  Buffer.from("WAVEfmt "),
  u32(16).swap32(),
  Buffer.alloc(16),
  Buffer.from("data"),
  u32(0),
]);
const flac = Buffer.concat([Buffer.from("fLaC"), u32(0x80_00_00_22), Buffer.alloc(34)]);
const id3 = Buffer.concat([Buffer.from("ID3"), Buffer.of(4, 0, 0, 0, 0, 0, 20), Buffer.alloc(20)]);
const stl = Buffer.alloc(84);
const facets = Buffer.concat([Buffer.alloc(80), u32(1).swap32(), Buffer.alloc(50)]);

/** Type, a file with content, and one of the same format without. */
const FILES: readonly [type: string, whole: Buffer, empty: Buffer][] = [
  ["image/png", png, png.subarray(0, 33)],
  ["image/png", png, Buffer.concat([png.subarray(0, 33), png.subarray(-12)])],
  ["image/jpeg", jpeg, jpeg.subarray(0, jpeg.indexOf(Buffer.of(0xff, 0xda)))],
  ["image/gif", gif, Buffer.concat([gif.subarray(0, 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1)), Buffer.of(0x3b)])],
  ["image/webp", webp, webp.subarray(0, 12)],
  ["audio/wav", Buffer.concat([wav, Buffer.alloc(4)]), wav],
  ["audio/flac", Buffer.concat([flac, Buffer.of(0xff, 0xf8)]), flac],
  ["audio/mpeg", Buffer.concat([id3, Buffer.alloc(100, 0xff)]), id3],
  ["audio/aac", Buffer.alloc(100, 0xff), Buffer.alloc(7, 0xff)],
  ["audio/ogg", Buffer.concat([ogg(0n), ogg(960n)]), Buffer.concat([ogg(0n), ogg(0n)])],
  ["audio/pcm", Buffer.alloc(2), Buffer.alloc(0)],
  [
    "video/mp4",
    Buffer.concat([box("ftyp", u32(1)), box("mdat", u32(7))]),
    Buffer.concat([box("ftyp", u32(1)), box("moov"), box("mdat")]),
  ],
  ["video/quicktime", box("mdat", u32(7)), box("moov")],
  ["video/webm", Buffer.from("1a45dfa3801f43b675", "hex"), Buffer.from("1a45dfa380", "hex")],
  ["model/gltf-binary", glb('{"meshes":[]}', u32(1)), glb('{"asset":{}}', u32(1))],
  ["model/gltf-binary", glb('{"meshes":[],"buffers":[{"uri":"data:"}]}'), glb('{"meshes":[]}')],
  ["model/gltf+json", Buffer.from('{"meshes":[]}'), Buffer.from("{}")],
  ["model/obj", Buffer.from("# a\nv 0 0 0\n"), Buffer.from("# a\n")],
  ["model/stl", facets, stl],
  ["application/zip", Buffer.from("PK\u0003\u0004"), Buffer.from("PK\u0005\u0006")],
];

test.each(FILES)("%s: a file with content is recognised by its header alone", (type, whole, empty) => {
  expect(hasPayload(whole, type)).toBe(true);
  expect(hasPayload(empty, type)).toBe(false);
  expect(hasPayload(Buffer.alloc(0), type)).toBe(false);
});

test("a file of endless parts ends the walk, and a truncated file never throws", () => {
  const parts = Buffer.concat([
    png.subarray(0, 8),
    ...Array.from({ length: 5_000 }, () => Buffer.concat([u32(0), Buffer.from("tEXt"), u32(0)])),
  ]);
  expect(hasPayload(parts, "image/png")).toBe(true);
  for (const [type, whole] of FILES) {
    for (let end = 0; end < whole.length; end++)
      expect(typeof hasPayload(whole.subarray(0, end), type)).toBe("boolean");
  }
});
