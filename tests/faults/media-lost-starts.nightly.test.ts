/**
 * Fault: providers' queues are asked to begin jobs and their answers are lost: on the way, by a gateway, with the worker that asked; with
 * the job taken or not, listed at once, late or never, rung for early or late. Expected: no job is submitted twice, each is found,
 * goes on elsewhere, or ends as soon as that cannot be told any more; the books are exact.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Job } from "#schemas/generated/types.ts";
import { jsonReply } from "#tests/providers/engine/behaviour.ts";
import { startFalServer, type FalServer } from "#tests/providers/fal/server.ts";
import { startMeshyServer, type MeshyServer } from "#tests/providers/meshy/server.ts";
import { startReplicateServer, type ReplicateServer, type Script } from "#tests/providers/replicate/server.ts";
import { startTripoServer, type TripoServer } from "#tests/providers/tripo/server.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

import { audit } from "./audit.ts";
import { type Answer, type Client, createClient, errorCode, requestId } from "./client.ts";
import { metric } from "./metric.ts";
import { eventually } from "./wait.ts";

const CREDIT = 1_000_000_000n;
const KEY = "key-of-a-local-provider";
/** A gateway's page behind which the job was taken. */
const GATEWAY = { answer: jsonReply(502, "<html>Bad gateway</html>") };
/** Nothing was taken. */
const UNTAKEN = { start: jsonReply(502, "<html>Bad gateway</html>") };

let stack: Stack;
let client: Client;
let replicate: ReplicateServer;
let meshy: MeshyServer;
let tripo: TripoServer;
let fal: FalServer;
let removeFolder: () => void;
/** The worker that came in place of those that died. */
let last: ManagedProcess | undefined;

beforeAll(async () => {
  const folder = temporaryDirectory();
  removeFolder = () => folder.remove();
  replicate = startReplicateServer({ token: KEY });
  meshy = startMeshyServer({ apiKey: KEY });
  tripo = startTripoServer({ apiKey: KEY });
  fal = startFalServer({ apiKey: KEY });
  const catalogue = join(folder.directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueYaml());
  stack = await startStack({
    apart: true,
    pools: ["video", "3d"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      SLUICE_PUBLIC_URL: "http://sluice.example",
      SLUICE_MEDIA_WAIT_MS: "60000",
      SLUICE_OUTBOUND_ALLOW: [replicate, meshy, tripo, fal].map(({ filesUrl }) => new URL(filesUrl).host).join(","),
      LOCAL_API_KEY: KEY,
    },
  });
  client = createClient();
  const chain = ["admin", "fallback-chains", "set", "predicted", "spare", "--workspace", "default"];
  expect(await stack.command(...chain)).toMatchObject({ code: 0 });
}, 90_000);

afterAll(async () => {
  await stack?.stop();
  for (const server of [replicate, meshy, tripo, fal]) server?.close();
  removeFolder?.();
});

const mesh = (model: string, prompt: string): Promise<Answer> =>
  client.chat({ url: stack.baseUrls[0] ?? "", key: stack.key, path: "/v1/3d/generations" }, { model, prompt });

