/** Checks the target of a step (a model, a capability or a workflow) and its params. */
import type { TranscriptionRequest, WorkflowStep } from "#schemas/generated/types.ts";
import { refuseUnsupported } from "#shared/calls/unsupported.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import { CHECKS } from "#shared/calls/capabilities/list.ts";
import type { Catalogue, Model } from "#shared/calls/model.ts";
import type { Fault } from "#shared/json/contract-fault.ts";
import { type ApiError, apiErrorsOf } from "#shared/base/errors.ts";
import { didYouMean } from "#shared/base/near-names.ts";
import { filePlaces, NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import type { CallFacts, Kind } from "#shared/calls/kinds/kind.ts";
import { isPricedKind, kindOfModality } from "#shared/calls/kinds/kinds.ts";
import { hasEndpoint, kindOfCall } from "#shared/calls/kinds/models.ts";
import { takeMaxCredits } from "#shared/calls/max-credits.ts";
import { namedFallbacks } from "#shared/calls/model-choice.ts";
import { audioOf } from "#shared/calls/kinds/transcription.ts";

import type { Binding, DefinitionFault, OpenPlace } from "./bindings.ts";
import { isWithin, judgeKnown, mayMend } from "./known-faults.ts";

/** Models and capabilities that a definition may use. */
export interface Surroundings {
  readonly catalogue: Pick<Catalogue, "models">;
  /** Returns a capability; undefined if it is unavailable. */
  capability(id: string): Capability | undefined;
}

interface Bound {
  readonly params: Binding;
  readonly input: Binding;
}

/** Members of the output of a step that calls a chat model. `json` is absent if the text is no JSON object or array. */
export const CHAT_OUTPUT = ["text", "json", "message", "finish_reason", "model", "usage"] as const;

/** Members that only some step types have. */
const TYPE_MEMBERS = ["model", "workflow_id", "version", "params", "input"] as const;
const MEMBERS_OF_TYPE = {
  model: ["model", "params"],
  sub_pipeline: ["workflow_id", "version", "input"],
  capability: ["params", "input"],
} as const;

/** Sample values for required members whose actual values are unknown. */
const USUAL_PARAMS = { messages: [{ role: "user", content: "text" }], prompt: "text", input: "text" };
/** A sample recording that every transcription model accepts. */
const ANY_RECORDING = { bytes: 1, seconds: 0.001, param: "file" } as const;

export function* checkStepWork(
  step: WorkflowStep,
  place: string,
  bound: Bound,
  surroundings: Surroundings,
): Generator<DefinitionFault> {
  const type = step.type === "model" || step.type === "sub_pipeline" ? step.type : "capability";
  const members: readonly string[] = MEMBERS_OF_TYPE[type];
  for (const name of TYPE_MEMBERS) {
    if (step[name] === undefined || members.includes(name)) continue;
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
  { params: { places: open } }: Bound,
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
    const names = [...catalogue.models].flatMap(([name, one]) => (hasEndpoint(one) ? [name] : []));
    const advice = didYouMean(names, slug) || " Choose a name from the list of models.";
    yield { param: `${place}.model`, message: `There is no model "${slug.slice(0, 100)}".${advice}` };
    return;
  }
  const kind = kindOf(model, params);
  const read = (known: Readonly<Record<string, unknown>>) => {
    refuseUnsupported(known);
    return takeMaxCredits(kind.read({ ...known, model: slug })).request;
  };
  const { fault, known } = judgeKnown(params, open, {
    faultsOf: (value) => apiErrorsOf(() => read(value)),
    memberDepth: 1,
    usual: USUAL_PARAMS,
  });
  const [refused] = fault ? [fault] : known ? refusalsOf(kind, model, read(known), open, catalogue) : [];
  if (refused) yield placed(refused, refused.param === "model" ? place : `${place}.params`);
}

/** Returns the kind of call that a step makes. @throws Error for a model without endpoint */
export function kindOf(model: Model, params: Readonly<Record<string, unknown>>): Kind {
  // A call without any possible price is rejected when it is read.
  const kind = kindOfCall(model, params) ?? kindOfModality(model.modality);
  if (!kind) throw new Error(`no kind of call is for models of modality ${model.modality}`);
  return kind;
}

/**
 * Returns the errors with which the model would reject a call. Omits errors that may disappear when expressions are resolved during a run.
 */
function refusalsOf(
  kind: Kind,
  model: Model,
  request: object,
  open: readonly OpenPlace[],
  catalogue: Surroundings["catalogue"],
): readonly ApiError[] {
  const unknown = apiErrorsOf(() => namedFallbacks(kind, catalogue, {}, model, request));
  if (unknown.length > 0) return unknown;
  // Stored files may change until the step runs.
  if (filePlaces(request).length > 0) return [];
  const bodyBytes = Buffer.byteLength(JSON.stringify(request));
  const facts: CallFacts = { bodyBytes, files: NO_FILES, recording: ANY_RECORDING };
  const refusals = apiErrorsOf(() => {
    // Open audio may resolve to null, which leaves only the file.
    const hasOpenAudio = open.some(({ param }) => param === "audio_base64");
    if (isPricedKind(kind) && kind.bringsRecording === true && !hasOpenAudio) audioOf(request as TranscriptionRequest);
    kind.check(request, model, facts);
  });
  return refusals.filter((one) => !open.some((place) => mayMend(place, one)));
}

function* checkCapability(
  { type: id, input, params = {} }: WorkflowStep,
  place: string,
  bound: Bound,
  surroundings: Surroundings,
): Generator<DefinitionFault> {
  const check = surroundings.capability(id) === undefined ? undefined : CHECKS.get(id);
  if (check === undefined) {
    const capabilities = [...CHECKS.keys()].filter((name) => surroundings.capability(name) !== undefined);
    const near = didYouMean(["model", "sub_pipeline", ...capabilities], id);
    const advice = near || " Choose model, sub_pipeline or the id of a capability, such as image.resize.";
    yield { param: `${place}.type`, message: `There is no step type "${id}".${advice}` };
    return;
  }
  const open = [...within("params", bound.params), ...within("input", bound.input)];
  const isOpen = (path: string): boolean => open.some(({ param }) => isWithin(param, path) || isWithin(path, param));
  const { fault } = judgeKnown({ input: input ?? {}, params }, open, {
    faultsOf: (known) => check.faults(known, isOpen),
    memberDepth: 2,
  });
  if (!fault) return;
  const { param, message } = placed(fault, place);
  // A rule about several names mentions all of them.
  yield { param, message: message.replaceAll(/(?<![\w.\]])(?:params|input)(?=\.\w)/g, (name) => `${place}.${name}`) };
}

function within(name: string, { places }: Binding): readonly OpenPlace[] {
  return places.map(({ path, param, isText }) => ({ path: [name, ...path], param: `${name}.${param}`, isText }));
}

/**
 * Converts the error of a checked call to an error of the workflow definition.
 * @param holder location of the checked value in the definition, which precedes the error's own location
 */
function placed({ param, message, cause }: ApiError, holder: string): DefinitionFault {
  if (param === null) return { param: holder, message };
  const place = `${holder}.${param}`;
  // Messages of contracts contain param names only as such; messages of models use them as ordinary words too.
  const namesParam = (cause as Fault | undefined)?.isOfType !== undefined || /[.[]/.test(param);
  return { param: place, message: namesParam ? renamed(message, param, place) : message };
}

/** Replaces a name in a message wherever it occurs as a whole word. */
export function renamed(message: string, name: string, other: string): string {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return message.replaceAll(new RegExp(String.raw`(?<![\w.\]])${escaped}(?!\w)`, "g"), () => other);
}
