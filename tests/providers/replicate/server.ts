/**
 * A local upstream that speaks Replicate's predictions: start, poll, cancel, files, and what stands for
 * replicate.delivery on a port of its own. Each start takes the next script of `next`; a prediction plays its own polls,
 * of which the last one stays. Shapes: replicate.com/docs/reference/http.
 */
import { fileAt } from "../fal/clips.ts";
import { parseForm } from "../multipart.ts";
import type { RawRequest } from "../raw-request.ts";
import { startRawServer, type Wire } from "../raw-server.ts";
import { checkInput, invalid, type ModelFacts, MODELS } from "./models.ts";

/** One answer, or none. */
export type Reply =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | "reset"
  | "cut";

type Members = Readonly<Record<string, unknown>>;
type Status = "starting" | "processing" | "succeeded" | "failed" | "canceled" | "aborted" | "paused";

export interface Script {
  /** In place of taking the prediction; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  /** Members of the start's answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Members;
  /** Answers to the polls, in order; words are statuses. Unset: starting, processing, succeeded. */
  readonly polls?: readonly (Reply | Status)[];
  /** Members of the prediction at its end laid over the true ones. */
  readonly end?: Members;
  readonly cancel?: Reply;
  /** In place of taking a file that comes before the start. */
  readonly upload?: Reply;
  /** In place of the files that the output leads to. */
  readonly file?: Reply;
}

export interface ReplicateCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ReplicateServer {
  /** What stands for https://api.replicate.com/v1. */
  readonly url: string;
  readonly deliveryUrl: string;
  readonly requests: readonly ReplicateCall[];
  /** Predictions that were taken, and so would be paid for. */
  readonly charged: number;
  readonly faults: readonly unknown[];
  next(...scripts: readonly Script[]): void;
  close(): void;
}

interface Prediction {
  readonly model: string;
  readonly facts: ModelFacts;
  readonly input: Members;
  readonly script: Script;
  asked: number;
  isCanceled: boolean;
}

const PLAIN: readonly Status[] = ["starting", "processing", "succeeded"];
const OFFICIAL_BODY = ["input", "webhook", "webhook_events_filter", "stream"];

/** Starts both servers on 127.0.0.1. Other tokens than this get a 401. */
export function startReplicateServer({ token }: { readonly token: string }): ReplicateServer {
  const requests: ReplicateCall[] = [];
  const faults: unknown[] = [];
  const scripts: Script[] = [];
  const taken = new Map<string, Prediction>();
  const onFault = (fault: unknown): void => void faults.push(fault);
  const delivery = startRawServer((raw, wire) => deliver(raw, wire, taken), onFault);
  const deliveryUrl = `http://127.0.0.1:${delivery.port}`;

  const describe = (id: string, prediction: Prediction, status: Status): Members => {
    const { model, facts, input, script } = prediction;
    const isEnd = status !== "starting" && status !== "processing";
    return {
      id,
      model: model.split(":")[0],
      version: facts.isOfficial ? "hidden" : model.split(":")[1],
      input,
      logs: "",
      output: status === "succeeded" ? facts.output((name) => `${deliveryUrl}/yhqm/${id}/${name}`, input) : null,
      data_removed: false,
      error: status === "failed" ? "Prediction failed for an unknown reason. (E9243)" : null,
      source: "api",
      status,
      created_at: "2026-11-22T10:00:00.000Z",
      ...(status === "succeeded" ? { metrics: { predict_time: 12.5, total_time: 14, ...facts.metrics } } : {}),
      urls: {
        get: `${url}/predictions/${id}`,
        cancel: `${url}/predictions/${id}/cancel`,
        web: `https://replicate.com/p/${id}`,
      },
      ...(isEnd ? script.end : {}),
    };
  };

  const start = async (named: string | null, raw: RawRequest, wire: Wire): Promise<void> => {
    const script = scripts.shift() ?? {};
    if (script.start !== undefined && script.start !== "lost") return send(script.start, wire);
    const body = (parse(raw.body) ?? {}) as Members;
    const allowed = named === null ? ["version", ...OFFICIAL_BODY] : OFFICIAL_BODY;
    const stray = Object.keys(body).find((name) => !allowed.includes(name));
    if (stray !== undefined) {
      const description = `Additional property ${stray} is not allowed`;
      return send({ status: 422, body: invalid("additional_property_not_allowed", "", description) }, wire);
    }
    if (raw.headers["cancel-after"] !== undefined && !/^(?:\d+[hms])+$/.test(raw.headers["cancel-after"])) {
      return send({ status: 400, body: { detail: "Cancel-After is no duration" } }, wire);
    }
    const { webhook = "https://" } = body;
    if (typeof webhook !== "string" || !webhook.startsWith("https://")) {
      return send({ status: 422, body: invalid("format", "webhook", "Must be an HTTPS URL") }, wire);
    }
    const model = named ?? modelOf(body["version"]);
    const facts = model === undefined ? undefined : MODELS[model];
    if (model === undefined || !facts || (named !== null && !facts.isOfficial)) {
      const answer = { title: "Invalid version or not permitted", detail: "The specified version does not exist" };
      if (named === null) return send({ status: 422, body: { ...answer, status: 422 } }, wire);
      return send({ status: 404, body: { detail: "The requested resource could not be found.", status: 404 } }, wire);
    }
    const input = (body["input"] ?? {}) as Members;
    const refusal = checkInput(facts, input);
    if (refusal) return send({ status: 422, body: refusal }, wire);
    const id = crypto.randomUUID().replaceAll("-", "").slice(0, 26);
    const prediction: Prediction = { model, facts, input, script, asked: 0, isCanceled: false };
    taken.set(id, prediction);
    if (script.start === "lost") return wire.reset();
    return send({ status: 201, body: { ...describe(id, prediction, "starting"), ...script.receipt } }, wire);
  };

  const handle = async (raw: RawRequest, wire: Wire): Promise<void> => {
    const path = raw.target.replace(/^\/v1/, "");
    requests.push({ method: raw.method, path, headers: raw.headers, body: bodyOf(raw) });
    if (raw.headers["authorization"] !== `Bearer ${token}`) {
      const body = { title: "Unauthenticated", detail: "You did not pass a valid authentication token", status: 401 };
      return send({ status: 401, body }, wire);
    }
    const official = /^\/models\/([^/]+\/[^/]+)\/predictions$/.exec(path);
    if (raw.method === "POST" && official) return start(official[1] ?? "", raw, wire);
    if (raw.method === "POST" && path === "/predictions") return start(null, raw, wire);
    if (raw.method === "POST" && path === "/files") return send(scripts[0]?.upload ?? upload(raw, url), wire);
    const [, id = "", cancel] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const prediction = taken.get(id);
    if (!prediction || raw.method !== (cancel === undefined ? "GET" : "POST")) {
      return send({ status: 404, body: { detail: "The requested resource could not be found.", status: 404 } }, wire);
    }
    if (cancel === undefined)
      return send(
        poll(prediction, (status) => describe(id, prediction, status)),
        wire,
      );
    prediction.isCanceled = prediction.script.cancel === undefined;
    return send(prediction.script.cancel ?? { status: 200, body: describe(id, prediction, "processing") }, wire);
  };
  const api = startRawServer(handle, onFault);
  const url = `http://127.0.0.1:${api.port}/v1`;

  return {
    url,
    deliveryUrl,
    requests,
    faults,
    get charged() {
      return taken.size;
    },
    next: (...more) => void scripts.push(...more),
    close() {
      api.close();
      delivery.close();
    },
  };
}

