/** Common parts of the checks of all media calls: their result, and the test of a value against a model's declared set. */
import type { Model } from "#shared/calls/model.ts";
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
  throw refusal(param, `Expected ${param} to be one of ${declared.join(", ")}, as this model has it, got ${got}.`);
}

/** True if a source of the model has a field for the input, of its own or of its family. */
export function takes({ sources }: Pick<Model, "sources">, input: string): boolean {
  return sources.some(({ fields, lacks }) => (fields ? fields[input] !== undefined : lacks?.includes(input) !== true));
}

/** @throws ApiError `unsupported_value` for one of `inputs` that the body brings and no source of the model has a field for */
export function refuseUntaken(request: object, model: Pick<Model, "sources">, inputs: readonly string[]): void {
  const members: readonly (readonly [string, unknown])[] = Object.entries(request);
  // Clients send an empty text for what is not set.
  const [untaken] = members.find(([name, value]) => value !== "" && inputs.includes(name) && !takes(model, name)) ?? [];
  if (untaken !== undefined)
    throw refusal(untaken, `Expected no ${untaken}, which this model has no use for, got one.`);
}

/** @throws ApiError `unsupported_value` for a format that a model without a choice of formats does not make */
export function refuseFormat(
  format: string | undefined,
  { allowed_params: params }: Pick<Model, "allowed_params">,
): void {
  if (format === undefined || params.output_formats !== undefined) return;
  throw refusal("output_format", `Expected no output_format, of which this model has no choice, got ${format}.`);
}

/** A member for an object literal, or nothing. */
export function only<K extends string, T>(name: K, value: T | undefined): { readonly [key in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]?: T });
}

export function refusal(param: string, message: string): ApiError {
  return new ApiError("unsupported_value", message, { param });
}

/** The body without members that are null: SDKs send those for what is not set. */
export function withoutNulls(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
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
