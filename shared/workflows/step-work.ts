/** What a step calls: a model, a capability or a workflow, and whether it takes what is written down for it. */
import type { WorkflowStep } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/capabilities/entry.ts";
import { CHECKS } from "#shared/capabilities/list.ts";
import type { Catalogue, Model } from "#shared/catalogue/catalogue.ts";
import { ApiError } from "#shared/errors.ts";
import { CHAT } from "#shared/kinds/chat.ts";
import { EMBEDDINGS } from "#shared/kinds/embeddings.ts";
import { IMAGE_EDITS } from "#shared/kinds/images.ts";
import type { Kind } from "#shared/kinds/kind.ts";
import { kindOfModality } from "#shared/kinds/kinds.ts";
import { hasEndpoint } from "#shared/kinds/models.ts";

import type { Binding, DefinitionFault } from "./bindings.ts";

/** What a definition may name. */
export interface Surroundings {
  readonly catalogue: Pick<Catalogue, "models">;
  /** Undefined for one that this service does not offer. */
  capability(id: string): Capability | undefined;
}

interface Bound {
  readonly params: Binding;
  readonly input: Binding;
}

/** Members that only steps of one type have. */
const OWN = {
  model: ["model", "params"],
  sub_pipeline: ["workflow_id", "version", "input"],
  capability: ["params", "input"],
} as const;
const TYPED = ["model", "workflow_id", "version", "params", "input"] as const;

export function* checkStepWork(
  step: WorkflowStep,
  place: string,
  bound: Bound,
  surroundings: Surroundings,
): Generator<DefinitionFault> {
  const type = step.type === "model" || step.type === "sub_pipeline" ? step.type : "capability";
  const own: readonly string[] = OWN[type];
  for (const name of TYPED) {
    if (step[name] === undefined || own.includes(name)) continue;
    yield { param: `${place}.${name}`, message: `Expected no ${name} on a step of type ${step.type}.` };
  }
  if (type === "model") yield* checkModel(step, place, bound, surroundings);
  else if (type === "capability") yield* checkCapability(step, place, bound, surroundings);
  else if (step.workflow_id === undefined) {
    yield { param: `${place}.workflow_id`, message: "Expected the id of the workflow that the step runs." };
  }
}

function* checkModel(
  { model: slug, params = {} }: WorkflowStep,
  place: string,
  bound: Bound,
  { catalogue }: Surroundings,
): Generator<DefinitionFault> {
  if (slug === undefined) {
    yield { param: `${place}.model`, message: "Expected the slug of the model that the step calls." };
    return;
  }
  for (const name of ["model", "stream"]) {
    if (name in params)
      yield { param: `${place}.params.${name}`, message: `Expected no ${name} in the params of a step.` };
  }
  const model = catalogue.models.get(slug);
  if (!model || !hasEndpoint(model)) {
    yield { param: `${place}.model`, message: `Expected a model of GET /v1/models, got ${slug.slice(0, 100)}.` };
    return;
  }
  yield* faultOf(`${place}.params`, bound.params.open, () => {
    kindOf(model, params).read({ ...params, model: slug });
  });
}

/** The kind of call that a step makes. */
export function kindOf(model: Model, params: Readonly<Record<string, unknown>>): Kind {
  if (model.supports_chat) return CHAT;
  if (model.supports_embeddings) return EMBEDDINGS;
  const kind = kindOfModality(model.modality);
  if (!kind) throw new Error(`no kind of call is for models of modality ${model.modality}`);
  return kind.name === "images" && ("image" in params || "images" in params) ? IMAGE_EDITS : kind;
}

function* checkCapability(
  { type: id, input = {}, params = {} }: WorkflowStep,
  place: string,
  bound: Bound,
  surroundings: Surroundings,
): Generator<DefinitionFault> {
  const check = surroundings.capability(id) === undefined ? undefined : CHECKS.get(id);
  if (check === undefined) {
    const message = `Expected model, sub_pipeline or a capability of GET /v1/tools, got ${id}.`;
    yield { param: `${place}.type`, message };
    return;
  }
  const open = [...bound.params.open, ...bound.input.open];
  yield* faultOf(place, open, () => {
    check({ input, params }, open.length > 0);
  });
}

/** A fault at a place that is not known before a run is none yet. */
function* faultOf(place: string, open: readonly string[], check: () => void): Generator<DefinitionFault> {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const param = error.param === undefined || error.param === null ? place : `${place}.${error.param}`;
    if (open.some((one) => isWithin(one, param) || isWithin(param, one))) return;
    yield { param, message: error.param ? error.message.replace(error.param, param) : error.message };
  }
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}
