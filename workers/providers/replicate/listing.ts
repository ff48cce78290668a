/**
 * Finds predictions whose start had no response in the list of all predictions, which contains model, input and time, newest first. Source:
 * replicate.com/docs/reference/http (predictions.list); input and output are deleted an hour after the end.
 */
import { type Endpoint, post } from "../http.ts";
import { type Members, membersOf, parseObject, textOf } from "../json.ts";
import { type InputMark, inputMark, isSince, likeness, listedFrom, readInputMark } from "../marks.ts";
import type { Found, Listed, LostStart, ProviderJob } from "../media.ts";

import { newJob } from "./job.ts";

interface Mark extends ProviderJob {
  /** Number of results requested. */
  readonly asked: number;
  /** `owner/name`, or the version's hexadecimal digits. */
  readonly model: string;
  readonly input: InputMark;
  /** True if the start contained a callback URL. */
  readonly rings: boolean;
}

/** Most pages that are read, of a hundred predictions each. */
const PAGES_MAX = 20;

export function markOf(sourceModel: string, input: Members, more: Pick<Mark, "asked" | "rings">): Mark {
  return { ...more, model: sourceModel.split(":").at(-1) ?? sourceModel, input: inputMark(input) };
}

/** @throws ProviderError */
export async function findPrediction(endpoint: Endpoint, lost: LostStart, signal: AbortSignal): Promise<Found> {
  const mark = readMark(lost.mark);
  if (!mark) return unknown("the stored mark is none of Replicate's");
  const rung = lost.told === undefined ? undefined : newJob({ id: lost.told }, mark.asked);
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
      const one = { name: textOf(prediction["id"]), madeMs: Date.parse(textOf(prediction["created_at"])) };
      const job = newJob(prediction, mark.asked);
      if (!job || !isSince(lost.sentMs, one) || !isOfModel(prediction, mark.model)) continue;
      const isBare = prediction["data_removed"] === true || Number.isNaN(one.madeMs);
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

/** Returns true for a prediction of the model. The list does not contain the version of an official model. */
function isOfModel({ model, version }: Members, wanted: string): boolean {
  return wanted.includes("/") ? model === wanted : version === wanted;
}

function hasFailed({ status }: Members): boolean {
  return status === "failed" || status === "canceled" || status === "aborted";
}

/** Returns the path of the next page below our own base, because credentials are sent nowhere else. Undefined: no page; null: elsewhere. */
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

function unknown(detail: string): Found {
  return { state: "unknown", detail };
}
