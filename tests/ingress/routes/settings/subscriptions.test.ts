/** …/notification-channels/{channelId}/subscriptions, and the events that there are. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";

import { EVENTS } from "#shared/events/events.ts";
import { newId } from "#shared/ids.ts";
import { SUBSCRIPTIONS_PER_CHANNEL_MAX } from "#shared/database/subscriptions.ts";

import { audited, auditOf, BAD_BODIES, BAD_IDS, putChannel, putSubscription, walk } from "./settings-bed.ts";
import { openSpendBed, type Person, ROLES, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
let channel: string;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
  channel = await putChannel(bed, team, team.owner);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, channelId: string, rest = ""): string =>
  `/workspaces/${of.id}/notification-channels/${channelId}/subscriptions${rest}`;

async function putWorkflow(of: Pick<Team, "id">, maker: Person): Promise<string> {
  const id = newId();
  await bed.db.query("insert into workflow (id, workspace_id, name, created_by) values ($1, $2, $3, $4)", [
    id,
    of.id,
    `flow ${id}`,
    maker.id,
  ]);
  return id;
}

test("every role reads which events there are", async () => {
  for (const role of ROLES) {
    const { data } = await bed.ask("EventTypeList", "GET", `/workspaces/${team.id}/event-types`, team[role].key);
    expect(data.map(({ name }) => name)).toEqual(Object.keys(EVENTS) as (typeof data)[number]["name"][]);
    expect(data).toHaveLength(9);
  }
});

describe("subscribing", () => {
  test("to everything or to one workflow stands on record", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    const workflowId = await putWorkflow(own, own.other);
    for (const [by, body] of [
      [own.owner, { event: "run.failed" }],
      [own.admin, { event: "run.failed", workflowId: workflowId.toUpperCase() }],
    ] as const) {
      const line = await audited(bed, own, by, { method: "POST", path: at(own, id), body, status: 201 });
      const scope = "workflowId" in body ? workflowId : null;
      expect(line).toMatchObject({
        action: "subscription.create",
        subject: line.answer["id"],
        before: null,
        after: { channel_id: id, event: "run.failed", workflow_id: scope },
        answer: { channelId: id, event: "run.failed", workflowId: scope, createdByUserId: by.id },
      });
    }
    const { data } = await bed.ask("SubscriptionList", "GET", at(own, id), own.other.key);
    expect(data.map((one) => one.workflowId)).toEqual([workflowId, null]);
  });

  test("is for owner and admin", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    for (const { key } of [own.developer, own.other, own.billing]) {
      const refusal = await bed.refusal(403, "POST", at(own, id), key, { event: "run.failed" });
      expect(refusal).toEqual({ code: "permission_denied", param: null });
    }
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("repeats under an id of the caller's, and not under one that stands for something else", async () => {
    const own = await bed.team(0n);
    const [id, sibling] = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const body = { id: randomUUID().toUpperCase(), event: "run.started" };
    const made = await bed.ask("Subscription", "POST", at(own, id), own.owner.key, { body, status: 201 });
    expect(made.id).toBe(body.id.toLowerCase());
    expect(await bed.ask("Subscription", "POST", at(own, id), own.admin.key, { body })).toEqual(made);
    const workflowId = await putWorkflow(own, own.owner);
    const reused = { code: "idempotency_key_reused", param: "id" } as const;
    for (const other of [{ event: "run.failed" }, { workflowId }]) {
      expect(await bed.refusal(422, "POST", at(own, id), own.owner.key, { ...body, ...other })).toEqual(reused);
    }
    // Of another channel, and of another workspace.
    const foreign = await putSubscription(bed, team, channel, "job.failed");
    for (const taken of [made.id, foreign]) {
      const refusal = await bed.refusal(422, "POST", at(own, sibling), own.owner.key, {
        id: taken,
        event: "run.cancelled",
      });
      expect(refusal).toEqual(reused);
    }
    expect((await bed.ask("SubscriptionList", "GET", at(own, sibling), own.owner.key)).data).toEqual([]);
  });

  test("twice to the same is refused", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.owner);
    const workflowId = await putWorkflow(own, own.owner);
    for (const body of [{ event: "run.failed" }, { event: "run.failed", workflowId }]) {
      await bed.ask("Subscription", "POST", at(own, id), own.owner.key, { body, status: 201 });
      for (const again of [body, { ...body, id: newId() }]) {
        expect(await bed.refusal(409, "POST", at(own, id), own.owner.key, again)).toEqual({
          code: "conflict",
          param: "event",
        });
      }
    }
  });

  test("to a workflow is refused for one that there is not, and for events of none", async () => {
    const foreign = await bed.team(0n);
    const [theirs, gone] = [await putWorkflow(foreign, foreign.owner), await putWorkflow(team, team.owner)];
    await bed.db.query("update workflow set deleted_at = now() where id = $1", [gone]);
    for (const workflowId of [newId(), theirs, gone]) {
      const body = { event: "run.failed", workflowId };
      expect(await bed.refusal(404, "POST", at(team, channel), team.owner.key, body)).toEqual({
        code: "workflow_not_found",
        param: "workflowId",
      });
    }
    const workflowId = await putWorkflow(team, team.owner);
    for (const event of ["job.completed", "job.failed", "budget.threshold_reached", "template.unavailable"]) {
      const body = { event, workflowId };
      expect(await bed.refusal(400, "POST", at(team, channel), team.owner.key, body)).toEqual({
        code: "unsupported_value",
        param: "workflowId",
      });
    }
  });

  test("goes on up to the limit, where repeats are still answered", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.owner);
    await bed.db.query(
      `insert into workflow (id, workspace_id, name, created_by)
       select gen_random_uuid(), $1, 'w' || n, $2 from generate_series(1, $3) n`,
      [own.id, own.owner.id, SUBSCRIPTIONS_PER_CHANNEL_MAX - 1],
    );
    await bed.db.query(
      `insert into subscription (id, workspace_id, channel_id, event, workflow_id)
       select gen_random_uuid(), $1, $2, 'run.failed', id from workflow where workspace_id = $1`,
      [own.id, id],
    );
    const body = { id: newId(), event: "run.started" };
    const made = await bed.ask("Subscription", "POST", at(own, id), own.owner.key, { body, status: 201 });
    const refusal = await bed.refusal(409, "POST", at(own, id), own.owner.key, { event: "run.cancelled" });
    expect(refusal).toEqual({ code: "conflict", param: null });
    expect(await bed.ask("Subscription", "POST", at(own, id), own.owner.key, { body })).toEqual(made);
    expect((await bed.refusal(422, "POST", at(own, id), own.owner.key, { ...body, event: "run.failed" })).param).toBe(
      "id",
    );
  });

  test("is refused for what is none, and takes no fields that are ours", async () => {
    for (const [body, param] of [
      [{}, "event"],
      [{ event: "run.exploded" }, "event"],
      [{ event: "test" }, "event"],
      [{ event: "channel.disabled" }, "event"],
      [{ event: null }, "event"],
      [{ event: "run.failed", workflowId: "x" }, "workflowId"],
      [{ event: "run.failed", workflowId: `urn:uuid:${newId()}` }, "workflowId"],
      [{ event: "run.failed", workflowId: null }, "workflowId"],
      [{ event: "run.failed", id: "x" }, "id"],
    ] as const) {
      expect([body, (await bed.refusal(400, "POST", at(team, channel), team.owner.key, body)).param]).toEqual([
        body,
        param,
      ]);
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "POST", at(team, channel), team.owner.key, body)).code).toBe(code);
    }
    const foreign = await bed.team(0n);
    const theirs = await putChannel(bed, foreign, foreign.owner);
    const body = {
      event: "run.retrying",
      channelId: theirs,
      channel_id: theirs,
      workspaceId: foreign.id,
      createdByUserId: foreign.owner.id,
      createdAt: "2000-01-01T00:00:00Z",
    };
    const made = await bed.ask("Subscription", "POST", at(team, channel), team.owner.key, { body, status: 201 });
    expect(made).toMatchObject({ channelId: channel, createdByUserId: team.owner.id });
    expect((await bed.ask("SubscriptionList", "GET", at(foreign, theirs), foreign.owner.key)).data).toEqual([]);
  });
});

describe("ending a subscription", () => {
  test("stands on record, and is done once", async () => {
    const own = await bed.team(0n);
    const [id, sibling] = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const subscription = await putSubscription(bed, own, id);
    const path = at(own, id, `/${subscription}`);
    for (const { key } of [own.developer, own.billing]) await bed.refusal(403, "DELETE", path, key);
    // By the path of another channel it is unknown.
    expect((await bed.refusal(404, "DELETE", at(own, sibling, `/${subscription}`), own.owner.key)).code).toBe(
      "not_found",
    );
    const line = await audited(bed, own, own.admin, { method: "DELETE", path });
    expect(line).toMatchObject({
      action: "subscription.delete",
      subject: subscription,
      before: { channel_id: id, event: "run.failed", workflow_id: null },
      after: null,
      answer: { id: subscription, deleted: true },
    });
    expect((await bed.refusal(404, "DELETE", path, own.owner.key)).code).toBe("not_found");
  });

  test("of another workspace is one of an unknown one, and so is what is no id", async () => {
    const foreign = await bed.team(0n);
    const theirs = await putChannel(bed, foreign, foreign.owner);
    const subscription = await putSubscription(bed, foreign, theirs);
    const told = async (path: string): Promise<unknown> => {
      const answer = await bed.send("DELETE", path, team.owner.key);
      return [answer.status, await answer.text()];
    };
    const unknown = await told(at(team, channel, `/${newId()}`));
    for (const id of [subscription, ...BAD_IDS]) {
      expect([id, await told(at(team, channel, `/${id}`))]).toEqual([id, unknown]);
    }
    // A path that mixes two workspaces names nothing.
    expect(await told(at(team, theirs, `/${subscription}`))).toEqual(await told(at(team, newId(), `/${newId()}`)));
    expect(await bed.db.query("select 1 from subscription where id = $1", [subscription])).toHaveLength(1);
  });
});

test("subscriptions are paged from the newest without gaps or repeats", async () => {
  const own = await bed.team(0n);
  const id = await putChannel(bed, own, own.owner);
  await bed.db.query(
    `insert into workflow (id, workspace_id, name, created_by)
     select gen_random_uuid(), $1, 'w' || n, $2 from generate_series(1, 40) n`,
    [own.id, own.owner.id],
  );
  await bed.db.query(
    `insert into subscription (id, workspace_id, channel_id, event, workflow_id, created_at)
     select gen_random_uuid(), $1, $2, 'run.failed', id, now() + (row_number() over () / 3) * interval '1 second'
     from workflow where workspace_id = $1`,
    [own.id, id],
  );
  const rows = await bed.db.query<{ id: string }>(
    "select id from subscription where channel_id = $1 order by created_at desc, id desc",
    [id],
  );
  const read = (query: string) => bed.ask("SubscriptionList", "GET", at(own, id, `?${query}`), own.developer.key);
  for (const limit of [7, 20, 40, 100]) expect(await walk(read, limit)).toEqual(rows.map((row) => row.id));
  for (const query of ["limit=0", "after=x"]) {
    expect((await bed.refusal(400, "GET", at(own, id, `?${query}`), own.owner.key)).param).toBe(
      query.split("=")[0] ?? "",
    );
  }
});
