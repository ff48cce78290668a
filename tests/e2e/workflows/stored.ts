/** Stored workflows over HTTP: who sees them, who changes them, and what each version holds. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import type { Stack } from "#tests/support/stack.ts";

import { sharedMediaRuns } from "./shared-runs.ts";

let stack: Stack;
let base: string;
/** Keys of one workspace, by the name of the member. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  ({ stack } = await sharedMediaRuns());
  base = stack.baseUrls[0] ?? "";
  const { id, key } = await createWorkspace(stack, { creditsNano: 0n });
  keys["maker"] = key;
  for (const [name, role] of [
    ["colleague", "developer"],
    ["owner", "owner"],
    ["accountant", "billing"],
  ] as const) {
    const [member, minted] = [newId(), mintKey()];
    await stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, $4)", [
      member,
      id,
      name,
      role,
    ]);
    await stack.query(
      "insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, $4, $5, $6, 'unlimited')",
      [newId(), id, member, name, hashKey(minted), keyHint(minted)],
    );
    keys[name] = minted;
  }
}, 120_000);

async function call(method: string, path: string, who: string, body?: unknown) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${keys[who] ?? who}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> & Partial<ErrorEnvelope> };
}

const definition = (content: string, more: object = {}) => ({
  inputs: { topic: { type: "string", required: true } },
  steps: [{ id: "say", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content }] } }],
  output: { text: "${{ steps.say.output.text }}" },
  ...more,
});
const ABOUT = definition("About ${{ inputs.topic }}");
/** Needs no input. */
const PLAIN = { definition: definition("x", { inputs: {} }) };

async function store(more: object = {}, who = "maker"): Promise<string> {
  const { status, body } = await call("POST", "/v1/workflows", who, { name: "About", definition: ABOUT, ...more });
  expect(status).toBe(201);
  return String(body["id"]);
}
const codeOf = ({ status, body }: Awaited<ReturnType<typeof call>>) => [status, body.error?.code];

