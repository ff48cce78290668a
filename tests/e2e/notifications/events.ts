/** Events of the service on their way to people: which are told, to whom, and what they say. */
import { beforeAll, describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { EVENTS, type EventName } from "#shared/events/events.ts";
import { removeSpendLimit, setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { sluice } from "#tests/deploy/admin/commands.ts";
import { eventually } from "#tests/faults/wait.ts";

import { type SharedBench, sharedBench } from "./shared-bench.ts";

let bench: SharedBench;
let receiver: SharedBench["receiver"];
let mail: SharedBench["mail"];
let operators: SharedBench["operators"];
beforeAll(async () => {
  bench = await sharedBench();
  ({ receiver, mail, operators } = bench);
}, 120_000);

interface Told {
  readonly event: EventName;
  readonly workspaceId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const told = (path: string): Told[] =>
  receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Told);

async function post<T>(path: string, body: object, key = bench.stack.key): Promise<T> {
  const answer = await fetch(`${bench.stack.baseUrls[0]}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as T;
}

const say = (id: string, model = "sandbox-chat") => ({
  id,
  type: "model",
  model,
  params: { messages: [{ role: "user", content: "Say exactly: yes" }] },
});

const RUN_EVENTS = ["run.started", "run.retrying", "run.succeeded", "run.failed", "run.cancelled"] as const;

describe("runs", () => {
  test("report their start and end, with metadata by the schemas, and without null values", async () => {
    const { id } = await bench.channel(`${receiver.url}/runs`);
    for (const event of RUN_EVENTS) await bench.subscribe(id, event);
    const good = await post<{ id: string }>("/v1/pipelines/runs", { definition: { steps: [say("a")] } });
    const bad = await post<{ id: string }>("/v1/pipelines/runs", {
      mode: "async",
      definition: { steps: [say("a", "sandbox-error")], retry: { max_attempts: 2 } },
    });
    const of = (runId: string): string[] =>
      told("/runs")
        .filter(({ metadata }) => metadata["runId"] === runId)
        .map(({ event }) => event);
    await eventually("all are told", () => of(good.id).length === 2 && of(bad.id).length === 3, 40_000);
    expect(of(good.id).toSorted()).toEqual(["run.started", "run.succeeded"]);
    // The second attempt is told as such, instead of another beginning.
    expect(of(bad.id).toSorted()).toEqual(["run.failed", "run.retrying", "run.started"]);
    for (const { event, metadata, workspaceId } of told("/runs")) {
      expect([event, validate(EVENTS[event].metadata, metadata)]).toEqual([event, null]);
      expect(Object.values(metadata)).not.toContain(null);
      expect(workspaceId).toBe(bench.workspaceId);
    }
    const ended = told("/runs").find(({ event }) => event === "run.succeeded");
    expect(ended?.metadata["durationMs"]).toBeNumber();
  });

  test("of one workflow are reported only to its subscribers", async () => {
    const definition = { steps: [say("a")] };
    const [one, other] = [
      await post<{ id: string }>("/v1/workflows", { name: "one", definition }),
      await post<{ id: string }>("/v1/workflows", { name: "other", definition }),
    ];
    const { id } = await bench.channel(`${receiver.url}/scoped`);
    await bench.subscribe(id, "run.succeeded", { workflowId: one.id });
    const all = await bench.channel(`${receiver.url}/every`);
    await bench.subscribe(all.id, "run.succeeded");
    await post(`/v1/workflows/${other.id}/runs`, {});
    await post(`/v1/workflows/${one.id}/runs`, {});
    await eventually("both are told to who asked for all", () => told("/every").length === 2);
    expect(told("/scoped").map(({ metadata }) => metadata["workflowId"])).toEqual([one.id]);
  });
});

test("a durable job reports its end, and a step of a run does not", async () => {
  const { id } = await bench.channel(`${receiver.url}/jobs`);
  for (const event of ["job.completed", "job.failed"]) await bench.subscribe(id, event);
  await post("/v1/images/generations", { model: "sandbox-image", prompt: "a boat", size: "256x256" });
  const image = { id: "a", type: "model", model: "sandbox-image", params: { prompt: "a boat", size: "256x256" } };
  await post("/v1/pipelines/runs", { definition: { steps: [image] } });
  const [one] = await eventually("it is told", () => (told("/jobs").length > 0 ? told("/jobs") : undefined));
  expect(one).toMatchObject({ event: "job.completed", metadata: { modality: "image", model: "sandbox-image" } });
  await eventually("all events are fanned out", async () => {
    const rows = await bench.stack.query("select 1 from event where fanned_out_at is null");
    return rows.length === 0;
  });
  expect(told("/jobs")).toHaveLength(1);
});

test("a batch reports its end, with metadata by the schema, and its lines report nothing", async () => {
  const { id } = await bench.channel(`${receiver.url}/batches`);
  for (const event of ["job.completed", "job.failed"]) await bench.subscribe(id, event);
  const begin = async (text: string): Promise<void> => {
    const form = new FormData();
    form.append("purpose", "batch");
    form.append("file", new File([text], "a.jsonl"));
    const authorization = `Bearer ${bench.stack.key}`;
    const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, {
      method: "POST",
      headers: { authorization },
      body: form,
    });
    const { id: input_file_id } = (await answer.json()) as { id: string };
    await post("/v1/batches", { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" });
  };
  const { params, model } = say("a");
  await begin(
    JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body: { model, ...params } }),
  );
  await begin("no line\nno line");
  await eventually("both are told", () => told("/batches").length === 2, 40_000);
  for (const { event, metadata } of told("/batches"))
    expect([event, validate(EVENTS[event].metadata, metadata)]).toEqual([event, null]);
  const done = told("/batches").find(({ event }) => event === "job.completed");
  expect(done?.metadata).toMatchObject({
    batchId: expect.stringMatching(/^batch_/),
    total: 1,
    completed: 1,
    failed: 0,
    outputFileId: expect.stringMatching(/^file-/),
  });
  expect(told("/batches").find(({ event }) => event === "job.failed")?.metadata).toMatchObject({
    total: 0,
    creditsUsed: 0,
    error: { code: "invalid_json_line", message: expect.stringMatching(/^Line 1: /) },
  });
});

test("a low balance and a percentage of a budget are reported, with metadata by the schemas", async () => {
  const { id } = await bench.channel(`${receiver.url}/money`);
  for (const event of ["balance.low", "budget.warning"]) await bench.subscribe(id, event);
  await post("/v1/images/generations", { model: "sandbox-image", prompt: "a boat", size: "256x256" });
  const low = await bench.call("POST", "/balance-alerts", { name: "low", below_credits: 1_000_000_000 });
  expect(low.status).toBe(201);
  const budget = { name: "half", period: "monthly", threshold_credits: 1_000_000_000, warn_at: [50] };
  const { body } = await bench.call<{ id: string; spent: number }>("POST", "/budget-alerts", budget);
  // The spend is between the percentage and the threshold.
  const changed = { threshold_credits: Number((body.spent * 1.5).toFixed(9)) };
  expect((await bench.call("PATCH", `/budget-alerts/${body.id}`, changed)).status).toBe(200);
  await eventually("both are told", () => told("/money").length === 2, 40_000);
  for (const { event, metadata } of told("/money"))
    expect([event, validate(EVENTS[event].metadata, metadata)]).toEqual([event, null]);
  expect(
    told("/money")
      .map(({ event }) => event)
      .toSorted(),
  ).toEqual(["balance.low", "budget.warning"]);
});

test("percentages of a key's spend limit are reported, with metadata by the schema", async () => {
  const { id } = await bench.channel(`${receiver.url}/limits`);
  for (const event of ["limit.warning", "limit.reached"]) await bench.subscribe(id, event);
  const [key] = await bench.stack.query<{ id: string; name: string }>(
    "select k.id, k.name from api_key k where k.sha256 = sha256(convert_to($1, 'UTF8'))",
    [bench.stack.key],
  );
  const query = bench.stack.query.bind(bench.stack);
  await setSpendLimit({ query }, bench.workspaceId, {
    id: key?.id ?? "",
    kind: "key",
    credits: { total: 1_000_000_000_000_000_000n },
    warnAt: [1],
  });
  const [limit] = await query<{ spent: bigint }>("select spent from spend_limit where id = $1", [key?.id ?? ""]);
  // A hundredth of the limit is reached with the next charge.
  const total = ((limit?.spent ?? 0n) + 1n) * 100n;
  await setSpendLimit({ query }, bench.workspaceId, {
    id: key?.id ?? "",
    kind: "key",
    credits: { total },
    warnAt: [1],
  });
  await post("/v1/images/generations", { model: "sandbox-image", prompt: "a boat", size: "256x256" });
  const [one] = await eventually(
    "it is told",
    () => (told("/limits").length > 0 ? told("/limits") : undefined),
    40_000,
  );
  expect(one).toMatchObject({
    event: "limit.warning",
    metadata: { kind: "key", id: key?.id, name: key?.name, percent: 1 },
  });
  expect(validate(EVENTS["limit.warning"].metadata, one?.metadata)).toBeNull();
  await removeSpendLimit({ query }, bench.workspaceId, key?.id ?? "");
});

test("a mail arrives once, at one address, and describes the event in words", async () => {
  const asked = { type: "email", name: "mail", config: { recipient: "ada@example.com" } };
  const { status, body } = await bench.call<{ id: string }>("POST", "/notification-channels", asked);
  expect(status).toBe(201);
  await bench.subscribe(body.id, "run.cancelled");
  const run = await post<{ id: string }>("/v1/pipelines/runs", {
    mode: "async",
    definition: { steps: [say("a", "sandbox-hang")] },
  });
  await post(`/v1/workflows/runs/${run.id}/cancel`, {});
  const letter = await eventually("the letter", () => mail.letters[0]);
  expect(letter.to).toEqual(["ada@example.com"]);
  expect(letter.source).toContain("A run was cancelled");
  expect(letter.source).toContain(run.id);
  const { body: list } = await bench.call<{ data: { id: string; status: string }[] }>(
    "GET",
    `/deliveries?channelId=${body.id}`,
  );
  await bench.ended(list.data[0]?.id ?? "");
  expect(letter.source).toContain(list.data[0]?.id as string);
  expect(mail.letters).toHaveLength(1);
});

test("a stored workflow's unavailable models are reported in the operator's own workspace only", async () => {
  const mine = await bench.channel(`${receiver.url}/mine`);
  await bench.subscribe(mine.id, "template.unavailable");
  const settings = async <T>(path: string, body: object): Promise<T> =>
    post<T>(`/workspaces/operators${path}`, body, operators.key);
  const theirs = await settings<{ id: string }>("/notification-channels", {
    type: "webhook",
    name: "ops",
    config: { url: `${receiver.url}/ops` },
  });
  await settings(`/notification-channels/${theirs.id}/subscriptions`, { event: "template.unavailable" });
  // It was found when the worker started: another workspace of that name would hear nothing, and none can take it.
  await bench.stack.query("update workspace set name = 'renamed' where id = $1", [operators.id]);
  const taken = await bench.call("PATCH", "", { name: "operators" });
  expect(taken).toMatchObject({ status: 409, body: { error: { code: "conflict", param: "name" } } });
  const { id } = await post<{ id: string }>("/v1/workflows", { name: "gone", definition: { steps: [say("a")] } });
  // As if the model had left the catalogue.
  await bench.stack.query(
    "update workflow_version set definition = replace(definition::text, 'sandbox-chat', 'gone-chat')::json where workflow_id = $1",
    [id],
  );
  for (const _time of [1, 2]) await post(`/v1/workflows/${id}/runs`, {});
  const one = await eventually("operators are told", () => told("/ops")[0]);
  expect(one).toMatchObject({
    event: "template.unavailable",
    workspaceId: operators.id,
    metadata: { workflowId: id, stepId: "a", missing: "gone-chat" },
  });
  expect([told("/ops").length, told("/mine").length]).toEqual([1, 0]);
});

test("a worker of workflows does not start if the operator's workspace does not exist", async () => {
  const env = { ...bench.stack.env, SLUICE_ADMIN_WORKSPACE: "nowhere", SLUICE_SUPERVISED: "off" };
  const { code, stderr } = await sluice(["worker", "workflow"], env);
  expect(code).toBe(1);
  expect(stderr).toContain("SLUICE_ADMIN_WORKSPACE names no workspace: nowhere; give the id or the name of one");
});
