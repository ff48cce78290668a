/**
 * Predictions: a start answers with an id, under which the prediction is asked about until it ends. The answer is never
 * waited for (`Prefer: wait`): a crash meanwhile would lose the id. Source: replicate.com/docs/reference/http.
 */
import type { Fields, PlacedInput } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, parseObject, textOf } from "../json.ts";
import type { Artifact, MediaCall, MediaKind, MediaUsage, Polled, QueuedAdapter } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";

import { classifyFailure, classifyStart } from "./errors.ts";
import { writeInput } from "./inputs.ts";
import { newJob, type Prediction, readJob } from "./job.ts";
import { findPrediction, markOf } from "./listing.ts";

export interface Model<Input> {
  readonly kind: MediaKind;
  /** Fields that inputs go to unless the source names its own. */
  readonly usual: Fields;
  /** @throws ProviderError */
  place(call: MediaCall<Input>): readonly PlacedInput[];
  /** Number of results requested. */
  asked(input: Input): number;
  readonly wanted: Wanted;
  /** Usage beside the compute time. */
  usage(files: readonly string[], metrics: Members): MediaUsage;
  /**
   * Duration after which Replicate cancels a job by itself, as long as our own pools wait for one of this kind:
   * nobody may be left to cancel it.
   */
  readonly cancelAfter: string;
}

export function predictions<Input>(endpoint: Endpoint, model: Model<Input>): QueuedAdapter<Input, readonly Artifact[]> {
  return {
    takesUrls: true,

    async start(call) {
      const { path, version } = targetOf(call.sourceModel);
      const asked = { kind: model.kind, fields: { prompt: "prompt", ...(call.fields ?? model.usual) } };
      const input = await writeInput(endpoint, model.place(call), { asked, signal: call.signal });
      call.adapt(input);
      const headers = { "cancel-after": takeCancelAfter(input) ?? model.cancelAfter };
      const body = JSON.stringify({
        ...(version === undefined ? {} : { version }),
        input,
        ...ringing(call.callbackUrl),
      });
      const results = model.asked(call.input);
      const mark = markOf(call.sourceModel, input, { asked: results, rings: canRing(call.callbackUrl) });
      return postStart(endpoint, { path, body, headers }, call, mark, (answer) => {
        if (!isSuccess(answer.status)) throw classifyStart(answer.status, answer.headers, answer.text, asked);
        const job = newJob(parseObject(answer.text), results);
        // Taken, and by all signs running, but nobody can ask for it.
        if (!job) throw new ProviderError("unknown", "the prediction was taken without an id that can be asked for");
        return job;
      });
    },

    async poll(job, signal) {
      const known = readJob(job);
      if (!known) return unknown("the stored job is none of Replicate's");
      try {
        return await ask(endpoint, model, known, signal);
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      }
    },

    find: (lost, signal) => findPrediction(endpoint, lost, signal),

    nameOf: (job) => readJob(job)?.id,

    async cancel(job, signal) {
      const known = readJob(job);
      // Whatever the answer, what became of the prediction is told by its status.
      if (known) await post(endpoint, { path: `/predictions/${known.id}/cancel` }, signal);
    },
  };
}

function ringing(callbackUrl: string | undefined): Members {
  return canRing(callbackUrl) ? { webhook: callbackUrl, webhook_events_filter: ["completed"] } : {};
}

/** Only HTTPS is taken as a webhook; with another address we poll. */
function canRing(callbackUrl: string | undefined): boolean {
  return callbackUrl?.startsWith("https://") === true;
}

/**
 * `cancel_after` among a source's overrides is its own limit, such as `300s`, where less is held than the kind's limit could cost.
 * It is no input of the model's. @throws ProviderError `misconfigured` for what is no duration
 */
function takeCancelAfter(input: Record<string, unknown>): string | undefined {
  const { cancel_after: own } = input;
  delete input["cancel_after"];
  if (own === undefined || (typeof own === "string" && /^(?:[1-9]\d{0,4}[hms]){1,3}$/.test(own))) return own;
  throw new ProviderError("misconfigured", `the source's cancel_after is ${JSON.stringify(own)}`);
}

async function ask<Input>(
  endpoint: Endpoint,
  model: Model<Input>,
  { id, asked }: Prediction,
  signal: AbortSignal,
): Promise<Polled<readonly Artifact[]>> {
  const { status, text } = await post(endpoint, { method: "GET", path: `/predictions/${id}` }, signal);
  if (!isSuccess(status)) return unknown(`it was answered with ${status}`);
  const answer = parseObject(text);
  if (answer?.["id"] !== id) return unknown("the answer is about another prediction, or none");
  switch (answer["status"]) {
    case "starting":
    case "processing":
      return { state: "pending" };
    case "succeeded":
      return readOutput(model, answer, asked);
    case "failed":
      return { state: "failed", error: classifyFailure(textOf(answer["error"])) };
    // By us, or by its deadline: after it began, or before.
    case "canceled":
    case "aborted":
      return { state: "failed", error: new ProviderError("failed", `the prediction was ${answer["status"]}`) };
    default:
      return unknown(`the status is ${JSON.stringify(answer["status"])?.slice(0, 100) ?? "absent"}`);
  }
}

