/**
 * Members of one workspace by every road into the service: over HTTP, by a batch, by a message over NATS, by MCP and by the tools of a
 * model. What belongs to a developer is there for that developer and for owners, and for no other developer.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { callOfResponse } from "#shared/responses/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher, type Publisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

import { called, connect } from "./mcp/shared-service.ts";

const MEMBERS = ["ada", "bob", "owner"] as const;
type Name = (typeof MEMBERS)[number];
/** Members who see what belongs to ada. */
const SEEN = { ada: true, bob: false, owner: true };

const MODEL = "sandbox-chat";
const SLOW = { model: "sandbox-slow", input: `Say exactly: ${"a b c d e f g h ".repeat(20)}`, background: true };
const chat = (text: string) => ({ model: MODEL, messages: [{ role: "user", content: `Say exactly: ${text}` }] });

let stack: Stack;
const members = {} as Record<Name, Workspace>;
const publishers = {} as Record<Name, Publisher>;
const ids: Record<string, string> = {};
const idOf = (name: string): string => ids[name] ?? "";

beforeAll(async () => {
  stack = await startStack({ pools: ["chat", "capability", "workflow"] });
  const ada = await createWorkspace(stack, { creditsNano: 10n ** 15n });
  members.ada = ada;
  for (const [name, role] of [["bob", "developer"], ["owner", "owner"]] as const) members[name] = await join(ada, role); // prettier-ignore
  for (const name of MEMBERS) publishers[name] = await openPublisher(stack.natsUrl, members[name]);
  await make();
}, 240_000);
afterAll(async () => {
  await Promise.all(Object.values(publishers).map((publisher) => publisher.close()));
  await stack?.stop();
});

async function join({ id }: Workspace, role: string): Promise<Workspace> {
  const [memberId, keyId, key] = [newId(), newId(), mintKey()];
  await stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, $4)", [
    memberId,
    id,
    role,
    role,
  ]);
  await stack.query(
    "insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, $4, $5, $6, 'unlimited')",
    [keyId, id, memberId, role, Buffer.from(hashKey(key)), keyHint(key)],
  );
  return { id, keyId, key };
}

interface Said {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly error?: { readonly code: string } };
}

