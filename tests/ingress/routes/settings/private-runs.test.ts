/** A run is its member's, and owners' and admins'. Every road to what it did and said, asked by each member. Deliveries about batches are as private. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { envelopeText } from "#shared/notifications/envelope.ts";

import type { Person } from "../managed-bed.ts";
import { putChannel } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

const PRIVATE = "the merger closes on Friday";
let bed: SpendBed;
let team: Team;
let made: Awaited<ReturnType<typeof putRun>>;
let ofShared: Awaited<ReturnType<typeof putRun>>;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
  made = await putRun(team, team.developer);
  ofShared = await putRun(team, team.developer, await putWorkflow(team, team.developer));
});
afterAll(() => bed.close());

/** A run that a batch message asked for with a key of this member, a step's job that has ended and one that runs, and what was told of it. */
async function putRun(of: Team, member: Person, workflow: string | null = null) {
  const run = newId();
  await bed.db.query(
    `insert into run (id, workspace_id, key_id, member_id, workflow_id, version, definition, mode, lane, status, max_attempts, error,
       ended_at, told)
     select $1, $2, $3, $4, workflow, case when workflow is not null then 1 end, case when workflow is null then '{"steps":[]}'::json end,
       'async', 'live', 'failed', 1, $6, now(), true from (values ($5::uuid)) as _(workflow)`,
    [
      run,
      of.id,
      member.keyId,
      member.id,
      workflow,
      JSON.stringify({ code: "internal_error", message: PRIVATE, stepId: "a" }),
    ],
  );
  const job = async (kind: string, state: string, runId: string | null, modality = "text"): Promise<string> => {
    const id = newId();
    await bed.db.query(
      `insert into job (id, workspace_id, key_id, pool, lane, kind, modality, state, deadline, work, result, run_id, ended_at)
       values ($1, $2, $3, 'chat', 'live', $4, $5, $6::text, now() + interval '1 hour', '{}', $7, $8, case when $6::text = 'completed' then now() end)`,
      [id, of.id, member.keyId, kind, modality, state, JSON.stringify({ said: PRIVATE }), runId],
    );
    await bed.db.query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, status, units, is_estimated, held, settled, uncollected,
         tokens, day, started_at, ended_at)
       values ($1, 1, $2, $3, 'm', 'succeeded', '{}', false, 0, 0, 0, 0, current_date, now(), now())`,
      [id, of.id, member.keyId],
    );
    return id;
  };
  // A developer may repair a channel that it made when it was an admin.
  const channel = await putChannel(bed, of, of.other);
  const deliver = async (event: string, about: Readonly<Record<string, string>>) => {
    const id = newId();
    const metadata = { ...about, error: { code: "internal_error", message: PRIVATE } };
    const body = envelopeText({ event, deliveryId: id, workspaceId: of.id, occurredAt: new Date(), metadata });
    await bed.db.query(
      `insert into delivery (id, workspace_id, channel_id, event, body, status, next_at, ended_at)
       values ($1, $2, $3, $4, $5, 'failed', null, now())`,
      [id, of.id, channel, event, body],
    );
    await bed.db.query(
      "insert into delivery_attempt (delivery_id, number, at, ms, status, error, response_start) values ($1, 1, now(), 1, 500, 'status', $2)",
      [id, PRIVATE],
    );
    return { id, event, subject: Object.values(about).join("") };
  };
  const batch = newId();
  await bed.db.query(
    "insert into batch (id, workspace_id, key_id, endpoint, input_file_id, expires_at, ended_at) values ($1, $2, $3, '/v1/embeddings', 'f', now(), now())",
    [batch, of.id, member.keyId],
  );
  return {
    run,
    step: await job("chat", "completed", run),
    running: await job("chat", "running", run),
    video: await job("video", "running", run, "video"),
    alone: await job("embeddings", "completed", null),
    text: await job("chat", "completed", null),
    deliveries: [
      await deliver("run.failed", { runId: run }),
      await deliver("job.failed", { batchId: `batch_${batch.replaceAll("-", "")}` }),
    ],
  };
}

/** A workflow that the workspace may run. */
async function putWorkflow(of: Team, member: Person): Promise<string> {
  const id = newId();
  await bed.db.query(
    `insert into workflow (id, workspace_id, name, created_by, sharing_scope, share_permission)
     values ($1, $2, 'shared', $3, 'workspace', 'run')`,
    [id, of.id, member.id],
  );
  await bed.db.query(
    `insert into workflow_version (workflow_id, version, definition, created_by) values ($1, 1, '{"steps":[]}', $2)`,
    [id, member.id],
  );
  return id;
}

/** Sends a request; returns its status, and true if the answer tells what is private. */
async function reaches(
  method: string,
  path: string,
  { key }: Person,
): Promise<readonly [status: number, tells: boolean]> {
  const answer = await bed.send(method, path, key);
  return [answer.status, (await answer.text()).includes(PRIVATE)];
}

const STRANGERS = ["other", "billing"] as const;

describe("a run of a developer", () => {
  const roads = (): readonly (readonly [string, string])[] => [
    ["GET", `/v1/workflows/runs/${made.run}`],
    ["GET", `/v1/workflows/runs/${made.run}/events`],
    ["GET", `/v1/workflows/runs/${made.run}/steps/a/output`],
    ["POST", `/v1/workflows/runs/${made.run}/cancel`],
    ["GET", `/v1/images/jobs/${made.step}`],
    ["POST", `/v1/images/jobs/${made.step}/cancel`],
    ["POST", `/v1/images/jobs/${made.running}/cancel`],
    ["GET", `/v1/videos/generations/${made.video}`],
    ["POST", `/v1/videos/generations/${made.video}/cancel`],
    ["GET", `/v1/images/jobs/${made.run}`],
    ["POST", `/v1/images/jobs/${made.run}/cancel`],
  ];

  test("is found by no other developer and not by billing, by its id, its steps' jobs or its message's job", async () => {
    for (const name of STRANGERS) {
      for (const [method, path] of roads()) {
        const [status, tells] = await reaches(method, path, team[name]);
        expect([name, method, path, [403, 404].includes(status), tells]).toEqual([name, method, path, true, false]);
      }
      const list = await bed.send("GET", "/v1/workflows/runs", team[name].key);
      expect(await list.text()).not.toContain(made.run);
    }
    const sql = "select count(*)::int as asked from job where cancel_requested";
    expect(await bed.db.query(sql)).toEqual([{ asked: 0 }]);
  });

  test("of a workflow visible in the workspace is equally private", async () => {
    for (const name of STRANGERS) {
      const [status, tells] = await reaches("GET", `/v1/workflows/runs/${ofShared.run}`, team[name]);
      expect([name, [403, 404].includes(status), tells]).toEqual([name, true, false]);
      const list = await bed.send("GET", "/v1/workflows/runs", team[name].key);
      expect(await list.text()).not.toContain(ofShared.run);
    }
    const path = `/v1/workflows/runs/${ofShared.run}`;
    expect(await reaches("GET", path, team.developer)).toEqual([200, true]);
  });

  test("is found by its member, owners and admins on each", async () => {
    for (const name of ["owner", "admin", "developer"] as const) {
      for (const path of [
        `/v1/workflows/runs/${made.run}`,
        `/v1/images/jobs/${made.step}`,
        `/v1/images/jobs/${made.run}`,
      ]) {
        expect([name, path, await reaches("GET", path, team[name])]).toEqual([name, path, [200, true]]);
      }
      const cancel = `/v1/images/jobs/${made.step}/cancel`;
      expect([name, await reaches("POST", cancel, team[name])]).toEqual([name, [200, true]]);
      expect((await bed.send("GET", `/v1/videos/generations/${made.video}`, team[name].key)).status).toBe(200);
    }
  });

  test("does not change jobs without a run: they belong to the workspace, except for billing", async () => {
    const path = `/v1/images/jobs/${made.alone}`;
    for (const name of ["owner", "admin", "developer", "other"] as const) {
      expect([name, await reaches("GET", path, team[name])]).toEqual([name, [200, true]]);
    }
    expect(await reaches("GET", path, team.billing)).toEqual([404, false]);
  });

  test("and the answer of a background response as a job are private", async () => {
    const path = `/v1/images/jobs/${made.text}`;
    for (const name of ["owner", "admin", "developer"] as const) {
      expect([name, await reaches("GET", path, team[name])]).toEqual([name, [200, true]]);
    }
    for (const name of ["other", "billing"] as const) {
      expect([name, await reaches("GET", path, team[name])]).toEqual([name, [404, false]]);
    }
  });

  test.each([
    ["deliveries of run.failed", 0],
    ["deliveries of a batch's job.failed", 1],
  ])("and %s are listed for others without content, and cannot be repeated by them", async (_what, at) => {
    const { id, event, subject } = made.deliveries[at] ?? { id: "", event: "", subject: "" };
    const path = `/workspaces/${team.id}/deliveries/${id}`;
    const read = await bed.ask("Delivery", "GET", path, team.other.key);
    expect(read).not.toHaveProperty("body");
    expect(read).toMatchObject({ event, attempts: [{ error: "status", responseStart: null }] });
    expect(JSON.stringify(read)).not.toContain(subject);
    expect(await bed.refusal(403, "POST", `${path}/retry`, team.other.key)).toEqual({
      code: "permission_denied",
      param: null,
    });
    const list = await bed.send("GET", `/workspaces/${team.id}/deliveries`, team.other.key);
    const text = await list.text();
    expect(text).toContain(id);
    for (const one of [PRIVATE, subject]) expect(text).not.toContain(one);
    expect((await bed.send("GET", path, team.billing.key)).status).toBe(403);
    for (const name of ["owner", "admin", "developer"] as const) {
      const whole = await bed.ask("Delivery", "GET", path, team[name].key);
      expect([name, whole.body?.includes(PRIVATE), whole.attempts?.[0]?.responseStart]).toEqual([name, true, PRIVATE]);
    }
    expect((await bed.send("POST", `${path}/retry`, team.owner.key)).status).toBe(202);
  });

  test("is in the usage of its member's keys, and of no other developer's", async () => {
    const path = `/workspaces/${team.id}/usage/requests`;
    expect((await bed.send("GET", `${path}/${made.step}`, team.other.key)).status).toBe(404);
    expect(await (await bed.send("GET", path, team.other.key)).text()).not.toContain(made.run);
    const own = await bed.ask("UsageRequest", "GET", `${path}/${made.step}`, team.developer.key);
    expect(own).toMatchObject({ run_id: made.run });
  });
});
