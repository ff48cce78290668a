/**
 * A local upstream that speaks version 3 of Tripo: uploads, tasks, and a public store with real meshes, whose addresses are
 * signed anew at each poll.
 */
import {
  bytesReply,
  jsonReply,
  type Members,
  ok,
  type Reply,
  type TextReply,
  VENDOR_MARK,
} from "../engine/behaviour.ts";
import {
  faultIn,
  type Job,
  type JobServer,
  jobBook,
  type Script as JobScript,
  startJobServer,
} from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { glb } from "../fal/clips.ts";
import type { FormFile } from "../multipart.ts";
import { RULES } from "./tasks.ts";

type Status = "queued" | "running" | "success" | "failed" | "cancelled" | "banned" | "expired" | "lost";

export type Script = JobScript<Status>;

interface Facts {
  readonly type: string;
  readonly price: number;
}

export type TripoServer = JobServer<Facts, Status, Script>;

const UNPAID: ReadonlySet<Status> = new Set<Status>(["failed", "banned", "cancelled", "expired"]);

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startTripoServer({ apiKey }: { readonly apiKey: string }): TripoServer {
  const newId = (): string => `task_${crypto.randomUUID().replaceAll("-", "")}`;
  const book = jobBook<Facts, Status>({ plain: ["queued", "running", "success"], newId });
  let uploads = 0;

  const answer = ({ method, path, headers, body }: RecordedCall, { filesUrl }: { filesUrl: string }): Reply => {
    if (headers["authorization"] !== `Bearer ${apiKey}`) return error(401, 1_000, "authentication failed");
    if (method === "POST" && path === "/v3/files") {
      return book.upload() ?? uploadFault(body) ?? ok({ code: 0, data: { file_token: `file_${(uploads += 1)}` } });
    }
    if (method === "POST") {
      return book.start(
        () => check(path.replace(/^\/v3/, ""), body as Members),
        ({ id, script }) => ok({ code: 0, data: { task_id: id, ...script.receipt } }),
      );
    }
    const job = book.jobs.get(/^\/v3\/tasks\/([^/]+)$/.exec(path)?.[1] ?? "");
    if (method !== "GET" || !job) return error(404, 2_001, "task not found");
    return book.poll(job, (status, more) => taskReply(job, status, filesUrl, more));
  };
  /** The newest signature of a task alone is good. */
  const fileAt = (path: string): Reply => {
    const [, id = "", signature] = /^\/([^/]+)\/model\.glb\?sign=(\d+)$/.exec(path) ?? [];
    const isSigned = book.jobs.get(id)?.asked === Number(signature);
    return isSigned
      ? bytesReply("model/gltf-binary", glb())
      : jsonReply(403, "<Error><Code>AccessDenied</Code></Error>");
  };
  return startJobServer(book, { base: "/v3", answer, fileAt }, ({ status }) => !UNPAID.has(status));
}

/** The files that were handed over, in their order. */
export function uploadsOf({ requests }: TripoServer): FormFile[] {
  return requests.filter(({ path }) => path === "/v3/files").map(({ body }) => (body as { file: FormFile }).file);
}

function uploadFault(form: unknown): TextReply | undefined {
  const { file } = (form ?? {}) as { file?: FormFile };
  if (!file) return error(400, 2_003, "file: empty");
  const isKnown = /^(?:image\.(?:png|jpg|webp)|mesh\.(?:glb|gltf|fbx|obj|stl))$/.test(file.filename);
  return isKnown ? undefined : error(400, 2_004, "file: type");
}

function check(path: string, body: Members): TextReply | { readonly facts: Facts } {
  const rules = RULES[path];
  if (!rules) return error(404, 1_003, "no such path");
  const fault = faultIn(body, rules.members, rules.needs);
  if (fault) return error(400, 1_004, `invalid parameter: ${fault.name}`);
  return { facts: { type: path, price: rules.prices[String(body["model"])] ?? 0 } };
}

function taskReply(job: Job<Facts, Status>, status: Status, filesUrl: string, more?: Members): TextReply {
  const { id, asked, facts, script } = job;
  const isDone = status === "success";
  const at = `${filesUrl}/${id}`;
  return ok({
    code: 0,
    data: {
      task_id: id,
      type: facts.type,
      status,
      progress: isDone ? 100 : status === "running" ? 40 : 0,
      output: isDone ? { model_url: `${at}/model.glb?sign=${asked}`, rendered_image_url: `${at}/view.webp` } : {},
      credits_consumed: isDone ? `${facts.price}.00` : "0.00",
      created_at: "2026-11-22T00:00:00Z",
      ...script.task,
      ...more,
    },
    request_id: "r1",
  });
}

/** Errors as Tripo sends them, in whatever status. */
export function error(
  status: number,
  code: number,
  text = "no",
  headers: Readonly<Record<string, string>> = {},
): TextReply {
  const body = { code, message: `${text} (${VENDOR_MARK})`, suggestion: "Read the docs", request_id: "r1" };
  return jsonReply(status, body, headers);
}
