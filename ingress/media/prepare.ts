/** A body → a media call: contract, model, the model's constraints, what comes with the call. The order is the design's (part 5). */
import type { MediaKind } from "#shared/calls/kinds/kind.ts";
import { readMedia, type ReadMedia } from "#shared/calls/read.ts";

import { readBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { callerOf, type RouteCall } from "../serve.ts";

/** @throws ApiError */
export async function prepareMedia<Request extends object>(
  context: IngressContext,
  call: RouteCall,
  kind: MediaKind<Request>,
): Promise<ReadMedia<Request>> {
  const { value, pause } = await readBody(context, call);
  return readMedia(context, callerOf(call), kind, value, pause);
}
