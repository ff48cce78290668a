/** Files of calls, whole: made by the stock OpenAI SDK, validated, run line by line, written, paid for. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { toFile } from "openai";

import { newId } from "#shared/base/ids.ts";
import { audit } from "#tests/faults/audit.ts";
import {
  ask,
  type Bed,
  createWorkspace,
  FLAT_NANO,
  setFallbacks,
  startBed,
  type Workspace,
} from "#tests/faults/bed.ts";
import { metric } from "#tests/faults/metric.ts";
import { eventually } from "#tests/faults/wait.ts";

const CREDIT = 1_000_000_000n;
const CHAT = "/v1/chat/completions";

let bed: Bed;
let workspace: Workspace;
let client: OpenAI;

beforeAll(async () => {
  bed = await startBed({
    apart: false,
    // Some stories wait for a janitor.
    quickJanitor: true,
    pools: ["chat", "image", "capability", "workflow"],
    behaviours: ["unauthorized", "delay-60000"],
    presets: { few: [6, null], capped: [null, 40_000] },
    env: { SLUICE_SANDBOX: "on", SLUICE_WORKER_SLOTS: "16", SLUICE_BATCH_PRICE_FACTOR: "0.5" },
  });
  workspace = await createWorkspace(bed.stack, { creditsNano: 10_000n * CREDIT });
  client = clientOf(workspace);
}, 120_000);
afterEach(() => audit(bed));
afterAll(() => bed?.stop());

function clientOf({ key }: Pick<Workspace, "key">): OpenAI {
  return new OpenAI({ baseURL: `${bed.stack.baseUrls[0]}/v1`, apiKey: key, maxRetries: 0 });
}

interface Line {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  readonly error: { code: string; message: string } | null;
}

const line = (custom_id: string, body: object, url = CHAT): object => ({ custom_id, method: "POST", url, body });

/** @param lines text and bytes stand as they are */
async function upload(lines: readonly (object | string)[], own = client, purpose: "batch" | "user_data" = "batch") {
  const bytes = lines.flatMap((one) => [
    one instanceof Uint8Array ? one : Buffer.from(typeof one === "string" ? one : JSON.stringify(one)),
    Buffer.from("\n"),
  ]);
  return own.files.create({ file: await toFile(Buffer.concat(bytes), "lines.jsonl"), purpose });
}

async function begin(lines: readonly (object | string)[], endpoint = CHAT, own = client): Promise<OpenAI.Batch> {
  const file = await upload(lines, own);
  return own.batches.create({ input_file_id: file.id, endpoint: endpoint as typeof CHAT, completion_window: "24h" });
}

async function ended(id: string, own = client): Promise<OpenAI.Batch & { credits_used: number }> {
  return eventually(
    "the batch has ended",
    async () => {
      const batch = await own.batches.retrieve(id);
      return ["completed", "failed", "expired", "cancelled"].includes(batch.status) && (batch as OpenAI.Batch & { credits_used: number }); // prettier-ignore
    },
    60_000,
  );
}

async function linesOf(id: string | undefined, own = client): Promise<Map<string, Line>> {
  if (id === undefined) return new Map();
  const text = await (await own.files.content(id)).text();
  const rows = text.trimEnd().split("\n").map((row) => JSON.parse(row) as Line); // prettier-ignore
  return new Map(rows.map((row) => [row.custom_id, row]));
}

