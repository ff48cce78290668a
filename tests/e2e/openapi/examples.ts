/** Requests of the OpenAPI document's examples, sent as they are to the service. */
import { beforeAll, expect, test } from "bun:test";

import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { sharedStack } from "./shared-stack.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Examples that need an object of their own, with the reason. */
const NEEDING: Readonly<Record<string, string>> = {
  createBatch: "names an uploaded file",
};

let tenant: Tenant;
let document: Document;
beforeAll(async () => {
  tenant = await asNewWorkspace(await sharedStack());
  document = (await (await fetch(`${tenant.baseUrls[0]}/openapi.json`)).json()) as Document;
});

/** Path with values for its parameters; undefined when it names an object that has to be created first. */
function placeOf(path: string, { parameters }: Operation): string | undefined {
  const values: Readonly<Record<string, string>> = {
    workspaceId: tenant.workspace.id,
    slug: "sandbox-chat",
    model: "sandbox-error",
  };
  let isWhole = true;
  const place = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = parameters.find((one) => one.in === "path" && one.name === name)?.example ?? values[name];
    isWhole &&= value !== undefined;
    return value ?? "";
  });
  return isWhole ? place : undefined;
}

test("a request example of a key's operation succeeds unchanged", async () => {
  const sent: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, security, requestBody } = operation;
      const example = requestBody?.content["application/json"]?.example;
      const place = placeOf(path, operation);
      const isForKeys = security.some((one) => "key" in one);
      if (example === undefined || place === undefined || !isForKeys || operationId in NEEDING) continue;
      const answer = await fetch(tenant.baseUrls[0] + place, {
        method: method.toUpperCase(),
        headers: {
          authorization: `Bearer ${tenant.key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(example),
      });
      const text = await answer.text();
      expect([operationId, answer.ok, answer.ok ? "" : text]).toEqual([operationId, true, ""]);
      sent.push(operationId);
    }
  }
  expect(sent).toContain("createChatCompletion");
  expect(sent.length).toBeGreaterThan(25);
});
