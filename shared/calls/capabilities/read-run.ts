/** Reads and checks the request of a run, in the same way for HTTP and batch messages. */
import type { Modality } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { WorkKind } from "#shared/calls/work.ts";
import { checkMayReadFiles } from "#shared/access/may-read-files.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { type Inline, INLINE_INPUT_BYTES_MAX } from "#shared/calls/offload-inputs.ts";
import { type CostMax, costMaxOf, type OuterMax, takeMaxCredits } from "../max-credits.ts";
import type { CheckedRun } from "./check.ts";
import type { Capability } from "./entry.ts";
import { CHECKS } from "./list.ts";
import { expectedOf } from "./expected.ts";
import { type ProbeContext, type ProbedInput, probeInputs } from "./probe-inputs.ts";
import { capabilityCharge, capabilityPrice } from "./price.ts";
import { isSampleFile } from "./samples.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isDataUrl, readDataUrl } from "#shared/files/data-url.ts";
import { isFileId } from "#shared/files/id.ts";
import { linkedFileId } from "#shared/files/links.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import type { CheckedCall } from "#shared/calls/kinds/kind.ts";
import { assertPublicUrl } from "#shared/net/guard.ts";

import type { AvailableCapabilities } from "./available.ts";

/** Maximum decoded size of inline data, in bytes. A caller must send larger data as a file or a URL. */
const CAPABILITY_BASE64_BYTES_MAX = 10 * 1_048_576;

/** Kind of work for runs of capabilities. */
export const RUN_KIND = {
  name: "capability",
  pool: "capability",
  keepsFiles: true,
  keepsRecord: true,
} as const satisfies WorkKind & { readonly keepsFiles: boolean };

export interface ReadRun {
  readonly capability: Capability;
  readonly isAsync: boolean;
  /** Usual cost of a run with this request, in nano-credits. */
  readonly usualNano: bigint;
  /** Capability in the form of a model, because the admission expects a model with a price. */
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  readonly checked: CheckedCall;
  /** Maximum cost that the caller allows; `callOfRun` checks it. */
  readonly max: CostMax | undefined;
  /** Request that the worker receives. */
  readonly request: CheckedRun;
  /** Inline media that must be moved to the object store. */
  readonly inline: readonly Inline[];
}

interface Context extends ProbeContext {
  readonly database: Queryable;
  readonly availableCapabilities: AvailableCapabilities;
  readonly catalogue: { current(): Catalogue };
}

/**
 * Reads and checks the request of a run.
 * @param how `pause`: awaited between steps that process the whole body, so that other calls can use the thread. `max`: maximum cost, in addition to the maximum in the body
 * @throws ApiError `capability_not_found`, or an error that names the invalid member of the body
 */
export async function readRun(
  context: Context,
  caller: Caller,
  id: string,
  body: unknown,
  {
    pause = () => Promise.resolve(),
    max,
  }: { readonly pause?: () => Promise<void>; readonly max?: OuterMax | undefined } = {},
): Promise<ReadRun> {
  const capability = context.availableCapabilities.find(id);
  await pause();
  const { isAsync, run, maxNano } = checkRun(capability, body);
  await pause();
  const price = capabilityPrice(context.catalogue.current(), capability);
  const { input, inline, files, probed } = readInput(capability, run);
  const sizes = await checkFiles(context, caller, files);
  const isFlat = price.unit === "per_operation";
  const { storage, probes } = context;
  const probeContext = { storage, probes, workspaceId: caller.workspaceId };
  const known = isFlat ? {} : await probeInputs(probeContext, capability.category, probed, sizes);
  const expected = expectedOf(capability, run.params, known);
  const [usualNano, holdNano] = [expected.usual, expected.most].map((one) => capabilityCharge(price, one).nano);
  const bound = { holdNano: holdNano ?? 0n, outputTokensMax: 0, mayExceed: false, tokensMax: 0 };
  return {
    capability,
    isAsync,
    usualNano: usualNano ?? 0n,
    model: { slug: capability.id, modality: capability.output_modality as Modality, price },
    checked: { bound, price },
    max: costMaxOf(maxNano, max),
    request: { ...run, input },
    inline,
  };
}

/** Validates the body of a run and adds defaults. @throws ApiError that names the invalid member */
function checkRun(
  capability: Capability,
  body: unknown,
): { readonly run: CheckedRun; readonly isAsync: boolean; readonly maxNano?: bigint } {
  const { request, ...max } = takeMaxCredits(parse("CapabilityRunRequest", body));
  const check = CHECKS.get(capability.id);
  if (!check) throw new Error(`no check for ${capability.id}`);
  return { run: check(request), isAsync: request.async === true, ...max };
}

type Members = Readonly<Record<string, unknown>>;

interface Reading {
  /** Inline media that must be moved to the object store. */
  readonly inline: Inline[];
  readonly files: { readonly id: string; readonly param: string }[];
  readonly probed: ProbedInput[];
}

