/** What a step calls: a model, a capability or a workflow, and whether it takes what is written down for it. */
import type { WorkflowStep } from "#schemas/generated/types.ts";
import type { Capability } from "#shared/capabilities/entry.ts";
import { CHECKS } from "#shared/capabilities/list.ts";
import type { Catalogue, Model } from "#shared/catalogue/catalogue.ts";
import { ApiError } from "#shared/errors.ts";
import { CHAT } from "#shared/kinds/chat.ts";
import { NO_FILES } from "#shared/kinds/chat/files.ts";
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
  const kind = kindOf(model, params);
  const isKnown = bound.params.references.length === 0;
  yield* faultOf(`${place}.params`, params, [bound.params], (known) => {
    const request = kind.read({ ...known, model: slug });
    // A transcription is judged with its audio.
    if (!isKnown || kind.name === "transcription") return;
    try {
      kind.check(request, model, { bodyBytes: Buffer.byteLength(JSON.stringify(params)), files: NO_FILES });
    } catch (error) {
      // Files are looked up when the run gets there.
      if (!(error instanceof ApiError && error.code === "file_not_found")) throw error;
    }
  });
}

/** The kind of call that a step makes. */
export function kindOf(model: Model, params: Readonly<Record<string, unknown>>): Kind {
  if (model.supports_chat) return CHAT;
  if (model.supports_embeddings) return EMBEDDINGS;
  const kind = kindOfModality(model.modality);
  if (!kind) throw new Error(`no kind of call is for models of modality ${model.modality}`);
  return kind.name === "images" && ("image_base64" in params || "image_file_id" in params) ? IMAGE_EDITS : kind;
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
  const isOpen = bound.params.open.length + bound.input.open.length > 0;
  yield* faultOf(place, { input, params }, [bound.params, bound.input], (known) => {
    check(known, isOpen);
  });
}

/**
 * A fault at a place that is not known before a run is none yet: the place is left out, so that it hides no other fault. Of a text
 * with an expression in it the type is known, but not its value.
 */
function* faultOf<Value extends object>(
  place: string,
  value: Value,
  bindings: readonly Binding[],
  check: (known: Value) => void,
): Generator<DefinitionFault> {
  const open = bindings.flatMap((binding) => binding.open);
  const inPart = bindings.flatMap(({ references }) => references.map(({ param }) => param));
  let known = value;
  for (let left = OPEN_PLACES_MAX; left > 0; left -= 1) {
    const error = faultIn(() => check(known));
    if (!error) return;
    const { param: at, code, message } = error;
    const param = at === null ? place : `${place}.${at}`;
    const unjudged = code === "unsupported_value" ? [...open, ...inPart] : open;
    if (!unjudged.some((one) => isWithin(one, param) || isWithin(param, one))) {
      yield { param, message: at === null ? message : message.replaceAll(at, param) };
      return;
    }
    const rest = at === null || code === "missing_required_parameter" ? undefined : without(known, at);
    if (!rest) return;
    known = rest;
  }
}

/** More of them hide what else is wrong. */
const OPEN_PLACES_MAX = 20;

function faultIn(check: () => void): ApiError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** @param path of members; undefined for one into a list, whose items keep their places */
function without<Value extends object>(value: Value, path: string): Value | undefined {
  if (path.includes("[")) return undefined;
  const parts = path.split(".");
  const last = parts.pop() ?? "";
  const copy = structuredClone(value);
  let at = copy as Record<string, unknown>;
  for (const part of parts) at = (at[part] ?? {}) as Record<string, unknown>;
  if (!Object.hasOwn(at, last)) return undefined;
  delete at[last];
  return copy;
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}
