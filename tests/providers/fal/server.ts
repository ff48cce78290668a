/**
 * A local upstream that speaks fal's queue: submit, status, result, cancel, and a CDN with real files on a port of its
 * own. Each submit takes the next script of `next`; a job plays its own status answers, of which the last one stays.
 */
import type { RawRequest } from "../raw-request.ts";
import { type RawServer, startRawServer, type Wire } from "../raw-server.ts";
import { fileAt } from "./clips.ts";
import { checkInput, modelError } from "./models.ts";
import { resultOf } from "./results.ts";

/** One answer, or none. */
export type Reply =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | "reset"
  | "cut";

type Status = "IN_QUEUE" | "IN_PROGRESS" | "COMPLETED" | "FAILED";

export interface Script {
  /** In place of taking the job; "lost" takes it and resets before the answer. */
  readonly submit?: Reply | "lost";
  /** Members of the submit's answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Readonly<Record<string, unknown>>;
  /** Answers to the status, in order; words are statuses. Unset: in queue, in progress, completed. */
  readonly statuses?: readonly (Reply | Status)[];
  /** In place of what was made. */
  readonly result?: Reply;
  readonly cancel?: Reply;
  /** In place of the files that the result leads to: gone, of another kind, cut short. */
  readonly file?: Reply;
}

export interface FalCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface FalServer {
  /** What stands for https://queue.fal.run. */
  readonly url: string;
  readonly cdnUrl: string;
  readonly requests: readonly FalCall[];
  /** Jobs that were taken, and so would be paid for. */
  readonly charged: number;
  /** Where each job was told to ring, in their order. */
  readonly doorbells: readonly (string | null)[];
  readonly faults: readonly unknown[];
  next(...scripts: readonly Script[]): void;
  close(): void;
}

interface Job {
  readonly app: string;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Where it rings when it has ended. */
  readonly doorbell: string | null;
  readonly script: Script;
  readonly fault: unknown;
  asked: number;
}

const PLAIN: readonly Status[] = ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"];

/** Starts both servers on 127.0.0.1. Other keys than this get a 401. */
export function startFalServer({ apiKey }: { readonly apiKey: string }): FalServer {
  const requests: FalCall[] = [];
  const faults: unknown[] = [];
  const scripts: Script[] = [];
  const jobs = new Map<string, Job>();
  const onFault = (fault: unknown): void => void faults.push(fault);
  const serve = (raw: RawRequest, wire: Wire): Promise<void> => serveFile(raw, wire, jobs);
  const cdn: RawServer = startRawServer(serve, onFault);
  const cdnUrl = `http://127.0.0.1:${cdn.port}`;

  const submit = async (target: string, body: unknown, raw: RawRequest, wire: Wire): Promise<void> => {
    const { pathname, searchParams } = new URL(target, "http://local");
    const model = pathname.slice(1);
    const script = scripts.shift() ?? {};
    if (script.submit !== undefined && script.submit !== "lost") return send(script.submit, wire);
    const keep = raw.headers["x-fal-object-lifecycle-preference"] ?? "{}";
    if (!Number.isInteger((JSON.parse(keep) as Record<string, unknown>)["expiration_duration_seconds"])) {
      return send({ status: 400, body: { detail: "bad lifecycle preference", error_type: "bad_request" } }, wire);
    }
    const id = crypto.randomUUID();
    const app = model.split("/").slice(0, 2).join("/");
    // The queue takes anything: a model refuses what it is given only when it runs.
    const doorbell = searchParams.get("fal_webhook");
    jobs.set(id, { app, model, body: body as Job["body"], doorbell, script, fault: checkInput(model, body), asked: 0 });
    if (script.submit === "lost") return wire.reset();
    const base = `${url}/${app}/requests/${id}`;
    const receipt = {
      status: "IN_QUEUE",
      request_id: id,
      response_url: base,
      status_url: `${base}/status`,
      cancel_url: `${base}/cancel`,
      logs: null,
      metrics: {},
      queue_position: 0,
      ...script.receipt,
    };
    return send({ status: 200, body: receipt }, wire);
  };

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const body = parse(raw.body);
    requests.push({ method: raw.method, path: raw.target, headers: raw.headers, body });
    if (raw.headers["authorization"] !== `Key ${apiKey}`) {
      return send({ status: 401, body: { detail: "Cannot access application" } }, wire);
    }
    const asked = /^\/([^/]+\/[^/]+)\/requests\/([^/?]+)(\/status|\/cancel)?$/.exec(raw.target);
    if (!asked) {
      if (raw.method !== "POST") return send({ status: 405, body: { detail: "Method Not Allowed" } }, wire);
      return submit(raw.target, body, raw, wire);
    }
    const job = jobs.get(asked[2] ?? "");
    if (!job || job.app !== asked[1]) return send({ status: 404, body: { detail: "Request not found" } }, wire);
    const method = asked[3] === "/cancel" ? "PUT" : "GET";
    if (raw.method !== method) return send({ status: 405, body: { detail: "Method Not Allowed" } }, wire);
    if (asked[3] === "/cancel") {
      return send(job.script.cancel ?? { status: 202, body: { status: "CANCELLATION_REQUESTED" } }, wire);
    }
    if (asked[3] === "/status") return send(statusOf(job), wire);
    return send(job.script.result ?? resultReply(job, asked[2] ?? "", cdnUrl), wire);
  };
  const queue = startRawServer(handle, onFault);
  const url = `http://127.0.0.1:${queue.port}`;

  return {
    url,
    cdnUrl,
    requests,
    faults,
    get charged() {
      return jobs.size;
    },
    get doorbells() {
      return [...jobs.values()].map(({ doorbell }) => doorbell);
    },
    next: (...more) => void scripts.push(...more),
    close() {
      queue.close();
      cdn.close();
    },
  };
}

