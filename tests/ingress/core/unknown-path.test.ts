/** Every public path of OpenAI's and Anthropic's APIs is served here, or its 404 says what to use instead. */
import { afterAll, describe, expect, test } from "bun:test";

import { createApp, routesOf } from "#ingress/app.ts";
import { unknownPath } from "#ingress/core/unknown-path.ts";

import { fakeContext, KEY } from "../fake-context.ts";
import foreign from "../foreign-paths.json" with { type: "json" };

const fake = fakeContext();
const app = createApp(fake.context);
afterAll(() => fake.close());

const GENERIC = unknownPath().message;
const PATTERNS = routesOf(fake.context).map(({ path }) => path);
/** Part of a sentence that names no path. */
const INSTEAD = /do not exist here|\(SLUICE_CATALOGUE\)/;
const ONE_SEGMENT = /\{[^}]+\}/g;

async function ask(method: string, path: string): Promise<{ status: number; message: string }> {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const answer = await app.handle(
    new Request(`http://localhost${path.replaceAll(ONE_SEGMENT, "some-1")}`, { method, headers }),
  );
  const text = await answer.text();
  if (answer.status !== 404 && answer.status !== 405) return { status: answer.status, message: "" };
  const { error } = JSON.parse(text) as { error: { message: string } };
  return { status: answer.status, message: error.message };
}

const isServed = async (path: string): Promise<boolean> => (await ask("OPTIONS", path)).status === 204;

/** Paths that a sentence names. */
function pathsIn(message: string): string[] {
  return Array.from(message.matchAll(/(?<![\w.])\/[a-z0-9][\w./{}-]*[\w}]/gi), ([path]) => path);
}

/** True for a route's path, with values for its parameters, and for the beginning of one. */
function isOurs(path: string): boolean {
  return PATTERNS.some((pattern) => {
    const own = pattern.split("/");
    return path.split("/").every((segment, at) => segment === own[at] || own[at]?.startsWith("{") === true);
  });
}

async function expectAnswered(path: string): Promise<void> {
  if (await isServed(path)) return;
  const { status, message } = await ask("POST", path);
  expect([path, status]).toEqual([path, 404]);
  expect([path, message]).not.toEqual([path, GENERIC]);
  const named = pathsIn(message);
  if (named.length === 0) expect([path, message]).toEqual([path, expect.stringMatching(INSTEAD) as string]);
  expect([path, named.filter((one) => !isOurs(one))]).toEqual([path, []]);
}

describe("a path of another API", () => {
  test("of OpenAI's is served, or its 404 names the replacement", async () => {
    const paths = Object.keys(foreign.openai);
    expect(paths.length).toBeGreaterThan(170);
    for (const path of paths) await expectAnswered(path);
  });

  test("of Anthropic's is served, or its 404 names the replacement", async () => {
    expect(foreign.anthropic.length).toBeGreaterThan(90);
    for (const path of foreign.anthropic) await expectAnswered(path);
  });

  test("that is served under another method is a 405 with the allowed methods", async () => {
    let refused = 0;
    for (const [path, methods] of Object.entries(foreign.openai)) {
      if (!(await isServed(path))) continue;
      for (const method of methods) {
        const { status, message } = await ask(method, path);
        if (status !== 405) continue;
        expect(message).toMatch(/^This path does not support [A-Z]+; it supports .*OPTIONS\.$/);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  test.each([
    ["/v1/organization/projects/p-1/api_keys/k-1", "/workspaces/{workspaceId}/api-keys"],
    ["/v1/organization/projects/p-1/archive", "/workspaces/{workspaceId} has"],
    ["/v1/organization/usage/images?start_time=1", "/workspaces/{workspaceId}/usage,"],
    ["/v1/organization/groups", "/workspaces/{workspaceId} manages"],
    ["/v1/videos/characters/c-1", "send a picture"],
    ["/v1/videos/v-1/remix", "POST /v1/videos/generations"],
    ["/v1/complete", "POST /v1/messages"],
    ["/v1/messages/batches/b-1/results", "POST /v1/batches"],
    ["/v1beta/models/gemini-2.5-pro:generateContent", "Gemini's API"],
    ["/api/v1/chat/completions", "remove /api"],
    ["/key/generate", "/workspaces/{workspaceId}/api-keys"],
    ["/v1/model/info", "GET /v1/models"],
    ["/v1/models/openai/gpt-4o", "no slash"],
    ["/v1/generation?id=gen-1", "/workspaces/{workspaceId}/usage/requests"],
    ["/openai/deployments/d-1/chat/completions?api-version=1", "as `model`"],
  ])("%s has the sentence of its longest known prefix", async (path, part) => {
    expect(await ask("POST", path)).toEqual({ status: 404, message: expect.stringContaining(part) as string });
  });
});

describe("a wrong base URL", () => {
  test.each(["/chat/completions", "/models", "/messages", "/audio/speech"])("%s lacks /v1", async (path) => {
    expect(await ask("POST", path)).toEqual({
      status: 404,
      message: "Paths of this API begin with /v1: add it to the base URL of the client.",
    });
  });

  test.each(["/v1/v1/messages", "/v1/v1/chat/completions"])("%s contains it twice", async (path) => {
    expect((await ask("POST", path)).message).toStartWith("The path has /v1 twice");
  });
});

test.each(["/v1/completion", "/v1/completionsx", "/v1/constructor", "/v1/__proto__", "/v1", "/nothing", "/chats"])(
  "%s belongs to no API",
  async (path) => {
    expect(await ask("POST", path)).toEqual({ status: 404, message: GENERIC });
  },
);
