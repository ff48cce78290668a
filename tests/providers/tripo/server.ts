/**
 * A local upstream that speaks version 3 of Tripo: uploads, tasks, and a public store with real meshes, whose addresses are
 * signed anew at each poll. Each start takes the next script of `next`; a task plays its own answers, the last one stays.
 */
import { type MeshCall, parse, reply, type Reply, send, startStore, VENDOR_MARK } from "../mesh-wire.ts";
import { parseForm } from "../multipart.ts";
import type { RawRequest } from "../raw-request.ts";
import { startRawServer, type Wire } from "../raw-server.ts";
import { faultIn, RULES } from "./tasks.ts";

type Members = Readonly<Record<string, unknown>>;
type Status = "queued" | "running" | "success" | "failed" | "cancelled" | "banned" | "expired" | "lost";

export interface Script {
  /** In place of taking the task; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  readonly upload?: Reply;
  /** The id that the task gets. */
  readonly id?: unknown;
  /** Answers to the questions after it, in order. Unset: queued, running, success. */
  readonly polls?: readonly (Reply | Status)[];
  /** Members laid over those of every answer; undefined leaves one out. */
  readonly task?: Members;
}

export interface TripoServer {
  /** What stands for https://openapi.tripo3d.ai/v3. */
  readonly url: string;
  readonly storeUrl: string;
  readonly requests: readonly MeshCall[];
  /** Tasks that were taken and did not fail, and so are paid for. */
  readonly charged: number;
  readonly credits: number;
  readonly uploads: readonly { readonly filename: string; readonly contentType: string; readonly bytes: Buffer }[];
  readonly faults: readonly unknown[];
  next(...scripts: readonly Script[]): void;
  close(): void;
}

interface Task {
  readonly id: string;
  readonly type: string;
  readonly price: number;
  readonly script: Script;
  asked: number;
  status: Status;
}

const PLAIN: readonly Status[] = ["queued", "running", "success"];
const UNPAID: ReadonlySet<Status> = new Set<Status>(["failed", "banned", "cancelled", "expired"]);

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startTripoServer({ apiKey }: { readonly apiKey: string }): TripoServer {
  const requests: MeshCall[] = [];
  const faults: unknown[] = [];
  const scripts: Script[] = [];
  const tasks = new Map<string, Task>();
  const uploads: { filename: string; contentType: string; bytes: Buffer }[] = [];
  /** The newest signature of each task: older ones have run out. */
  const signatures = new Map<string, number>();
  const onFault = (fault: unknown): void => void faults.push(fault);
  const store = startStore((target) => {
    const [, id = "", signature] = /^\/([^/]+)\/model\.glb\?sign=(\d+)$/.exec(target) ?? [];
    return signatures.get(id) === Number(signature);
  }, onFault);
  const storeUrl = `http://127.0.0.1:${store.port}`;

  const upload = (raw: RawRequest): Reply => {
    const { file } = (parseForm(raw.headers["content-type"], raw.body) ?? {}) as { file?: (typeof uploads)[number] };
    if (!file) return error(400, 2_003, "file: empty");
    if (!/^(?:image\.(?:png|jpg|webp)|mesh\.(?:glb|gltf|fbx|obj|stl))$/.test(file.filename)) {
      return error(400, 2_004, "file: type");
    }
    uploads.push(file);
    return reply(200, { code: 0, data: { file_token: `file_${uploads.length}` } });
  };

  const begin = (path: string, body: Members, script: Script): Reply => {
    const rules = RULES[path];
    if (!rules) return error(404, 1_003, "no such path");
    const fault = faultIn(body, rules);
    if (fault !== undefined) return error(400, 1_004, `invalid parameter: ${fault}`);
    const id = `task_${crypto.randomUUID().replaceAll("-", "")}`;
    const price = rules.prices[String(body["model"])] ?? 0;
    tasks.set(id, { id, type: path, price, script, asked: 0, status: "queued" });
    return reply(200, { code: 0, data: { task_id: "id" in script ? script.id : id } });
  };

  const post = async (raw: RawRequest, wire: Wire): Promise<void> => {
    if (raw.target === "/v3/files") return send(scripts[0]?.upload ?? upload(raw), wire);
    const script = scripts.shift() ?? {};
    if (script.start !== undefined && script.start !== "lost") return send(script.start, wire);
    const answer = begin(raw.target.replace(/^\/v3/, ""), parse(raw.body) as Members, script);
    return send(script.start === "lost" ? "reset" : answer, wire);
  };

  const ask = (task: Task): Reply => {
    const polls = task.script.polls ?? PLAIN;
    const poll = polls[Math.min(task.asked, polls.length - 1)] ?? "success";
    task.asked += 1;
    if (typeof poll !== "string" || poll === "hang" || poll === "reset" || poll === "cut") return poll;
    task.status = poll;
    signatures.set(task.id, task.asked);
    const isDone = poll === "success";
    const at = `${storeUrl}/${task.id}`;
    const output = { model_url: `${at}/model.glb?sign=${task.asked}`, rendered_image_url: `${at}/view.webp` };
    return reply(200, {
      code: 0,
      data: {
        task_id: task.id,
        type: task.type,
        status: poll,
        progress: isDone ? 100 : poll === "running" ? 40 : 0,
        output: isDone ? output : {},
        credits_consumed: isDone ? `${task.price}.00` : "0.00",
        created_at: "2026-11-22T00:00:00Z",
        ...task.script.task,
      },
      request_id: "r1",
    });
  };

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const { method, target: path, headers } = raw;
    requests.push({ method, path, headers, body: parse(raw.body) });
    if (headers["authorization"] !== `Bearer ${apiKey}`) return send(error(401, 1_000, "authentication failed"), wire);
    if (method === "POST") return post(raw, wire);
    const task = tasks.get(/^\/v3\/tasks\/([^/]+)$/.exec(path)?.[1] ?? "");
    return send(method === "GET" && task ? ask(task) : error(404, 2_001, "task not found"), wire);
  };
  const api = startRawServer(handle, onFault);

  const paid = (): Task[] => [...tasks.values()].filter(({ status }) => !UNPAID.has(status));
  return {
    url: `http://127.0.0.1:${api.port}/v3`,
    storeUrl,
    requests,
    uploads,
    faults,
    get charged() {
      return paid().length;
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

/** Errors as Tripo sends them, in whatever status. */
export function error(
  status: number,
  code: number,
  text = "no",
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = { code, message: `${text} (${VENDOR_MARK})`, suggestion: "Read the docs", request_id: "r1" };
  return reply(status, body, headers);
}