async function call(who: Name, path: string, body?: object | FormData): Promise<Said> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${stack.baseUrls[0]}${path}`, {
    headers: { authorization: `Bearer ${members[who].key}`, ...(isForm ? {} : { "content-type": "application/json" }) },
    ...(body ? { method: "POST", body: isForm ? body : JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? (JSON.parse(text) as Said["body"]) : {} };
}

async function made(who: Name, path: string, body: object | FormData): Promise<Said["body"] & { readonly id: string }> {
  const { status, body: answer } = await call(who, path, body);
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return { ...answer, id: String(answer["id"]) };
}

async function upload(who: Name, lines: readonly object[]): Promise<string> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]), "lines.jsonl");
  return (await made(who, "/v1/files", form)).id;
}

const batchOf = async (who: Name, fileId: string, endpoint: string): Promise<string> =>
  (await made(who, "/v1/batches", { input_file_id: fileId, endpoint, completion_window: "24h" })).id;
const line = (url: string, body: object) => ({ custom_id: "one", method: "POST", url, body });

const ended = (who: Name, path: string, isOver: (body: Said["body"]) => boolean): Promise<Said["body"]> =>
  eventually(`${path} has ended`, async () => {
    const { body } = await call(who, path);
    return isOver(body) && body;
  }, 60_000); // prettier-ignore
const batchEnded = (who: Name, id: string) => ended(who, `/v1/batches/${id}`, ({ status }) => status === "completed");

/** Makes one of everything that belongs to ada. */
async function make(): Promise<void> {
  const step = { id: "say", type: "model", model: MODEL, params: { messages: chat("tea").messages } };
  ids["workflow"] = (await made("ada", "/v1/workflows", { name: "secret", definition: { steps: [step] } })).id;
  ids["run"] = (await made("ada", `/v1/workflows/${idOf("workflow")}/runs`, { mode: "sync" })).id;
  const [job] = await stack.query<{ id: string }>("select id from job where run_id = $1", [idOf("run")]);
  ids["step job"] = job?.id ?? "";
  ids["response"] = (await made("ada", "/v1/responses", { model: MODEL, input: "Say exactly: secret" })).id;
  ids["background"] = (await made("ada", "/v1/responses", SLOW)).id;
  ids["input file"] = await upload("ada", [line("/v1/chat/completions", chat("secret"))]);
  ids["batch"] = await batchOf("ada", idOf("input file"), "/v1/chat/completions");
  ids["output file"] = String((await batchEnded("ada", idOf("batch")))["output_file_id"]);
  const lines = (await call("ada", `/v1/batches/${idOf("batch")}/lines`)).body["data"] as { id: string }[];
  ids["line job"] = (lines[0]?.id ?? "").replace(/^batch_req_(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const { job_id: message } = await publishers.ada.submit({ body: chat("secret") }, { key: "mine" });
  ids["message job"] = message;
  await publishers.ada.ended("mine");
}

const isThere = (path: string) => async (who: Name) => (await call(who, path)).status === 200;
const isListed = (path: string, id: string) => async (who: Name) =>
  JSON.stringify((await call(who, path)).body).includes(id);

/** @returns whether ada's is there for each member */
async function seenBy(sees: (who: Name) => Promise<boolean>): Promise<Record<string, boolean>> {
  return Object.fromEntries(await Promise.all(MEMBERS.map(async (who) => [who, await sees(who)] as const)));
}

describe("over HTTP", () => {
  test.each([
    ["a workflow", () => isThere(`/v1/workflows/${idOf("workflow")}`)],
    ["a run", () => isThere(`/v1/workflows/runs/${idOf("run")}`)],
    ["the list of runs", () => isListed("/v1/workflows/runs", idOf("run"))],
    ["the job of a step", () => isThere(`/v1/images/jobs/${idOf("step job")}`)],
    ["a response", () => isThere(`/v1/responses/${idOf("response")}`)],
    ["the input of a response", () => isThere(`/v1/responses/${idOf("response")}/input_items`)],
    ["a background response as a job", () => isThere(`/v1/images/jobs/${callOfResponse(idOf("background")) ?? ""}`)],
    ["the list of jobs", () => isListed("/v1/jobs", callOfResponse(idOf("background")) ?? "")],
    ["a batch", () => isThere(`/v1/batches/${idOf("batch")}`)],
    ["the list of batches", () => isListed("/v1/batches", idOf("batch"))],
    ["the lines of a batch", () => isThere(`/v1/batches/${idOf("batch")}/lines`)],
    ["the job of a line", () => isThere(`/v1/images/jobs/${idOf("line job")}`)],
    ["the job of a message", () => isThere(`/v1/images/jobs/${idOf("message job")}`)],
    ["the input file of a batch", () => isThere(`/v1/files/${idOf("input file")}`)],
    ["the output file of a batch", () => isThere(`/v1/files/${idOf("output file")}`)],
    ["the bytes of an output file", () => isThere(`/v1/files/${idOf("output file")}/content`)],
    ["the list of files", () => isListed("/v1/files", idOf("output file"))],
  ])("%s belongs to its member", async (_what, sees) => {
    expect(await seenBy(sees())).toEqual(SEEN);
  });

  test.each<[string, () => readonly [path: string, body: object]]>([
    ["a conversation's response", () => ["/v1/responses", { model: MODEL, input: "Say exactly: x", previous_response_id: idOf("response") }]],
    ["a batch's input", () => ["/v1/batches", { input_file_id: idOf("input file"), endpoint: "/v1/chat/completions", completion_window: "24h" }]],
    ["a workflow", () => [`/v1/workflows/${idOf("workflow")}/runs`, { mode: "async" }]],
    ["a file in a message", () => ["/v1/chat/completions", { model: MODEL, messages: [{ role: "user", content: [{ type: "file", file: { file_id: idOf("output file") } }] }] }]],
    ["a file of a capability", () => ["/v1/capabilities/archive.checksum/run", { input: { file: { file_id: idOf("output file") } } }]],
  ])("%s is used by its member and by owners", async (_what, asked) => {
    const [path, body] = asked();
    expect(await seenBy(async (who) => (await call(who, path, body)).status < 300)).toEqual(SEEN);
  }); // prettier-ignore

  test("the list of jobs contains no jobs of runs, batches and messages", async () => {
    const { body } = await call("ada", "/v1/jobs?limit=100");
    const listed = (body["data"] as { id: string }[]).map(({ id }) => id);
    for (const name of ["step job", "line job", "message job"]) expect(listed).not.toContain(idOf(name));
  });

  test("only its member and owners cancel a batch or a background response", async () => {
    const job = `/v1/images/jobs/${callOfResponse(idOf("background")) ?? ""}/cancel`;
    for (const path of [job, `/v1/responses/${idOf("background")}/cancel`, `/v1/batches/${idOf("batch")}/cancel`]) {
      expect([path, (await call("bob", path, {})).status]).toEqual([path, 404]);
    }
    const [row] = await stack.query("select cancel_requested from job where id = $1", [
      callOfResponse(idOf("background")) ?? "",
    ]);
    expect(row).toEqual({ cancel_requested: false });
    expect((await call("owner", job, {})).status).toBe(200);
  });

  test("an Idempotency-Key of one member does not match another member's", async () => {
    const asked = async (who: Name): Promise<string> => {
      const file = await upload(who, [line("/v1/chat/completions", chat("x"))]);
      const answer = await fetch(`${stack.baseUrls[0]}/v1/batches`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${members[who].key}`,
          "content-type": "application/json",
          "idempotency-key": "same",
        },
        body: JSON.stringify({ input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" }),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    expect(new Set([await asked("ada"), await asked("bob"), await asked("owner")]).size).toBe(3);
  });
});

