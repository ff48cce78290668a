/** Every route of settings and operators that reads a body: a member that its schema does not declare is refused, at every depth. */
import { describe, expect, test } from "bun:test";

import { routesOf } from "#ingress/app.ts";
import { EXAMPLES } from "#ingress/openapi/examples.ts";
import components from "#schemas/generated/components.json" with { type: "json" };
import type { SchemaName } from "#schemas/generated/types.ts";
import { tryParse } from "#shared/json/contracts.ts";

import { fakeContext } from "../fake-context.ts";

const fake = fakeContext();
const ROUTES = routesOf(fake.context)
  .filter(({ path, auth }) => path.startsWith("/workspaces/") || path.startsWith("/console/") || auth === "operator")
  .flatMap(({ method, path, operationId, request }) =>
    request === undefined ? [] : [{ name: `${method} ${path}`, operationId, request }],
  );
fake.close();

type Schema = Readonly<Record<string, unknown>>;
const SCHEMAS = components.schemas as unknown as Readonly<Record<string, Schema>>;

/** Returns the paths of objects in a schema that accept undeclared members. */
function openObjects(schema: Schema, path: string): string[] {
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return openObjects(SCHEMAS[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {}, path);
  const nested = Object.entries(schema).flatMap(([key, value]): string[] => {
    if (key === "properties")
      return Object.entries(value as Schema).flatMap(([name, one]) => openObjects(one as Schema, `${path}.${name}`));
    if (key === "items") return openObjects(value as Schema, `${path}[]`);
    if (["anyOf", "oneOf", "allOf"].includes(key)) return (value as Schema[]).flatMap((one) => openObjects(one, path));
    return [];
  });
  const isObject = [schema["type"]].flat().includes("object");
  return isObject && schema["additionalProperties"] !== false ? [path, ...nested] : nested;
}

/** Returns copies of a body, each with one undeclared member in one of its objects, and the JSON path of that member. */
function withStranger(value: unknown, path = ""): { readonly body: unknown; readonly param: string }[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) =>
      withStranger(item, `${path}[${at}]`).map(({ body, param }) => ({ body: value.with(at, body), param })),
    );
  }
  if (typeof value !== "object" || value === null) return [];
  const prefix = path === "" ? "" : `${path}.`;
  return [
    { body: { ...value, max_budget: 5 }, param: `${prefix}max_budget` },
    ...Object.entries(value).flatMap(([name, member]) =>
      withStranger(member, `${prefix}${name}`).map(({ body, param }) => ({ body: { ...value, [name]: body }, param })),
    ),
  ];
}

test("there are such routes of members, of the console and of operators", () => {
  const names = ROUTES.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["POST /workspaces/{workspaceId}/api-keys", "POST /console/session"]));
  expect(names.filter((name) => name.includes("/operator/")).length).toBeGreaterThan(5);
});

describe.each(ROUTES)("$name", ({ operationId, request }) => {
  const schema: SchemaName = request.schema;

  test("declares every object of its body as closed", () => {
    expect(openObjects(SCHEMAS[schema] ?? {}, "body")).toEqual([]);
  });

  test("refuses an undeclared member in each object of its example", () => {
    const example = request.example ?? EXAMPLES[operationId]?.request;
    if (example === undefined) throw new Error(`${operationId} has no example`);
    expect(tryParse(schema, example)).not.toHaveProperty("fault");
    for (const { body, param } of withStranger(example)) {
      const read = tryParse(schema, body);
      expect([param, "fault" in read ? read.fault : read]).toMatchObject([param, { code: "unknown_parameter", param }]);
    }
  });

  test("suggests the name of a member that is misspelt", () => {
    const [first] = Object.keys((SCHEMAS[schema]?.["properties"] as object | undefined) ?? {});
    if (first === undefined) throw new Error(`${schema} declares no members`);
    const example = { ...(request.example ?? EXAMPLES[operationId]?.request), [`${first}x`]: 1 };
    const read = tryParse(schema, example);
    expect("fault" in read ? read.fault.message : read).toContain(`Did you mean ${first}`);
  });
});
