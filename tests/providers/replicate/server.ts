/**
 * A local upstream that speaks Replicate's predictions: start, poll, cancel, files, and what stands for replicate.delivery on a
 * port of its own. Shapes: replicate.com/docs/reference/http.
 */
import { jsonReply, type Members, ok, type Reply, type TextReply } from "../engine/behaviour.ts";
import { type Job, type JobServer, jobBook, type Script as JobScript, startJobServer } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { fileAt } from "../fal/clips.ts";
import { checkInput, invalid, type ModelFacts, MODELS } from "./models.ts";

type Status = "starting" | "processing" | "succeeded" | "failed" | "canceled" | "aborted" | "paused";

export type Script = JobScript<Status>;

interface Facts {
  readonly model: string;
  readonly known: ModelFacts;
  readonly input: Members;
}

export type ReplicateServer = JobServer<Facts, Status, Script>;

/** A hundred at Replicate. */
const PAGE_SIZE = 3;
const OFFICIAL_BODY = ["input", "webhook", "webhook_events_filter", "stream"];

/** Starts both servers on 127.0.0.1. Other tokens than this get a 401. */
export function startReplicateServer({ token }: { readonly token: string }): ReplicateServer {
  const newId = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 26);
  const book = jobBook<Facts, Status>({ plain: ["starting", "processing", "succeeded"], newId });
  const canceled = new Set<string>();

  const list = ({ query }: RecordedCall, at: { url: string; filesUrl: string }): Reply =>
    book.list((jobs) => {
      const fromMs = Date.parse(query["created_after"] ?? "1970-01-01T00:00:00Z");
      const [first, count] = [Number(query["cursor"] ?? 0), PAGE_SIZE];
      const after = jobs.filter(({ createdMs }) => createdMs >= fromMs);
      const further = new URLSearchParams({ ...query, cursor: String(first + count) }).toString();
      return ok({
        previous: null,
        next: first + count < after.length ? `${at.url}/predictions?${further}` : null,
        results: after.slice(first, first + count).map((job) => describe(job, job.status, at)),
      });
    });

  const answer = (call: RecordedCall, at: { url: string; filesUrl: string }): Reply => {
    const path = call.path.replace(/^\/v1/, "");
    if (call.headers["authorization"] !== `Bearer ${token}`) {
      return jsonReply(401, { title: "Unauthenticated", detail: "You did not pass a valid token", status: 401 });
    }
    const official = /^\/models\/([^/]+\/[^/]+)\/predictions$/.exec(path)?.[1];
    if (call.method === "POST" && (official !== undefined || path === "/predictions")) {
      return book.start(
        () => check(call, official),
        (job) => jsonReply(201, { ...describe(job, "starting", at), ...job.script.receipt }),
      );
    }
    if (call.method === "POST" && path === "/files") return book.upload() ?? upload(call.body, at.url);
    if (call.method === "GET" && call.pathname === "/v1/predictions") return list(call, at);
    const [, id = "", cancel] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const job = book.jobs.get(id);
    if (!job || call.method !== (cancel === undefined ? "GET" : "POST")) return notFound();
    if (cancel !== undefined) {
      if (job.script.cancel === undefined) canceled.add(id);
      return job.script.cancel ?? ok(describe(job, "processing", at));
    }
    if (canceled.has(id)) return ok(describe(job, "canceled", at));
    return book.poll(job, (status, more) => ok({ ...describe(job, status, at), ...more }));
  };
  return startJobServer(book, {
    base: "/v1",
    answer,
    fileAt(path) {
      const job = book.jobs.get(/^\/yhqm\/([^/]+)\//.exec(path)?.[1] ?? "");
      return job && (job.script.file ?? fileAt(path));
    },
  });
}

const notFound = (): TextReply => jsonReply(404, { detail: "The requested resource could not be found.", status: 404 });

function check({ headers, body: given }: RecordedCall, official?: string): TextReply | { readonly facts: Facts } {
  const body = (given ?? {}) as Members;
  const allowed = official === undefined ? ["version", ...OFFICIAL_BODY] : OFFICIAL_BODY;
  const stray = Object.keys(body).find((name) => !allowed.includes(name));
  if (stray !== undefined) {
    const description = `Additional property ${stray} is not allowed`;
    return jsonReply(422, invalid("additional_property_not_allowed", "", description));
  }
  if (headers["cancel-after"] !== undefined && !/^(?:\d+[hms])+$/.test(headers["cancel-after"])) {
    return jsonReply(400, { detail: "Cancel-After is no duration" });
  }
  const { webhook = "https://", version, input = {} } = body;
  if (typeof webhook !== "string" || !webhook.startsWith("https://")) {
    return jsonReply(422, invalid("format", "webhook", "Must be an HTTPS URL"));
  }
  // A version alone, or behind its model's name.
  const model = official ?? Object.keys(MODELS).find((name) => name === version || name.split(":")[1] === version);
  const known = MODELS[model ?? ""];
  if (model === undefined || !known || (official !== undefined && !known.isOfficial)) {
    if (official !== undefined) return notFound();
    const words = { title: "Invalid version or not permitted", detail: "The specified version does not exist" };
    return jsonReply(422, { ...words, status: 422 });
  }
  const refusal = checkInput(known, input as Members);
  return refusal ? jsonReply(422, refusal) : { facts: { model, known, input: input as Members } };
}

function describe(job: Job<Facts, Status>, status: Status, at: { url: string; filesUrl: string }): Members {
  const { id, script, facts } = job;
  const { model, known, input } = facts;
  const isEnd = status !== "starting" && status !== "processing";
  return {
    id,
    model: model.split(":")[0],
    version: known.isOfficial ? "hidden" : model.split(":")[1],
    input,
    logs: "",
    output: status === "succeeded" ? known.output((name) => `${at.filesUrl}/yhqm/${id}/${name}`, input) : null,
    data_removed: false,
    error: status === "failed" ? "Prediction failed for an unknown reason. (E9243)" : null,
    source: "api",
    status,
    created_at: new Date(job.createdMs).toISOString(),
    ...(status === "succeeded" ? { metrics: { predict_time: 12.5, total_time: 14, ...known.metrics } } : {}),
    urls: {
      get: `${at.url}/predictions/${id}`,
      cancel: `${at.url}/predictions/${id}/cancel`,
      web: `https://replicate.com/p/${id}`,
    },
    ...(isEnd ? script.task : {}),
  };
}

function upload(form: unknown, url: string): TextReply {
  const { content } = (form ?? {}) as Members;
  if (typeof content !== "object") return jsonReply(400, { detail: "Missing content" });
  const id = crypto.randomUUID();
  return jsonReply(201, { id, expires_at: "2026-11-23T10:00:00Z", urls: { get: `${url}/files/${id}` } });
}
