/** Maps the inputs of a call, under our names, to the request fields of a source. */
import type { MediaInput, MediaKind } from "./media.ts";

/**
 * Maps our input names to request fields of a source. A nested field is a dotted path; `[]` makes a list of one. A suffix sets the format:
 * `:text` a number as text, `:s` seconds as `8s`, `:ms` seconds in milliseconds.
 */
export type Fields = Readonly<Record<string, string>>;

export type FieldValue = string | number | boolean | MediaInput;
export type FieldValues = Readonly<Record<string, FieldValue | undefined>>;

/** One input for a request: our name, the source's field, and the value in the source's format. */
export interface PlacedInput {
  readonly ours: string;
  /** Name of the source's field without the format suffix. `[]` at its end means a list. */
  readonly theirs: string;
  readonly value: FieldValue;
}

/** Returns those inputs of a call for which the source has a field. */
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

/** Sets a member of the body, which may be nested, such as `imageConfig.aspectRatio`. With `[]`, the value becomes a list of one. */
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

/** Returns media as a URL, for a field that expects one: the caller's URL, or the bytes as a data URL. */
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

/** Returns the name of the member of the client's request body that contained an input. */
export function clientParam(ours: string, kind: MediaKind): string {
  return PARAMS[kind]?.[ours] ?? ours;
}

/** Returns our input for a field of the source; undefined if no input maps to the field. */
export function inputOf(theirs: string, fields: Fields): string | undefined {
  return Object.entries(fields).find(([, field]) => /^[^.:[]+/.exec(field)?.[0] === theirs)?.[0];
}
