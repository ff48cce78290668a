/** Creations under an id of the caller's, sent several times at once. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";

import { auditOf, putChannel } from "./settings-bed.ts";
import { openSpendBed, type SpendBed } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const TIMES = 6;

test.each<[string, string, (channelId: string) => string, object]>([
  ["a member", "member.add", () => "/members", { name: "once", role: "developer" }],
  ["a key", "key.create", () => "/api-keys", { name: "once" }],
  [
    "a channel",
    "channel.create",
    () => "/notification-channels",
    { type: "webhook", name: "once", config: { url: "https://hooks.example.com/once" } },
  ],
  [
    "a subscription",
    "subscription.create",
    (id) => `/notification-channels/${id}/subscriptions`,
    { event: "run.failed" },
  ],
])("make %s once, and every answer is about it", async (_what, action, pathOf, body) => {
  const team = await bed.team(0n);
  const path = `/workspaces/${team.id}${pathOf(await putChannel(bed, team, team.owner))}`;
  const sent = { id: newId(), ...body };
  const answers = await Promise.all(
    Array.from({ length: TIMES }, async () => {
      const answer = await bed.send("POST", path, team.owner.key, sent);
      return { status: answer.status, id: ((await answer.json()) as { id?: string }).id };
    }),
  );
  const again = Array.from({ length: TIMES - 1 }, () => ({ status: 200, id: sent.id }));
  expect(answers.toSorted((one, other) => one.status - other.status)).toEqual([...again, { status: 201, id: sent.id }]);
  expect((await auditOf(bed, team)).map((line) => line.action)).toEqual([action]);
});
