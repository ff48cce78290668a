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

function send(method: string, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return app.handle(new Request(`http://localhost${path}`, { method, headers }));
}

describe("the README's list of what is not here", () => {
  test("names paths that no method reaches", async () => {
    const absent = rows.flatMap(([, names]) => pathsIn(names));
    expect(absent.length).toBeGreaterThan(10);
    for (const path of absent) {
      for (const method of ["GET", "POST"]) expect([path, (await send(method, path)).status]).toEqual([path, 404]);
    }
  });

  test("is what callers of the most asked paths hear", async () => {
    for (const [path, instead] of [
      ["/v1/completions", "/v1/chat/completions"],
      ["/v1/moderations", "/v1/chat/completions"],
      ["/v1/uploads", "/v1/files"],
      ["/v1/uploads/upload_1/parts", "/v1/files"],
      ["/v1/assistants", "/v1/responses"],
      ["/v1/threads/thread_1/runs", "/v1/responses"],
      ["/v1/audio/translations", "/v1/audio/transcriptions"],
      ["/v1/images/variations", "/v1/images/edits"],
    ] as const) {
      const { error } = (await (await send("POST", `${path}?a=b`)).json()) as {
        error: { code: string; message: string };
      };
      expect(error).toMatchObject({ code: "not_found", message: expect.stringContaining(instead) as string });
      expect(section).toContain(
        path
          .split("/")
          .slice(0, path.startsWith("/v1/audio") || path.startsWith("/v1/images") ? 4 : 3)
          .join("/"),
      );
    }
    for (const path of ["/v1/completion", "/v1/constructor", "/v1/completionsx"]) {
      const { error } = (await (await send("POST", path)).json()) as { error: { message: string } };
      expect(error.message).toContain("GET /openapi.json");
    }
  });

  test("names instead only paths there are", async () => {
    const instead = rows.flatMap(([, , why]) => pathsIn(why));
    expect(instead.length).toBeGreaterThan(5);
    for (const path of instead) expect([path, (await send("OPTIONS", path)).status]).toEqual([path, 204]);
  });
});
