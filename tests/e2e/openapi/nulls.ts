/** Members that are optional and refuse null, because absence has a meaning that null may not intend. */
import { expect, test } from "bun:test";

import { REFUSES_NULL } from "#shared/json/absent-nulls.ts";
import { newId } from "#shared/base/ids.ts";

import { readSchemaFiles } from "#deploy/generate/schema-files.ts";
import { OPERATOR_TOKEN, sharedStack } from "./shared-stack.ts";

interface Refused {
  readonly method: string;
  readonly path: string;
  readonly param: string;
  readonly body: object;
}

const STEP = { id: "say", type: "model", model: "sandbox-chat", params: { messages: [] } };
const inStep = (member: object): Pick<Refused, "body" | "method" | "path"> => ({
  method: "POST",
  path: "/v1/workflows",
  body: { name: "null", definition: { steps: [{ ...STEP, ...member }] } },
});
const ofWorkspace = (place: string, body: object): Pick<Refused, "body" | "method" | "path"> => ({
  method: "PATCH",
  path: `/workspaces/default/${place}`,
  body,
});

/** Creates what the requests change. */
async function refused(
  ask: (method: string, path: string, body: object) => Promise<Response>,
): Promise<readonly Refused[]> {
  const idOf = async (path: string, body: object): Promise<string> =>
    readId(path, await (await ask("POST", path, body)).json());
  const hook = { type: "webhook", name: newId(), config: { url: "https://example.com/hook" } };
  const channel = await idOf("/workspaces/default/notification-channels", hook);
  const alert = await idOf("/workspaces/default/budget-alerts", {
    name: newId(),
    threshold_credits: 1_000,
    period: "daily",
  });
  const low = await idOf("/workspaces/default/balance-alerts", { name: newId(), below_days: 7 });
  const steps = [{ ...STEP, params: { messages: [{ role: "user", content: "hi" }] } }];
  const workflow = await idOf("/v1/workflows", { name: "null", definition: { steps } });
  const credentials = ["authToken", "authPassword", "authApiKey", "authHeaderValue", "botToken"];
  return [
    { method: "POST", path: `/operator/holds/${newId()}.1/close`, body: { credits: null }, param: "credits" },
    { ...ofWorkspace(`budget-alerts/${alert}`, { channel_ids: null }), param: "channel_ids" },
    { ...ofWorkspace(`budget-alerts/${alert}`, { warn_at: null }), param: "warn_at" },
    { ...ofWorkspace(`balance-alerts/${low}`, { channel_ids: null }), param: "channel_ids" },
    { method: "PATCH", path: "/workspaces/default", body: { tags: null }, param: "tags" },
    ...credentials.map((name) => ({
      ...ofWorkspace(`notification-channels/${channel}`, { config: { ...hook.config, [name]: null } }),
      param: `config.${name}`,
    })),
    { method: "PUT", path: `/v1/workflows/${workflow}`, body: { description: null }, param: "description" },
    { ...inStep({ if: null }), param: "definition.steps[0].if" },
    { ...inStep({ for_each: null }), param: "definition.steps[0].for_each" },
  ];
}

function readId(path: string, value: unknown): string {
  expect([path, value]).toEqual([path, expect.objectContaining({ id: expect.any(String) })]);
  return (value as { readonly id: string }).id;
}

test("an optional member that rejects null is listed", async () => {
  const { key, baseUrls } = await sharedStack();
  const ask = (method: string, path: string, body: object): Promise<Response> => {
    const headers = {
      authorization: `Bearer ${path.startsWith("/operator/") ? OPERATOR_TOKEN : key}`,
      "content-type": "application/json",
    };
    return fetch(`${baseUrls[0]}${path}`, { method, headers, body: JSON.stringify(body) });
  };
  const rows = await refused(ask);
  for (const { method, path, body, param } of rows) {
    const answer = await ask(method, path, body);
    const { error } = (await answer.json()) as { error?: { param: unknown } };
    expect([method, path, answer.status, error?.param]).toEqual([method, path, 400, param]);
  }
  const texts = (await readSchemaFiles()).map(({ schema }) => JSON.stringify(schema)).join("\n");
  expect(rows).toHaveLength(texts.split(`"${REFUSES_NULL}":true`).length - 1);
});