describe("a workflow", () => {
  test("is stored, read, changed and deleted", async () => {
    const made = await call("POST", "/v1/workflows", "maker", {
      name: "About",
      description: "Says it",
      definition: ABOUT,
    });
    expect(made).toEqual({ status: 201, body: { id: expect.any(String), version: 1, name: "About" } });
    const path = `/v1/workflows/${String(made.body["id"])}`;
    const shown = await call("GET", path, "maker");
    expect(shown.body).toEqual({
      id: made.body["id"],
      workspaceId: expect.any(String),
      name: "About",
      description: "Says it",
      latestVersion: 1,
      isActive: true,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      deletedAt: null,
      createdByUserId: expect.any(String),
      sharingScope: "private",
      sharePermission: "read",
      version: 1,
      definition: ABOUT,
    });

    const renamed = await call("PUT", path, "maker", { name: "Of" });
    expect(renamed).toEqual({ status: 200, body: { id: made.body["id"], version: 1, name: "Of" } });
    const next = definition("Of ${{ inputs.topic }}");
    const changed = await call("PUT", path, "maker", { definition: next });
    expect(changed.body).toMatchObject({ version: 2, name: "Of" });
    expect((await call("GET", path, "maker")).body).toMatchObject({
      version: 2,
      definition: next,
      description: "Says it",
    });
    expect((await call("GET", `${path}?version=1`, "maker")).body).toMatchObject({
      version: 1,
      latestVersion: 2,
      definition: ABOUT,
    });
    expect((await call("GET", `${path}/versions`, "maker")).body).toMatchObject({
      items: [{ version: 2 }, { version: 1 }],
      total: 2,
    });
    expect(codeOf(await call("GET", `${path}?version=3`, "maker"))).toEqual([404, "workflow_not_found"]);
    expect(codeOf(await call("GET", `${path}?version=0`, "maker"))).toEqual([400, "unsupported_value"]);

    expect((await call("DELETE", path, "maker")).body).toEqual({ id: made.body["id"], deleted: true });
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect(codeOf(await call(method, path, "maker", method === "PUT" ? {} : undefined))).toEqual([
        404,
        "workflow_not_found",
      ]);
    }
    const audited = await stack.query("select action from audit_log where subject = $1 order by id", [
      String(made.body["id"]),
    ]);
    expect(audited.map((row) => row["action"])).toEqual([
      "workflow.create",
      "workflow.update",
      "workflow.update",
      "workflow.delete",
    ]);
  });

  test("has one version for each of many concurrent changes", async () => {
    const path = `/v1/workflows/${await store()}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        call("PUT", path, "maker", { definition: definition(`${at}`, { inputs: {} }) }),
      ),
    );
    expect(answers.map(({ body }) => body["version"]).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 2),
    );
  });

  test.each<[string, object, unknown[]]>([
    ["without a name", { definition: ABOUT }, [400, "missing_required_parameter", "name"]],
    ["with a long name", { name: "x".repeat(121), definition: ABOUT }, [400, "invalid_request", "name"]],
    [
      "with a long description",
      { name: "x", description: "x".repeat(2_001), definition: ABOUT },
      [400, "invalid_request", "description"],
    ],
    ["with a NUL in its name", { name: "a\u0000b", definition: ABOUT }, [400, "unsupported_value", "name"]],
    ["with half a character in its name", { name: "\ud800z", definition: ABOUT }, [400, "unsupported_value", "name"]],
    [
      "with half a character in its description",
      { name: "x", description: "z\udfff", definition: ABOUT },
      [400, "unsupported_value", "description"],
    ],
    ["without a definition", { name: "x" }, [400, "missing_required_parameter", "definition"]],
    ["with a definition that is a list", { name: "x", definition: [] }, [400, "invalid_request", "definition"]],
    ["with no steps", { name: "x", definition: {} }, [400, "invalid_workflow_definition", "definition.steps"]],
    [
      "with a scope that there is not",
      { name: "x", definition: ABOUT, sharingScope: "world" },
      [400, "unsupported_value", "sharingScope"],
    ],
  ])("is rejected %s", async (_name, body, said) => {
    const before = (await call("GET", "/v1/workflows", "maker")).body["total"];
    const answer = await call("POST", "/v1/workflows", "maker", body);
    expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual(said as never);
    expect((await call("GET", "/v1/workflows", "maker")).body["total"]).toEqual(before);
  });

  test("rejects half of a surrogate pair on update, and stays unchanged", async () => {
    const path = `/v1/workflows/${await store()}`;
    const before = (await call("GET", path, "maker")).body;
    for (const member of ["name", "description"]) {
      const { status, body } = await call("PUT", path, "maker", { [member]: "a\ud800z" });
      expect([status, body.error?.code, body.error?.param]).toEqual([400, "unsupported_value", member]);
    }
    expect((await call("GET", path, "maker")).body).toEqual(before);
  });

  test("keeps texts unchanged, and accepts names up to the last character", async () => {
    const name = "Ünïcode 茶 🫖".padEnd(121, "x");
    const metadata = { text: "a\u0000b \ud800", deep: [[[null]]] };
    const id = await store({ name, definition: { ...ABOUT, metadata } });
    expect((await call("GET", `/v1/workflows/${id}`, "maker")).body).toMatchObject({ name, definition: { metadata } });
  });
});

describe("workflows that run others", () => {
  const running = (id: string, more: object = {}) => ({
    steps: [{ id: "sub", type: "sub_pipeline", workflow_id: id, ...more }],
  });

  test("are nested to a depth of five at most, and never in a cycle", async () => {
    const first = await store(PLAIN);
    let last = first;
    for (let depth = 1; depth <= 5; depth += 1) last = await store({ definition: running(last) });
    const deeper = await call("POST", "/v1/workflows", "maker", { name: "x", definition: running(last) });
    expect([...codeOf(deeper), deeper.body.error?.param]).toEqual([
      400,
      "invalid_workflow_definition",
      "definition.steps[0].workflow_id",
    ]);
    expect(codeOf(await call("PUT", `/v1/workflows/${first}`, "maker", { definition: running(last) }))).toEqual([
      400,
      "invalid_workflow_definition",
    ]);
    expect(
      codeOf(await call("PUT", `/v1/workflows/${first}`, "maker", { definition: running(first.toUpperCase()) })),
    ).toEqual([400, "invalid_workflow_definition"]);
  });

  test("name workflows and versions that the caller can see", async () => {
    const hidden = await store(PLAIN);
    for (const one of [running(hidden), running(newId())]) {
      expect(codeOf(await call("POST", "/v1/workflows", "colleague", { name: "x", definition: one }))).toEqual([
        400,
        "invalid_workflow_definition",
      ]);
    }
    expect(
      codeOf(await call("POST", "/v1/workflows", "maker", { name: "x", definition: running(hidden, { version: 2 }) })),
    ).toEqual([400, "invalid_workflow_definition"]);
    await store({ definition: running(hidden, { version: 1 }) });
    for (const version of [0, 2_147_483_648, 1e300]) {
      expect(
        codeOf(await call("POST", "/v1/workflows", "maker", { name: "x", definition: running(hidden, { version }) })),
      ).toEqual([400, "invalid_workflow_definition"]);
    }
  });
});

describe("the input of a nested workflow", () => {
  let child: string;
  const giving = (input: object, more: object = {}) => ({
    inputs: { any: { type: "string" } },
    steps: [{ id: "sub", type: "sub_pipeline", workflow_id: child, input, ...more }],
  });
  beforeAll(async () => {
    child = await store({
      definition: definition("x", { inputs: { topic: { type: "string", required: true }, n: { type: "integer" } } }),
    });
    // The latest version takes another input.
    await call("PUT", `/v1/workflows/${child}`, "maker", {
      definition: definition("x", { inputs: { theme: { type: "string", required: true } } }),
    });
  });

  test.each<[string, object, object]>([
    ["what it declares", { topic: "tea", n: 2 }, { version: 1 }],
    ["what only a run knows", { topic: "${{ inputs.any }}", n: "${{ inputs.any }}" }, { version: 1 }],
    ["null for what is not needed", { topic: "tea", n: null }, { version: 1 }],
    ["what the latest version declares", { theme: "tea" }, {}],
  ])("is accepted: %s", async (_name, input, more) => {
    await store({ definition: giving(input, more) });
  });

  test.each<[string, object, object, string]>([
    ["an input that it does not declare", { topic: "x", colour: "${{ inputs.any }}" }, { version: 1 }, "input.colour"],
    ["nothing for what it needs", { n: 2 }, { version: 1 }, "input.topic"],
    ["null for what it needs", { topic: null }, { version: 1 }, "input.topic"],
    ["a value of another type", { topic: "x", n: "${{ 'two' }}" }, { version: 1 }, "input.n"],
    ["what only an earlier version declares", { topic: "x" }, {}, "input.topic"],
  ])("is rejected with its path: %s", async (_name, input, more, place) => {
    const answer = await call("POST", "/v1/workflows", "maker", { name: "x", definition: giving(input, more) });
    expect([...codeOf(answer), answer.body.error?.param]).toEqual([
      400,
      "invalid_workflow_definition",
      `definition.steps[0].${place}`,
    ]);
  });
});

describe("access", () => {
  test("to a private workflow is limited to its creator, owners and admins", async () => {
    const path = `/v1/workflows/${await store()}`;
    const seen = async (who: string) =>
      ((await call("GET", "/v1/workflows?limit=100", who)).body["items"] as { id: string }[]).some(({ id }) =>
        path.endsWith(id),
      );
    expect([await seen("maker"), await seen("owner"), await seen("colleague")]).toEqual([true, true, false]);
    for (const [method, body] of [["GET"], ["PUT", { name: "x" }], ["DELETE"]] as const) {
      expect(codeOf(await call(method, path, "colleague", body))).toEqual([404, "workflow_not_found"]);
      expect(codeOf(await call(method, path, stack.key, body))).toEqual([404, "workflow_not_found"]);
      expect(codeOf(await call(method, path, "accountant", body))).toEqual([403, "permission_denied"]);
    }
    expect((await call("PUT", path, "owner", { name: "y" })).body).toMatchObject({ name: "y" });
    expect((await call("DELETE", path, "owner")).status).toBe(200);
  });

  test("to a shared workflow is read for all, and write for those with that right", async () => {
    const path = `/v1/workflows/${await store({ sharingScope: "workspace" })}`;
    expect((await call("GET", path, "colleague")).status).toBe(200);
    expect(codeOf(await call("PUT", path, "colleague", { name: "x" }))).toEqual([403, "permission_denied"]);
    expect((await call("PUT", path, "maker", { sharePermission: "edit" })).status).toBe(200);
    expect((await call("PUT", path, "colleague", { name: "x" })).body).toMatchObject({ name: "x" });
    expect(codeOf(await call("PUT", path, "colleague", { sharingScope: "private" }))).toEqual([
      403,
      "permission_denied",
    ]);
    expect(codeOf(await call("DELETE", path, "colleague"))).toEqual([403, "permission_denied"]);
    expect(codeOf(await call("GET", path, stack.key))).toEqual([404, "workflow_not_found"]);
  });

  test("to nested workflows depends on the author, and stays for those that it ran before", async () => {
    const running = (id: string) => ({ steps: [{ id: "sub", type: "sub_pipeline", workflow_id: id }] });
    const hidden = await store(PLAIN);
    const onlyRead = await store({ ...PLAIN, sharingScope: "workspace" });
    for (const id of [hidden, onlyRead]) {
      const { status, body } = await call("POST", "/v1/workflows", "colleague", { name: "x", definition: running(id) });
      expect([status, body.error]).toMatchObject([400, { param: "definition.steps[0].workflow_id" }]);
      expect(body.error?.message).not.toContain(id);
    }
    const outer = await store({ definition: running(hidden), sharingScope: "workspace", sharePermission: "edit" });
    const path = `/v1/workflows/${outer}`;
    expect((await call("PUT", path, "colleague", { definition: running(hidden) })).body).toMatchObject({ version: 2 });
    expect(codeOf(await call("POST", `/v1/workflows/${onlyRead}/runs`, "colleague", {}))).toEqual([
      403,
      "permission_denied",
    ]);
  });

  test("to expanded lists is limited to a total maximum", async () => {
    let id = await store({ definition: { steps: [definition("x").steps[0]] } });
    const list = Array.from({ length: 100 }, () => 1);
    const of = (nested: string) => ({
      steps: [{ id: "sub", type: "sub_pipeline", workflow_id: nested, for_each: list }],
    });
    id = await store({ definition: of(id) });
    const { status, body } = await call("POST", "/v1/workflows", "maker", { name: "bomb", definition: of(id) });
    expect([status, body.error?.message]).toEqual([
      400,
      "Expected at most 20000 calls and runs in total, including the items of literal lists.",
    ]);
  });

  test("with malformed ids is answered like with unknown ids", async () => {
    for (const id of ["x", newId(), "a%2fb", "%00"]) {
      expect(codeOf(await call("GET", `/v1/workflows/${id}`, "maker"))).toEqual([404, "workflow_not_found"]);
    }
  });
});

describe("the list", () => {
  test("is paged, newest first, and counts what the key can see", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 0n });
    keys[id] = key;
    const made: string[] = [];
    for (let at = 0; at < 5; at += 1) made.unshift(await store({ name: `n${at}` }, id));
    const page = async (query: string) => (await call("GET", `/v1/workflows${query}`, id)).body;
    const ids = (body: Record<string, unknown>) => (body["items"] as { id: string }[]).map((item) => item.id);
    const whole = await page("");
    expect(whole).toMatchObject({ total: 5, limit: 20, offset: 0 });
    expect(ids(whole)).toEqual(made);
    expect(Object.keys((whole["items"] as object[])[0] ?? {})).not.toContain("definition");
    expect(ids(await page("?limit=2&offset=1"))).toEqual(made.slice(1, 3));
    expect(await page("?limit=500&offset=9")).toMatchObject({ items: [], total: 5, limit: 100, offset: 9 });
    for (const query of ["?limit=0", "?limit=-1", "?limit=x", "?offset=-1", "?offset=1.5"]) {
      expect(codeOf(await call("GET", `/v1/workflows${query}`, id))).toEqual([400, "unsupported_value"]);
    }
  });
});
