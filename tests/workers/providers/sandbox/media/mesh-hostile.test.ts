import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/media/media-error.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { changeMesh } from "#workers/providers/sandbox/media/mesh/transform/transform.ts";

import { ball, blocks, edited, type Entry, type Json, packed } from "./mesh-foreign.ts";
import { factsOf, faultsOf } from "./mesh-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const good = await blocks(2);
const smooth = await ball(24, 12);

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

type Spoil = (json: Json, binary: Uint8Array) => void;

const first = (list: unknown): Entry => (list as Entry[])[0] ?? {};
const primitive = (json: Json): Entry => first(first(json.meshes)["primitives"]);
const accessorOf = (json: Json, name: string): Entry =>
  json.accessors[Number((primitive(json)["attributes"] as Entry)[name])] ?? {};
const image = (json: Json): Entry => first(json["images"]);

/** Where a list of numbers begins in the binary part. */
function startOf(json: Json, accessor: Entry): number {
  const view = json.bufferViews[Number(accessor["bufferView"])] ?? {};
  return Number(view["byteOffset"] ?? 0) + Number(accessor["byteOffset"] ?? 0);
}

function float(json: Json, binary: Uint8Array, name: string, index: number, value: number): void {
  const stride = Number(json.bufferViews[Number(accessorOf(json, name)["bufferView"])]?.["byteStride"] ?? 12);
  const view = new DataView(binary.buffer, binary.byteOffset);
  view.setFloat32(startOf(json, accessorOf(json, name)) + stride * index, value, true);
}

function header(change: (view: DataView) => void): Uint8Array {
  const copy = good.slice();
  change(new DataView(copy.buffer));
  return copy;
}

describe("a mesh that is no file of its kind is refused:", () => {
  test.each([
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["text", "unsupported", () => new TextEncoder().encode("hello world, this is no mesh")],
    ["glTF as text", "unsupported", () => new TextEncoder().encode('{"asset":{"version":"2.0"}}')],
    ["a PNG", "unsupported", () => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])],
    ["version 1", "unsupported", () => header((view) => view.setUint32(4, 1, true))],
    ["one cut off in its head", "corrupt", () => good.subarray(0, 15)],
    ["one cut off in its description", "corrupt", () => good.subarray(0, 200)],
    ["one cut off in its points", "corrupt", () => good.subarray(0, good.length - 40)],
    ["one with a page behind it", "unsupported", () => new Uint8Array(Buffer.concat([good, Buffer.from("<html>  ")]))],
    ["a length that promises more", "corrupt", () => header((view) => view.setUint32(8, 0xffff_fff0, true))],
    ["a chunk that promises more", "corrupt", () => header((view) => view.setUint32(12, 0xffff_fff0, true))],
    ["a first chunk of another kind", "corrupt", () => header((view) => view.setUint32(16, 0x1234, true))],
    ["a description that is no JSON", "corrupt", () => packed(new TextEncoder().encode('{"asset": nonsense'))],
    ["a description in broken UTF-8", "corrupt", () => packed(Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
    ["a description nested deeply", "corrupt", () => packed(new TextEncoder().encode("[".repeat(50_000)))],
    ["a description that is a list", "corrupt", () => packed(new TextEncoder().encode("[]"))],
    [
      "a description that is too large",
      "too_large",
      () => packed(new TextEncoder().encode(`{"asset":{"version":"2.0"}${" ".repeat(MEDIA_LIMITS.meshJsonBytesMax)}}`)),
    ],
    ["too many bytes", "too_large", () => new Uint8Array(MEDIA_LIMITS.meshBytesMax + 1)],
  ] as const)("%s as %s", async (_name, kind, bytes) => {
    expect(await fault(changeMesh({ operation: "remesh", prompt: "", seed: 1 }, bytes()))).toBe(kind);
  });
});

