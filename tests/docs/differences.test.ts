/** The page on differences from OpenAI: unsupported paths answer 404, and their replacements exist. */
import { afterAll, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { fakeContext, KEY } from "#tests/ingress/fake-context.ts";

import { readPage } from "./page.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const { body } = readPage("get-started/differences.md");
const [, section = ""] = body.split("\n## Not supported\n");
const rows = Array.from(
  section.matchAll(/^\| (.*) \| (.*) \|$/gm),
  ([, left = "", right = ""]) => [left, right] as const,
);
const pathsIn = (text: string): string[] => Array.from(text.matchAll(/`(\/v1\/[^`]+)`/g), ([, path = ""]) => path);

async function statusOf(method: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return (await app.handle(new Request(`http://localhost${path}`, { method, headers }))).status;
}

test("unsupported paths do not exist", async () => {
  const paths = rows.flatMap(([left]) => pathsIn(left));
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) {
    for (const method of ["GET", "POST"])
      expect([method, path, await statusOf(method, path)]).toEqual([method, path, 404]);
  }
});

test("replacements exist", async () => {
  const paths = rows.flatMap(([, right]) => pathsIn(right));
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) expect([path, await statusOf("OPTIONS", path)]).toEqual([path, 204]);
});