describe("a batch", () => {
  test("of valid, invalid and failing lines runs, with results in one file and errors in the other", async () => {
    const made = await begin([
      line("good", ask("flat")),
      line("refused", ask("no-such-model")),
      line("failing", ask("mock-unauthorized")),
      line("ünïcödé", ask("flat")),
    ]);
    expect(made).toMatchObject({ object: "batch", status: "validating", endpoint: CHAT, completion_window: "24h" });
    const batch = await ended(made.id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 2, failed: 2 } });
    expect(batch.usage?.total_tokens).toBeGreaterThan(0);
    // Each at half its price.
    expect(batch.credits_used).toBe(1);
    const output = await linesOf(batch.output_file_id);
    expect([...output.keys()].toSorted()).toEqual(["good", "ünïcödé"]);
    expect(output.get("good")).toMatchObject({
      error: null,
      response: { status_code: 200, body: { object: "chat.completion", model: "flat", usage: { credits: 0.5 } } },
    });
    const errors = await linesOf(batch.error_file_id);
    expect(errors.get("refused")).toMatchObject({
      error: null,
      response: { status_code: 400, body: { error: { code: "model_not_found", param: "model" } } },
    });
    expect(errors.get("failing")?.response?.status_code).toBeGreaterThanOrEqual(500);
    const [{ settled } = { settled: 0n }] = await bed.stack.query<{ settled: bigint }>(
      "select sum(settled)::bigint as settled from usage_record where workspace_id = $1",
      [workspace.id],
    );
    expect(settled).toBe(FLAT_NANO);
    const counted = async (name: string, outcome: string): Promise<number> =>
      metric(bed.stack.processes[0]?.adminUrl ?? "", `sluice_${name}_total`, `outcome="${outcome}"`);
    expect([await counted("batches", "completed"), await counted("batch_lines", "completed"), await counted("batch_lines", "failed")]).toEqual([1, 2, 2]); // prettier-ignore
    const file = await client.files.retrieve(batch.output_file_id ?? "");
    expect(file).toMatchObject({ purpose: "batch_output", filename: `${batch.id}_output.jsonl` });
  }, 60_000);

  test("of Responses calls, media, capabilities or runs contains their results", async () => {
    const { id: workflow } = await call("POST", "/v1/workflows", {
      name: "one",
      definition: {
        inputs: { topic: { type: "string" } },
        steps: [
          {
            id: "only",
            type: "model",
            model: "flat",
            params: { messages: [{ role: "user", content: "${{ inputs.topic }}" }] },
          },
        ],
        output: { said: "${{ steps.only.output.text }}" },
      },
    });
    const kinds: readonly (readonly [endpoint: string, body: object, answer: object])[] = [
      ["/v1/responses", { model: "sandbox-chat", input: "Say exactly: yes", instructions: "a\u0000b" }, { object: "response", status: "completed", instructions: "a\u0000b" }],
      ["/v1/embeddings", { model: "sandbox-embed", input: ["a boat"] }, { object: "list", model: "sandbox-embed" }],
      ["/v1/images/generations", { model: "sandbox-image", prompt: "a boat", size: "256x256" }, { data: [{ content_type: "image/png" }] }],
      ["/v1/capabilities/code.transform_json/run", { input: { data: { text: '{"a":1}' } }, params: {} }, { object: "job", status: "completed", data: [{ object: "capability.run" }] }],
      [`/v1/workflows/${String(workflow)}/runs`, { input: { topic: "tea" } }, { object: "job", status: "completed", data: [{ status: "succeeded" }] }],
    ]; // prettier-ignore
    const made = await Promise.all(kinds.map(([endpoint, body]) => begin([line("one", body, endpoint)], endpoint)));
    /** Endpoint, credits that the answer states, and credits that the batch was charged. */
    const priced: [string, number, number][] = [];
    for (const [at, [endpoint, , answer]] of kinds.entries()) {
      const batch = await ended(made[at]?.id ?? "");
      const lines = await linesOf(batch.output_file_id ?? batch.error_file_id);
      expect([endpoint, lines.get("one")?.response]).toEqual([endpoint, { status_code: 200, request_id: expect.any(String), body: expect.objectContaining({}) }]); // prettier-ignore
      const body = lines.get("one")?.response?.body;
      expect(body).toMatchObject(answer);
      const { credits } = (body?.["usage"] ?? {}) as { credits?: number };
      if (credits !== undefined) priced.push([endpoint, credits, batch.credits_used]);
    }
    const [first] = made;
    const { response } = (await linesOf((await ended(first?.id ?? "")).output_file_id)).get("one") ?? {};
    // It is stored, as over HTTP.
    const { usage } = response?.body ?? {};
    expect(await client.responses.retrieve(String(response?.body["id"]))).toMatchObject({ status: "completed", usage });
    expect(priced.map(([endpoint]) => endpoint)).toEqual(["/v1/responses", "/v1/embeddings"]);
    for (const [, credits, charged] of priced) expect([credits, charged > 0]).toEqual([charged, true]);
  }, 60_000);

  test("that waits for its rate window completes", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT, preset: "few" });
    await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [own.id]);
    const other = clientOf(own);
    // The upload and the batch are two of the three calls of a minute that leave room for a line.
    const made = await begin([line("a", ask("flat")), line("b", ask("flat"))], CHAT, other);
    await eventually("one line has ended", async () => (await rowOf(made.id))["completed"] === 1);
    await eventually("it waits", async () => (await rowOf(made.id))["lease_until"] === null);
    await bed.stack.query("update rate_window set passed = calls where workspace_id = $1", [own.id]);
    await bed.stack.query("update batch set next_at = now() where workspace_id = $1", [own.id]);
    await eventually("both have", async () => (await rowOf(made.id))["state"] === "completed", 30_000);
    expect((await rowOf(made.id))["completed"]).toBe(2);
  }, 60_000);

  test("without enough credits rejects the lines that exceed them, and no line that only other holds block", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: (5n * CREDIT) / 2n });
    const made = await begin(
      Array.from({ length: 8 }, (_, at) => line(`l${at}`, ask("flat"))),
      CHAT,
      clientOf(own),
    );
    const batch = await ended(made.id, clientOf(own));
    expect(batch).toMatchObject({ credits_used: 2.5, request_counts: { completed: 5, failed: 3 } });
    const errors = await linesOf(batch.error_file_id, clientOf(own));
    expect([...errors.values()].map(({ response }) => response?.status_code)).toEqual([402, 402, 402]);
  }, 60_000);

  // Of what each holds two fit at once, and each uses next to nothing.
  test.each([
    ["credits", { creditsNano: 4n * CREDIT }],
    ["tokens of the day", { creditsNano: 100n * CREDIT, preset: "capped" }],
  ])(
    "whose lines hold more %s than available waits for running lines to settle",
    async (_what, having) => {
      const own = await createWorkspace(bed.stack, having);
      const made = await begin(
        Array.from({ length: 6 }, (_, at) => line(`l${at}`, ask("metered"))),
        CHAT,
        clientOf(own),
      );
      expect(await ended(made.id, clientOf(own))).toMatchObject({ request_counts: { completed: 6, failed: 0 } });
    },
    60_000,
  );

  test("served by a fallback is held and charged at half the price of the fallback", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: CREDIT / 2n });
    await setFallbacks(bed, { "mock-unauthorized": ["flat"] }, own.key);
    const made = await begin([line("a", ask("mock-unauthorized", { max_tokens: 1 }))], CHAT, clientOf(own));
    expect(await ended(made.id, clientOf(own))).toMatchObject({ credits_used: 0.5, request_counts: { completed: 1 } });
    const output = await linesOf((await ended(made.id, clientOf(own))).output_file_id, clientOf(own));
    expect(output.get("a")?.response?.body).toMatchObject({ model: "flat", usage: { credits: 0.5 } });
    const rows = await bed.stack.query("select held, settled, uncollected from usage_record where workspace_id = $1", [
      own.id,
    ]);
    expect(rows).toEqual([{ held: CREDIT / 2n, settled: CREDIT / 2n, uncollected: 0n }]);
  }, 60_000);

  test("whose input is deleted ends the lines that have not started", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT, preset: "few" });
    await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [own.id]);
    const made = await begin([line("a", ask("flat")), line("b", ask("flat"))], CHAT, clientOf(own));
    await eventually(
      "it waits",
      async () => (await rowOf(made.id))["completed"] === 1 && (await rowOf(made.id))["lease_until"] === null,
    );
    await bed.stack.query("select end_file($1, $2, 'deleted')", [own.id, made.input_file_id]);
    await bed.stack.query("update batch set next_at = now() where workspace_id = $1", [own.id]);
    const row = await eventually(
      "it has ended",
      async () => (await rowOf(made.id))["state"] === "completed" && (await rowOf(made.id)),
    );
    expect([row["completed"], row["failed"]]).toEqual([1, 1]);
  }, 60_000);

  test("without storage for its files waits for storage, up to a day, and is read line by line", async () => {
    // The upload and the two batches leave no room in the window: both begin, and their lines wait.
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT, preset: "few" });
    await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [own.id]);
    const mine = clientOf(own);
    const file = (await upload([line("a", ask("flat")), line("b", ask("no-such-model"))], mine)).id;
    const room = (bytes: string) =>
      bed.stack.query(`update file_storage set used = used ${bytes} where workspace_id = $1`, [own.id]);
    const asked = { input_file_id: file, endpoint: CHAT, completion_window: "24h" } as const;
    const [late, first] = [await mine.batches.create(asked), await mine.batches.create(asked)];
    const have = async (state: string) =>
      (await bed.stack.query("select 1 from batch where workspace_id = $1 and state = $2 and lease_until is null", [own.id, state])).length === 2; // prettier-ignore
    await eventually("both have begun", () => have("in_progress"));
    await room("+ 1000000000000");
    await eventually("both wait", async () => {
      await bed.stack.query("update rate_window set passed = calls where workspace_id = $1", [own.id]);
      await bed.stack.query("update batch set next_at = now() where workspace_id = $1 and state = 'in_progress'", [own.id]); // prettier-ignore
      return have("finalizing");
    });
    await bed.stack.query("update api_key set preset = 'unlimited' where workspace_id = $1", [own.id]);
    await bed.stack.query("update batch set ends_at = now() - interval '25 hours', next_at = now() where id = $1", [
      (await rowOf(late.id))["id"] as string,
    ]);
    expect(await ended(late.id, mine)).toMatchObject({
      status: "failed",
      errors: { data: [{ code: "storage_limit_exceeded" }] },
      request_counts: { completed: 1, failed: 1 },
    });
    const page = await call("GET", `/v1/batches/${late.id}/lines`, undefined, own.key);
    expect((page["data"] as Line[]).map(({ custom_id }) => custom_id).toSorted()).toEqual(["a", "b"]);
    await room("- 1000000000000");
    await bed.stack.query("update batch set next_at = now() where workspace_id = $1", [own.id]);
    expect(await ended(first.id, mine)).toMatchObject({
      status: "completed",
      request_counts: { completed: 1, failed: 1 },
    });
  }, 60_000);

  /** Its leader hears that another leads it, which then has the next turn. */
  const takeOver = (id: string, lost = 0) =>
    bed.stack.query(
      "update batch set epoch = epoch + 1, lease_until = null, next_at = now(), turns_lost = $2 where id = $1",
      [uuidOf(id), lost],
    );
  const lineJobs = (id: string) =>
    bed.stack.query<{ job_id: string; state: string | null; line: string }>(
      `select l.job_id, l.state as line, j.state from batch_line l left join job j on j.id = l.job_id where l.batch_id = $1 order by l.number`,
      [uuidOf(id)],
    );

  test("whose leaders are lost repeatedly fails, with its jobs", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    const mine = clientOf(own);
    const made = await begin([line("first", ask("flat")), line("slow", ask("mock-delay-60000"))], CHAT, mine);
    await eventually("one has ended", async () => (await rowOf(made.id))["completed"] === 1, 20_000);
    await takeOver(made.id, 5);
    expect(await ended(made.id, mine)).toMatchObject({
      status: "failed",
      errors: { data: [{ code: "internal_error", line: null }] },
      request_counts: { total: 2, completed: 1, failed: 1 },
    });
    await eventually("the job has ended", async () => (await lineJobs(made.id))[1]?.state === "cancelled", 20_000);
    const page = await call("GET", `/v1/batches/${made.id}/lines`, undefined, own.key);
    expect((page["data"] as Line[]).map(({ custom_id }) => custom_id)).toEqual(["first"]);
  }, 60_000);

  test("whose leader lost its lease admits no lines after a cancel", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    const mine = clientOf(own);
    const definition = {
      steps: [{ id: "only", type: "model", model: "flat", params: { messages: ask("flat")["messages"] } }],
    };
    const { id: workflow } = await call("POST", "/v1/workflows", { name: "one", definition }, own.key);
    // What a pause of the leader would be between the two statements: the lines are its own, and the lease is over when it goes on.
    await bed.stack.query(`
      create function lose_batch() returns trigger language plpgsql as $$ begin
        update batch set epoch = epoch + 1, lease_until = null, next_at = now(), state = 'cancelling', ends_as = 'cancelled',
          ends_at = now(), cancelling_at = now()
        where id = new.batch_id and workspace_id = '${own.id}';
        return null;
      end $$`);
    await bed.stack.query(
      "create trigger lose_batch after update on batch_line for each row when (new.state = 'running') execute function lose_batch()",
    );
    try {
      for (const [url, body] of [[CHAT, ask("flat")], [`/v1/workflows/${String(workflow)}/runs`, { input: {} }]] as const) {
        const batch = await ended((await begin([line("a", body, url), line("b", body, url)], url, mine)).id, mine);
        expect(batch).toMatchObject({ status: "cancelled", request_counts: { total: 2, completed: 0, failed: 2 } });
        const told = await linesOf(batch.error_file_id, mine);
        expect(told.get("a")).toMatchObject({ error: { code: "batch_cancelled" } });
        expect((await lineJobs(batch.id)).map(({ state }) => state)).toEqual([null, null]);
      } // prettier-ignore
      expect(await bed.stack.query("select 1 from run where workspace_id = $1", [own.id])).toEqual([]);
    } finally {
      await bed.stack.query("drop function lose_batch cascade");
    }
  }, 60_000);

  test("with an unreadable result continues with its other lines", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    const mine = clientOf(own);
    const lines = [line("lost", ask("flat")), line("other", ask("flat")), line("slow", ask("mock-delay-60000"))];
    const made = await begin(lines, CHAT, mine);
    await eventually("two have ended", async () => (await rowOf(made.id))["completed"] === 2, 20_000);
    // As if neither had been gathered yet, and the result of one were nowhere.
    const [job] = await bed.stack.query<{ id: string; result: string }>(
      `with line as (update batch_line set state = 'running', place = null where batch_id = $1),
            part as (delete from batch_part where batch_id = $1),
            batch as (update batch set completed = 0, output_bytes = 0, epoch = epoch + 1, lease_until = null, next_at = now() where id = $1),
            lost as (select j.id, j.result from batch_line l join job j on j.id = l.job_id where l.batch_id = $1 and l.number = 1)
       update job set result = null, result_ref = 'jobs/none' from lost where job.id = lost.id returning lost.id, lost.result`,
      [uuidOf(made.id)],
    );
    await eventually("the other has ended again", async () => (await rowOf(made.id))["completed"] === 1, 20_000);
    await bed.stack.query("update job set result = $2, result_ref = null where id = $1", [
      job?.id ?? "",
      job?.result ?? "",
    ]);
    await takeOver(made.id);
    await eventually("both have", async () => (await rowOf(made.id))["completed"] === 2, 40_000);
    await mine.batches.cancel(made.id);
    expect(await ended(made.id, mine)).toMatchObject({ request_counts: { completed: 2, failed: 1 } });
  }, 90_000);

  test("with a key limited to listed tools runs no other capability", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    await bed.stack.query("update api_key set tools = '{web.*}' where id = $1", [own.keyId]);
    const url = "/v1/capabilities/code.regex/run";
    const run = { input: { text: "abc" }, params: { pattern: "b" } };
    const batch = await ended((await begin([line("other", run, url)], url, clientOf(own))).id, clientOf(own));
    expect(batch.request_counts).toEqual({ total: 1, completed: 0, failed: 1 });
    expect((await linesOf(batch.error_file_id, clientOf(own))).get("other")?.response).toMatchObject({
      status_code: 404,
      body: { error: { code: "capability_not_found" } },
    });
  }, 60_000);

  test("whose key is revoked ends the lines that have not started", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    const { id: file } = await upload([line("late", ask("flat"))], clientOf(own));
    const made = await clientOf(own).batches.create({ input_file_id: file, endpoint: CHAT, completion_window: "24h" });
    await bed.stack.query("update api_key set revoked_at = now() where id = $1", [own.keyId]);
    const row = await eventually("it has ended", async () => {
      const found = await rowOf(made.id);
      return found["ended_at"] !== null && found;
    });
    // The key is believed for a second at most: the line may have begun.
    expect(Number(row["completed"]) + Number(row["failed"])).toBe(1);
  }, 60_000);
});

