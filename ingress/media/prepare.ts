/** A body → a media job: contract, model, the model's constraints, what comes with the call. The order is the design's (part 5). */
import { releaseBody } from "#shared/calls/offload-inputs.ts";
import { checkInputFiles, inputBytesMax } from "#shared/calls/kinds/input-media.ts";
import type { MediaKind } from "#shared/calls/kinds/kind.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";

import { readBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { callerOf, type RouteCall } from "../serve.ts";

import type { MediaJob } from "./media-job.ts";

export interface Prepared<Request> {
  readonly request: Request;
  readonly job: MediaJob;
}

/** @throws ApiError */
export async function prepareMedia<Request extends object>(
  context: IngressContext,
  call: RouteCall,
  kind: MediaKind<Request>,
): Promise<Prepared<Request>> {
  const { value, pause } = await readBody(context, call);
  await pause();
  const asked = kind.read(value);
  const model = modelOf(kind, context.catalogue.current(), asked.model);
  const checked = kind.check(asked, model);
  await pause();
  const inputs = await kind.inputs(asked, model);
  await pause();
  await checkInputFiles(context.database, callerOf(call), inputs, (one) => inputBytesMax(one, model));
  const { request, take: takeInline } = releaseBody<Request>(asked, inputs);
  return { request, job: { kind, model, checked, request, takeInline } };
}
