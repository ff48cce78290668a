/** Kinds of calls of the playground, and the form of a model: the request's schema, narrowed to what the model accepts. */
import type { ModelEntry } from "#schemas/generated/types.ts";
import type { Schema } from "../../api/schema.ts";
import type { IconName } from "../../parts/icon.tsx";

type Params = ModelEntry["_svc"]["allowed_params"];

export interface Kind {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  readonly operation:
    | "POST /v1/embeddings"
    | "POST /v1/images/edits"
    | "POST /v1/images/generations"
    | "POST /v1/audio/speech"
    | "POST /v1/audio/transcriptions"
    | "POST /v1/music/generations"
    | "POST /v1/videos/generations"
    | "POST /v1/3d/generations";
  /** Name of the schema of its request. */
  readonly schema: string;
  /** Model that is chosen at first. */
  readonly model: string;
  readonly isOfKind: (entry: ModelEntry) => boolean;
  /** Members that are shown at once. */
  readonly first: readonly string[];
  /** True if the API returns a job on request, so that progress is visible and the call can be cancelled. */
  readonly canBeJob: boolean;
}

const hasModality =
  (...names: readonly string[]) =>
  (entry: ModelEntry) =>
    names.includes(entry._svc.modality);

export const KINDS: readonly Kind[] = [
  {
    id: "image",
    name: "Image",
    icon: "cube",
    operation: "POST /v1/images/generations",
    schema: "ImageGenerationRequest",
    model: "sandbox-image",
    isOfKind: (entry) => entry._svc.modality === "image" && entry._svc.allowed_params.requires_input_image !== true,
    first: ["size", "aspect_ratio", "n", "quality", "output_format"],
    canBeJob: true,
  },
  {
    id: "edit",
    name: "Image edit",
    icon: "cube",
    operation: "POST /v1/images/edits",
    schema: "ImageEditRequest",
    model: "sandbox-image",
    isOfKind: ({ _svc: { modality, allowed_params: params } }) =>
      modality === "upscale" ||
      (modality === "image" && (params.accepts_input_image === true || params.requires_input_image === true)),
    first: ["image", "size", "n", "strength"],
    canBeJob: true,
  },
  {
    id: "speech",
    name: "Speech",
    icon: "play",
    operation: "POST /v1/audio/speech",
    schema: "SpeechRequest",
    model: "sandbox-tts",
    isOfKind: hasModality("audio"),
    first: ["voice", "response_format", "speed"],
    canBeJob: false,
  },
  {
    id: "transcription",
    name: "Transcription",
    icon: "log",
    operation: "POST /v1/audio/transcriptions",
    schema: "TranscriptionRequest",
    model: "sandbox-stt",
    isOfKind: hasModality("stt"),
    first: ["file", "language", "response_format"],
    canBeJob: false,
  },
  {
    id: "video",
    name: "Video",
    icon: "play",
    operation: "POST /v1/videos/generations",
    schema: "VideoGenerationRequest",
    model: "sandbox-video",
    isOfKind: hasModality("video"),
    first: ["duration", "resolution", "aspect_ratio"],
    canBeJob: false,
  },
  {
    id: "music",
    name: "Music",
    icon: "play",
    operation: "POST /v1/music/generations",
    schema: "MusicGenerationRequest",
    model: "sandbox-music",
    isOfKind: hasModality("music"),
    first: ["duration", "output_format"],
    canBeJob: true,
  },
  {
    id: "3d",
    name: "3D",
    icon: "cube",
    operation: "POST /v1/3d/generations",
    schema: "MeshGenerationRequest",
    model: "sandbox-3d",
    isOfKind: hasModality("object_3d"),
    first: ["prompt", "image", "mesh"],
    canBeJob: true,
  },
  {
    id: "embedding",
    name: "Embedding",
    icon: "chart",
    operation: "POST /v1/embeddings",
    schema: "EmbeddingsRequest",
    model: "sandbox-embed",
    isOfKind: hasModality("embedding"),
    first: ["input", "dimensions"],
    canBeJob: false,
  },
];

/** Returns the id of the playground's tab for a model: `chat` for text models. */
export function kindIdOf(entry: ModelEntry): string {
  if (entry._svc.supports_chat) return "chat";
  return KINDS.find(({ isOfKind }) => isOfKind(entry))?.id ?? "chat";
}

/** Members that the playground sets itself, or that only programs need. */
const HIDDEN = new Set([
  "model",
  "models",
  "stream",
  "stream_format",
  "encoding_format",
  "user",
  "max_credits",
  "metadata",
  "moderation",
]);

/** Members whose values a model lists, by the list's name in `allowed_params`. */
const LISTS: Readonly<Record<string, keyof Params>> = {
  size: "sizes",
  quality: "qualities",
  style: "styles",
  background: "background",
  output_format: "output_formats",
  person_generation: "person_generation",
  aspect_ratio: "aspect_ratios",
  image_size: "image_sizes",
  resolution: "resolutions",
};

/** Input files: a member of the form sets `<name>_file_id` or `<name>_url` of the request. */
const INPUTS = ["image", "video", "mesh", "mask"] as const;