const rowOf = async (id: string) => (await bed.stack.query("select * from batch where id = $1", [uuidOf(id)]))[0] ?? {};

function uuidOf(id: string): string {
  return id.slice(6).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

async function call(
  method: string,
  path: string,
  body?: object,
  key = workspace.key,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${bed.stack.baseUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { ...((await answer.json()) as Record<string, unknown>), http: answer.status } as Record<string, unknown>;
}

describe("validation", () => {
  test("reports every error with its line, and creates no job", async () => {
    const good = line("good", ask("flat"));
    const made = await begin([
      good,
      "{ no json",
      "[1]",
      { method: "POST", url: CHAT, body: ask("flat") },
      line("", ask("flat")),
      { ...line("method", ask("flat")), method: "GET" },
      line("url", ask("flat"), "/v1/embeddings"),
      { custom_id: "body", method: "POST", url: CHAT },
      line("stream", { ...ask("flat"), stream: true }),
      line("schema", { model: "flat", messages: [{ role: "nobody", content: "x" }] }),
      { ...line("beside", ask("flat")), max_credits: 1 },
      "",
      line("good", ask("flat")),
      line("a\u0000b", ask("flat")),
    ]);
    const batch = await ended(made.id).catch(() => client.batches.retrieve(made.id));
    expect(batch).toMatchObject({ status: "failed", request_counts: { total: 0, completed: 0, failed: 0 } });
    expect(batch.errors?.data?.map(({ line, code, param }) => [line, code, param])).toEqual([
      [2, "invalid_json_line", null],
      [3, "invalid_json_line", null],
      [4, "missing_required_parameter", "custom_id"],
      [5, "invalid_custom_id", "custom_id"],
      [6, "invalid_method", "method"],
      [7, "invalid_url", "url"],
      [8, "missing_required_parameter", "body"],
      [9, "unsupported_value", "body.stream"],
      [10, "unsupported_value", "body.messages[0].role"],
      [11, "unknown_parameter", "max_credits"],
      [13, "duplicate_custom_id", "custom_id"],
      [14, "invalid_custom_id", "custom_id"],
    ]);
    const id = (await rowOf(made.id))["id"] as string;
    expect(await bed.stack.query("select 1 from batch_line where batch_id = $1", [id])).toEqual([]);
  });

  test("reports hostile lines, and creates no job", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: CREDIT });
    const deep = `${"[".repeat(70)}${"]".repeat(70)}`;
    const withBody = (body: string) => `{"custom_id":"a","method":"POST","url":"${CHAT}","body":${body}}`;
    const hostile: readonly (readonly [line: string | Uint8Array, code: string, param: string | null])[] = [
      [withBody(`{"model":"flat","messages":[],"x":${deep}}`), "invalid_json_line", null],
      ["[".repeat(100_000), "invalid_json_line", null],
      [withBody('{"model":"flat","messages":[],"seed":1e999}'), "invalid_json_line", null],
      [Buffer.from(withBody('{"model":"\xff"}'), "latin1"), "invalid_json_line", null],
      ["null", "invalid_json_line", null],
      [String.raw`{"custom_id":"\ud800","method":"POST"}`, "invalid_custom_id", "custom_id"],
      ['{"custom_id":{"toString":1},"method":"POST"}', "invalid_custom_id", "custom_id"],
      [`{"custom_id":"${"x".repeat(100_000)}","method":"POST"}`, "invalid_custom_id", "custom_id"],
      ['{"__proto__":{"custom_id":"a"},"method":"POST"}', "missing_required_parameter", "custom_id"],
      ['{"custom_id":"a","method":["POST"]}', "invalid_method", "method"],
      ['{"custom_id":"a","method":"POST","url":"constructor"}', "invalid_url", "url"],
      [withBody("null"), "invalid_request", "body"],
      [withBody("[]"), "invalid_request", "body"],
      [withBody('{"model":"flat","messages":{}}'), "invalid_request", "body.messages"],
      [withBody('{"model":"flat","messages":[null]}'), "invalid_request", "body.messages[0]"],
    ];
    const made = await begin(hostile.map(([text]) => text), CHAT, clientOf(own)); // prettier-ignore
    const batch = await ended(made.id, clientOf(own));
    expect(batch).toMatchObject({ status: "failed", request_counts: { total: 0 } });
    expect(batch.errors?.data?.map(({ line, code, param }) => [line, code, param])).toEqual(
      hostile.map(([, code, param], at) => [at + 1, code, param]),
    );
    expect(await bed.stack.query("select 1 from usage_record where workspace_id = $1", [own.id])).toEqual([]);
  });

  test("accepts unusual custom ids like any other", async () => {
    const names = ["\uffff", "\u202e", "' or 1=1; --", "{{7*7}}", "%s%n", "\r\ndata: [DONE]\n\n", "__proto__", "💩"];
    const batch = await ended((await begin(names.map((name) => line(name, ask("flat"))))).id);
    expect([...(await linesOf(batch.output_file_id)).keys()].toSorted()).toEqual(names.toSorted());
  });

  test("rejects lines of Responses that cannot be jobs: in the background, in a conversation, with tools that the service runs", async () => {
    const asked = { model: "flat", input: "hello" };
    const sluice = { type: "sluice", capabilities: ["code.regex"] };
    const made = await begin(
      [
        line("background", { ...asked, background: true }, "/v1/responses"),
        line("conversation", { ...asked, conversation: "conv_1" }, "/v1/responses"),
        line("tools", { ...asked, tools: [sluice] }, "/v1/responses"),
      ],
      "/v1/responses",
    );
    expect((await ended(made.id)).errors?.data?.map(({ line, code, param }) => [line, code, param])).toEqual([
      [1, "unsupported_value", "body.background"],
      [2, "unsupported_value", "body.conversation"],
      [3, "unsupported_value", "body.tools"],
    ]);
  });

  test("reports a file without lines, and at most a hundred errors", async () => {
    const empty = await begin(["\n \n"]);
    expect((await ended(empty.id)).errors?.data).toMatchObject([{ code: "empty_file", line: null }]);
    const many = await begin(Array.from({ length: 150 }, () => "{"));
    expect((await ended(many.id)).errors?.data).toHaveLength(100);
  });

  test("rejects an invalid input before it creates a batch", async () => {
    const { id: other } = await upload(["{}"], client, "user_data");
    const { id: file } = await upload([line("a", ask("flat"))]);
    const asked = { input_file_id: file, endpoint: CHAT, completion_window: "24h" };
    const stranger = await createWorkspace(bed.stack, { creditsNano: CREDIT });
    const before = await bed.stack.query("select count(*) from batch");
    const refusals: readonly (readonly [status: number, code: string, body: object, key?: string])[] = [
      [400, "invalid_request", { ...asked, input_file_id: other }],
      [404, "file_not_found", { ...asked, input_file_id: "file-none" }],
      [404, "file_not_found", asked, stranger.key],
      [400, "unsupported_value", { ...asked, endpoint: "/v1/moderations" }],
      [400, "unsupported_value", { ...asked, completion_window: "1h" }],
      [400, "missing_required_parameter", { ...asked, input_file_id: undefined }],
      [400, "invalid_request", { ...asked, metadata: { a: "x".repeat(513) } }],
      [400, "invalid_request", { ...asked, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ""])) }],
      [400, "unsupported_value", { ...asked, output_expires_after: { anchor: "created_at", seconds: 60 } }],
      [400, "invalid_request", [asked]],
      [400, "invalid_request", { ...asked, input_file_id: { toString: 1 } }],
      [404, "file_not_found", { ...asked, input_file_id: "file-\u0000" }],
      [404, "file_not_found", { ...asked, input_file_id: "x".repeat(100_000) }],
      [400, "unsupported_value", { ...asked, endpoint: "constructor" }],
      [400, "unsupported_value", { ...asked, endpoint: "/v1/workflows/\u0000/runs" }],
      [400, "invalid_request", { ...asked, metadata: { a: ["x"] } }],
      [400, "invalid_json", { ...asked, metadata: JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as object }],
    ]; // prettier-ignore
    for (const [status, code, body, key] of refusals) {
      expect(await call("POST", "/v1/batches", body, key)).toMatchObject({ http: status, error: { code } });
    }
    for (const id of ["batch_", "batch_%00", "x".repeat(5_000)]) {
      expect(await call("GET", `/v1/batches/${id}`)).toMatchObject({ http: 404, error: { code: "batch_not_found" } });
    }
    expect(await bed.stack.query("select count(*) from batch")).toEqual(before);
  });
});

