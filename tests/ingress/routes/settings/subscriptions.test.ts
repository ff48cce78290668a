/** …/notification-channels/{channelId}/subscriptions, beside the contract of resources: workflows; and the events that there are. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { EVENTS } from "#shared/events/events.ts";
import { newId } from "#shared/base/ids.ts";

import type { Person } from "../managed-bed.ts";
import { audited, putChannel } from "./settings-bed.ts";
import { openSpendBed, ROLES, type SpendBed, type Team } from "./spend-bed.ts";

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

test("every role reads the list of events", async () => {
  for (const role of ROLES) {
    const { data } = await bed.ask("EventTypeList", "GET", `/workspaces/${team.id}/event-types`, team[role].key);
    expect(data.map(({ name }) => name)).toEqual(Object.keys(EVENTS) as (typeof data)[number]["name"][]);
  }
});

describe("subscribing", () => {
  test("to everything or to one workflow has an audit entry", async () => {
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

  test("under an id refers to one scope of one channel", async () => {
    const own = await bed.team(0n);
    const [id, sibling] = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const body = { id: newId(), event: "run.started" };
    await bed.ask("Subscription", "POST", at(own, id), own.owner.key, { body, status: 201 });
    const reused = { code: "idempotency_key_reused", param: "id" } as const;
    const narrower = { ...body, workflowId: await putWorkflow(own, own.owner) };
    expect(await bed.refusal(422, "POST", at(own, id), own.owner.key, narrower)).toEqual(reused);
    expect(await bed.refusal(422, "POST", at(own, sibling), own.owner.key, body)).toEqual(reused);
    expect((await bed.ask("SubscriptionList", "GET", at(own, sibling), own.owner.key)).data).toEqual([]);
    // By the path of another channel it is unknown.
    const { code } = await bed.refusal(404, "DELETE", at(own, sibling, `/${body.id}`), own.owner.key);
    expect(code).toBe("not_found");
  });

  test("twice to the same scope is rejected", async () => {
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

  test("to an unknown event is rejected with the names of existing ones", async () => {
    const sent = await bed.send("POST", at(team, channel), team.owner.key, { event: "batch.completed" });
    const { error } = (await sent.json()) as { error: object };
    const message = `event must be one of ${Object.keys(EVENTS).join(", ")}, got "batch.completed".`;
    expect([sent.status, error]).toEqual([400, expect.objectContaining({ code: "unsupported_value", param: "event", message })]); // prettier-ignore
  });

  test("to a workflow is rejected for an unknown one, and for events without a workflow", async () => {
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
    for (const event of [
      "job.completed",
      "job.failed",
      "budget.threshold_reached",
      "balance.low",
      "template.unavailable",
    ]) {
      const body = { event, workflowId };
      expect(await bed.refusal(400, "POST", at(team, channel), team.owner.key, body)).toEqual({
        code: "unsupported_value",
        param: "workflowId",
      });
    }
  });
});
