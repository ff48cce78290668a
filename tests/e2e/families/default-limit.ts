/** A call of `@ai-sdk/anthropic` with nothing set: it asks for as much output as it takes Claude models to have. */
import { beforeAll, expect, test } from "bun:test";

import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText } from "ai";

import { FAMILIES, type FamilyBed } from "./bed.ts";
import { CLAUDE_NAMES, sharedBed } from "./shared-bed.ts";

/** Most output of the models of these tests. */
const OUTPUT_TOKENS = 32_000;

let bed: FamilyBed;

beforeAll(async () => {
  bed = await sharedBed();
});

test.each(FAMILIES)("%s: the limit is lowered to the model's, with a header", async (family) => {
  const { url, key } = bed.target();
  bed.says(family, [{ text: "Hello.", took: { input: 10, output: 2 } }]);
  const bodies: unknown[] = [];
  const provider = createAnthropic({
    baseURL: `${url}/v1`,
    apiKey: key,
    fetch: Object.assign(
      (to: Parameters<typeof fetch>[0], options?: RequestInit) => {
        bodies.push(options?.body);
        return fetch(to, options);
      },
      { preconnect: fetch.preconnect },
    ),
  });
  const model = provider(CLAUDE_NAMES[family]);
  const { text, response } = await generateText({ model, prompt: "Say hello.", maxRetries: 0 });
  expect(text).toBe("Hello.");
  expect(bodies).toEqual([expect.stringContaining('"max_tokens":128000')]);
  expect(response.headers?.["x-max-tokens-lowered"]).toBe(String(OUTPUT_TOKENS));
  expect(JSON.stringify(bed.servers[family].requests.at(-1)?.body)).toContain(String(OUTPUT_TOKENS));
});
