/** Models, settings, capabilities, error codes and paths that README and the documentation's pages name exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { afterAll, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { CLIENT_VARIABLES, SETTING_NAMES } from "#shared/config/config.ts";
import { ERROR_CODES } from "#shared/base/errors.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { CAPABILITY_IDS } from "#workers/capabilities/list.ts";

import { DOCS, type Page, PAGES } from "./page.ts";

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const catalogue = readFileSync(join(PROJECT_ROOT, "shared/calls/catalogue/models/sandbox.yaml"), "utf8");
const models = new Set(Array.from(catalogue.matchAll(/slug: (sandbox-[a-z0-9-]+)$/gm), ([, slug]) => slug));
const variables: ReadonlySet<string> = new Set([...SETTING_NAMES, ...CLIENT_VARIABLES]);

/** The text without its list of paths that do not exist. */
function supported({ body }: Page): string {
  return body.split("\n## Not supported\n")[0] ?? "";
}

function named(pattern: RegExp): (page: Page) => readonly string[] {
  return ({ body }) => [...new Set(Array.from(body.matchAll(pattern), ([, name = ""]) => name))];
}
const modelsIn = named(/\b(sandbox-[a-z0-9-]+)(?![\w/.-]*\/)/g);
const settingsIn = named(/\b(SLUICE_[A-Z0-9_]+)/g);
const capabilitiesIn = named(/["`/]((?:video|audio|image|document|archive|web|code)\.[a-z_]+)(?=["`/])/g);
const codesIn = named(/\b\d{3} `([a-z_]+)`/g);

describe.each(PAGES.map((page) => [page.path, page] as const))("%s", (_path, page) => {
  test("names models, settings, capabilities and error codes that exist", () => {
    expect({
      models: modelsIn(page).filter((name) => !models.has(name)),
      settings: settingsIn(page).filter((name) => !variables.has(name)),
      capabilities: capabilitiesIn(page).filter((id) => !CAPABILITY_IDS.includes(id)),
      codes: codesIn(page).filter((code) => !Object.hasOwn(ERROR_CODES, code)),
    }).toEqual({ models: [], settings: [], capabilities: [], codes: [] });
  });

  test("names paths that exist", async () => {
    const paths = supported(page).matchAll(/`(?:(GET|POST|PUT|PATCH|DELETE) )?(\/(?:v1|workspaces|mcp)\/[^`\s?]+)/g);
    for (const [, method, path = ""] of paths) {
      const url = `http://localhost${path.replaceAll(/\{[^}]*\}/g, "one").replaceAll("…", "one")}`;
      const { status } = await app.handle(new Request(url, { method: method ?? "OPTIONS" }));
      // 401: the path and the method exist, and the request has no key.
      expect([method, path, status]).toEqual([method, path, method === undefined ? 204 : 401]);
    }
  });
});

test("the patterns find names", () => {
  const found = [modelsIn, settingsIn, capabilitiesIn, codesIn].map((names) => PAGES.flatMap(names).length);
  expect(found.every((count) => count > 10)).toBe(true);
});

/** README and every page, also those of folders that have tests of their own. */
const TEXTS = [
  "README.md",
  ...readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(relative(PROJECT_ROOT, DOCS), name))
    .toSorted(),
].map((file) => [file, readFileSync(join(PROJECT_ROOT, file), "utf8")] as const);

describe.each(TEXTS)("%s", (_file, text) => {
  test("names only variables with which the service starts", () => {
    const names = new Set(text.match(/\bSLUICE_[A-Z0-9_]*[A-Z0-9]\b/g));
    expect([...names].filter((name) => !variables.has(name))).toEqual([]);
  });
});

test("every variable of clients is used in README or a page", () => {
  const all = TEXTS.map(([, text]) => text).join("\n");
  expect(CLIENT_VARIABLES.filter((name) => !new RegExp(String.raw`\b${name}\b`).test(all))).toEqual([]);
});
