/** /operator/catalogue: lists all models with the reasons why some are not offered, and checks proposed catalogue files. */
import type { OperatorCatalogue, OperatorCatalogueCheck } from "#schemas/generated/types.ts";
import type { Model } from "#shared/calls/model.ts";
import { pricingNumbers } from "#shared/calls/present-model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readJson } from "#shared/json/parse.ts";
import { checkCatalogue, sourcesOf, unroutableModels } from "#shared/operators/catalogue.ts";

import { json } from "../../core/answers.ts";
import { readJsonBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OperatorCall } from "../../core/call.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { READ, WRITE } from "./common.ts";

/** Maximum size of a catalogue file to check, in bytes. A typical file has 10 KB; parsing 1 MB would block other callers of the process. */
export const CATALOGUE_CHECK_BYTES_MAX = 262_144;

export function catalogue(context: IngressContext): readonly OperatorRoute[] {
  return [
    {
      ...READ,
      method: "GET",
      path: "/operator/catalogue",
      operationId: "getOperatorCatalogue",
      summary: "Retrieve catalogue",
      description: "Lists all models with their sources and prices, and the reason why a model is not available.",
      responses: { 200: { description: "The current catalogue", schema: "OperatorCatalogue" } },
      errors: [],
      handle: () => json(present(context)),
    },
    {
      ...WRITE,
      method: "POST",
      path: "/operator/catalogue/check",
      operationId: "checkOperatorCatalogue",
      summary: "Check catalogue files",
      description:
        "Validates catalogue files on top of the built-in files, without those of `SLUICE_CATALOGUE`. Nothing changes.",
      request: { schema: "OperatorCatalogueCheckRequest" },
      responses: { 200: { description: "The result of the check", schema: "OperatorCatalogueCheck" } },
      errors: errorsOf(["reads_json"]),
      handle: (call) => check(context, call),
    },
  ];
}

function present(context: IngressContext): OperatorCatalogue {
  const current = context.catalogue.current();
  const routable = Array.from(current.models.values(), presentModel);
  const others = unroutableModels(current).map(({ model, reason }) => ({
    model,
    is_routable: false,
    reason,
    modality: null,
    sources: [],
    pricing: null,
    price_source: null,
  }));
  return { object: "list", version: current.version, data: [...routable, ...others] };
}

function presentModel(model: Model): OperatorCatalogue["data"][number] {
  return {
    model: model.slug,
    is_routable: true,
    reason: null,
    modality: model.modality,
    sources: sourcesOf(model),
    pricing: pricingNumbers(model.price),
    price_source: model.price_source ? { ...model.price_source } : null,
  };
}

async function check(context: IngressContext, call: OperatorCall): Promise<Response> {
  // A text may be twice as long in JSON.
  const bytes = await readJsonBody(call.request, 2 * CATALOGUE_CHECK_BYTES_MAX);
  const { files } = parse("OperatorCatalogueCheckRequest", readJson(bytes).value);
  const textBytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (textBytes > CATALOGUE_CHECK_BYTES_MAX) {
    throw new ApiError(
      "request_too_large",
      `Expected files of at most ${CATALOGUE_CHECK_BYTES_MAX} bytes in total, got ${textBytes}.`,
      { param: "files" },
    );
  }
  const { verdict } = await checkCatalogue(() => context.catalogue.check(files));
  return json({ ...verdict } satisfies OperatorCatalogueCheck);
}
