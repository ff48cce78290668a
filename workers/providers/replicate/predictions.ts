/**
 * Adapter for Replicate's predictions. The request that starts a prediction returns its id, by which the prediction is polled until it
 * ends. `Prefer: wait` is not used, because a crash during the wait would lose the id. Source: replicate.com/docs/reference/http.
 */
import type { Fields, PlacedInput } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, membersOf, parseObject, textOf } from "../json.ts";
import { type InputMark, inputMark, isSince, likeness, listedFrom, readInputMark } from "../marks.ts";
import type {
  Artifact,
  Found,
  Listed,
  LostStart,
  MediaCall,
  MediaKind,
  MediaUsage,
  Polled,
  ProviderJob,
  QueuedAdapter,
} from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";
import { classifyFailure, classifyStart } from "./errors.ts";
import { writeInput } from "./inputs.ts";

export interface Model<Input> {
  readonly kind: MediaKind;
  /** Names of Replicate's input fields by our input names. Used if the source's catalogue entry has no `fields`. */
  readonly usual: Fields;
  /**
   * Returns the inputs of a call, each with the name of its field at the source.
   * @throws ProviderError `misconfigured` when the source has no field for a required input
   */
  place(call: MediaCall<Input>): readonly PlacedInput[];
  /** Returns the number of requested results. */
  asked(input: Input): number;
  readonly wanted: Wanted;
  /** Returns the usage of a finished prediction, such as images or seconds. The caller adds the compute time. */
  usage(files: readonly string[], metrics: Members): MediaUsage;
  /**
   * Duration after which Replicate itself cancels a job. It equals our maximum wait for this kind of job, so that a job ends even if no
   * process is left to cancel it.
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
        // The prediction was accepted and probably runs, but cannot be polled.
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
      // The response is ignored, because the next poll returns the outcome.
      if (known) await post(endpoint, { path: `/predictions/${known.id}/cancel` }, signal);
    },
  };
}

function ringing(callbackUrl: string | undefined): Members {
  return canRing(callbackUrl) ? { webhook: callbackUrl, webhook_events_filter: ["completed"] } : {};
}

/** Returns true if Replicate can send a callback to the URL, which must use HTTPS. Predictions without a callback URL are only polled. */
function canRing(callbackUrl: string | undefined): boolean {
  return callbackUrl?.startsWith("https://") === true;
}

/**
 * Removes `cancel_after` from the input and returns it; undefined if the source's overrides do not set it. A source sets a shorter
 * duration, such as `300s`, if its held credits do not cover the default `cancelAfter` of this kind of call.
 * @throws ProviderError `misconfigured` for an invalid duration
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
    // Cancelled by us or by its deadline, after or before its start.
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
    // The output existed: input, output and logs are deleted after an hour.
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

/** Returns a usage member with the seconds that Replicate measured; empty for an invalid value. */
export function measured(name: "seconds" | "computeSeconds", value: unknown): MediaUsage {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? { [name]: value } : {};
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}

// Files in a prediction's output, which is a text, a list or an object depending on the model (replicate.com/docs/topics/predictions/
// output-files). Their public addresses are valid for an hour.

/** Properties that distinguish the requested file from previews and intermediate files. */
interface Wanted {
  /** Member names that models use for the file, in order of preference. */
  readonly members: readonly string[];
  /** Pattern of the file extension in the path of the URL. */
  readonly extension: RegExp;
}

/** A file in the output, and the names of the members under which it was found. */
interface OutputFile {
  readonly names: readonly string[];
  readonly url: string;
}

/**
 * Returns the URLs of the results in the model's order. Returns an empty list without output, and undefined for an output without a
 * recognizable file.
 */
function filesOf(output: unknown, { members, extension }: Wanted): readonly string[] | undefined {
  if (isNothing(output)) return [];
  const all = collect(output, []);
  const fits = ({ url }: OutputFile): boolean => extension.test(new URL(url).pathname);
  const named = members.map((name) => all.filter(({ names }) => names.includes(name))).find(({ length }) => length > 0);
  // All items of a text or list are results. Members of an object may be previews, even a single one.
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

/** Collects all URLs in a value at any depth. json.ts limits the depth of a response. */
function collect(value: unknown, names: readonly string[]): OutputFile[] {
  if (typeof value === "string") return isAddress(value) ? [{ names, url: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => collect(item, names));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => collect(item, [...names, name]));
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

// Path that runs a model: official models by name, all others by version. Sources: replicate.com/docs/topics/predictions/
// create-a-prediction and replicate.com/docs/reference/http (models.predictions.create).

interface Target {
  readonly path: string;
  /** Model version to send in the request body; absent for an official model, which is named in the path. */
  readonly version?: string;
}

const NAME = "[A-Za-z0-9][A-Za-z0-9._-]*";
const OFFICIAL = new RegExp(`^(${NAME})/(${NAME})$`);
/** Matches a version: 64 hexadecimal digits, with or without the model's name in front. Replicate accepts both. */
const VERSION = new RegExp(`^(?:${NAME}/${NAME}:)?[0-9a-f]{64}$`);

/**
 * Returns the URL path and version for a model name.
 * @throws ProviderError `misconfigured` for an invalid name
 */
function targetOf(sourceModel: string): Target {
  if (VERSION.test(sourceModel)) return { path: "/predictions", version: sourceModel };
  const [, owner, name] = OFFICIAL.exec(sourceModel) ?? [];
  if (owner !== undefined && name !== undefined) return { path: `/models/${owner}/${name}/predictions` };
  throw new ProviderError("misconfigured", `expected owner/name, with or without :version, got ${sourceModel}`);
}

// Finds predictions whose start had no response in the list of all predictions, which contains model, input and time, newest first. Source:
// replicate.com/docs/reference/http (predictions.list); input and output are deleted an hour after the end.

interface Mark extends ProviderJob {
  /** Number of results requested. */
  readonly asked: number;
  /** Name of an official model as `owner/name`, or the hexadecimal digits of a version. */
  readonly model: string;
  readonly input: InputMark;
  /** True if the request that started the prediction contained a callback URL. */
  readonly rings: boolean;
}

/** Maximum number of pages of Replicate's prediction list that are read to find a lost prediction. A page has a hundred predictions. */
const PAGES_MAX = 20;

function markOf(sourceModel: string, input: Members, more: Pick<Mark, "asked" | "rings">): Mark {
  return { ...more, model: sourceModel.split(":").at(-1) ?? sourceModel, input: inputMark(input) };
}

/**
 * Searches Replicate's prediction list for predictions like the one whose start request got no response.
 * @throws ProviderError when a request for the list fails
 */
async function findPrediction(endpoint: Endpoint, lost: LostStart, signal: AbortSignal): Promise<Found> {
  const mark = readMark(lost.mark);
  if (!mark) return unknown("the stored mark is none of Replicate's");
  const rung = lost.callbackJobName === undefined ? undefined : newJob({ id: lost.callbackJobName }, mark.asked);
  if (rung) return { state: "found", job: rung };
  const alike: (Listed & { readonly job: ProviderJob; readonly hasFailed: boolean })[] = [];
  const unclear: Listed[] = [];
  let path: string | undefined =
    `/predictions?created_after=${encodeURIComponent(new Date(listedFrom(lost.sentMs)).toISOString())}`;
  for (let page = 0; path !== undefined; page++) {
    if (page === PAGES_MAX) return unknown("too many predictions have been made since");
    const { status, text } = await post(endpoint, { method: "GET", path }, signal);
    const list = status >= 200 && status <= 299 ? parseObject(text) : undefined;
    if (!list || !Array.isArray(list["results"])) return unknown(`the list was answered with ${status}`);
    const listed = membersOf(list["results"]);
    for (const prediction of listed) {
      const one = { name: textOf(prediction["id"]), createdMs: Date.parse(textOf(prediction["created_at"])) };
      const job = newJob(prediction, mark.asked);
      if (!job || !isSince(lost.sentMs, one) || !isOfModel(prediction, mark.model)) continue;
      const isBare = prediction["data_removed"] === true || Number.isNaN(one.createdMs);
      const how = isBare ? "unclear" : likeness(mark.input, prediction["input"]);
      if (how === "alike") alike.push({ ...one, job, hasFailed: hasFailed(prediction) });
      if (how === "unclear") unclear.push(one);
    }
    const next: string | null | undefined = nextPath(endpoint, list["next"]);
    if (next === null) return unknown("the list goes on elsewhere");
    path = next;
  }
  // A prediction of another attempt with equal inputs that failed is useless, so failed ones come last.
  const likeliest = alike.toSorted((a, b) => Number(a.hasFailed) - Number(b.hasFailed));
  return { state: "listed", alike: likeliest, unclear, mayRing: mark.rings };
}

/**
 * Returns true if the prediction was run by the given model. An official model is compared by name, because the list does not contain its
 * version.
 */
function isOfModel({ model, version }: Members, wanted: string): boolean {
  return wanted.includes("/") ? model === wanted : version === wanted;
}

function hasFailed({ status }: Members): boolean {
  return status === "failed" || status === "canceled" || status === "aborted";
}

/**
 * Returns the URL path of the next page of the prediction list; undefined after the last page. Null if the page is not below our base URL:
 * credentials must not be sent there.
 */
function nextPath({ baseUrl }: Endpoint, next: unknown): string | null | undefined {
  if (next === null || next === undefined || next === "") return undefined;
  if (typeof next !== "string" || !URL.canParse(next)) return null;
  const there = new URL(next);
  const base = new URL(baseUrl);
  const isOwn = there.host === base.host && there.pathname === `${base.pathname.replace(/\/+$/, "")}/predictions`;
  return isOwn ? `/predictions${there.search}` : null;
}

function readMark({ asked, model, input, rings }: ProviderJob): Mark | undefined {
  const known = readInputMark(input);
  if (!known || typeof asked !== "number" || typeof model !== "string") return undefined;
  return { asked, model, input: known, rings: rings === true };
}

// Stored state of a prediction, sufficient for polling by another process, without addresses.

interface Prediction extends ProviderJob {
  readonly id: string;
  /** Number of results requested. */
  readonly asked: number;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the prediction that a response describes; undefined if the response has no valid id. */
function newJob(answer: Members | undefined, asked: number): Prediction | undefined {
  const id = answer?.["id"];
  return typeof id === "string" && ID.test(id) ? { id, asked } : undefined;
}

/** Parses a stored prediction; undefined for a stored job of another adapter. */
function readJob({ id, asked }: ProviderJob): Prediction | undefined {
  return typeof id === "string" && ID.test(id) && typeof asked === "number" ? { id, asked } : undefined;
}
