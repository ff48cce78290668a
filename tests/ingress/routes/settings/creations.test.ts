/** Creations at once: under one id, and for the last place there is. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
import { MEMBERS_PER_WORKSPACE_MAX } from "#ingress/routes/settings/members.ts";
import { KEYS_PER_WORKSPACE_MAX } from "#shared/database/api-keys.ts";
import { CHANNELS_PER_WORKSPACE_MAX } from "#shared/database/channels.ts";

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

const KEYS = `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
  select gen_random_uuid(), $1, $2::uuid, 'k', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'slk_…', 'standard'
  from generate_series(1, $3) n`;
const MEMBERS = `insert into member (id, workspace_id, name, role, created_at)
  select gen_random_uuid(), $1, coalesce($2::text, '') || n, 'developer', now() from generate_series(1, $3) n`;
const CHANNELS = `insert into notification_channel (id, workspace_id, type, name, config, created_by)
  select gen_random_uuid(), $1, 'slack', 'c' || n, '{}', $2::uuid from generate_series(1, $3) n`;

/** Rows that exist before: as many as the statement of each makes, and some more that every team has. */
test.each<[string, string, string, number, (n: number) => object]>([
  ["members", "/members", MEMBERS, MEMBERS_PER_WORKSPACE_MAX - 6, (n) => ({ name: `m ${n}`, role: "developer" })],
  ["keys", "/api-keys", KEYS, KEYS_PER_WORKSPACE_MAX - 6, (n) => ({ name: `k ${n}` })],
  [
    "channels",
    "/notification-channels",
    CHANNELS,
    CHANNELS_PER_WORKSPACE_MAX - 1,
    (n) => ({ type: "slack", name: `s ${n}`, config: { url: "https://hooks.example.com/s" } }),
  ],
])("of %s leave nobody past the limit", async (_what, path, statement, there, bodyOf) => {
  const team = await bed.team(0n);
  await bed.db.query(statement, [team.id, team.owner.id, there]);
  const statuses = await Promise.all(
    Array.from({ length: TIMES }, async (_none, n) => {
      const answer = await bed.send("POST", `/workspaces/${team.id}${path}`, team.owner.key, bodyOf(n));
      return answer.status;
    }),
  );
  expect(statuses.toSorted((one, other) => one - other)).toEqual([
    201,
    ...Array.from({ length: TIMES - 1 }, () => 409),
  ]);
});