describe("a mesh with a description that cannot be true is refused:", () => {
  const cases: readonly (readonly [string, MediaError["fault"], Spoil])[] = [
    ["no asset", "corrupt", (json) => delete json["asset"]],
    ["version 3", "unsupported", (json) => Object.assign(json["asset"] as Entry, { version: "3.0" })],
    [
      "a compression that is needed",
      "unsupported",
      (json) => Object.assign(json, { extensionsRequired: ["KHR_draco_mesh_compression"] }),
    ],
    [
      "an extension nobody knows",
      "unsupported",
      (json) => Object.assign(json, { extensionsRequired: ["ACME_secret"] }),
    ],
    [
      "an address for its points",
      "unsupported",
      (json) => Object.assign(first(json["buffers"]), { uri: "http://127.0.0.1:9/x" }),
    ],
    [
      "a file of the machine as its points",
      "unsupported",
      (json) => Object.assign(first(json["buffers"]), { uri: "/etc/passwd" }),
    ],
    [
      "an address for a picture",
      "unsupported",
      (json) => Object.assign(image(json), { uri: "http://127.0.0.1:9/x.png" }),
    ],
    ["a second buffer", "unsupported", (json) => (json["buffers"] as Entry[]).push({ byteLength: 4 })],
    ["a buffer beyond the file", "corrupt", (json) => Object.assign(first(json["buffers"]), { byteLength: 1e9 })],
    ["a view beyond the buffer", "corrupt", (json) => Object.assign(first(json.bufferViews), { byteLength: 1e8 })],
    ["a negative offset", "corrupt", (json) => Object.assign(first(json.bufferViews), { byteOffset: -4 })],
    ["a list beyond its view", "corrupt", (json) => Object.assign(accessorOf(json, "POSITION"), { count: 5_000 })],
    ["a list of a billion", "corrupt", (json) => Object.assign(accessorOf(json, "POSITION"), { count: 1e9 })],
    ["a count that is no number", "corrupt", (json) => Object.assign(accessorOf(json, "POSITION"), { count: "72" })],
    ["numbers of no kind", "corrupt", (json) => Object.assign(accessorOf(json, "POSITION"), { componentType: 5124 })],
    [
      "a type that objects inherit",
      "corrupt",
      (json) => Object.assign(accessorOf(json, "POSITION"), { type: "constructor" }),
    ],
    ["a material that is not there", "corrupt", (json) => Object.assign(primitive(json), { material: 7 })],
    [
      "points that are not there",
      "corrupt",
      (json) => Object.assign(primitive(json), { attributes: { POSITION: 99 } }),
    ],
    ["no points", "corrupt", (json) => Object.assign(primitive(json), { attributes: {} })],
    ["a mode nobody knows", "corrupt", (json) => Object.assign(primitive(json), { mode: 9 })],
    ["a node in itself", "corrupt", (json) => Object.assign(first(json.nodes), { children: [0] })],
    ["a node that is not there", "corrupt", (json) => Object.assign(first(json.nodes), { children: [4_000] })],
    [
      "two nodes in each other",
      "too_large",
      (json) => Object.assign(json, { nodes: [{ children: [1] }, { children: [0] }], scenes: [{ nodes: [] }] }),
    ],
    [
      "nodes a thousand deep",
      "too_large",
      (json) =>
        Object.assign(json, {
          nodes: Array.from({ length: 1_000 }, (_, at) => (at === 999 ? { mesh: 0 } : { children: [at + 1] })),
        }),
    ],
    [
      "a list of too many nodes",
      "too_large",
      (json) => Object.assign(json, { nodes: Array.from({ length: MEDIA_LIMITS.meshEntriesMax + 1 }, () => ({})) }),
    ],
    [
      "a mesh shown ten thousand times",
      "too_large",
      (json) =>
        Object.assign(json, { nodes: Array.from({ length: 10_000 }, () => ({ mesh: 0 })), scenes: [{ nodes: [0] }] }),
    ],
    ["a matrix that is no list", "corrupt", (json) => Object.assign(first(json.nodes), { matrix: "identity" })],
    ["a picture of an unknown kind", "corrupt", (json) => Object.assign(image(json), { mimeType: "image/svg+xml" })],
    ["a picture that is another", "unsupported", (json) => Object.assign(image(json), { mimeType: "image/jpeg" })],
    [
      "lists without numbers, and very long",
      "too_large",
      (json) =>
        json.accessors.push(
          ...Array.from({ length: 60 }, () => ({ type: "MAT4", componentType: 5126, count: 1_000_000 })),
        ),
    ],
    ["no scene and no node", "invalid", (json) => Object.assign(json, { nodes: [], scenes: [], meshes: [] })],
    ["only points, no triangles", "invalid", (json) => Object.assign(primitive(json), { mode: 0 })],
    ["a point that is no number", "corrupt", (json, binary) => float(json, binary, "POSITION", 3, Number.NaN)],
    ["an infinite point", "corrupt", (json, binary) => float(json, binary, "POSITION", 3, Infinity)],
    ["a point beyond all worlds", "corrupt", (json, binary) => float(json, binary, "POSITION", 3, 3e38)],
    [
      "damaged pixels",
      "corrupt",
      (json, binary) => {
        const view = json.bufferViews[Number(image(json)["bufferView"])] ?? {};
        binary.fill(0x5a, Number(view["byteOffset"] ?? 0) + 45, Number(view["byteOffset"] ?? 0) + 70);
      },
    ],
  ];
  test.each(cases)("%s as %s", async (_name, kind, spoil) => {
    const mesh = edited(good, spoil);
    for (const operation of ["remesh", "segment"] as const) {
      expect(await fault(changeMesh({ operation, prompt: "", seed: 1 }, mesh))).toBe(kind);
    }
  });

  test("a triangle with a corner that is not there", async () => {
    const mesh = edited(smooth, (json, binary) => {
      const indices = json.accessors[Number(primitive(json)["indices"])] ?? {};
      new DataView(binary.buffer, binary.byteOffset).setUint16(startOf(json, indices), 65_000, true);
    });
    expect(await fault(changeMesh({ operation: "rig", prompt: "", seed: 1 }, mesh))).toBe("corrupt");
  });
});

