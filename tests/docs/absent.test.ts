/** Checks that the paths which README and the page on differences call unsupported are so, and that those named instead exist. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { createApp } from "#ingress/app.ts";
import { fakeContext, KEY } from "#tests/ingress/fake-context.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const readme = await Bun.file(join(PROJECT_ROOT, "README.md")).text();
const box = /> \*\*Differences from OpenAI\.\*\*[^]*?\n\n/.exec(readme)?.[0] ?? "";
const page = await Bun.file(join(PROJECT_ROOT, "schemas/docs/get-started/differences.md")).text();
const section = /## Not supported\n([^]*?)(?:\n## |$)/.exec(page)?.[1] ?? "";
const rows = [...section.matchAll(/^\| (`.*?) \| (.*) \|$/gm)];
const pathsIn = (text = ""): string[] => [...text.matchAll(/`(\/v1\/[^`]+)`/g)].map(([, path = ""]) => path);

function send(method: string, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  return app.handle(new Request(`http://localhost${path}`, { method, headers }));
}

describe("the lists of what is not supported", () => {
  test("name paths that do not exist, and their 404 names the replacement", async () => {
    const unsupported = [...new Set([...pathsIn(box), ...rows.flatMap(([, names]) => pathsIn(names))])];
    expect(pathsIn(box).length).toBeGreaterThan(8);
    expect(rows.length).toBeGreaterThan(8);
    for (const path of unsupported) {
      for (const method of ["GET", "POST"]) {
        const answer = await send(method, path);
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        expect([path, answer.status, error.code]).toEqual([path, 404, "not_found"]);
        expect([path, error.message]).toEqual([path, expect.not.stringContaining("/openapi.json")]);
      }
    }
  });

  test("agree: README names only entries of the page", () => {
    const named = rows.flatMap(([, names]) => pathsIn(names));
    expect(pathsIn(box).filter((path) => !named.includes(path))).toEqual([]);
  });

  test("name only existing paths as replacements", async () => {
    const instead = rows.flatMap(([, , why]) => pathsIn(why));
    expect(instead.length).toBeGreaterThan(5);
    for (const path of instead) expect([path, (await send("OPTIONS", path)).status]).toEqual([path, 204]);
  });
});