describe("by a batch", () => {
  test.each([
    ["a workflow", () => [`/v1/workflows/${idOf("workflow")}/runs`, {}] as const],
    ["a conversation's response", () => ["/v1/responses", { model: MODEL, input: "Say exactly: x", previous_response_id: idOf("response") }] as const],
  ])("%s is used by its member and by owners", async (_what, asked) => {
    const [url, body] = asked();
    const sees = async (who: Name): Promise<boolean> => {
      const id = await batchOf(who, await upload(who, [line(url, body)]), url);
      return JSON.stringify((await batchEnded(who, id))["request_counts"]).includes('"completed":1');
    };
    expect(await seenBy(sees)).toEqual(SEEN);
  }, 90_000); // prettier-ignore
});

describe("over NATS", () => {
  test("a workflow is run by its member and by owners, each for their own key", async () => {
    const message = { endpoint: "/v1/workflows/{id}/runs", workflow: idOf("workflow"), body: {} };
    const sees = async (who: Name): Promise<boolean> => {
      const { status, job_id: id, error } = await publishers[who].submit(message, { pool: "workflow" });
      if (status !== "queued") {
        expect(error).toMatchObject({ code: "workflow_not_found" });
        return false;
      }
      const [row] = await stack.query("select key_id from run where id = $1", [id]);
      expect(row).toEqual({ key_id: members[who].keyId });
      return true;
    };
    expect(await seenBy(sees)).toEqual(SEEN);
  });

  test("a message with the name and the body of another member's creates its own job, for its own key", async () => {
    const jobs = await Promise.all(
      MEMBERS.map(async (who) => (await publishers[who].submit({ body: chat("secret") }, { key: "mine" })).job_id),
    );
    expect([jobs[0], new Set(jobs).size]).toEqual([idOf("message job"), 3]);
    await eventually("all are paid", async () => {
      const rows = await stack.query<{ key_id: string }>("select key_id from usage_record where job_id = any($1)", [jobs]);
      return rows.length === 3 && new Set(rows.map(({ key_id }) => key_id)).size === 3;
    }); // prettier-ignore
  });
});

describe("by MCP", () => {
  test.each<[string, () => readonly [tool: string, given: Record<string, unknown>]]>([
    ["a workflow", () => ["run_tool", { tool: idOf("workflow"), input: {} }]],
    ["a run", () => ["get_result", { id: idOf("run") }]],
    ["the job of a line", () => ["get_result", { id: idOf("line job") }]],
    ["the job of a message", () => ["get_result", { id: idOf("message job") }]],
    ["a link to a file", () => ["get_file_link", { file_id: idOf("output file") }]],
  ])("%s belongs to its member", async (_what, asked) => {
    const [tool, given] = asked();
    const sees = async (who: Name): Promise<boolean> => {
      const client = await connect({ baseUrls: stack.baseUrls, key: members[who].key });
      try {
        return await called(client, tool, given).then(
          () => true,
          () => false,
        );
      } finally {
        await client.close();
      }
    };
    expect(await seenBy(sees)).toEqual(SEEN);
  });

  test("a file is a resource of its member", async () => {
    const sees = async (who: Name): Promise<boolean> => {
      const client = await connect({ baseUrls: stack.baseUrls, key: members[who].key });
      const listed = JSON.stringify(await client.listResources());
      const isRead = await client.readResource({ uri: `sluice://files/${idOf("output file")}` }).then(
        () => true,
        () => false,
      );
      await client.close();
      expect([who, listed.includes(idOf("output file"))]).toEqual([who, isRead]);
      return isRead;
    };
    expect(await seenBy(sees)).toEqual(SEEN);
  });
});

test("a model receives a workflow as a tool for its member and for owners", async () => {
  const tools = [{ type: "sluice", workflows: [idOf("workflow")] }];
  const body = { model: MODEL, messages: [{ role: "user", content: "Use workflow_secret." }], tools };
  expect(await seenBy(async (who) => (await call(who, "/v1/chat/completions", body)).status === 200)).toEqual(SEEN);
});
