/** Common parts of the checks of all media calls: their result, and the test of a value against a model's declared set. */
import type { Model, Source } from "#shared/calls/model.ts";
import { arrived } from "#shared/contract-fault.ts";
import { ApiError } from "#shared/errors.ts";
import type { Quantities } from "#shared/calls/pricing/media.ts";
import type { Price } from "#shared/calls/pricing/price.ts";

import type { CallBound } from "./call-bound.ts";

export interface CheckedMedia<Params> {
  /** Parameters for a source; those for which the model has no field are absent. */
  readonly params: Params;
  readonly bound: CallBound;
  /** Price of the variant that the call asks for. */
  readonly price: Price;
  /** Largest quantities of what the price counts; the hold covers them. */
  readonly most: Quantities;
  /** Usual quantities of such a call, for estimates. */
  readonly usual: Quantities;
}

/**
 * Part of a check that travels with its job, in JSON: a source is asked with these params, and the charge is counted by these
 * quantities, whatever the catalogue says by then. Price and hold stand in the work message.
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

/** The value when the model has such a field. @throws ApiError when it is none of those that the model declares */
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
  /** Member of the body → our name of the input. Refused when no source of the model takes it. */
  readonly refused?: Readonly<Record<string, string>>;
  /** The same of members that the contract drops when no source of the model takes them. Sources that take them are asked first. */
  readonly dropped?: Readonly<Record<string, string>>;
}

/**
 * Members of each kind of call that change what is made: with another value, or without them, the caller receives another thing. A
 * source without a field for one is passed over for another source of the model (decision 0108). Members that choose size, quality,
 * style or format are checked against the model's declared sets instead. Every adapter sends `prompt`, and the `image` of an edit.
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

/** True if the source has a field for the input, of its own or of its family. */
export function sourceTakes({ fields, lacks, drop_params: dropped }: InputsOf, input: string): boolean {
  // Dropped members have the name of the source's field.
  if (dropped?.includes(fields?.[input]?.replace(/[[:].*$/, "") ?? input) === true) return false;
  return fields ? fields[input] !== undefined : lacks?.includes(input) !== true;
}

/** Returns the names of the inputs of a call that change the result. Kinds that `DECISIVE_MEMBERS` does not list have none. */
export function decisiveInputs(request: object, kind: string): string[] {
  const table: Readonly<Record<string, Decisive>> = DECISIVE_MEMBERS;
  const { refused, dropped } = table[kind] ?? {};
  return broughtBy(request, { ...refused, ...dropped }).map(([, input]) => input);
}

/** @throws ApiError `unsupported_value` for a member that changes what is made when no source of the model takes all of them */
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

/** Clients send an empty text for what is not set. */
function broughtBy(request: object, members: Readonly<Record<string, string>>): [member: string, input: string][] {
  const body = request as Readonly<Record<string, unknown>>;
  return Object.entries(members).filter(([name]) => (body[name] ?? "") !== "");
}

/** @throws ApiError `unsupported_value` for a format that a model without a choice of formats does not make */
export function refuseFormat(
  format: string | undefined,
  { allowed_params: params }: Pick<Model, "allowed_params">,
): void {
  if (format === undefined || params.output_formats !== undefined) return;
  throw refusal("output_format", `This model has a fixed output format; remove output_format.`);
}

/** A member for an object literal, or nothing. */
export function only<K extends string, T>(name: K, value: T | undefined): { readonly [key in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]?: T });
}

export function refusal(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}

/** Most milliseconds of what a price by time counts: of computing as the catalogue bounds it, else of the media. */
export function timeBound(model: Pick<Model, "seconds_of" | "compute_seconds_max">, mediaSeconds: number): number {
  return 1_000 * (model.seconds_of === "compute" ? (model.compute_seconds_max ?? 0) : mediaSeconds);
}

/** The same of a usual call. */
export function usualTime(
  model: Pick<Model, "seconds_of" | "compute_seconds_max" | "compute_seconds_usual">,
  mediaSeconds: number,
): number {
  const { compute_seconds_max: most = 0, compute_seconds_usual: usual = Math.ceil(most / 2) } = model;
  return 1_000 * (model.seconds_of === "compute" ? usual : mediaSeconds);
}
