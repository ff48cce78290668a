/**
 * Finds tasks whose start had no response in the list of their kind, newest first. The list contains prompts but no media. For media, only
 * the absence of a task is certain. Sources: docs.meshy.ai/en/api/{text-to-3d,image-to-3d,retexture,remesh}.
 */
import { type Endpoint, post } from "../http.ts";
import { type Members, membersOf, parseObject, textOf } from "../json.ts";
import { hashOf, isSince } from "../marks.ts";
import type { Found, Listed, LostStart, ProviderJob } from "../media.ts";

import { isTaskId, type MeshyJob, readJob, type TaskFacts } from "./job.ts";
import { isListed, pathOf, type TaskName } from "./tasks.ts";

/** Largest page that Meshy allows. */
const PAGE_SIZE = 50;
const PAGES_MAX = 20;

/** Returns null for tasks of a kind that is not listed. */
export function markOf(job: TaskFacts, body: Members): ProviderJob | null {
  if (!isListed(job.task)) return null;
  const { prompt } = body;
  return { ...job, ...(typeof prompt === "string" ? { prompt: hashOf(prompt) } : {}) };
}

/** @throws ProviderError */
export async function findTask(endpoint: Endpoint, { mark, sentMs }: LostStart, signal: AbortSignal): Promise<Found> {
  const job = readJob({ ...mark, id: "unknown" });
  if (!job || !isListed(job.task)) return unknown("the stored mark is none of Meshy's");
  const alike: (Listed & { readonly job: ProviderJob })[] = [];
  const unclear: Listed[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const tasks = await tasksOf(endpoint, job.task, page, signal);
    if (typeof tasks === "string") return unknown(tasks);
    for (const task of tasks) {
      const { created_at: madeAt } = task;
      const one = { name: textOf(task["id"]), madeMs: typeof madeAt === "number" ? Math.trunc(madeAt) : Number.NaN };
      if (!isTaskId(one.name) || !isSince(sentMs, one)) continue;
      const how = Number.isNaN(one.madeMs) ? "unclear" : likeness(job, mark["prompt"], task);
      if (how === "alike") alike.push({ ...one, job: { ...job, id: one.name } });
      if (how === "unclear") unclear.push(one);
    }
    const oldest = tasks.at(-1)?.["created_at"];
    const isWhole = typeof oldest === "number" && !isSince(sentMs, { madeMs: oldest });
    if (isWhole || tasks.length < PAGE_SIZE) return { state: "listed", alike, unclear, mayRing: false };
  }
  return unknown("too many tasks have been made since");
}

/** Returns the tasks, or the reason why they are unknown. */
async function tasksOf(
  endpoint: Endpoint,
  task: TaskName,
  page: number,
  signal: AbortSignal,
): Promise<Members[] | string> {
  const path = `${pathOf(task)}?page_num=${page}&page_size=${PAGE_SIZE}&sort_by=-created_at`;
  const { status, text } = await post(endpoint, { method: "GET", path }, signal);
  // The response is an array, but the reader accepts objects only.
  const list = status >= 200 && status <= 299 ? parseObject(`{"tasks":${text}}`)?.["tasks"] : undefined;
  return Array.isArray(list) ? membersOf(list) : `the list was answered with ${status}`;
}

function likeness({ task, preview }: MeshyJob, prompt: unknown, listed: Members): "alike" | "unclear" | "other" {
  if (task !== "text-to-3d") return "unclear";
  const phase = phaseOf(listed);
  if (preview !== undefined) {
    if (phase === "preview") return "other";
    const { preview_task_id: of } = listed;
    return of === undefined ? "unclear" : of === preview ? "alike" : "other";
  }
  if (phase === "refine" || hashOf(listed["prompt"]) !== prompt) return "other";
  return phase === "preview" ? "alike" : "unclear";
}

/** Returns undefined if a task does not contain its phase. */
function phaseOf({ type, mode }: Members): string | undefined {
  const said = [mode, textOf(type).split("-").at(-1)];
  return ["preview", "refine"].find((phase) => said.includes(phase));
}

function unknown(detail: string): Found {
  return { state: "unknown", detail };
}
