/** A body → a run of a capability: contract, params, inputs, what it may cost. */
import type { CapabilityRunRequest, Modality } from "#schemas/generated/types.ts";
import { checkMayReadFiles } from "#shared/admission/may-read-files.ts";
import type { Inline } from "#shared/admission/offload-inputs.ts";
import type { CheckedRun } from "#shared/capabilities/check.ts";
import type { Capability } from "#shared/capabilities/entry.ts";
import { CHECKS, findCapability } from "#shared/capabilities/list.ts";
import { capabilityBound, capabilityPrice } from "#shared/capabilities/price.ts";
import { isSampleFile } from "#shared/capabilities/samples.ts";
import { parse } from "#shared/contracts.ts";
import { findFiles } from "#shared/database/files.ts";
import { ApiError } from "#shared/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { unavailable } from "#shared/files/unavailable.ts";
import { readJson } from "#shared/json.ts";
import { LIMITS } from "#shared/limits.ts";
import { assertPublicUrl } from "#shared/outbound/guard.ts";

import { readJsonBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import type { MediaJob } from "../media/media-job.ts";
import { callerOf } from "../roles.ts";
import type { RouteCall } from "../serve.ts";

export interface PreparedRun {
  readonly capability: Capability;
  readonly isAsync: boolean;
  readonly job: MediaJob;
}

/** @throws ApiError */
export async function prepareRun(context: IngressContext, call: RouteCall): Promise<PreparedRun> {
  const capability = capabilityOf(call);
  const body = await readJsonBody(call.request, context.config.bodyBytesMax);
  const request = parse("CapabilityRunRequest", readJson(body).value);
  const checked = checkOf(capability, request);
  const inline: Inline[] = [];
  const input = await preparedInput(context, call, capability, checked, inline);
  return {
    capability,
    isAsync: request.async === true,
    job: jobOf(context, capability, { ...checked, input }, inline),
  };
}

/** @throws ApiError `capability_not_found` */
export function capabilityOf(call: RouteCall): Capability {
  const capability = findCapability(call.params["id"] ?? "");
  if (capability) return capability;
  throw new ApiError("capability_not_found", "There is no such capability; GET /v1/tools lists those there are.");
}

/** @throws ApiError naming the member at fault */
export function checkOf(capability: Capability, request: CapabilityRunRequest): CheckedRun {
  const check = CHECKS.get(capability.id);
  if (!check) throw new Error(`no check for ${capability.id}`);
  return check(request);
}

function jobOf(context: IngressContext, capability: Capability, run: CheckedRun, inline: readonly Inline[]): MediaJob {
  const price = capabilityPrice(context.catalogue.current(), capability);
  const holdNano = capabilityBound(price, capability, operationsOf(run));
  let left = inline;
  return {
    kind: { name: "capability", pool: "capability" },
    model: { slug: capability.id, modality: capability.output_modality as Modality, price },
    checked: { bound: { holdNano, outputTokensMax: 0, mayExceed: false, tokensMax: 0 }, price },
    request: run,
    takeInline() {
      const taken = left;
      left = [];
      return taken;
    },
  };
}

/** Of a pipeline; one of any other run. */
export function operationsOf({ params }: CheckedRun): number {
  const { operations } = params;
  return Array.isArray(operations) ? operations.length : 1;
}

type Given = Readonly<Record<string, unknown>>;

/** The input as its worker gets it: large base64 goes apart. */
async function preparedInput(
  context: IngressContext,
  call: RouteCall,
  capability: Capability,
  { input }: CheckedRun,
  inline: Inline[],
): Promise<CheckedRun["input"]> {
  const prepared: Record<string, unknown> = {};
  const files: { readonly id: string; readonly param: string }[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (typeof value === "string") prepared[name] = assertPublicUrl(value, `input.${name}`).href;
    else if (capability.members[name]?.named !== undefined) {
      prepared[name] = Object.fromEntries(
        Object.entries(value as Readonly<Record<string, Given>>).map(([own, one]) => [
          own,
          preparedOne(one, `${name}-${own}`, `input.${name}.${own}`, inline, files),
        ]),
      );
    } else if (!Array.isArray(value))
      prepared[name] = preparedOne(value as Given, name, `input.${name}`, inline, files);
    else {
      prepared[name] = (value as readonly Given[]).map((one, at) =>
        preparedOne(one, `${name}-${at}`, `input.${name}[${at}]`, inline, files),
      );
    }
  }
  await checkFiles(context, call, files);
  return prepared;
}

function preparedOne(
  given: Given,
  name: string,
  param: string,
  inline: Inline[],
  files: { readonly id: string; readonly param: string }[],
): Given {
  const { file_id: fileId, url, base64, mime_type: contentType } = given;
  if (typeof fileId === "string") files.push({ id: fileId, param: `${param}.file_id` });
  if (typeof url === "string") return { url: assertPublicUrl(url, `${param}.url`).href };
  if (typeof base64 !== "string") return given;
  const bytesMax = LIMITS.capabilityBase64BytesMax;
  if (Math.floor(base64.length / 4) * 3 - 2 > bytesMax) {
    const message = `Expected at most ${bytesMax} bytes in base64; store the file, or give its address.`;
    throw new ApiError("unprocessable_input", message, { param: `${param}.base64` });
  }
  if (base64.length <= LIMITS.inlineInputBytesMax) return given;
  const bytes = decoded(base64, `${param}.base64`);
  inline.push({ name, param, bytes, contentType: typeof contentType === "string" ? contentType : "" });
  return { stored: name, ...(typeof contentType === "string" ? { mime_type: contentType } : {}) };
}

function decoded(base64: string, param: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch (error) {
    throw new ApiError("unprocessable_input", "Expected base64, without a data URL's head.", { param, cause: error });
  }
}

async function checkFiles(
  { database }: IngressContext,
  call: RouteCall,
  named: readonly { readonly id: string; readonly param: string }[],
): Promise<void> {
  const files = named.filter(({ id }) => !isSampleFile(id));
  const [first] = files;
  if (!first) return;
  const caller = callerOf(call);
  checkMayReadFiles(caller, first.param);
  const ids = [...new Set(files.map(({ id }) => id))].filter(isFileId);
  const rows = await unavailable("Files cannot be looked up right now; try again shortly.", () =>
    findFiles(database, caller.workspaceId, ids),
  );
  const known = new Set(rows.map(({ id }) => id));
  const absent = files.find(({ id }) => !known.has(id));
  if (absent) {
    throw new ApiError("file_not_found", "There is no such file in this workspace.", { param: absent.param });
  }
}
