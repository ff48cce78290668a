/** A local upstream that speaks fal's queue: submit, status, result, cancel, and a CDN with real files on a port of its own. */
import { jsonReply, type Members, ok, type Reply, type TextReply } from "../engine/behaviour.ts";
import { type Job, type JobServer, jobBook, type Script as JobScript, startJobServer } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { fileAt } from "./clips.ts";
import { checkInput, modelError } from "./models.ts";
import { resultOf } from "./results.ts";

type Status = "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";

export type Script = JobScript<Status>;

interface Facts {
  readonly app: string;
  readonly model: string;
  readonly body: Members;
  /** Address that it was told to call when it has ended. */
  readonly callbackUrl: string | null;
  /** Error by which the model refuses it once it runs: the queue takes anything. */
  readonly fault: Members | null;
}

export type FalServer = JobServer<Facts, Status, Script>;

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startFalServer({ apiKey }: { readonly apiKey: string }): FalServer {
  const book = jobBook<Facts, Status>({ plain: ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"] });

  const answer = (call: RecordedCall, { url, filesUrl }: { url: string; filesUrl: string }): Reply => {
    if (call.headers["authorization"] !== `Key ${apiKey}`) return detail(401, "Cannot access application");
    const [, app, id = "", step = ""] =
      /^\/([^/]+\/[^/]+)\/requests\/([^/?]+)(\/status|\/cancel)?$/.exec(call.path) ?? [];
    if (app === undefined) {
      if (call.method !== "POST") return detail(405, "Method Not Allowed");
      return book.start(
        () => check(call),
        (job) => receiptOf(job, url),
      );
    }
    const job = book.jobs.get(id);
    if (!job || job.facts.app !== app) return detail(404, "Request not found");
    if (call.method !== (step === "/cancel" ? "PUT" : "GET")) return detail(405, "Method Not Allowed");
    if (step === "/cancel") return job.script.cancel ?? jsonReply(202, { status: "CANCELLATION_REQUESTED" });
    if (step === "/status") return book.poll(job, (status, more) => statusReply(status, more));
    return job.script.result ?? resultReply(job, filesUrl);
  };
  return startJobServer(book, {
    base: "",
    answer,
    fileAt(path) {
      const job = book.jobs.get(/^\/files\/([0-9a-f-]{36})-/.exec(path)?.[1] ?? "");
      return job && (job.script.file ?? fileAt(path));
    },
  });
}

function check({ path, headers, body }: RecordedCall): TextReply | { readonly facts: Facts } {
  const keep = headers["x-fal-object-lifecycle-preference"] ?? "{}";
  if (!Number.isInteger((JSON.parse(keep) as Members)["expiration_duration_seconds"])) {
    return jsonReply(400, { detail: "bad lifecycle preference", error_type: "bad_request" });
  }
  const { pathname, searchParams } = new URL(path, "http://local");
  const model = pathname.slice(1);
  const app = model.split("/").slice(0, 2).join("/");
  const callbackUrl = searchParams.get("fal_webhook");
  return { facts: { app, model, body: body as Members, callbackUrl, fault: checkInput(model, body) } };
}

function receiptOf({ id, facts, script }: Job<Facts, Status>, url: string): TextReply {
  const base = `${url}/${facts.app}/requests/${id}`;
  return ok({
    status: "IN_QUEUE",
    request_id: id,
    response_url: base,
    status_url: `${base}/status`,
    cancel_url: `${base}/cancel`,
    logs: null,
    metrics: {},
    queue_position: 0,
    ...script.receipt,
  });
}

function statusReply(status: Status, more?: Members): TextReply {
  const place = status === "IN_QUEUE" ? { queue_position: 1 } : {};
  return jsonReply(status === "COMPLETED" ? 200 : 202, { status, logs: null, metrics: {}, ...place, ...more });
}

function resultReply({ id, facts }: Job<Facts, Status>, filesUrl: string): TextReply {
  const { model, body, fault } = facts;
  if (fault !== null) return jsonReply(422, { detail: [fault] }, { "x-fal-retryable": "false" });
  return ok(resultOf(model, body, (name) => `${filesUrl}/files/${id}-${name}`));
}

/** Errors in words alone. */
export const detail = (status: number, words: string): TextReply => jsonReply(status, { detail: words });

/** Errors as models send them; the first member decides. */
export function modelReply(type: string, field: string | null = null, status = 422): TextReply {
  return jsonReply(status, { detail: [modelError(type, field, "No")] });
}

/** Errors as the platform sends them. */
export function platformReply(type: string, status: number): TextReply {
  return jsonReply(status, { detail: "No", error_type: type }, { "x-fal-error-type": type });
}