/** Returns the input for the worker, with large base64 values removed, and the media and files that it contains. */
function readInput({ members }: Capability, { input }: CheckedRun): Reading & { readonly input: CheckedRun["input"] } {
  const reading: Reading = { inline: [], files: [], probed: [] };
  const read = (name: string, value: unknown): unknown => {
    const param = `input.${name}`;
    if (typeof value === "string") {
      const { file_id, url } = readAddress(value, param, reading);
      return file_id === undefined ? url : { file_id, url };
    }
    if (members[name]?.named !== undefined) {
      const all = Object.entries(value as Readonly<Record<string, Members>>);
      return Object.fromEntries(
        all.map(([own, one]) => [own, readOne(one, name, `${name}-${own}`, `${param}.${own}`, reading)]),
      );
    }
    if (!Array.isArray(value)) return readOne(value as Members, name, name, param, reading);
    return (value as readonly Members[]).map((one, at) =>
      readOne(one, name, `${name}-${at}`, `${param}[${at}]`, reading),
    );
  };
  const entries = Object.entries(input).map(([name, value]) => [name, read(name, value)]);
  return { ...reading, input: Object.fromEntries(entries) as CheckedRun["input"] };
}

function readOne(
  source: Members,
  member: string,
  name: string,
  param: string,
  { inline, files, probed }: Reading,
): Members {
  const { url } = source;
  const { base64, mime_type: contentType } = inlineOf(source, param);
  const address = typeof url === "string" ? readAddress(url, `${param}.url`, { files }) : undefined;
  const fileId = address?.file_id ?? source["file_id"];
  if (typeof source["file_id"] === "string") files.push({ id: source["file_id"], param: `${param}.file_id` });
  const probedInput: ProbedInput = { member, ...(typeof fileId === "string" ? { fileId } : {}) };
  if (typeof base64 !== "string") probed.push(probedInput);
  if (address) return address.file_id === undefined ? { url: address.url } : { file_id: address.file_id };
  if (typeof base64 !== "string") return source;
  const bytesMax = CAPABILITY_BASE64_BYTES_MAX;
  if (Math.floor(base64.length / 4) * 3 - 2 > bytesMax) {
    const message = `Expected at most ${bytesMax} bytes in base64. Send larger files as file_id or url.`;
    throw new ApiError("unprocessable_input", message, { param: `${param}.base64` });
  }
  const bytes = decoded(base64, `${param}.base64`);
  probed.push({ ...probedInput, bytes });
  if (bytes.length <= INLINE_INPUT_BYTES_MAX) return { ...source, base64, mime_type: contentType };
  inline.push({ name, param, bytes, contentType: typeof contentType === "string" ? contentType : "" });
  return { stored: name, ...(typeof contentType === "string" ? { mime_type: contentType } : {}) };
}

/**
 * Checks a URL from the caller. A link to a file of this service is replaced by the stored file.
 * @throws ApiError `unsafe_url`, `file_not_found`
 */
function readAddress(
  address: string,
  param: string,
  { files }: Pick<Reading, "files">,
): { readonly url: string; readonly file_id?: string } {
  const linked = linkedFileId(address, param);
  if (linked === undefined) return { url: assertPublicUrl(address, param).href };
  files.push({ id: linked, param });
  return { url: address, file_id: linked };
}

/** Splits a data URL into the data and its type. Returns other inputs unchanged. @throws ApiError `unprocessable_input` */
function inlineOf(source: Members, param: string): Members {
  const { base64: text, mime_type: own } = source;
  if (typeof text !== "string" || !isDataUrl(text)) return source;
  const data = readDataUrl(text);
  if (!data) throw notBase64(`${param}.base64`);
  const { type, charset } = data;
  const written = type === "" || charset === undefined ? type : `${type};charset=${charset}`;
  return { base64: data.base64, mime_type: own ?? (written === "" ? undefined : written) };
}

function notBase64(param: string, cause?: unknown): ApiError {
  return new ApiError("unprocessable_input", "Expected base64, or a base64 data URL.", { param, cause });
}

function decoded(base64: string, param: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch (error) {
    throw notBase64(param, error);
  }
}

/**
 * Checks that the caller may read the stored files of a run.
 * @returns sizes of the files in bytes, by file id
 */
async function checkFiles(
  { database }: Context,
  caller: Caller,
  named: Reading["files"],
): Promise<ReadonlyMap<string, number>> {
  const files = named.filter(({ id }) => !isSampleFile(id));
  const [first] = files;
  if (!first) return new Map();
  checkMayReadFiles(caller, first.param);
  const ids = [...new Set(files.map(({ id }) => id))].filter(isFileId);
  const rows = await unavailable(
    "Files cannot be looked up right now; try again shortly.",
    findFiles(database, viewerOf(caller), ids),
  );
  const known = new Map(rows.map(({ id, bytes }) => [id, Number(bytes)]));
  const absent = files.find(({ id }) => !known.has(id));
  if (absent) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param: absent.param });
  return known;
}