describe("a mesh that is only unusual is taken:", () => {
  const cases: readonly (readonly [string, Spoil])[] = [
    ["normals that are no numbers", (json, binary) => float(json, binary, "NORMAL", 3, Number.NaN)],
    ["all points in one place", (json, binary) => binary.fill(0, startOf(json, accessorOf(json, "POSITION")), 12 * 72)],
    ["a node without size", (json) => Object.assign(first(json.nodes), { scale: [0, 0, 0] })],
    [
      "one that is a millionth of a millimetre",
      (json) => Object.assign(first(json.nodes), { scale: [1e-9, 1e-9, 1e-9] }),
    ],
    ["one that is a million kilometres", (json) => Object.assign(first(json.nodes), { scale: [1e9, 1e9, 1e9] })],
    [
      "members that nobody knows",
      (json) => Object.assign(json, { cameras: "none", extras: { deep: [[[]]] }, extensionsUsed: ["ACME_nice"] }),
    ],
    ["names that objects inherit", (json) => Object.assign(first(json.nodes), { name: "__proto__" })],
    ["no scene", (json) => delete json["scenes"]],
  ];
  test.each(cases)("%s", async (_name, change) => {
    const mesh = edited(good, change);
    for (const operation of ["remesh", "retexture", "segment", "rig"] as const) {
      const job = changeMesh({ operation, prompt: "gold", seed: 1 }, mesh);
      const result = await job.then(
        (bytes) => bytes,
        (error: unknown) => error,
      );
      // Nothing of it may be left once triangles without area are gone; that is said as such.
      if (result instanceof MediaError) expect(result.fault).toBe("invalid");
      else {
        expect(await faultsOf(result as Uint8Array)).toEqual([]);
        expect((await factsOf(result as Uint8Array)).triangles).toBeGreaterThan(0);
      }
    }
  });
});

test("nothing is fetched that a mesh points to", async () => {
  let calls = 0;
  const server = Bun.serve({ port: 0, fetch: () => (calls++, new Response("here")) });
  try {
    const uri = `http://127.0.0.1:${server.port}/x.bin`;
    for (const spoil of [
      (json: Json) => Object.assign(first(json["buffers"]), { uri }),
      (json: Json) => Object.assign(image(json), { uri }),
    ]) {
      const mesh = edited(good, spoil);
      expect(await fault(media.transformMesh({ mesh, operation: "retexture", seed: 1 }))).toBe("unsupported");
    }
    expect(calls).toBe(0);
  } finally {
    await server.stop(true);
  }
});

test("the pool goes on after damaged meshes, and a call can be ended", async () => {
  const bad = [new Uint8Array(0), good.subarray(0, 100), new TextEncoder().encode("glTF is nice, is it not?")];
  const kinds = await Promise.all(bad.map((mesh) => fault(media.transformMesh({ mesh, operation: "rig", seed: 1 }))));
  expect(kinds).toEqual(["unsupported", "corrupt", "unsupported"]);
  const stop = new AbortController();
  const ended = fault(media.transformMesh({ mesh: smooth, operation: "rig", seed: 1 }, stop.signal));
  stop.abort();
  expect(await ended).toBe("aborted");
  const { bytes } = await media.transformMesh({ mesh: good, operation: "segment", seed: 1 });
  expect((await factsOf(bytes)).names).toEqual(["Block 1", "Block 2"]);
});