describe("a batch is", () => {
  test("limited to a hundred open batches of its workspace, and can be cancelled before validation", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: CREDIT });
    const mine = clientOf(own);
    const { id: file } = await upload([line("a", ask("flat"))], mine);
    const asked = { input_file_id: file, endpoint: CHAT, completion_window: "24h" } as const;
    await bed.stack.query(
      `insert into batch (id, workspace_id, key_id, endpoint, input_file_id, next_at, expires_at)
       select gen_random_uuid(), $1, $2, 'none', $3, 'infinity', 'infinity' from generate_series(1, 99)`,
      [own.id, own.keyId, file],
    );
    await bed.stack.query(`create function later() returns trigger language plpgsql as
      $$ begin new.next_at := 'infinity'; return new; end $$`);
    await bed.stack.query("create trigger later before insert on batch for each row execute function later()");
    const made = await mine.batches.create(asked);
    await bed.stack.query("drop trigger later on batch");
    expect(await call("POST", "/v1/batches", asked, own.key)).toMatchObject({
      http: 503,
      error: { code: "overloaded" },
    });
    await mine.batches.cancel(made.id);
    expect(await ended(made.id, mine)).toMatchObject({ status: "cancelled", request_counts: { completed: 0 } });
    await bed.stack.query("delete from batch where next_at = 'infinity'");
  });

  test("created once under an Idempotency-Key, and listed after a cursor", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 100n * CREDIT });
    const { id: file } = await upload([line("a", ask("flat"))], clientOf(own));
    const asked = { input_file_id: file, endpoint: CHAT, completion_window: "24h", metadata: { team: "tea" } };
    const headers = { "idempotency-key": newId() };
    const first = await call("POST", "/v1/batches", asked, own.key, headers);
    const again = await call("POST", "/v1/batches", asked, own.key, headers);
    expect([again["id"], again["metadata"]]).toEqual([first["id"], { team: "tea" }]);
    expect(await call("POST", "/v1/batches", { ...asked, metadata: null }, own.key, headers)).toMatchObject({
      http: 422,
      error: { code: "idempotency_key_reused" },
    });
    for (const other of [{ "x-max-credits": "5" }, { "x-tags": "user=ada" }]) {
      expect(await call("POST", "/v1/batches", asked, own.key, { ...headers, ...other })).toMatchObject({
        http: 422,
        error: { code: "idempotency_key_reused" },
      });
    }
    const others = [
      await call("POST", "/v1/batches", asked, own.key),
      await call("POST", "/v1/batches", asked, own.key),
    ];
    const listed: string[] = [];
    for await (const one of clientOf(own).batches.list({ limit: 2 })) listed.push(one.id);
    expect(listed).toEqual([...others.toReversed(), first].map((one) => String(one["id"])));
    for (const id of listed) expect(await ended(id, clientOf(own))).toMatchObject({ status: "completed" });
  }, 60_000);

  test("not found for another workspace, nor for a key of the billing role", async () => {
    const { id } = await begin([line("a", ask("flat"))]);
    const stranger = await createWorkspace(bed.stack, { creditsNano: CREDIT });
    for (const [method, path] of [["GET", ""], ["POST", "/cancel"], ["GET", "/lines"]] as const) {
      const answer = await call(method, `/v1/batches/${id}${path}`, undefined, stranger.key);
      expect(answer).toMatchObject({ http: 404, error: { code: "batch_not_found" } });
    } // prettier-ignore
    expect((await call("GET", "/v1/batches", undefined, stranger.key))["data"]).toEqual([]);
    await bed.stack.query("update member set role = 'billing' where workspace_id = $1", [stranger.id]);
    await eventually(
      "the role is known",
      async () => (await call("GET", "/v1/batches", undefined, stranger.key))["http"] === 403,
    );
    await ended(id);
  });

  test("cancelled within seconds: finished lines stay, and running lines are read when they end", async () => {
    const own = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
    const mine = clientOf(own);
    const slow = Array.from({ length: 3 }, (_, at) => line(`slow ${at}`, ask("mock-delay-60000")));
    const rest = Array.from({ length: 600 }, (_, at) => line(`rest ${at}`, ask("mock-delay-60000")));
    const made = await begin([line("first", ask("flat")), ...slow, ...rest], CHAT, mine);
    const read = (after = "") => call("GET", `/v1/batches/${made.id}/lines?limit=100${after}`, undefined, own.key);
    const early = await eventually("the first line is read", async () => {
      const page = await read();
      return (page["data"] as Line[]).length > 0 && page;
    });
    expect(early).toMatchObject({ data: [{ custom_id: "first", response: { status_code: 200 } }], has_more: false });
    expect(await mine.batches.cancel(made.id)).toMatchObject({ status: "cancelling" });
    const batch = await ended(made.id, mine);
    expect(batch).toMatchObject({ status: "cancelled", request_counts: { total: 604, completed: 1, failed: 603 } });
    expect((await linesOf(batch.output_file_id, mine)).get("first")?.response?.status_code).toBe(200);
    const errors = await linesOf(batch.error_file_id, mine);
    expect(errors.get("rest 599")).toMatchObject({ response: null, error: { code: "batch_cancelled" } });
    expect(await call("POST", `/v1/batches/${made.id}/cancel`, undefined, own.key)).toMatchObject({ http: 200 });
    expect(await bed.stack.query("select type from event where metadata->>'batchId' = $1", [made.id])).toEqual([]);
    // The same lines, from the files by now.
    const seen = [...(early["data"] as Line[])];
    for (let page = early; seen.length < 604;) {
      page = await read(`&after=${String(page["last_id"])}`);
      expect((page["data"] as Line[]).length).toBeGreaterThan(0);
      seen.push(...(page["data"] as Line[]));
    }
    expect(new Set(seen.map(({ custom_id }) => custom_id)).size).toBe(604);
    expect(seen.find(({ custom_id }) => custom_id === "rest 599")).toEqual(errors.get("rest 599"));
  }, 90_000);

  test("expired after its time even if it was never validated", async () => {
    const { id: file } = await upload([line("a", ask("flat"))]);
    const id = newId();
    await bed.stack.query(
      "insert into batch (id, workspace_id, key_id, endpoint, input_file_id, expires_at) values ($1, $2, $3, $4, $5, now())",
      [id, workspace.id, workspace.keyId, CHAT, file],
    );
    const batch = await ended(`batch_${id.replaceAll("-", "")}`);
    expect(batch).toMatchObject({ status: "expired", request_counts: { total: 0, completed: 0, failed: 0 } });
  }, 60_000);

  test("expired after its time: unprocessed lines get an error", async () => {
    const made = await begin([
      line("done", ask("flat")),
      ...Array.from({ length: 300 }, (_, at) => line(`l${at}`, ask("mock-delay-60000"))),
    ]);
    await eventually("one has ended", async () => (await rowOf(made.id))["completed"] === 1);
    await bed.stack.query("update batch set expires_at = now() where id = $1", [
      (await rowOf(made.id))["id"] as string,
    ]);
    const batch = await ended(made.id);
    expect(batch).toMatchObject({ status: "expired", request_counts: { total: 301, completed: 1, failed: 300 } });
    expect((await linesOf(batch.error_file_id)).get("l299")).toMatchObject({
      response: null,
      error: { code: "batch_expired" },
    });
    expect(await call("POST", `/v1/batches/${made.id}/cancel`)).toMatchObject({
      http: 409,
      error: { code: "conflict" },
    });
    const events = await bed.stack.query(
      "select type, metadata->>'failed' as failed, metadata->'error'->>'code' as code from event where metadata->>'batchId' = $1",
      [made.id],
    );
    expect(events).toEqual([{ type: "job.failed", failed: "300", code: "batch_expired" }]);
  }, 60_000);
});
