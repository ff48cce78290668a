/**
 * A local upstream that speaks Meshy's tasks: create, ask, delete, and a public store with real meshes on a port of its
 * own. Each task that is created takes the next script of `next`; it plays its own answers, of which the last one stays.
 */
import type { RawRequest } from "../raw-request.ts";
import { startRawServer, type Wire } from "../raw-server.ts";
import { faultIn, rulesOf } from "./tasks.ts";
import { type MeshCall, parse, reply, type Reply, send, startStore, VENDOR_MARK } from "../mesh-wire.ts";

type Members = Readonly<Record<string, unknown>>;
type Status = "PENDING" | "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "CANCELED" | "LOST";

export interface Script {
  /** In place of taking the task; "lost" takes it and resets before the answer. */
  readonly create?: Reply | "lost";
  /** The id that the task gets. */
  readonly id?: unknown;
  /** Answers to the questions after it, in order. Unset: pending, in progress, succeeded. */
  readonly polls?: readonly (Reply | Status)[];
  /** Members laid over those of every answer; undefined leaves one out. */
  readonly task?: Members;
  readonly remove?: Reply;
}

export interface MeshyServer {
  /** What stands for https://api.meshy.ai. */
  readonly url: string;
  readonly storeUrl: string;
  readonly requests: readonly MeshCall[];
  /** Tasks that were taken, and so are paid for; those that failed or were taken back while they waited are not. */
  readonly charged: { readonly previews: number; readonly refines: number; readonly others: number };
  readonly credits: number;
  readonly faults: readonly unknown[];
  next(...scripts: readonly Script[]): void;
  close(): void;
}

interface Task {
  readonly id: string;
  readonly path: string;
  readonly body: Members;
  readonly price: number;
  readonly script: Script;
  asked: number;
  status: Status;
}

const PLAIN: readonly Status[] = ["PENDING", "IN_PROGRESS", "SUCCEEDED"];
const PROGRESS: Readonly<Record<Status, number>> = {
  PENDING: 0,
  IN_PROGRESS: 40,
  SUCCEEDED: 100,
  FAILED: 0,
  CANCELED: 0,
  LOST: 0,
};

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startMeshyServer({ apiKey }: { readonly apiKey: string }): MeshyServer {
  const requests: MeshCall[] = [];
  const faults: unknown[] = [];
  const scripts: Script[] = [];
  const tasks = new Map<string, Task>();
  const onFault = (fault: unknown): void => void faults.push(fault);
  const store = startStore((target) => /^\/tasks\/[^/]+\/output\/model\.[a-z0-9]+\?Signature=s$/.test(target), onFault);
  const storeUrl = `http://127.0.0.1:${store.port}`;

  const create = async (path: string, body: Members, wire: Wire): Promise<void> => {
    const script = scripts.shift() ?? {};
    if (script.create !== undefined && script.create !== "lost") return send(script.create, wire);
    const rules = rulesOf(path, body["mode"]);
    if (!rules) return send(message(404, "NotFound"), wire);
    const fault = faultIn(body, rules) ?? faultOfRefine(body);
    if (fault !== undefined) return send(message(400, fault), wire);
    const id = crypto.randomUUID();
    tasks.set(id, { id, path, body, price: rules.price, script, asked: 0, status: "PENDING" });
    if (script.create === "lost") return wire.reset();
    return send(reply(202, { result: "id" in script ? script.id : id }), wire);
  };

  const faultOfRefine = ({ mode, preview_task_id: id }: Members): string | undefined => {
    if (mode !== "refine") return undefined;
    const preview = tasks.get(String(id));
    return preview?.body["mode"] === "preview" && preview.status === "SUCCEEDED"
      ? undefined
      : "preview_task_id: no preview that succeeded";
  };

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const body = parse(raw.body);
    requests.push({ method: raw.method, path: raw.target, headers: raw.headers, body });
    if (raw.headers["authorization"] !== `Bearer ${apiKey}`) return send(message(401, "Invalid API key"), wire);
    if (raw.method === "POST") {
      if (raw.headers["content-type"] !== "application/json") return send(message(400, "no JSON"), wire);
      return create(raw.target, body as Members, wire);
    }
    const slash = raw.target.lastIndexOf("/");
    const task = tasks.get(raw.target.slice(slash + 1));
    if (!task || task.path !== raw.target.slice(0, slash)) return send(message(404, "Task not found"), wire);
    if (raw.method === "GET") return send(answerOf(task, storeUrl), wire);
    if (raw.method !== "DELETE") return send(message(405, "Method not allowed"), wire);
    if (task.script.remove !== undefined) return send(task.script.remove, wire);
    // What runs goes on, what is ready is destroyed.
    if (task.status === "IN_PROGRESS") return send(message(409, "Task is in progress"), wire);
    tasks.delete(task.id);
    return send(reply(200, ""), wire);
  };
  const api = startRawServer(handle, onFault);

  const paid = (): Task[] => [...tasks.values()].filter(({ status }) => status !== "FAILED");
  return {
    url: `http://127.0.0.1:${api.port}`,
    storeUrl,
    requests,
    faults,
    get charged() {
      const modes = paid().map(({ body }) => body["mode"]);
      const [previews, refines] = ["preview", "refine"].map((mode) => modes.filter((one) => one === mode).length);
      return { previews: previews!, refines: refines!, others: modes.length - previews! - refines! };
    },
    get credits() {
      return paid().reduce((sum, { price }) => sum + price, 0);
    },
    next: (...more) => void scripts.push(...more),
    close() {
      api.close();
      store.close();
    },
  };
}

function answerOf(task: Task, storeUrl: string): Reply {
  const polls = task.script.polls ?? PLAIN;
  const poll = polls[Math.min(task.asked, polls.length - 1)] ?? "SUCCEEDED";
  task.asked += 1;
  if (typeof poll !== "string" || poll === "hang" || poll === "reset" || poll === "cut") return poll;
  task.status = poll;
  const isDone = poll === "SUCCEEDED";
  const at = (file: string): string => `${storeUrl}/tasks/${task.id}/output/model.${file}?Signature=s`;
  const isRigging = task.path.endsWith("/rigging");
  const files = task.path.endsWith("/remesh") ? ["glb"] : ["glb", "fbx", "obj", "mtl", "usdz"];
  const made = isRigging
    ? { result: isDone ? { rigged_character_glb_url: at("glb"), rigged_character_fbx_url: at("fbx") } : null }
    : { model_urls: isDone ? Object.fromEntries(files.map((file) => [file, at(file)])) : {}, thumbnail_url: "" };
  return reply(200, {
    id: task.id,
    type: task.path.slice(task.path.lastIndexOf("/") + 1),
    status: poll,
    progress: PROGRESS[poll],
    preceding_tasks: poll === "PENDING" ? 2 : 0,
    created_at: 1,
    task_error: { message: "" },
    consumed_credits: isDone ? task.price : 0,
    ...made,
    ...task.script.task,
  });
}

/** Errors as Meshy sends them. */
export function message(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return reply(status, { message: `${text} (${VENDOR_MARK})` }, headers);
}
