/** Booleans in queries: one reader for every route that has one. */
import { afterAll, expect, test } from "bun:test";

import { createApp, routesOf } from "#ingress/app.ts";
import { booleanOf } from "#ingress/core/page.ts";
import type { ErrorEnvelope } from "#shared/base/errors.ts";

import { fakeContext, KEY, OPERATOR_TOKEN } from "./fake-context.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const QUERIES = routesOf(fake.context).flatMap((route) =>
  (route.query ?? []).map((query) => ({ route, name: query.name, schema: query.schema as { type: string; enum?: string[] } })),
); // prettier-ignore
const BOOLEANS = QUERIES.filter(({ schema }) => schema.type === "boolean");
const rows = BOOLEANS.map((row) => [`${row.route.method} ${row.route.path}?${row.name}`, row] as const);

async function ask({ route, name }: (typeof BOOLEANS)[number], value: string): Promise<ErrorEnvelope["error"] | undefined> {
  const key = route.path.startsWith("/operator") ? OPERATOR_TOKEN : KEY;
  const path = route.path.replaceAll(/\{\w+\}/g, "x");
  const request = new Request(`http://localhost${path}?${name}=${encodeURIComponent(value)}`, {
    method: route.method,
    headers: { authorization: `Bearer ${key}`, ...(route.method === "POST" ? { "content-type": "application/json" } : {}) },
    ...(route.method === "POST" ? { body: "{}" } : {}),
  });
  const answer = await app.handle(request);
  return answer.status < 300 ? undefined : ((await answer.json()) as ErrorEnvelope).error;
} // prettier-ignore

test("every boolean query parameter is documented as one", () => {
  expect(QUERIES.filter(({ schema }) => schema.enum?.includes("true"))).toEqual([]);
  expect(BOOLEANS.length).toBeGreaterThanOrEqual(6);
});

test.each(rows)("%s is true, false, 1 or 0 in any case", async (_route, row) => {
  for (const value of ["true", "TRUE", "True", "1", "false", "FALSE", "0"]) {
    expect([value, (await ask(row, value))?.param]).not.toEqual([value, row.name]);
  }
});

test.each(rows)("%s is rejected with any other text", async (_route, row) => {
  for (const value of ["maybe", "yes", "on", "2", " true", "truely", "constructor", "null"]) {
    expect([value, await ask(row, value)]).toMatchObject([value, { code: "unsupported_value", param: row.name }]);
  }
});

test.each([["TRUE", true], ["1", true], ["False", false], ["0", false], ["toString", undefined], ["", undefined]] as const)(
  "%s is read",
  (text, value) => expect(booleanOf(text)).toBe(value as boolean),
); // prettier-ignore
