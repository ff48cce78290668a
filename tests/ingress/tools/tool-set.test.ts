/** Tools that a call offers a model, as they are looked up. */
import { expect, test } from "bun:test";

import type { SluiceTool } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createApp } from "#ingress/app.ts";
import { type ToolSet, readToolSet } from "#ingress/tools/tool-set.ts";
import { type FakeOptions, fakeContext } from "#tests/ingress/fake-context.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

async function offerOf(
  workflows: readonly string[],
  known: readonly string[],
  fake: FakeOptions = {},
  more: object = {},
) {
  const fakes = fakeContext(fake);
  const { context, caller } = fakes;
  createApp(context);
  const queries: (readonly unknown[] | undefined)[] = [];
  const query = (_text: string, values?: readonly unknown[]): Promise<readonly object[]> => {
    queries.push(values);
    return Promise.resolve(
      known.map((id) => ({
        id,
        name: "Tell",
        description: "It tells.",
        inputs: { a: { type: "string", required: true } },
      })),
    );
  };
  const call = routeCall({ caller });
  const given = [{ type: "sluice", workflows: [...workflows], ...more }] as const satisfies SluiceTool[];
  let offer: ToolSet<SluiceTool> | undefined;
  let error: unknown;
  try {
    const database = { ...context.database, query } as unknown as typeof context.database;
    offer = await readToolSet({ ...context, database }, call, given, { nameOf: () => "" });
  } catch (thrown) {
    error = thrown;
  } finally {
    fakes.close();
  }
  return { tools: [...(offer?.tools.values() ?? [])], error, queries };
}

test("workflows are looked up together, and are listed in the order of the request", async () => {
  const ids = Array.from({ length: 32 }, () => newId());
  const { tools, queries } = await offerOf(ids, ids.toReversed());
  expect(queries).toHaveLength(1);
  expect(tools.map(({ id }) => id)).toEqual(ids);
  expect(tools[1]).toMatchObject({
    name: "workflow_tell_2",
    description: "It tells.",
    parameters: { properties: { a: { type: "string" } }, required: ["a"] },
  });
});

test("a caller whose window is full receives the error before any lookup", async () => {
  const admit = (): never => {
    throw new ApiError("rate_limit_exceeded", "Later.");
  };
  const { error, queries } = await offerOf([newId()], [], { admit });
  expect(error).toMatchObject({ code: "rate_limit_exceeded" });
  expect(queries).toEqual([]);
});

test.each([
  ["the caller may not see", newId(), {}],
  ["the key does not list", newId(), { caller: { tools: new Set(["code.regex"]) } }],
  ["the role may not read", newId(), { caller: { role: "billing" as const } }],
  ["is no workflow", "code.regex", {}],
])("a tool that %s is rejected by its path", async (_what, id, fake) => {
  const { error } = await offerOf([id], [], fake);
  expect(error).toMatchObject({ code: "unsupported_value", param: "tools[0].workflows[0]" });
});

test("a misspelt limit of the tool is refused with its path", async () => {
  const id = newId();
  for (const [name, meant] of [
    ["max_credit", "max_credits"],
    ["maxCredits", "max_credits"],
    ["max_round", "max_rounds"],
  ] as const) {
    const { error, queries } = await offerOf([id], [id], {}, { [name]: 1 });
    const message = `tools[0].${name} is not a known parameter. Did you mean ${meant}?`;
    expect(error).toMatchObject({ code: "unknown_parameter", param: `tools[0].${name}`, message });
    expect(queries).toEqual([]);
  }
  expect((await offerOf([id], [id], {}, { max_credits: 1, max_rounds: 2, thing: 3 })).error).toBeUndefined();
});