/** Returns the schema of a form. @param params what the model accepts; undefined for a model that is not listed */
export function formSchema(kind: Kind, schema: Schema, params: Params | undefined): Schema {
  const properties: Record<string, Schema> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const narrowed = HIDDEN.has(name) || isInput(name) ? undefined : narrow(kind, name, member, params);
    if (narrowed !== undefined) properties[name] = narrowed;
  }
  const required = (schema.required ?? []).filter((name) => name in properties);
  for (const name of INPUTS) {
    const input = inputSchema(name, schema, params);
    if (input !== undefined) properties[name] = input;
    if (input !== undefined && (isRequired(name, params) || (kind.id === "edit" && name === "image")))
      required.push(name);
  }
  if (kind.id === "transcription") {
    properties["file"] = {
      description: "The recording to transcribe.",
      kinds: ["audio"],
      "x-svc-value-sources": ["file_id"],
    };
    required.push("file");
  }
  return { type: "object", properties, required };
}

function isInput(name: string): boolean {
  return /_(?:file_id|url|base64|mime_type)$/.test(name) || name === "file_id" || name === "mime_type";
}

function inputSchema(
  name: (typeof INPUTS)[number],
  { properties = {} }: Schema,
  params: Params | undefined,
): Schema | undefined {
  const member = properties[`${name}_file_id`];
  if (member === undefined) return undefined;
  const accepted = name === "image" || name === "video" ? params?.[`accepts_input_${name}`] : params?.requires_input_3d;
  if (params !== undefined && name !== "mask" && accepted !== true && !isRequired(name, params)) return undefined;
  const sources = properties[`${name}_url`] === undefined ? ["file_id"] : ["file_id", "url"];
  const kinds = [name === "mask" ? "image" : name];
  return {
    description: name === "mask" ? "Its transparent areas are repainted." : "",
    kinds,
    "x-svc-value-sources": sources,
  };
}

function isRequired(name: string, params: Params | undefined): boolean {
  if (name === "image") return params?.requires_input_image === true;
  if (name === "video") return params?.requires_input_video === true;
  return name === "mesh" && params?.requires_input_3d === true;
}

/** Returns a member as the model accepts it; undefined if the model does not have it. */
function narrow(kind: Kind, name: string, member: Schema, params: Params | undefined): Schema | undefined {
  if (name === "response_format" && kind.id !== "speech" && kind.id !== "transcription") return undefined;
  if (name === "strength" && kind.id === "image") return undefined;
  if (name === "input" && kind.id === "embedding") return { type: "string", maxLength: 1e6, ...describe(member) };
  if (params === undefined) return member;
  const fallback = params.default_params?.[name];
  const withDefault = fallback === undefined ? member : { ...member, default: fallback };
  const list = LISTS[name];
  if (list !== undefined) return chooseFrom(withDefault, params[list]);
  switch (name) {
    case "voice":
      return { ...withDefault, suggestions: params.voices ?? [] };
    case "response_format":
      return kind.id === "speech" && params.response_formats !== undefined
        ? chooseFrom(withDefault, params.response_formats)
        : member;
    case "n":
      return (params.max_n ?? 1) > 1
        ? { ...member, default: 1, maximum: params.max_n ?? 1, ...countChoices(params.max_n ?? 1) }
        : undefined;
    case "duration":
      return lengthSchema(withDefault, params);
    case "strength":
      return params.strength === undefined
        ? undefined
        : { ...member, minimum: params.strength.min, maximum: params.strength.max };
    case "speed":
      return params.speed === undefined ? member : { ...member, minimum: params.speed.min, maximum: params.speed.max };
    case "instructions":
      return params.accepts_voice_instructions === true || params.requires_voice_instructions === true
        ? member
        : undefined;
    default:
      return withDefault;
  }
}

function describe({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

function countChoices(max: number): Schema {
  return max <= 4 ? { enum: Array.from({ length: max - 1 }, (_, place) => place + 2) } : {};
}

function chooseFrom(member: Schema, values: unknown): Schema | undefined {
  return Array.isArray(values) && values.length > 0 ? { ...member, enum: values } : undefined;
}

function lengthSchema(
  member: Schema,
  { durations, default_duration: usual, min_duration_seconds: min, max_duration_seconds: max }: Params,
): Schema {
  return {
    ...member,
    "x-svc-unit": "s",
    ...(usual === undefined ? {} : { default: usual }),
    ...(durations === undefined ? {} : { enum: durations }),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}

/** Returns why a call cannot be sent yet, for rules that a schema does not express; undefined if it can. */
export function ruleProblem(kind: Kind, values: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const isEmpty = values?.["prompt"] === undefined && values?.["image"] === undefined;
  return kind.id === "3d" && isEmpty ? "Fill in Prompt or Image." : undefined;
}

/** Returns the body of a call for the values of its form. */
export function bodyOf(model: string, values: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const body: Record<string, unknown> = { model, ...values };
  for (const name of [...INPUTS, "file"]) {
    const input = body[name] as { readonly file_id?: string; readonly url?: string } | undefined;
    if (input === undefined) continue;
    delete body[name];
    if (input.file_id !== undefined) body[name === "file" ? "file_id" : `${name}_file_id`] = input.file_id;
    if (input.url !== undefined) body[name === "file" ? "file_id" : `${name}_url`] = input.url;
  }
  return body;
}