function poll(prediction: Prediction, describe: (status: Status) => Members): Reply {
  if (prediction.isCanceled) return { status: 200, body: describe("canceled") };
  const answers = prediction.script.polls ?? PLAIN;
  const answer = answers[Math.min(prediction.asked, answers.length - 1)] ?? "succeeded";
  prediction.asked += 1;
  if (answer === "hang" || answer === "reset" || answer === "cut" || typeof answer !== "string") return answer;
  return { status: 200, body: describe(answer) };
}

/** A version alone, or behind its model's name. */
function modelOf(version: unknown): string | undefined {
  return Object.keys(MODELS).find((name) => name === version || name.split(":")[1] === version);
}

function upload(raw: RawRequest, url: string): Reply {
  const { content } = parseForm(raw.headers["content-type"], raw.body) ?? {};
  if (typeof content !== "object") return { status: 400, body: { detail: "Missing content" } };
  const id = crypto.randomUUID();
  return { status: 201, body: { id, expires_at: "2026-11-23T10:00:00Z", urls: { get: `${url}/files/${id}` } } };
}

/** Public for an hour: whoever brings a token has shown it to a stranger. */
async function deliver(raw: RawRequest, wire: Wire, taken: ReadonlyMap<string, Prediction>): Promise<void> {
  if (raw.headers["authorization"] !== undefined) return send({ status: 400, body: "no token is wanted here" }, wire);
  const prediction = taken.get(/^\/yhqm\/([^/]+)\//.exec(raw.target)?.[1] ?? "");
  if (prediction?.script.file !== undefined) return send(prediction.script.file, wire);
  const found = fileAt(raw.target);
  if (!prediction || !found) return send({ status: 404, body: "Not Found" }, wire);
  await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: ${found.type}\r\ncontent-length: ${found.bytes.length}\r\n\r\n`);
  await wire.write(found.bytes);
}

async function send(reply: Reply, wire: Wire): Promise<void> {
  if (reply === "hang") return void (await wire.wait(Infinity));
  if (reply === "reset") return wire.reset();
  const { status, body, headers = {} } = reply === "cut" ? { status: 200, body: { status: "succeeded" } } : reply;
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = Object.entries({ "content-type": "application/json", ...headers, "content-length": text.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await wire.write(`HTTP/1.1 ${status} Status\r\n${head}\r\n`);
  await wire.write(reply === "cut" ? text.subarray(0, 5) : text);
  if (reply === "cut") wire.end();
}

function bodyOf(raw: RawRequest): unknown {
  return parseForm(raw.headers["content-type"], raw.body) ?? parse(raw.body);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