/** A call for a video, which is not waited for; its job's id. */
async function film(prompt: string, model = "predicted"): Promise<string> {
  const response = await fetch(`${stack.baseUrls[0]}/v1/videos/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, prompt }),
  });
  expect([prompt, response.status]).toEqual([prompt, 200]);
  return response.headers.get("x-request-id") ?? "";
}

async function shown(id: string): Promise<Job> {
  const headers = { authorization: `Bearer ${stack.key}` };
  return (await (await fetch(`${stack.baseUrls[0]}/v1/images/jobs/${id}`, { headers })).json()) as Job;
}

const endOf = (id: string): Promise<Job> =>
  eventually(
    `the job ${id} ends`,
    async () => {
      const job = await shown(id);
      return job.status !== "queued" && job.status !== "processing" && job;
    },
    45_000,
  );

const usageOf = (id: string) =>
  stack.query<{ status: string; settled: bigint; source: string | null }>(
    "select status, settled, source from usage_record where job_id = $1",
    [id],
  );

const isUnknown = async (id: string): Promise<boolean> =>
  (await stack.query("select 1 from job where id = $1 and unknown_since is not null and lease_until is null", [id]))
    .length === 1;

const askAgain = (id: string) => stack.query("update job set ask_at = clock_timestamp() where id = $1", [id]);

type Server = { readonly requests: readonly { readonly method: string; readonly body: unknown }[] };

function submissions({ requests }: Server, prompt: string): number {
  return requests.filter(({ method, body }) => method === "POST" && JSON.stringify(body ?? "").includes(`"${prompt}"`))
    .length;
}

async function expectPaid(id: string, source: string): Promise<void> {
  expect(await endOf(id)).toMatchObject({ status: "completed" });
  expect(await usageOf(id)).toMatchObject([{ status: "succeeded", source }]);
  expect((await usageOf(id))[0]?.settled).toBeGreaterThan(0n);
}

test.each<[string, Script]>([
  ["lost on the way", { start: "lost" }],
  ["lost by a gateway", GATEWAY],
  ["listed late", { ...GATEWAY, listedAfter: 2 }],
  ["answered with what names no job", { receipt: { id: undefined } }],
])(
  "an accepted start that is %s is found in the list, continues, and is charged once",
  async (prompt, script) => {
    replicate.next(script);
    const id = await film(prompt);
    await expectPaid(id, "replicate-local/bytedance/seedance-1.5-pro");
    expect(submissions(replicate, prompt)).toBe(1);
  },
  60_000,
);

test("a start that cannot be looked up because the list is down is found after its recovery", async () => {
  const prompt = "while the list is down";
  replicate.next(GATEWAY);
  replicate.nextLists(jsonReply(503, {}), "reset", jsonReply(200, "<html>"));
  const id = await film(prompt);
  await expectPaid(id, "replicate-local/bytedance/seedance-1.5-pro");
  expect(submissions(replicate, prompt)).toBe(1);
}, 60_000);

test("a start that was never accepted moves to the next model, and only that is charged", async () => {
  const prompt = "never taken";
  replicate.next(UNTAKEN);
  const id = await film(prompt);
  await expectPaid(id, "fal-local/acme/filmer");
  expect([submissions(replicate, prompt), submissions(fal, prompt)]).toEqual([1, 1]);
}, 60_000);

test("a start without another model fails, and its hold is released immediately", async () => {
  const prompt = "never taken, and alone";
  replicate.next(UNTAKEN);
  const id = await film(prompt, "lonely");
  expect(await endOf(id)).toMatchObject({ status: "failed", error: { code: "upstream_error" }, credits_used: 0 });
  expect(await usageOf(id)).toMatchObject([{ status: "failed", settled: 0n }]);
}, 60_000);

test("one of two equal lost starts was accepted and is that job; the other continues", async () => {
  const prompt = "twins";
  replicate.next(UNTAKEN, GATEWAY);
  const ids = await Promise.all([film(prompt), film(prompt)]);
  for (const id of ids) expect(await endOf(id)).toMatchObject({ status: "completed" });
  const sources = (await Promise.all(ids.map(usageOf))).map(([usage]) => usage?.source ?? "");
  expect(new Set(sources)).toEqual(new Set(["fal-local/acme/filmer", "replicate-local/bytedance/seedance-1.5-pro"]));
  expect([submissions(replicate, prompt), submissions(fal, prompt)]).toEqual([2, 1]);
}, 90_000);

test("a list that stays down leaves the job's outcome unknown; its later result is collected and charged once", async () => {
  const prompt = "long down";
  replicate.next(GATEWAY);
  replicate.nextLists(...Array.from({ length: 40 }, () => jsonReply(503, {})));
  const id = await film(prompt);
  await eventually("its outcome is unknown", () => isUnknown(id), 45_000);
  expect(await shown(id)).toMatchObject({ status: "processing" });
  expect(await stack.query("select 1 from hold where job_id = $1", [id])).toHaveLength(1);
  replicate.nextLists();
  await eventually(
    "the list is up and the job found",
    async () => {
      await askAgain(id);
      return (await shown(id)).status === "completed";
    },
    45_000,
  );
  await expectPaid(id, "replicate-local/bytedance/seedance-1.5-pro");
  expect(submissions(replicate, prompt)).toBe(1);
}, 120_000);

test("a job with a callback of fal continues under the name of the callback, and under no other start's", async () => {
  const prompt = "rung for";
  // It rings when a job has ended.
  fal.next({ start: "lost", polls: ["COMPLETED"] });
  const id = await film(prompt, "spare");
  await eventually("its outcome is unknown", () => isUnknown(id));
  const job = fal.jobs.find(({ facts }) => facts.body["prompt"] === prompt);
  const there = new URL(job?.facts.callbackUrl ?? "");
  const ring = (query: string, body: unknown): Promise<Response> =>
    fetch(`${stack.baseUrls[0]}${there.pathname}${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const payload = { request_id: job?.id, gateway_request_id: job?.id, status: "OK", payload: {} };
  // Of another start of the job, of none, and without a name: heard, and nothing is taken from them.
  for (const query of [`?start=${crypto.randomUUID()}`, ""]) expect((await ring(query, payload)).status).toBe(204);
  for (const body of [{}, [], "nothing", { request_id: "../account" }])
    expect((await ring(there.search, body)).status).toBe(204);
  const [before] = await stack.query<{ told: string | null }>(
    "select provider_job->'start'->>'told' as told from job where id = $1",
    [id],
  );
  expect(before?.told).toBeNull();
  expect((await ring(there.search, payload)).status).toBe(204);
  await expectPaid(id, "fal-local/acme/filmer");
  expect(submissions(fal, prompt)).toBe(1);
}, 60_000);

test("a job without a callback of fal ends when no callback can come any longer, and is counted", async () => {
  const prompt = "never rung for";
  fal.next({ start: "lost" });
  const id = await film(prompt, "spare");
  await eventually("its outcome is unknown", () => isUnknown(id));
  const [janitor] = stack.janitors;
  const writtenOff = (): Promise<number> => metric(janitor?.adminUrl ?? "", "sluice_credits_written_off_total");
  const before = await writtenOff();
  // An hour is its own limit, a day the setting's.
  await stack.query("update job set unknown_since = unknown_since - interval '59 minutes' where id = $1", [id]);
  expect(await shown(id)).toMatchObject({ status: "processing" });
  await stack.query("update job set unknown_since = unknown_since - interval '2 minutes' where id = $1", [id]);
  expect(await endOf(id)).toMatchObject({ status: "failed", error: { code: "upstream_timeout" }, credits_used: 0 });
  expect(await usageOf(id)).toMatchObject([{ status: "lost", settled: 0n }]);
  await eventually("it is counted", async () => (await writtenOff()) > before);
}, 60_000);

test("a start that can never be looked up fails immediately without a retry hint, and its hold is released", async () => {
  tripo.next(GATEWAY);
  const answer = await mesh("tripo-mesh", "a fox, unheard");
  expect([answer.status, errorCode(answer), answer.headers.get("x-should-retry")]).toEqual([
    504,
    "upstream_timeout",
    "false",
  ]);
  expect(JSON.parse(answer.body)).not.toHaveProperty("error.job_id");
  expect(await usageOf(requestId(answer))).toMatchObject([{ status: "lost", settled: 0n }]);
  expect(submissions(tripo, "a fox, unheard")).toBe(1);
  const counted = await Promise.all(
    stack.workers.map(({ adminUrl }) => metric(adminUrl ?? "", "sluice_credits_written_off_total")),
  );
  expect(Math.max(...counted)).toBe(2);
});

test("both parts of a mesh are found after unanswered starts, or started if they were not accepted", async () => {
  const prompt = "a chair in two halves";
  meshy.next({ ...GATEWAY, polls: ["SUCCEEDED"] }, UNTAKEN, {});
  const answer = await mesh("meshy-mesh", prompt);
  expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "3"]);
  expect(await usageOf(requestId(answer))).toMatchObject([{ status: "succeeded", settled: 3n * CREDIT }]);
  const modes = meshy.requests
    .filter(({ method }) => method === "POST")
    .map(({ body }) => (body as { mode: string }).mode);
  expect(modes).toEqual(["preview", "refine", "refine"]);
  expect(meshy.jobs).toHaveLength(2);
}, 60_000);