function readOutput<Input>(model: Model<Input>, answer: Members, asked: number): Polled<readonly Artifact[]> {
  const files = filesOf(answer["output"], model.wanted);
  if (!files) return unknown("the output holds no file that could be told");
  if (files.length === 0) {
    // It was there: input, output and logs are deleted after an hour.
    if (answer["data_removed"] === true) return unknown("the output was deleted before it was read");
    return { state: "failed", error: classifyFailure(textOf(answer["error"]) || "the prediction has no output") };
  }
  const kept = files.slice(0, asked);
  const metrics = isMembers(answer["metrics"]) ? answer["metrics"] : {};
  return {
    state: "done",
    output: kept.map((url) => ({ url })),
    usage: { ...model.usage(kept, metrics), ...measured("computeSeconds", metrics["predict_time"]) },
  };
}

/** A member for seconds that Replicate measured; nothing where it says none. */
export function measured(name: "seconds" | "computeSeconds", value: unknown): MediaUsage {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? { [name]: value } : {};
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}

// Files among a prediction's output, which is a text, a list or an object as each model has it (replicate.com/docs/topics/
// predictions/output-files). They lie at public addresses for an hour.

/** Marks by which the requested file is told from previews and intermediate files. */
interface Wanted {
  /** Names under which models put it, the best first. */
  readonly members: readonly string[];
  /** Pattern of the ending in its URL's path. */
  readonly extension: RegExp;
}

/** A file, and the names of the members on the way to it. */
interface Found {
  readonly names: readonly string[];
  readonly url: string;
}

/**
 * Addresses of what was asked for, in the model's order. Undefined: there is output, and no file to be told in it; an
 * empty list: there is none.
 */
function filesOf(output: unknown, { members, extension }: Wanted): readonly string[] | undefined {
  if (isNothing(output)) return [];
  const all = collect(output, []);
  const fits = ({ url }: Found): boolean => extension.test(new URL(url).pathname);
  const named = members.map((name) => all.filter(({ names }) => names.includes(name))).find(({ length }) => length > 0);
  // A text or a list is all of one kind; of an object's members some are previews, and a lone one may be.
  const isPlain = all.every(({ names }) => names.length === 0);
  const isLone = all.length === 1 && all.every(({ url }) => !/\.[a-z0-9]{2,5}$/i.test(new URL(url).pathname));
  const candidates = named ?? (isPlain || isLone ? all : all.filter(fits));
  const chosen = candidates.some(fits) ? candidates.filter(fits) : candidates;
  if (chosen.length > 0) return chosen.map(({ url }) => url);
  return isMembers(output) && members.some((name) => output[name] === null) ? [] : undefined;
}

function isNothing(output: unknown): boolean {
  return output === null || output === undefined || output === "" || (Array.isArray(output) && output.length === 0);
}

/** Collects addresses at any depth; json.ts limits how deep an answer can be. */
function collect(value: unknown, names: readonly string[]): Found[] {
  if (typeof value === "string") return isAddress(value) ? [{ names, url: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => collect(item, names));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => collect(item, [...names, name]));
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

// Path that runs a model: official ones by their name, all others by a version. Sources:
// replicate.com/docs/topics/predictions/create-a-prediction and replicate.com/docs/reference/http (models.predictions.create).

interface Target {
  readonly path: string;
  /** Goes into the body. */
  readonly version?: string;
}

const NAME = "[A-Za-z0-9][A-Za-z0-9._-]*";
const OFFICIAL = new RegExp(`^(${NAME})/(${NAME})$`);
/** 64 hexadecimal digits, the model's name before them or not: both are taken as they are. */
const VERSION = new RegExp(`^(?:${NAME}/${NAME}:)?[0-9a-f]{64}$`);

/** @throws ProviderError `misconfigured` for what is neither */
function targetOf(sourceModel: string): Target {
  if (VERSION.test(sourceModel)) return { path: "/predictions", version: sourceModel };
  const [, owner, name] = OFFICIAL.exec(sourceModel) ?? [];
  if (owner !== undefined && name !== undefined) return { path: `/models/${owner}/${name}/predictions` };
  throw new ProviderError("misconfigured", `expected owner/name, with or without :version, got ${sourceModel}`);
}
