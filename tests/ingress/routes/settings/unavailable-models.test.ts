/** GET /workspaces/{workspaceId}/unavailable-models. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import { noteOpenSource } from "#shared/database/source-breaker.ts";
import { newId } from "#shared/base/ids.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());
beforeEach(() => bed.db.query("delete from source_breaker"));

const disable = (pool: string, source: string, remainingMs: number): Promise<void> =>
  noteOpenSource(bed.db.database, { pool, source, remainingMs, cooldownMs: 24_000, worker: newId() });
const list = async (key = team.owner.key) =>
  (await bed.ask("UnavailableModelList", "GET", `/workspaces/${team.id}/unavailable-models`, key)).data;

test("a model is listed while every provider is disabled in its pool, also after the cooldown until a call succeeds", async () => {
  await disable("chat", "acme/acme-one", 40_000);
  await disable("image", "play/sandbox-chat", 20_000);
  expect(await list()).toEqual([]);
  const before = Date.now();
  await disable("chat", "play/sandbox-chat", 20_000);
  const [model, ...others] = await list(team.billing.key);
  expect(others).toEqual([]);
  expect(model).toMatchObject({ object: "unavailable_model", model: "one" });
  const wait = Date.parse(model?.next_attempt_at ?? "") - before;
  expect([wait > 15_000, wait < 25_000]).toEqual([true, true]);
  await bed.db.query("update source_breaker set open_until = now() - interval '1 second'");
  expect((await list()).map((one) => one.model)).toEqual(["one"]);
});

test("a key that may not call a model does not see it", async () => {
  await disable("chat", "acme/acme-one", 20_000);
  await disable("chat", "play/sandbox-chat", 20_000);
  const body = { name: "other models", limits: { models: ["other-*"] } };
  const path = `/workspaces/${team.id}/api-keys`;
  const { key = "" } = await bed.ask("ApiKey", "POST", path, team.owner.key, { body, status: 201 });
  expect(await list(key)).toEqual([]);
});
