/** Result of checking a media call, and the check of a value against the set that a model declares. All kinds of media calls share them. */
import type { Model, Source } from "#shared/calls/model.ts";
import { arrived } from "#shared/json/contract-fault.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { Quantities } from "#shared/calls/pricing/media.ts";
import type { Price } from "#shared/calls/pricing/price.ts";

import type { CallBound } from "./call-bound.ts";

export interface CheckedMedia<Params> {
  /** Request parameters that a source of the model receives. Parameters for which the model has no field are omitted. */
  readonly params: Params;
  readonly bound: CallBound;
  /** Price of the requested variant. */
  readonly price: Price;
  /** Maximum quantities that the price counts. The hold covers them. */
  readonly most: Quantities;
  /** Usual quantities that the price counts, for estimates. */
  readonly usual: Quantities;
}

/**
 * Part of a check that is stored with its job, as JSON. The source receives these params and the charge counts these quantities, even after
 * the catalogue changes. The queue message of the job contains price and hold.
 */
export interface JobCheck<Params = unknown> {
  readonly params: Params;
  readonly most: Quantities;
  readonly tokensMax: number;
  readonly secondsOf: Model["seconds_of"];
}

export function jobCheckOf<Params>(
  { params, most, bound }: CheckedMedia<Params>,
  { seconds_of: secondsOf }: Pick<Model, "seconds_of">,
): JobCheck<Params> {
  return { params, most, tokensMax: bound.tokensMax, secondsOf };
}

/**
 * Returns the value of a parameter if the model has a field for it; otherwise undefined.
 * @throws ApiError if the model does not declare the value
 */
export function member<T extends string | number>(
  param: string,
  value: T | undefined,
  declared: readonly (string | number)[] | undefined,
): T | undefined {
  if (value === undefined || declared === undefined) return undefined;
  if (declared.includes(value)) return value;
  const got = arrived("enum", value);
  throw refusal(param, `Expected ${param} to be one of ${declared.join(", ")} for this model, got ${got}.`);
}

export interface Decisive {
  /** Members that are rejected if no source of the model supports them: name in the body → name of the input inside this service. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Members that may be omitted if no source of the model supports them. Sources that support a member are called first. */
  readonly dropped?: Readonly<Record<string, string>>;
}

/**
 * Members of each kind of call without which the caller would receive a different result. A source that has no field for such a member is
 * skipped in favour of another source of the model (decision 0108). Members that choose size, quality, style or format are missing here,
 * because they are checked against the sets that the model declares. Members that every adapter sends are missing, too: `prompt`, and the
 * `image` of an edit.
 */
export const DECISIVE_MEMBERS = {
  images: { refused: { seed: "seed", negative_prompt: "negative_prompt" } },
  image_edits: { refused: { mask_base64: "mask", mask_file_id: "mask" } },
  video: {
    refused: {
      image_url: "image",
      image_file_id: "image",
      video_url: "video",
      video_file_id: "video",
      seed: "seed",
      negative_prompt: "negative_prompt",
    },
  },
  music: { refused: { lyrics: "lyrics", seed: "seed" } },
  mesh: {
    refused: { mesh_url: "mesh", mesh_file_id: "mesh" },
    dropped: { image_url: "image", image_file_id: "image", seed: "seed" },
  },
  speech: { dropped: { instructions: "instructions" } },
} as const satisfies Readonly<Record<string, Decisive>>;

type InputsOf = Pick<Source, "fields" | "lacks" | "drop_params">;

/** Returns true if requests to the source can contain the input, because the source or its family has a field for it. */
export function sourceTakes({ fields, lacks, drop_params: dropped }: InputsOf, input: string): boolean {
  // `drop_params` contains names of the source's fields.
  if (dropped?.includes(fields?.[input]?.replace(/[[:].*$/, "") ?? input) === true) return false;
  return fields ? fields[input] !== undefined : lacks?.includes(input) !== true;
}

/** Returns the names of the inputs in a request that change the result. Kinds that `DECISIVE_MEMBERS` does not list have none. */
export function decisiveInputs(request: object, kind: string): string[] {
  const table: Readonly<Record<string, Decisive>> = DECISIVE_MEMBERS;
  const { refused, dropped } = table[kind] ?? {};
  return broughtBy(request, { ...refused, ...dropped }).map(([, input]) => input);
}

/**
 * Rejects members that change the result if no single source of the model supports all of them.
 * @throws ApiError `unsupported_value`
 */
export function refuseUntaken(
  request: object,
  { sources }: { readonly sources: readonly InputsOf[] },
  kind: keyof typeof DECISIVE_MEMBERS,
): void {
  const { refused = {} }: Decisive = DECISIVE_MEMBERS[kind];
  let able = sources;
  for (const [name, input] of broughtBy(request, refused)) {
    const others = able;
    able = able.filter((source) => sourceTakes(source, input));
    if (able.length > 0) continue;
    const beside = others.length < sources.length ? " together with the other parameters" : "";
    throw refusal(name, `This model does not support ${name}${beside}; remove it.`);
  }
}

/**
 * Returns the members of a request that have a value, each with its name of the input inside this service. An empty text counts as unset,
 * because clients send it for unset members.
 */
function broughtBy(request: object, members: Readonly<Record<string, string>>): [member: string, input: string][] {
  const body = request as Readonly<Record<string, unknown>>;
  return Object.entries(members).filter(([name]) => (body[name] ?? "") !== "");
}

/** Rejects a format that differs from the only one of the model. @throws ApiError `unsupported_value` */
export function refuseFormat(
  format: string | undefined,
  { allowed_params: params }: Pick<Model, "allowed_params">,
): void {
  if (format === undefined || params.output_formats !== undefined) return;
  throw refusal("output_format", `This model has a fixed output format; remove output_format.`);
}

/** Returns an object with this member, for spreading into an object literal. Returns an empty object if the value is undefined. */
export function only<K extends string, T>(name: K, value: T | undefined): { readonly [key in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]?: T });
}

export function refusal(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}

/**
 * Returns the maximum time for a price by time, in milliseconds. This is the time of computing that the catalogue allows, or the length of
 * the media.
 */
export function timeBound(model: Pick<Model, "seconds_of" | "compute_seconds_max">, mediaSeconds: number): number {
  return 1_000 * (model.seconds_of === "compute" ? (model.compute_seconds_max ?? 0) : mediaSeconds);
}

/** Returns the usual time of a call for a price by time, in milliseconds. */
export function usualTime(
  model: Pick<Model, "seconds_of" | "compute_seconds_max" | "compute_seconds_usual">,
  mediaSeconds: number,
): number {
  const { compute_seconds_max: most = 0, compute_seconds_usual: usual = Math.ceil(most / 2) } = model;
  return 1_000 * (model.seconds_of === "compute" ? usual : mediaSeconds);
}
