/** Checks that the paths the README calls absent are absent, and that those it names instead exist. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { createApp } from "#ingress/app.ts";
import { fakeContext, KEY } from "#tests/ingress/fake-context.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const readme = await Bun.file(join(PROJECT_ROOT, "README.md")).text();
const section = /## What of OpenAI's API is not here\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
const rows = [...section.matchAll(/^\| (`.*?) \| (.*) \|$/gm)];
const pathsIn = (text = ""): string[] =>
  [...text.matchAll(/`(?:GET )?(\/v1\/[^`]+)`/g)].map(([, path = ""]) => path.replace("{model}", "one"));

function send(method: string, path: string, body?: string, type = "application/json"): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": type };
  return app.handle(new Request(`http://localhost${path}`, { method, headers, ...(body && { body }) }));
}

describe("the README's list of what is not here", () => {
  test("names paths that no method reaches", async () => {
    const absent = rows.flatMap(([, names]) => pathsIn(names));
    expect(absent.length).toBeGreaterThan(12);
    for (const path of absent) {
      for (const method of ["GET", "POST"]) expect([path, (await send(method, path)).status]).toEqual([path, 404]);
    }
  });

  test("names instead only paths there are", async () => {
    const instead = rows.flatMap(([, , why]) => pathsIn(why));
    expect(instead.length).toBeGreaterThan(5);
    for (const path of instead) expect([path, (await send("OPTIONS", path)).status]).toEqual([path, 204]);
  });

  test("says of edits that they take no form", async () => {
    expect(section).toContain("`/v1/images/edits` takes JSON, not a form");
    const form = await send("POST", "/v1/images/edits", "--x--", "multipart/form-data; boundary=x");
    expect([form.status, ((await form.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      "invalid_request",
    ]);
  });
});
