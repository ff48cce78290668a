/** The lists of numbers of a foreign file: each lies within its view, each view within the buffer (glTF 2.0, 3.6). */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";

import { corrupt, fieldsOf, given, numbersOf, optionalWhole, wholeOf, type Fields } from "./fields.ts";

export interface CleanView {
  readonly buffer: 0;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly byteStride?: number;
}

export interface CleanAccessor {
  readonly json: Fields;
  readonly type: string;
  readonly count: number;
  /** Unsigned whole numbers, one an element. */
  readonly isIndex: boolean;
}

const COMPONENTS: Readonly<Record<string, number>> = {
  SCALAR: 1,
  VEC2: 2,
  VEC3: 3,
  VEC4: 4,
  MAT2: 4,
  MAT3: 9,
  MAT4: 16,
};
const BYTES: Readonly<Record<number, number>> = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
const INDEX_TYPES = new Set([5121, 5123, 5125]);

export function cleanViews(views: readonly Fields[], bufferBytes: number): readonly CleanView[] {
  return views.map((view) => {
    wholeOf(view, "buffer", 0, 0);
    const byteOffset = optionalWhole(view, "byteOffset", 0, bufferBytes) ?? 0;
    const byteLength = wholeOf(view, "byteLength", 1, bufferBytes - byteOffset);
    const byteStride = optionalWhole(view, "byteStride", 4, 252);
    if (byteStride !== undefined && byteStride % 4 !== 0) throw corrupt("a stride is no multiple of four");
    return given({ buffer: 0 as const, byteOffset, byteLength, byteStride });
  });
}

export function cleanAccessors(accessors: readonly Fields[], views: readonly CleanView[]): readonly CleanAccessor[] {
  let bytes = 0;
  return accessors.map((accessor) => {
    const type = String(accessor["type"]);
    const components = Object.hasOwn(COMPONENTS, type) ? COMPONENTS[type] : undefined;
    const componentType = wholeOf(accessor, "componentType", 5120, 5126);
    const size = BYTES[componentType];
    if (components === undefined || size === undefined) throw corrupt("a list has numbers of no known kind");
    // The largest list is that of the corners of all triangles.
    const count = wholeOf(accessor, "count", 1, 3 * MEDIA_LIMITS.meshTrianglesMax);
    bytes += count * components * Math.max(4, size);
    if (bytes > MEDIA_LIMITS.meshNumbersBytesMax) {
      throw new MediaError("too_large", "The mesh's lists of numbers are too long together.");
    }
    const normalized = accessor["normalized"] === true;
    const bufferView = optionalWhole(accessor, "bufferView", 0, views.length - 1);
    const byteOffset = optionalWhole(accessor, "byteOffset", 0, Number.MAX_SAFE_INTEGER) ?? 0;
    if (bufferView !== undefined) checkRoom(views[bufferView], byteOffset, count, components * size, size);
    const sparse =
      accessor["sparse"] === undefined ? undefined : cleanSparse(accessor, count, components * size, size, views);
    const bounds = { min: numbersOf(accessor, "min", components), max: numbersOf(accessor, "max", components) };
    return {
      json: given({ type, componentType, count, normalized, bufferView, byteOffset, sparse, ...bounds }),
      type,
      count,
      isIndex: type === "SCALAR" && INDEX_TYPES.has(componentType) && !normalized,
    };
  });
}

function checkRoom(
  view: CleanView | undefined,
  offset: number,
  count: number,
  elementBytes: number,
  size: number,
): void {
  if (view === undefined) throw corrupt("a list lies nowhere");
  const stride = view.byteStride ?? elementBytes;
  if (stride < elementBytes || offset + stride * (count - 1) + elementBytes > view.byteLength) {
    throw corrupt("a list is longer than its place");
  }
  if ((view.byteOffset + offset) % size !== 0) throw corrupt("a list begins between two numbers");
}

function cleanSparse(
  accessor: Fields,
  countMax: number,
  elementBytes: number,
  size: number,
  views: readonly CleanView[],
): Fields {
  const sparse = fieldsOf(accessor["sparse"], "sparse");
  const count = wholeOf(sparse, "count", 1, countMax);
  const [indices, values] = [fieldsOf(sparse["indices"], "indices"), fieldsOf(sparse["values"], "values")];
  const place = (fields: Fields, bytes: number, step: number): Fields => {
    const bufferView = wholeOf(fields, "bufferView", 0, views.length - 1);
    const byteOffset = optionalWhole(fields, "byteOffset", 0, Number.MAX_SAFE_INTEGER) ?? 0;
    checkRoom(views[bufferView], byteOffset, count, bytes, step);
    return { bufferView, byteOffset };
  };
  const componentType = wholeOf(indices, "componentType", 5121, 5125);
  const indexBytes = INDEX_TYPES.has(componentType) ? BYTES[componentType] : undefined;
  if (indexBytes === undefined) throw corrupt("a sparse list has no whole numbers");
  return {
    count,
    indices: { ...place(indices, indexBytes, indexBytes), componentType },
    values: place(values, elementBytes, size),
  };
}
