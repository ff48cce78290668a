import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { commandsOn, type Json, TIME } from "./commands.ts";

let db: TestDatabase;
const { audited, json, makeWorkspace, refusal, text } = commandsOn(() => db);

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

describe("fallback chains", () => {
  test("are set, listed and deleted, each change on record", async () => {
    const { id, name } = await makeWorkspace();
    const here = ["--workspace", name];
    expect(await text("fallback-chains", "list", ...here)).toBe(`the workspace ${name} has no fallback chain`);
    const chain = {
      workspace_id: id,
      model: "sandbox-error",
      fallbacks: ["sandbox-chat", "sandbox-slow"],
      continue_streams: false,
      updated_at: expect.stringMatching(TIME),
    };
    const set = ["fallback-chains", "set", "sandbox-error", "sandbox-chat", "sandbox-slow"];
    expect(await json(...set, ...here)).toEqual(chain);
    expect(await json<Json[]>("fallback-chains", "list", "--workspace", id)).toEqual([chain]);
    expect(await text("fallback-chains", "list", ...here)).toContain("sandbox-chat, sandbox-slow");
    expect(await text("fallback-chains", "set", "sandbox-error", "sandbox-slow", ...here)).toBe(
      `sandbox-error of ${name} falls back to sandbox-slow`,
    );
    const continued = ["fallback-chains", "set", "sandbox-error", "sandbox-slow", "--continue-streams", "yes"];
    expect(await text(...continued, ...here)).toContain("falls back to sandbox-slow, also for streams that break off");
    expect(await json<Json[]>("fallback-chains", "list", ...here)).toMatchObject([{ continue_streams: true }]);
    expect(await json("fallback-chains", "delete", "sandbox-error", ...here)).toEqual({
      workspace_id: id,
      model: "sandbox-error",
      deleted: true,
    });
    expect(await refusal("fallback-chains", "delete", "sandbox-error", ...here)).toContain("has no fallback chain");
    const changes = (await audited(id)).filter(({ action }) => action.startsWith("fallback_chain."));
    expect(changes.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      "command fallback_chain.set",
      "command fallback_chain.set",
      "command fallback_chain.set",
      "command fallback_chain.delete",
    ]);
  });

  test("are refused in one sentence that names the word at fault", async () => {
    const { id, name } = await makeWorkspace();
    const set = (...words: string[]) => refusal("fallback-chains", "set", ...words, "--workspace", name);
    expect(await set("sandbox-chat", "nothing")).toContain('there is no model "nothing"');
    // The operator hears why, which a client does not.
    expect(await set("sandbox-chat", "gpt-5.5")).toContain("gpt-5.5 cannot be served: ");
    expect(await set("sandbox-chat", "sandbox-chat")).toContain("other models than sandbox-chat");
    expect(await set("sandbox-chat", ...Array.from({ length: 11 }, () => "sandbox-slow"))).toContain("got 11");
    await text("fallback-chains", "set", "sandbox-slow", "sandbox-chat", "--workspace", id);
    expect(await set("sandbox-chat", "sandbox-slow")).toContain("got sandbox-chat → sandbox-slow → sandbox-chat");
    expect(await json<Json[]>("fallback-chains", "list", "--workspace", name)).toHaveLength(1);
    expect(await refusal("fallback-chains", "list", "--workspace", "nobody")).toContain('no workspace "nobody"');
  });
});
