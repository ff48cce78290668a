/** A local upstream that speaks Meshy's tasks: create, ask, delete, and a public store with real meshes on a port of its own. */
import { bytesReply, jsonReply, type Members, type Reply, type TextReply, VENDOR_MARK } from "../engine/behaviour.ts";
import { type Job, type JobServer, jobBook, type Script as JobScript, startJobServer } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { glb } from "../fal/clips.ts";
import { rulesOf, wrongIn } from "./tasks.ts";

type Status = "PENDING" | "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "CANCELED" | "LOST";

export type Script = JobScript<Status>;

interface Facts {
  readonly path: string;
  readonly body: Members;
  readonly price: number;
}

export type MeshyServer = JobServer<Facts, Status, Script>;

const PROGRESS: Readonly<Partial<Record<Status, number>>> = { IN_PROGRESS: 40, SUCCEEDED: 100 };

/** Tasks that failed or were taken back while they waited are not paid for. */
const isPaid = ({ status }: Job<Facts, Status>): boolean => status !== "FAILED";

/** Counts the tasks of each kind that are paid for. */
export function charged({ jobs }: MeshyServer): Readonly<Record<"previews" | "refines" | "others", number>> {
  const modes = jobs.filter(isPaid).map(({ facts }) => facts.body["mode"]);
  const [previews, refines] = ["preview", "refine"].map((mode) => modes.filter((one) => one === mode).length);
  return { previews: previews!, refines: refines!, others: modes.length - previews! - refines! };
}

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startMeshyServer({ apiKey }: { readonly apiKey: string }): MeshyServer {
  const book = jobBook<Facts, Status>({ plain: ["PENDING", "IN_PROGRESS", "SUCCEEDED"] });

  const check = (path: string, body: Members): TextReply | { readonly facts: Facts } => {
    const rules = rulesOf(path, body["mode"]);
    if (!rules) return message(404, "NotFound");
    const preview = book.jobs.get(String(body["preview_task_id"]));
    const isReady = preview?.facts.body["mode"] === "preview" && preview.status === "SUCCEEDED";
    const wrong = body["mode"] === "refine" && !isReady ? "preview_task_id: no preview that succeeded" : undefined;
    const fault = wrongIn(body, rules) ?? wrong;
    return fault === undefined ? { facts: { path, body, price: rules.price } } : message(400, fault);
  };

  const list = ({ pathname, query }: RecordedCall, filesUrl: string): Reply => {
    const isKnown = rulesOf(pathname, "preview") && !pathname.endsWith("/rigging");
    if (!isKnown || query["sort_by"] !== "-created_at") return message(404, "NotFound");
    const [page, size] = [Number(query["page_num"]), Number(query["page_size"])];
    return book.list((jobs) => {
      const own = jobs.filter(({ facts }) => facts.path === pathname).slice((page - 1) * size, page * size);
      return jsonReply(
        200,
        own.map((job) => taskOf(job, job.status, filesUrl)),
      );
    });
  };

  const answer = (call: RecordedCall, { filesUrl }: { filesUrl: string }): Reply => {
    const { method, path, headers, body } = call;
    if (headers["authorization"] !== `Bearer ${apiKey}`) return message(401, "Invalid API key");
    if (method === "POST") {
      if (headers["content-type"] !== "application/json") return message(400, "no JSON");
      return book.start(
        () => check(path, body as Members),
        ({ id, script }) => jsonReply(202, { result: id, ...script.receipt }),
      );
    }
    if (method === "GET" && call.query["page_num"] !== undefined) return list(call, filesUrl);
    const slash = path.lastIndexOf("/");
    const job = book.jobs.get(path.slice(slash + 1));
    if (!job || job.facts.path !== path.slice(0, slash)) return message(404, "Task not found");
    if (method === "GET")
      return book.poll(job, (status, more) => jsonReply(200, { ...taskOf(job, status, filesUrl), ...more }));
    if (method !== "DELETE") return message(405, "Method not allowed");
    if (job.script.cancel !== undefined) return job.script.cancel;
    // What runs goes on, what is ready is destroyed.
    if (job.status === "IN_PROGRESS") return message(409, "Task is in progress");
    book.jobs.delete(job.id);
    return jsonReply(200, "");
  };
  const isFile = /^\/tasks\/[^/]+\/output\/model\.[a-z0-9]+\?Signature=s$/;
  const fileAt = (path: string): Reply =>
    isFile.test(path) ? bytesReply("model/gltf-binary", glb()) : jsonReply(403, "");
  return startJobServer(book, { base: "", answer, fileAt }, isPaid);
}

function taskOf({ id, facts, script, createdMs }: Job<Facts, Status>, status: Status, filesUrl: string): Members {
  const { path, price, body } = facts;
  const { mode, prompt } = body;
  const isDone = status === "SUCCEEDED";
  const at = (file: string): string => `${filesUrl}/tasks/${id}/output/model.${file}?Signature=s`;
  const files = path.endsWith("/remesh") ? ["glb"] : ["glb", "fbx", "obj", "mtl", "usdz"];
  const output = path.endsWith("/rigging")
    ? { result: isDone ? { rigged_character_glb_url: at("glb"), rigged_character_fbx_url: at("fbx") } : null }
    : { model_urls: isDone ? Object.fromEntries(files.map((file) => [file, at(file)])) : {}, thumbnail_url: "" };
  return {
    id,
    type: path.slice(path.lastIndexOf("/") + 1) + (typeof mode === "string" ? `-${mode}` : ""),
    // Of a mesh made of words they are shown as they came.
    ...(mode === undefined ? {} : { prompt: prompt ?? "" }),
    status,
    progress: PROGRESS[status] ?? 0,
    preceding_tasks: status === "PENDING" ? 2 : 0,
    created_at: createdMs,
    task_error: { message: "" },
    consumed_credits: isDone ? price : 0,
    ...output,
    ...script.task,
  };
}

/** Errors as Meshy sends them. */
export function message(status: number, text: string, headers: Readonly<Record<string, string>> = {}): TextReply {
  return jsonReply(status, { message: `${text} (${VENDOR_MARK})` }, headers);
}