function statusOf(job: Job): Reply {
  const answers = job.script.statuses ?? PLAIN;
  const answer = answers[Math.min(job.asked, answers.length - 1)] ?? "COMPLETED";
  job.asked += 1;
  if (answer === "hang" || answer === "reset" || answer === "cut" || typeof answer !== "string") return answer;
  const more = answer === "IN_QUEUE" ? { queue_position: 1 } : {};
  return { status: answer === "COMPLETED" ? 200 : 202, body: { status: answer, logs: null, metrics: {}, ...more } };
}

function resultReply({ model, body, fault }: Job, id: string, cdnUrl: string): Reply {
  if (fault !== null) return { status: 422, body: { detail: [fault] }, headers: { "x-fal-retryable": "false" } };
  return { status: 200, body: resultOf(model, body, (name) => `${cdnUrl}/files/${id}-${name}`) };
}

async function serveFile(raw: RawRequest, wire: Wire, jobs: ReadonlyMap<string, Job>): Promise<void> {
  // Public: whoever brings a key has shown it to a stranger.
  if (raw.headers["authorization"] !== undefined) return send({ status: 400, body: "no key is wanted here" }, wire);
  const [, id = ""] = /^\/files\/([0-9a-f-]{36})-/.exec(raw.target) ?? [];
  const job = jobs.get(id);
  if (job?.script.file !== undefined) return send(job.script.file, wire);
  const file = fileAt(raw.target);
  if (!job || !file) return send({ status: 404, body: { detail: "Not Found" } }, wire);
  await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: ${file.type}\r\ncontent-length: ${file.bytes.length}\r\n\r\n`);
  await wire.write(file.bytes);
}

async function send(reply: Reply, wire: Wire): Promise<void> {
  if (reply === "hang") return void (await wire.wait(Infinity));
  if (reply === "reset") return wire.reset();
  const {
    status,
    body,
    headers = {},
  } = reply === "cut" ? { status: 200, body: { status: "COMPLETED", images: [] } } : reply;
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = Object.entries({ "content-type": "application/json", ...headers, "content-length": text.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await wire.write(`HTTP/1.1 ${status} Status\r\n${head}\r\n`);
  await wire.write(reply === "cut" ? text.subarray(0, 5) : text);
  if (reply === "cut") wire.end();
}

/** Errors as models send them; the first member decides. */
export function modelReply(type: string, field: string | null = null, status = 422): Reply {
  return { status, body: { detail: [modelError(type, field, "No")] } };
}

/** Errors as the platform sends them. */
export function platformReply(type: string, status: number): Reply {
  return { status, body: { detail: "No", error_type: type }, headers: { "x-fal-error-type": type } };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return bytes.toString("utf8");
  }
}
