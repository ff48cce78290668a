/**
 * Work of every kind at a steady pace for a fleet of several ingresses, through a balancer that asks them before each call whether they are
 * ready: one that asks seldom needs an ingress that goes on answering for longer, as at the pace of production.
 */
import { Agent, request } from "node:http";

import { newId } from "#shared/base/ids.ts";
import { paced } from "#shared/config/pace.ts";

import type { ManagedProcess } from "../support/role-process.ts";
import { ask, type Bed, type Workspace } from "./bed.ts";
import { type Answer, CHAT_PATH, type Target } from "./client.ts";
import { isServed } from "./load.ts";
import type { Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

export const PICTURES_PATH = "/v1/images/generations";
export const CAPABILITY_PATH = "/v1/capabilities/code.regex/run";
/** A source that fails, and one behind it that serves. */
export const TWO_SOURCES = { slug: "two-sources", sources: ["openai/mock-500", "openai/upstream"] };
export const WITHOUT_USAGE = "usage-missing";
/** Two seconds, so that a client can leave before its end. */
export const LONG = "tokens-40-every-50";

export interface Told {
  readonly kind: string;
  readonly answer: Answer;
  readonly began: number;
  readonly ended: number;
}

export interface FleetLoad {
  readonly told: readonly Told[];
  /** Answers to calls over connections that are kept, which the bed's client does not make. */
  readonly kept: readonly Answer[];
  /** Keys of batch messages, and ids of runs. */
  readonly jobs: readonly string[];
  readonly runs: readonly string[];
  /** Counts of lines of batches that have completed. */
  readonly batches: readonly LineCounts[];
  /** Number of calls that have been served. */
  served(): number;
  /** Waits for whatever runs. */
  stop(): Promise<void>;
}

interface LineCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

interface LoadOptions {
  readonly bed: Bed;
  readonly ingresses: readonly ManagedProcess[];
  readonly workspace: Workspace;
  readonly publisher: Publisher;
  readonly perSecond: number;
}

const TRIES = 5;
/** States of a batch message whose end is still to come. */
const GOING_ON: ReadonlySet<string> = new Set(["waiting", "queued", "running"]);
/** Once the servers are back; a publisher and a starter of runs go on until they are heard. */
const HEARD_WITHIN_MS = 60_000;
const BATCH_LINES = 10;

export function startFleetLoad({ bed, ingresses, workspace, publisher, perSecond }: LoadOptions): FleetLoad {
  const { client } = bed;
  const agent = new Agent({ keepAlive: true });
  const [told, kept, jobs, runs]: [Told[], Answer[], string[], string[]] = [[], [], [], []];
  const { batches, makeBatch } = openBatches(ingresses, workspace);
  const target = (url: string, path = CHAT_PATH): Required<Target> => ({ url, path, key: workspace.key });
  const whole = (body: object, path?: string) => (url: string) =>
    client.chat(target(url, path), body as Record<string, unknown>);
  const user = (): { readonly user: string } => ({ user: newId() });

  const plain = (at: number) => (url: string) =>
    callKept(agent, target(url), ask(at % 2 === 0 ? "flat" : "metered", user()));
  const leave = async (url: string): Promise<Answer> => {
    const live = await client.open(target(url), ask(`mock-${LONG}`, { ...user(), stream: true }));
    await live.frames(1).catch(() => undefined);
    live.leave();
    return live.ended;
  };
  /** Sends one again until its end is heard, as publishers may: what was said while their server was away is lost. */
  const publish = async (): Promise<void> => {
    const key = newId();
    jobs.push(key);
    await eventually(
      `the end of ${key}`,
      async () => {
        await publisher.publish({ body: ask("flat", { user: key }) }, { key }).catch(() => undefined);
        await Bun.sleep(1_000);
        return publisher.answers.some(({ key: of, status }) => of === key && !GOING_ON.has(status));
      },
      HEARD_WITHIN_MS,
    );
  };
  /** Asks again until it has begun, with the same key. */
  const beginRun = async (): Promise<void> => {
    const key = newId();
    const step = (id: string, more = {}): object => ({ id, type: "model", model: "flat", params: { messages: [{ role: "user", content: key }] }, ...more }); // prettier-ignore
    const definition = { steps: [step("one"), step("two", { depends_on: ["one"] })] };
    const headers = { authorization: `Bearer ${workspace.key}`, "content-type": "application/json", "idempotency-key": key }; // prettier-ignore
    const body = JSON.stringify({ definition, mode: "async" });
    await eventually(
      `run ${key} begins`,
      async () => {
        const url = await pickReady(ingresses);
        const answer = await fetch(`${url}/v1/pipelines/runs`, { method: "POST", headers, body, keepalive: false });
        if (answer.ok) runs.push(((await answer.json()) as { id: string }).id);
        else await Bun.sleep(200);
        return answer.ok;
      },
      HEARD_WITHIN_MS,
    );
  };

  const call = async (kind: string, send: (url: string) => Promise<Answer>): Promise<void> => {
    const began = performance.now();
    const answer = await balance(ingresses, send);
    told.push({ kind, answer, began, ended: performance.now() });
  };
  const rare: readonly (() => Promise<void>)[] = [
    () => call("picture", whole({ model: "queued", prompt: newId() }, PICTURES_PATH)),
    publish,
    beginRun,
    makeBatch,
    () => call("capability", whole({ input: { text: { text: "one 22 three" } }, params: { pattern: "[0-9]+" } }, CAPABILITY_PATH)), // prettier-ignore
    // Both sources get it, so it has no name by which calls are told that were sent twice.
    () => call("second source", whole(ask(TWO_SOURCES.slug))),
    () => call("without usage", whole(ask(`mock-${WITHOUT_USAGE}`, user()))),
    () => call("left", leave),
  ];
  const running = new Set<Promise<void>>();
  const faults: unknown[] = [];
  const begin = (work: Promise<void>): void => {
    const one = work.catch((error: unknown) => void faults.push(error)).finally(() => running.delete(one));
    running.add(one);
  };
  const turn = (at: number): Promise<void> => {
    if (at % 10 < 6) return call("plain", plain(at));
    if (at % 10 < 9) return call("stream", whole(ask("metered", { ...user(), stream: true })));
    return rare[Math.floor(at / 10) % rare.length]?.() ?? Promise.resolve();
  };
  const over = new AbortController();
  const pacing = (async () => {
    const start = performance.now();
    for (let at = 0; !over.signal.aborted; at += 1) {
      await Bun.sleep(Math.max(0, start + (at * 1_000) / perSecond - performance.now()));
      begin(turn(at));
    }
  })();
  return {
    told,
    kept,
    jobs,
    runs,
    batches,
    served: () => told.filter(({ answer }) => isServed(answer)).length,
    async stop() {
      over.abort();
      await pacing;
      await Promise.all(running);
      agent.destroy();
      if (faults.length > 0) throw new AggregateError(faults, `${faults.length} pieces of work failed`);
    },
  };

  /** A plain call over a connection that is kept. */
  function callKept(over: Agent, { url, path, key }: Required<Target>, body: object): Promise<Answer> {
    const payload = JSON.stringify(body);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": Buffer.byteLength(payload) }; // prettier-ignore
    const answer: Answer = { status: 0, headers: new Headers(), body: "", frames: [], comments: 0, isStream: false, isCut: false, hasLeft: false, endedAt: 0 }; // prettier-ignore
    kept.push(answer);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const sent = request(`${url}${path}`, { agent: over, method: "POST", headers }, (response) => {
      answer.status = response.statusCode ?? 0;
      for (const [name, value] of Object.entries(response.headers)) answer.headers.set(name, String(value));
      response.setEncoding("utf8");
      response.on("data", (text: string) => (answer.body += text));
      response.on("end", () => resolve(answer));
      response.on("error", cut);
    });
    const cut = (error: NodeJS.ErrnoException): void => {
      answer.isCut = true;
      answer.body += `${error.code} ${error.message}`;
      resolve(answer);
    };
    sent.on("error", cut);
    sent.end(payload);
    return promise;
  }
}

/** Batches, one after the other. */
function openBatches(ingresses: readonly ManagedProcess[], workspace: Workspace) {
  /** Returns what an ingress that is ready says; undefined: none answers well now. */
  const asked = async <T>(path: string, init: RequestInit = {}, more: Record<string, string> = {}): Promise<T | undefined> => {
    const url = await pickReady(ingresses);
    const headers = { authorization: `Bearer ${workspace.key}`, ...more };
    const answer = await fetch(`${url}${path}`, { ...init, headers, keepalive: false });
    if (answer.ok) return (await answer.json()) as T;
    await Bun.sleep(200);
    return undefined;
  }; // prettier-ignore
  const batches: LineCounts[] = [];
  let isOpen = false;
  const makeBatch = async (): Promise<void> => {
    if (isOpen) return;
    isOpen = true;
    const line = (at: number): string =>
      JSON.stringify({ custom_id: `${at}`, method: "POST", url: CHAT_PATH, body: ask("flat", { user: newId() }) });
    const lines = Array.from({ length: BATCH_LINES }, (_, at) => line(at)).join("\n");
    const upload = async (): Promise<{ id: string } | undefined> => {
      const form = new FormData();
      form.append("purpose", "batch");
      form.append("file", new File([lines], "a.jsonl"));
      return asked("/v1/files", { method: "POST", body: form });
    };
    const file = await eventually("the input of a batch is stored", upload, HEARD_WITHIN_MS);
    const body = JSON.stringify({ input_file_id: file.id, endpoint: CHAT_PATH, completion_window: "24h" });
    const headers = { "content-type": "application/json", "idempotency-key": newId() };
    const begin = () => asked<{ id: string }>("/v1/batches", { method: "POST", body }, headers);
    const { id } = await eventually("a batch begins", begin, HEARD_WITHIN_MS);
    const end = async (): Promise<LineCounts | undefined> => {
      const batch = await asked<{ status: string; request_counts: LineCounts }>(`/v1/batches/${id}`);
      if (batch?.status === "completed") return batch.request_counts;
      await Bun.sleep(500);
      return undefined;
    };
    batches.push(await eventually(`batch ${id} ends`, end, HEARD_WITHIN_MS));
    isOpen = false;
  };
  return { batches, makeBatch };
}

/** An ingress that ends goes on answering for twice as long, so one that was ready that lately still takes a call. */
const FRESH_MS = paced(250);

/** Address of one that has just said that it is ready; of any where none is, as balancers do. */
async function pickReady(ingresses: readonly ManagedProcess[]): Promise<string> {
  const order = ingresses.toSorted(() => Math.random() - 0.5);
  let picked = order[0]?.baseUrl ?? "";
  for (const { adminUrl, baseUrl } of [...order, ...order]) {
    const askedAt = performance.now();
    const isReady = await fetch(`${adminUrl}/readyz`, { keepalive: false }).then(({ ok }) => ok, () => false); // prettier-ignore
    if (!isReady) continue;
    picked = baseUrl;
    if (performance.now() - askedAt < FRESH_MS) break;
  }
  return picked;
}

/** Sends a call to one that is ready. Who refuses a connection was not asked anything, so another is. */
async function balance(ingresses: readonly ManagedProcess[], send: (url: string) => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const url = await pickReady(ingresses);
    const answer = await send(url);
    const isRefused = answer.status === 0 && /ECONNREFUSED|ConnectionRefused/.test(answer.body);
    if (!isRefused || tries === TRIES) return answer;
    await Bun.sleep(50);
  }
}
