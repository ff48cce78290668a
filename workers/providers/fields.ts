/** Mapping of a call's inputs, under our names, to the source's own fields. */
import type { MediaInput, MediaKind } from "./media.ts";

/**
 * Our name of an input → a source's field: a dotted path where it lies deeper, `[]` behind it where a list of one is
 * wanted, and behind that how it is written: `:text` a number as text, `:s` seconds as `8s`, `:ms` seconds in milliseconds.
 */
export type Fields = Readonly<Record<string, string>>;

export type FieldValue = string | number | boolean | MediaInput;
export type FieldValues = Readonly<Record<string, FieldValue | undefined>>;

/** One input on its way: our name, the source's field, the value as it is to be written there. */
export interface PlacedInput {
  readonly ours: string;
  /** Without the way it is written, with `[]` where a list is wanted. */
  readonly theirs: string;
  readonly value: FieldValue;
}

/** The inputs that the call has and its source has a field for. */
export function place(values: FieldValues, fields: Fields): PlacedInput[] {
  return Object.entries(fields).flatMap(([ours, field]) => {
    const value = values[ours];
    if (value === undefined) return [];
    const [theirs = field, way] = field.split(":");
    return [{ ours, theirs, value: way === undefined ? value : (WAYS[way]?.(value) ?? value) }];
  });
}

const WAYS: Readonly<Record<string, (value: FieldValue) => FieldValue>> = {
  text: (value) => (isMedia(value) ? value : String(value)),
  s: (value) => (isMedia(value) ? value : `${String(value)}s`),
  ms: (value) => (typeof value === "number" ? Math.round(value * 1_000) : value),
};

/** Sets a member that may lie deeper: `imageConfig.aspectRatio`; behind `[]` the value becomes a list of one. */
export function setField(body: Record<string, unknown>, path: string, value: unknown): void {
  const isList = path.endsWith("[]");
  const steps = (isList ? path.slice(0, -2) : path).split(".");
  const last = steps.pop() ?? path;
  let holder = body;
  for (const step of steps) {
    const inside: Record<string, unknown> = { ...(holder[step] as Record<string, unknown> | undefined) };
    holder[step] = inside;
    holder = inside;
  }
  holder[last] = isList ? [value] : value;
}

export function isMedia(value: FieldValue): value is MediaInput {
  return typeof value === "object";
}

/** The address the caller gave, or the bytes as a data URL: what a field for an address takes. */
export function urlOf(media: MediaInput): string {
  if ("url" in media) return media.url;
  const { bytes, contentType } = media;
  return `data:${contentType};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")}`;
}

const PARAMS: Readonly<Partial<Record<MediaKind, Readonly<Record<string, string>>>>> = {
  images: { image: "image_base64", mask: "mask_base64" },
  imageEdits: { image: "image_base64", mask: "mask_base64" },
  video: { image: "image_url", video: "video_url" },
  mesh: { image: "image_url", mesh: "mesh_url" },
};

/** The member of the client's body that brought an input. */
export function clientParam(ours: string, kind: MediaKind): string {
  return PARAMS[kind]?.[ours] ?? ours;
}

/** Our input that goes to a field of theirs; undefined for a field that nobody's input goes to. */
export function inputOf(theirs: string, fields: Fields): string | undefined {
  return Object.entries(fields).find(([, field]) => /^[^.:[]+/.exec(field)?.[0] === theirs)?.[0];
}
