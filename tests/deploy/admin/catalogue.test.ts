import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { temporaryDirectory } from "../../support/infrastructure.ts";
import { admin, type Json } from "./commands.ts";

describe("the catalogue", () => {
  const { directory, remove } = temporaryDirectory();
  afterAll(remove);
  const file = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  test("is checked and listed without a database, with the reason for each unavailable model", async () => {
    const check = await admin(["catalogue", "check", "--json"], { OPENAI_API_KEY: "sk-canary-0123456789" });
    expect(check).toMatchObject({ code: 0, stderr: "" });
    const checked = JSON.parse(check.stdout) as { unroutable: { model: string; reason: string }[] };
    expect(checked).toMatchObject({
      is_valid: true,
      version: expect.any(String),
      models: expect.any(Number),
      faults: [],
    });
    expect(checked.unroutable.map(({ reason }) => reason).join()).toContain("GROQ_API_KEY is not set");
    expect(checked.unroutable.map(({ reason }) => reason).join()).not.toContain("OPENAI_API_KEY");
    const list = await admin(["catalogue", "list", "--json"], {});
    expect(list.code).toBe(0);
    const listed = JSON.parse(list.stdout) as { models: Json[]; unroutable: Json[] };
    expect(listed.models.find((model) => model["model"] === "sandbox-chat")).toMatchObject({
      modality: "text",
      sources: ["sandbox/sandbox-chat"],
      pricing: { unit: "per_token", input_per_million: expect.any(String) },
    });
    expect(listed.unroutable.length).toBeGreaterThan(0);
    const people = await admin(["catalogue", "list"], {});
    expect(people.stdout).toContain("GROQ_API_KEY is not set");
  });

  const MINE = `providers: [{ id: local, family: openai-compatible, base_url: "http://localhost:8000/v1" }]
models:
  - { slug: mine, modality: text, owned_by: us, created: 1745798400, supports_chat: true, max_context_tokens: 4096,
      max_output_tokens: 512, pricing: { unit: per_token, input_per_million: "2", output_per_million: "6.5" },
      sources: [{ provider: local, model: us/mine }] }
  - { slug: unpriced, modality: text, owned_by: us, created: 1745798400, supports_chat: true, max_context_tokens: 4096,
      max_output_tokens: 512, sources: [{ provider: local, model: us/unpriced }] }
  - { slug: gpt-4o, cache_ttl_s: 60 }
  - { slug: gpt-4o-mini, disabled: true }
`;

  test("lists the models of the checked files, and only counts other unavailable models", async () => {
    const path = file("mine.yaml", MINE);
    const { stdout, code } = await admin(["catalogue", "check", path], {});
    expect(code).toBe(0);
    const [summary = "", titles = "", ...rest] = stdout.split("\n").filter(Boolean);
    expect(summary).toMatch(/^the files are valid: \d+ models can be served, \d+ cannot$/);
    expect(titles.split(/ {2,}/)).toEqual(["Model of the files", "Served by", "Price in credits, or why not"]);
    expect(rest.map((line) => line.split(/ {2,}/))).toEqual([
      ["mine", "local/us/mine", "input_per_million 2, output_per_million 6.5"],
      ["unpriced", "-", "cannot be served: it has no price"],
      ["gpt-4o", "-", "cannot be served: no source of it can be called: OPENAI_API_KEY is not set"],
      ["gpt-4o-mini", "-", "cannot be served: it is disabled"],
      [expect.stringMatching(/^\d+ models that ship with the service cannot be served here\. /)],
    ]);
    // The settings' files are listed in the same way; without files, there is no table.
    expect((await admin(["catalogue", "check"], { SLUICE_CATALOGUE: path })).stdout).toBe(stdout);
    expect((await admin(["catalogue", "check"], {})).stdout).not.toContain("Model of the files");
    const json = JSON.parse((await admin(["catalogue", "check", path, "--json"], {})).stdout) as {
      unroutable: { model: string }[];
    };
    const idle = json.unroutable.map(({ model }) => model).filter((model) => !["unpriced", "gpt-4o"].includes(model));
    expect(stdout).toContain(`\n${idle.length} models that ship`);
  });

  test("rejects a file with the position of every error", async () => {
    const path = file("bad.yaml", "presets:\n  - name: a\n    requests_per_minute: lots\n    daily_tokens: 1.5\n");
    const said = await admin(["catalogue", "check", path], {});
    expect(said).toMatchObject({ code: 1, stderr: "" });
    expect(said.stdout).toContain(`${path}:3: presets[0].requests_per_minute: `);
    const answer = await admin(["catalogue", "check", "--json", path], {});
    expect(answer.code).toBe(1);
    expect(JSON.parse(answer.stdout)).toMatchObject({
      is_valid: false,
      faults: [{ file: path, line: 3, place: "presets[0].requests_per_minute", message: expect.any(String) }],
    });
    expect(await admin(["catalogue", "check", join(directory, "absent.yaml")], {})).toMatchObject({ code: 1 });
  });
});
