/** Pictures of a foreign file: each is decoded once before it is passed on, and there are not too many pixels of them. */
import type { Document, ExtensionProperty, Material, TextureInfo } from "@gltf-transform/core";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { readImageHeader } from "#shared/media/image-header.ts";
import { decodePicture } from "../../images/source.ts";

const TYPES = { PNG: "image/png", JPEG: "image/jpeg", WebP: "image/webp", GIF: "image/gif" } as const;

/** @throws MediaError unsupported, corrupt, too_large */
export async function checkPictures(document: Document): Promise<void> {
  let pixels = 0;
  const known = new Set<string>();
  for (const texture of document.getRoot().listTextures()) {
    const bytes = texture.getImage() ?? new Uint8Array(0);
    const header = readImageHeader(bytes);
    if (header === null || TYPES[header.format] !== texture.getMimeType()) {
      throw new MediaError("unsupported", "A picture of the mesh is not of the kind that it says.");
    }
    pixels += header.width * header.height;
    if (pixels > MEDIA_LIMITS.meshPixelsMax) {
      throw new MediaError(
        "too_large",
        `The mesh's pictures have more than ${MEDIA_LIMITS.meshPixelsMax} pixels together.`,
      );
    }
    // Several textures may show the same picture.
    const key = `${bytes.byteOffset}/${bytes.byteLength}/${Bun.hash.xxHash32(bytes)}`;
    if (!known.has(key)) await decodePicture(bytes, "picture in the mesh");
    known.add(key);
  }
}

/**
 * Which texture coordinates a material's pictures use; they become the first and only ones. Pictures that use others than
 * the material's first picture are left out.
 */
export function unifyCoordinates(document: Document): ReadonlyMap<Material, string> {
  return new Map(
    document
      .getRoot()
      .listMaterials()
      .map((material) => [material, unified(material)]),
  );
}

function unified(material: Material): string {
  const slots: readonly (readonly [TextureInfo | null, () => unknown])[] = [
    [material.getBaseColorTextureInfo(), () => material.setBaseColorTexture(null)],
    [material.getNormalTextureInfo(), () => material.setNormalTexture(null)],
    [material.getMetallicRoughnessTextureInfo(), () => material.setMetallicRoughnessTexture(null)],
    [material.getEmissiveTextureInfo(), () => material.setEmissiveTexture(null)],
    [material.getOcclusionTextureInfo(), () => material.setOcclusionTexture(null)],
  ];
  // The library has no info where there is no picture.
  const used = slots.flatMap(([info, drop]) => (info === null ? [] : [{ info, drop }]));
  const wanted = used[0]?.info.getTexCoord() ?? 0;
  for (const { info, drop } of used) {
    if (info.getTexCoord() === wanted) info.setTexCoord(0);
    else drop();
  }
  for (const extension of material.listExtensions()) clearCoordinates(extension);
  return `TEXCOORD_${wanted}`;
}

/** Pictures of extensions go by the same coordinates: nearly all files have only one set. */
function clearCoordinates(extension: ExtensionProperty): void {
  const fields = extension as unknown as Readonly<Record<string, unknown>>;
  let methods: object | null = extension;
  while (methods !== null && methods !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(methods)) {
      if (!/^get\w+TextureInfo$/.test(name)) continue;
      const get = fields[name] as (this: ExtensionProperty) => TextureInfo | null;
      get.call(extension)?.setTexCoord(0);
    }
    methods = Object.getPrototypeOf(methods) as object | null;
  }
}
