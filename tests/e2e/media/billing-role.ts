/** Access of a billing key to jobs by their ids: it finds those of its own member, and nothing else. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { Job, JobList } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { type Bench, errorOf } from "./bench.ts";
import { benchOfNewWorkspace } from "./shared-bench.ts";

const PICTURE = { model: "sandbox-image", prompt: "a lighthouse" };

let bench: Bench;
let addKey: (member: string) => Promise<string>;
const [billing, developer] = [newId(), newId()];

beforeAll(async () => {
  bench = await benchOfNewWorkspace();
  const { query, key } = bench.stack;
  const [bootstrap] = await query<{ id: string }>("select workspace_id as id from api_key where sha256 = $1", [
    Buffer.from(hashKey(key)),
  ]);
  const workspaceId = bootstrap?.id ?? "";
  for (const [id, role] of [
    [billing, "billing"],
    [developer, "developer"],
  ] as const) {
    await query("insert into member (id, workspace_id, name, role) values ($1, $2, $3, $3)", [id, workspaceId, role]);
  }
  addKey = async (member) => {
    const minted = mintKey();
    await query(
      "insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, 'x', $4, $5, 'unlimited')",
      [newId(), workspaceId, member, Buffer.from(hashKey(minted)), keyHint(minted)],
    );
    return minted;
  };
}, 60_000);

const call = (key: string, path: string, body?: object): Promise<Response> =>
  fetch(`${bench.stack.baseUrls[0]}${path}`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });

async function madeWith(key: string): Promise<string> {
  const response = await call(key, "/v1/images/generations", PICTURE);
  expect(response.status).toBe(200);
  return response.headers.get("x-request-id") ?? "";
}

describe("a key of the billing role", () => {
  test("finds no job of another member, and cancels none", async () => {
    const [own, id] = [await addKey(billing), await madeWith(await addKey(developer))];
    for (const response of [
      await call(own, `/v1/images/jobs/${id}`),
      await call(own, `/v1/images/jobs/${id}/cancel`, {}),
    ]) {
      expect(await errorOf(response)).toMatchObject({ status: 404, code: "job_not_found" });
    }
    const list = (await (await call(own, "/v1/jobs")).json()) as JobList;
    expect(list.data.map((job) => job.id)).not.toContain(id);
  });

  test("finds the jobs of its own member, also under a later key", async () => {
    const id = await madeWith(await addKey(billing));
    const response = await call(await addKey(billing), `/v1/images/jobs/${id}`);
    expect((await response.json()) as Job).toMatchObject({ id, status: "completed" });
    const list = (await (await call(await addKey(billing), "/v1/jobs")).json()) as JobList;
    expect(list.data.map((job) => job.id)).toContain(id);
  });
});

test("a developer finds the jobs of every member", async () => {
  const [own, ids] = [
    await addKey(developer),
    [await madeWith(await addKey(billing)), await madeWith(bench.stack.key)],
  ];
  for (const id of ids) expect((await call(own, `/v1/images/jobs/${id}`)).status).toBe(200);
});
