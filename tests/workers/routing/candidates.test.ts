import { expect, test } from "bun:test";

import type { Catalogue } from "#shared/calls/model.ts";
import { BASE, build, chatModel } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { candidatesOf } from "#workers/routing/candidates.ts";

const CALLS = 4_000;

/** @param sources names of acme's models, with a weight behind a colon */
function catalogueOf(...sources: readonly string[]): Catalogue {
  const listed = sources.map((one) => {
    const [name, weight] = one.split(":");
    return `{ provider: acme, model: ${name}${weight === undefined ? "" : `, weight: ${weight}`} }`;
  });
  return build([BASE + chatModel("spread", listed.join(", "))]);
}

function orderOf(catalogue: Catalogue, affinity: string | undefined, job = "job", workspace = "workspace"): string[] {
  const asked = { job_id: job, workspace_id: workspace, model: "spread" };
  return candidatesOf(catalogue, { job: asked, affinity }, () => "adapter").map(({ source }) => source.model);
}

const conversations = Array.from({ length: CALLS }, (_, at) => `conversation ${at}`);
const sharesOf = (catalogue: Catalogue): Record<string, number> => {
  const shares: Record<string, number> = {};
  for (const one of conversations) {
    const [first = ""] = orderOf(catalogue, one);
    shares[first] = (shares[first] ?? 0) + 1 / CALLS;
  }
  return shares;
};

test("sources without a weight are called in their order, for any name of the call", () => {
  const catalogue = catalogueOf("a", "b", "c");
  for (const one of [undefined, ...conversations.slice(0, 50)]) {
    expect(orderOf(catalogue, one, `job ${one}`)).toEqual(["a", "b", "c"]);
  }
});

test("calls of one conversation have one order; those of another, or of another workspace, their own", () => {
  const catalogue = catalogueOf("a:1", "b:1", "c:1", "d:1");
  expect(orderOf(catalogue, "one", "first")).toEqual(orderOf(catalogue, "one", "second"));
  const distinct = (orders: string[][]): number => new Set(orders.map((order) => order.join())).size;
  expect(distinct(conversations.map((one) => orderOf(catalogue, one)))).toBe(24);
  expect(distinct(conversations.map((one) => orderOf(catalogue, "one", "job", one)))).toBe(24);
  expect(distinct(conversations.map((one) => orderOf(catalogue, undefined, one)))).toBe(24);
});

test("equal sources share the calls by their weights", () => {
  const { a = 0, b = 0, c = 0 } = sharesOf(catalogueOf("a:1", "b:2", "c:5"));
  expect(a).toBeCloseTo(1 / 8, 1);
  expect(b).toBeCloseTo(2 / 8, 1);
  expect(c).toBeCloseTo(5 / 8, 1);
});

test("a new source gets its share and moves nothing else; a removed one releases its own", () => {
  const [before, after] = [catalogueOf("a:1", "b:1", "c:1"), catalogueOf("a:1", "new:1", "b:1", "c:1")];
  let moved = 0;
  for (const one of conversations) {
    const [was, is] = [orderOf(before, one), orderOf(after, one)];
    expect(is.filter((name) => name !== "new")).toEqual(was);
    if (is[0] === "new") moved += 1 / CALLS;
  }
  expect(moved).toBeCloseTo(1 / 4, 1);
});

test("equal sources keep their position in the list", () => {
  const catalogue = catalogueOf("first", "a:1", "b:1", "middle", "c:1", "d:1", "last");
  const orders = conversations.slice(0, 200).map((one) => orderOf(catalogue, one));
  for (const [first, a, b, middle, c, d, last] of orders) {
    expect([first, middle, last]).toEqual(["first", "middle", "last"]);
    expect(new Set([a, b])).toEqual(new Set(["a", "b"]));
    expect(new Set([c, d])).toEqual(new Set(["c", "d"]));
  }
  expect(new Set(orders.map((order) => order.join())).size).toBe(4);
});

test("sources that lack an input which changes the result are skipped, unless all do", () => {
  const catalogue = build([
    BASE +
      chatModel(
        "spread",
        "{ provider: acme, model: a, fields: { n: n } }, { provider: acme, model: b, fields: { mask: m } }, { provider: acme, model: c }",
      ),
  ]);
  const job = { job_id: "job", workspace_id: "workspace", model: "spread" };
  const asked = (...inputs: string[]) =>
    candidatesOf(catalogue, { job, inputs }, () => "adapter").map(({ source }) => source.model);
  expect(asked()).toEqual(["a", "b", "c"]);
  expect(asked("mask")).toEqual(["b", "c"]);
  expect(asked("n", "mask")).toEqual(["c"]);
});