test("a start whose worker dies before it has stored the answer is found by the next one", async () => {
  const [usual] = stack.workers;
  await usual?.stop();
  const dying = await startRole(["worker", "video"], { ...stack.env, SLUICE_FAILPOINT: "job.begun" });
  const prompt = "its worker died";
  replicate.next({});
  const id = await film(prompt);
  expect((await dying.exited()).signal).toBe("SIGKILL");
  last = await stack.addRole("worker", "video", "3d");
  await expectPaid(id, "replicate-local/bytedance/seedance-1.5-pro");
  expect(submissions(replicate, prompt)).toBe(1);
}, 90_000);

test("a callback during an unanswered start is used by the next worker if this one dies", async () => {
  const prompt = "rung for early";
  fal.next({ answer: "hang" });
  const id = await film(prompt, "spare");
  const job = await eventually("fal has it", () => fal.jobs.find(({ facts }) => facts.body["prompt"] === prompt));
  const there = new URL(job.facts.callbackUrl ?? "");
  const rung = await fetch(`${stack.baseUrls[0]}${there.pathname}${there.search}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ request_id: job.id, status: "OK" }),
  });
  expect(rung.status).toBe(204);
  last?.kill("SIGKILL");
  await stack.addRole("worker", "video", "3d");
  await expectPaid(id, "fal-local/acme/filmer");
  expect(submissions(fal, prompt)).toBe(1);
}, 90_000);

test("the books are exact afterwards", async () => {
  await audit({ stack, client }, { withinMs: 30_000 });
  for (const server of [replicate, meshy, tripo, fal]) expect(server.faults).toEqual([]);
});

function catalogueYaml(): string {
  const provider = (id: string, url: string, more = ""): string =>
    `  - { id: ${id}-local, family: ${id}, breaker: off, base_url: "${url}", api_key_env: LOCAL_API_KEY${more} }`;
  const model = (slug: string, modality: string, source: string): string => `
  - slug: ${slug}
    modality: ${modality}
    owned_by: local
    created: 1700000000
    pricing: { unit: per_request, request_price: "${slug === "tripo-mesh" ? 2 : 3}" }
    allowed_params: { supported_inputs: [text] }
    sources: [${source}]`;
  return `
providers:
${provider("replicate", replicate.url, ", unknown_for_seconds: 3600, listed_within_seconds: 2")}
${provider("meshy", meshy.url, ", unknown_for_seconds: 3600, listed_within_seconds: 2")}
${provider("tripo", tripo.url)}
${provider("fal", fal.url, ", unknown_for_seconds: 3600")}
models:${[
    model("predicted", "video", "{ provider: replicate-local, model: bytedance/seedance-1.5-pro }"),
    model("lonely", "video", "{ provider: replicate-local, model: bytedance/seedance-1.5-pro }"),
    model("spare", "video", "{ provider: fal-local, model: acme/filmer }"),
    model("meshy-mesh", "object_3d", "{ provider: meshy-local, model: text-to-3d/meshy-6 }"),
    model("tripo-mesh", "object_3d", "{ provider: tripo-local, model: text-to-model/v3.1-20260211 }"),
  ].join("")}
`;
}
