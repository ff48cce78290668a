/** Small files that any player opens, for servers that hand them out. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { glbOf } from "#tests/support/file-parts.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";
import { pngOf } from "#tests/support/png.ts";

import { bytesReply, type ReplyBehaviour } from "../engine/behaviour.ts";

/** Two seconds of grey, 32 × 32, with silence: H.264 and AAC. */
const MP4 = readFileSync(join(import.meta.dir, "fixtures/clip.mp4"));
export const CLIP_SECONDS = 2;

/** By the end of its address: `.png` names its size, as in `-640x480.png`, `.wav` its seconds, as in `-3s.wav`. */
export function fileAt(path: string): ReplyBehaviour | undefined {
  const [, width, height] = /-(\d+)x(\d+)\.png$/.exec(path) ?? [];
  if (width !== undefined && height !== undefined) return bytesReply("image/png", pngOf(Number(width), Number(height)));
  const [, seconds] = /-(\d+)s\.wav$/.exec(path) ?? [];
  if (seconds !== undefined) return bytesReply("audio/wav", wavOf(Number(seconds)));
  if (path.endsWith(".mp4")) return bytesReply("video/mp4", MP4);
  return path.endsWith(".glb") ? bytesReply("model/gltf-binary", glb()) : undefined;
}

/** Silence: one channel of 16 bits, 8,000 a second. */
export function wavOf(seconds: number): Buffer {
  return wav({}, Buffer.alloc(16_000 * seconds));
}

/** A GLB with one triangle. */
export function glb(): Buffer {
  const points = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);
  const scene = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [{ bufferView: 0, componentType: 5_126, count: 3, type: "VEC3", min: [0, 0, 0], max: [1, 1, 0] }],
    bufferViews: [{ buffer: 0, byteLength: points.length }],
    buffers: [{ byteLength: points.length }],
  };
  return Buffer.from(glbOf(JSON.stringify(scene), points));
}
