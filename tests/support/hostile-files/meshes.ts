/** Creates hostile 3D files: other formats, impossible descriptions, excessive sizes, or external references. */
import type { MediaFault } from "#shared/children/media-error.ts";
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { glbOf } from "../file-parts.ts";
import { balls, blocks, edited, type Entry, type Json } from "../meshes.ts";

type HostileMesh = readonly [name: string, fault: MediaFault, make: () => Uint8Array];

const good = await blocks(2);
const round = await balls();

type Spoil = (json: Json, binary: Uint8Array) => unknown;

const first = (list: unknown): Entry => (list as Entry[])[0] ?? {};
const primitive = (json: Json): Entry => first(first(json.meshes)["primitives"]);
const set =
  (entry: (json: Json) => Entry, members: Entry): Spoil =>
  (json) =>
    Object.assign(entry(json), members);
const points = (json: Json): Entry =>
  json.accessors[Number((primitive(json)["attributes"] as Entry)["POSITION"])] ?? {};
const image = (json: Json): Entry => first(json["images"]);
const entries = (count: number, entry: object): object[] => Array.from({ length: count }, () => entry);

function header(at: number, value: number): Uint8Array {
  const copy = good.slice();
  new DataView(copy.buffer).setUint32(at, value, true);
  return copy;
}

/** Returns hostile meshes, each with the error expected for it. @param target address that must not be requested */
export function hostileMeshes(target = "http://127.0.0.1:9"): readonly HostileMesh[] {
  const spoilt: readonly (readonly [string, MediaFault, Spoil])[] = [
    ["no asset", "corrupt", (json) => delete json["asset"]],
    ["version 3", "unsupported", set((json) => json, { asset: { version: "3.0" } })],
    ["Draco", "unsupported", set((json) => json, { extensionsRequired: ["KHR_draco_mesh_compression"] })],
    ["meshopt", "unsupported", set((json) => json, { extensionsRequired: ["EXT_meshopt_compression"] })],
    ["KTX2", "unsupported", set((json) => json, { extensionsRequired: ["KHR_texture_basisu"] })],
    ["an address for its points", "unsupported", set((json) => first(json["buffers"]), { uri: `${target}/x` })],
    ["a file of the machine", "unsupported", set((json) => first(json["buffers"]), { uri: "/etc/passwd" })],
    ["an address for an image", "unsupported", set(image, { uri: `${target}/x.png` })],
    ["a view beyond the buffer", "corrupt", set((json) => first(json.bufferViews), { byteLength: 1e8 })],
    ["a negative offset", "corrupt", set((json) => first(json.bufferViews), { byteOffset: -4 })],
    ["a list beyond its view", "corrupt", set(points, { count: 5_000 })],
    ["a billion points", "corrupt", set(points, { count: 1e9 })],
    ["a count that is no number", "corrupt", set(points, { count: "72" })],
    ["numbers of no kind", "corrupt", set(points, { componentType: 5124 })],
    ["a type that objects inherit", "corrupt", set(points, { type: "constructor" })],
    ["points that are not there", "corrupt", set(primitive, { attributes: { POSITION: 99 } })],
    ["no points", "corrupt", set(primitive, { attributes: {} })],
    ["a node in itself", "corrupt", set((json) => first(json.nodes), { children: [0] })],
    ["two levels of nodes", "corrupt", set((json) => json, { nodes: [{ children: [1] }, { children: [0] }] })],
    ["a node that is not there", "corrupt", set((json) => first(json.nodes), { children: [4_000] })],
    [
      "nodes a hundred deep",
      "too_large",
      (json) => (json.nodes = Array.from({ length: 100 }, (_, at) => (at < 99 ? { children: [at + 1] } : { mesh: 0 }))),
    ],
    ["too many nodes", "too_large", set((json) => json, { nodes: entries(MEDIA_LIMITS.meshEntriesMax + 1, {}) })],
    ["a mesh shown ten thousand times", "too_large", set((json) => json, { nodes: entries(10_000, { mesh: 0 }) })],
    ["too many images", "too_large", (json) => (json["images"] = entries(MEDIA_LIMITS.meshImagesMax + 1, image(json)))],
    [
      "very long lists of nothing",
      "too_large",
      (json) => json.accessors.push({ type: "MAT4", componentType: 5126, count: 1e9 }),
    ],
    ["only points, no triangles", "invalid", set(primitive, { mode: 0 })],
    ["no scene and no node", "invalid", set((json) => json, { nodes: [], scenes: [], scene: undefined })],
    ["points that are no numbers", "corrupt", (_json, binary) => binary.fill(0xff, 0, 2_000)],
    [
      "damaged pixels",
      "corrupt",
      (json, binary) => binary.fill(0x5a, startOf(json, image(json)) + 45, startOf(json, image(json)) + 60),
    ],
  ];
  return [
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["text", "unsupported", () => Buffer.from("hello world, this is no mesh")],
    ["glTF as text", "unsupported", () => Buffer.from('{"asset":{"version":"2.0"}}')],
    ["version 1", "unsupported", () => header(4, 1)],
    ["one cut off in its description", "corrupt", () => good.subarray(0, 200)],
    ["one cut off in its points", "corrupt", () => good.subarray(0, good.length - 40)],
    ["one with a page behind it", "corrupt", () => Buffer.concat([good, Buffer.from("<html>  ")])],
    ["a chunk that promises more", "corrupt", () => header(12, 0xffff_fff0)],
    ["a first chunk of another kind", "corrupt", () => header(16, 0x1234)],
    ["a description that is no JSON", "corrupt", () => glbOf('{"asset": nonsense')],
    ["a description in broken UTF-8", "corrupt", () => glbOf(Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d))],
    ["a description nested deeply", "corrupt", () => glbOf("[".repeat(50_000))],
    ["a description that is a list", "corrupt", () => glbOf("[]")],
    ["too large a description", "too_large", () => glbOf(`{}${" ".repeat(MEDIA_LIMITS.meshJsonBytesMax)}`)],
    ["too many bytes", "too_large", () => new Uint8Array(MEDIA_LIMITS.meshBytesMax + 1)],
    ["a triangle with a corner that is not there", "corrupt", () => edited(round, loseCorner)],
    ...spoilt.map(([name, fault, spoil]): HostileMesh => [name, fault, () => edited(good, spoil)]),
  ];
}

function loseCorner(json: Json, binary: Uint8Array): void {
  const from = startOf(json, json.accessors[Number(primitive(json)["indices"])] ?? {});
  binary.fill(0xee, from, from + 2);
}

/** Returns the offset in the binary chunk at which an accessor's numbers or an image's pixels start. */
function startOf(json: Json, entry: Entry): number {
  const view = json.bufferViews[Number(entry["bufferView"])] ?? {};
  return Number(view["byteOffset"] ?? 0) + Number(entry["byteOffset"] ?? 0);
}
