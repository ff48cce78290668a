/** A body → a media job: contract, model, the model's constraints, what comes with the call. The order is the design's (part 5). */
import type { Modality, SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { checkGivenFiles, type Given, givenBytesMax } from "#shared/kinds/given-media.ts";
import { type CheckedMedia, withoutNulls } from "#shared/kinds/media-check.ts";
import { resolveMediaModel } from "#shared/kinds/resolve-model.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";
import { parse } from "#shared/contracts.ts";
import { readJson } from "#shared/json.ts";

import { readJsonBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { callerOf } from "../roles.ts";
import type { RouteCall } from "../serve.ts";

import type { MediaJob } from "./offer-job.ts";
import { lighten } from "./put-aside.ts";

/** What an endpoint says of its calls. */
export interface MediaEndpoint<Name extends SchemaName> extends Pick<MediaJob, "pool" | "kind"> {
  readonly schema: Name;
  readonly modality: Modality;
  /** Modalities whose models it serves as well. */
  readonly furtherModalities?: readonly Modality[];
  /** @throws ApiError naming the parameter that the model cannot take */
  check(request: SchemaTypes[Name], model: Model): CheckedMedia<unknown>;
  /** Media that comes with the call. @throws ApiError */
  given?(request: SchemaTypes[Name], model: Model): Promise<readonly Given[]>;
}

export interface Prepared<Request> {
  readonly request: Request;
  readonly job: MediaJob;
}

/** @throws ApiError */
export async function prepareMedia<Name extends SchemaName>(
  context: IngressContext,
  call: RouteCall,
  endpoint: MediaEndpoint<Name>,
): Promise<Prepared<SchemaTypes[Name]>> {
  const bytes = await readJsonBody(call.request, context.config.bodyBytesMax);
  const request = parse(endpoint.schema, withoutNulls(readJson(bytes).value));
  const { model: slug } = request as { readonly model: string };
  const model = resolveMediaModel(context.catalogue.current(), slug, endpoint.modality, endpoint.furtherModalities);
  const checked = endpoint.check(request, model);
  const given = (await endpoint.given?.(request, model)) ?? [];
  await checkGivenFiles(context.database, callerOf(call), given, (kind) => givenBytesMax(kind, model));
  const light = lighten(request as SchemaTypes[Name] & object, given);
  const job = {
    pool: endpoint.pool,
    kind: endpoint.kind,
    model,
    checked,
    request: light.request,
    takeGiven: light.take,
  };
  return { request: light.request, job };
}
