/** Conversations stay at one of several equal sources, through each door that names them; calls without a name are spread. */
import { beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { FAMILIES, type Family, type FamilyBed } from "./bed.ts";
import { sharedBed } from "./shared-bed.ts";

const TURNS = 2;
/** A third response finds the source by the second, which did not choose one itself. */
const CHAIN_TURNS = 3;
/**
 * If calls were spread at random, all conversations would keep their source in one run of a million. If all conversations went to one
 * source, the test would fail; by chance they do so in one run of 200,000.
 */
const CONVERSATIONS = 10;

let bed: FamilyBed;
beforeAll(async () => {
  bed = await sharedBed();
});

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const { url, key } = bed.target();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/** The sources that these calls asked. */
async function askedBy(family: Family, calls: () => Promise<unknown>): Promise<string[]> {
  const { requests } = bed.servers[family];
  const before = requests.length;
  await calls();
  return requests.slice(before).map(({ body, pathname }) => {
    const named = (body as { model?: string }).model ?? /models\/([^:]+)/.exec(pathname)?.[1];
    return named ?? "none";
  });
}

const messages = [{ role: "user", content: "hello" }];

const DOORS: Readonly<Record<string, (model: string) => Promise<void>>> = {
  async chat(model) {
    const key = newId();
    for (let turn = 0; turn < TURNS; turn++) {
      await post("/v1/chat/completions", { model, messages, prompt_cache_key: key });
    }
  },
  async "responses with a key"(model) {
    const key = newId();
    for (let turn = 0; turn < TURNS; turn++) {
      await post("/v1/responses", { model, input: "hello", prompt_cache_key: key, store: false });
    }
  },
  async "a chain of responses"(model) {
    let previous: unknown = null;
    for (let turn = 0; turn < CHAIN_TURNS; turn++) {
      ({ id: previous } = await post("/v1/responses", { model, input: "hello", previous_response_id: previous }));
    }
  },
  async messages(model) {
    const metadata = { user_id: `user_${newId()}_session_${newId()}` };
    for (let turn = 0; turn < TURNS; turn++) await post("/v1/messages", { model, messages, max_tokens: 100, metadata });
  },
};

describe.each(FAMILIES)("%s", (family) => {
  test.each(Object.entries(DOORS))(
    "each conversation has one source, and sources differ between conversations: %s",
    async (_name, converse) => {
      const all = new Set<string>();
      for (let at = 0; at < CONVERSATIONS; at++) {
        const asked = await askedBy(family, () => converse(`${family}-spread`));
        expect(asked.length).toBeGreaterThanOrEqual(TURNS);
        expect(new Set(asked).size).toBe(1);
        all.add(asked[0] ?? "");
      }
      expect(all.size).toBeGreaterThan(1);
    },
  );

  test("calls without a name are distributed", async () => {
    const asked = await askedBy(family, async () => {
      for (let at = 0; at < 12; at++) await post("/v1/chat/completions", { model: `${family}-spread`, messages });
    });
    expect(new Set(asked).size).toBeGreaterThan(1);
  });

  test("a conversation whose source fails is served by the next source", async () => {
    for (let at = 0; at < 4; at++) await DOORS["chat"]?.(`${family}-half`);
  });
});
