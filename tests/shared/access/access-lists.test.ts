import { describe, expect, test } from "bun:test";

import {
  checkAddress,
  checkEndpoint,
  checkModel,
  firstWider,
  heldLists,
  matchesPattern,
  mayCallModel,
} from "#shared/access/access-lists.ts";
import { ENDPOINT_NAMES, endpointNameOf } from "#shared/access/endpoints.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { apiErrorsOf } from "#shared/base/errors.ts";

describe("patterns of models", () => {
  test.each([
    ["gpt-4o", ["gpt-4o"], ["gpt-4o-mini", "gpt-4", "xgpt-4o", ""]],
    ["gpt-4o*", ["gpt-4o", "gpt-4o-mini"], ["gpt-4", "my-gpt-4o"]],
    ["*-mini", ["gpt-4o-mini", "-mini"], ["mini", "gpt-4o-mini-2"]],
    ["*", ["gpt-4o", ""], []],
    ["a*b*c", ["abc", "a1b2c", "abbc"], ["ac", "acb", "ab", "bc"]],
    ["aa*aa", ["aaaa", "aaxaa"], ["aaa", "aa"]],
    ["g.t", ["g.t"], ["got"]],
  ])("%s", (pattern, matching, others) => {
    for (const name of matching) expect([name, matchesPattern(pattern, name)]).toEqual([name, true]);
    for (const name of others) expect([name, matchesPattern(pattern, name)]).toEqual([name, false]);
  });

  test("of many stars are read in linear time", () => {
    expect(matchesPattern("a*".repeat(100), "a".repeat(99))).toBe(false);
    expect(matchesPattern("a*".repeat(100), `${"a".repeat(100)}b`)).toBe(true);
  });
});

test("a key must satisfy its own lists and those of its member, and the error names the list", () => {
  const lists = heldLists(
    { models: ["gpt-4o*"], endpoints: ["chat"] },
    { models: ["*-mini"], ips: ["203.0.113.0/24"] },
  );
  expect(["gpt-4o-mini", "gpt-4o", "o3-mini"].map((slug) => mayCallModel(lists, slug))).toEqual([true, false, false]);
  const [own] = apiErrorsOf(() => checkModel(lists, "o3-mini"));
  expect(own).toMatchObject({ code: "permission_denied", param: "model" });
  expect(own?.message).toBe("This key may not call the model o3-mini: its limits.models contains gpt-4o*.");
  const [members] = apiErrorsOf(() => checkModel(lists, "gpt-4o"));
  expect(members?.message).toContain("its member's limits.models contains *-mini");
  expect(apiErrorsOf(() => checkEndpoint(lists, "/v1/chat/completions"))).toEqual([]);
  expect(apiErrorsOf(() => checkEndpoint(lists, "/v1/embeddings"))[0]?.message).toContain("limits.endpoints");
  expect(apiErrorsOf(() => checkEndpoint(lists, "/v1/key"))).toEqual([]);
  expect(heldLists(null, null)).toEqual({});
  expect(apiErrorsOf(() => checkAddress({}, ""))).toEqual([]);
});

test.each([
  [["203.0.113.0/24"], ["203.0.113.7", "::ffff:203.0.113.7"], ["203.0.114.1", "2001:db8::1", "", "x"]],
  [["2001:db8::/32"], ["2001:db8::1", "2001:DB8:1::"], ["2001:db9::1", "203.0.113.7"]],
  [["203.0.113.7"], ["203.0.113.7"], ["203.0.113.8"]],
  [["0.0.0.0/0"], ["203.0.113.7"], ["2001:db8::1"]],
])("the addresses %p admit %p and no others", (ips, inside, outside) => {
  const lists = heldLists({ ips }, null);
  for (const address of inside)
    expect([address, apiErrorsOf(() => checkAddress(lists, address))]).toEqual([address, []]);
  for (const address of outside) {
    expect([address, apiErrorsOf(() => checkAddress(lists, address))]).toMatchObject([
      address,
      [{ code: "permission_denied" }],
    ]);
  }
});

test("every kind of call has an endpoint name, and every name has a path", () => {
  for (const { endpoint } of Object.values(KINDS))
    expect([endpoint, endpointNameOf(endpoint)]).not.toContain(undefined);
  expect(endpointNameOf("/v1/videos/generations/{id}")).toBe("videos");
  expect(endpointNameOf("/mcp/{tools}")).toBe("mcp");
  expect(endpointNameOf("/workspaces/{workspaceId}/usage")).toBe("settings");
  expect(["/v1/key", "/v1/images/jobs/{job_id}", "/v1/chat/completionsx", "/healthz"].map(endpointNameOf)).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
  expect(new Set(ENDPOINT_NAMES).size).toBe(16);
});

test.each([
  [null, { models: ["a"] }, "models"],
  [{ models: ["a"] }, null, undefined],
  [{ models: ["gpt-4o-mini", "gpt-4o*"] }, { models: ["gpt-*"] }, undefined],
  [{ models: ["gpt*"] }, { models: ["gpt-*"] }, "models"],
  [{ models: ["*"] }, { models: ["gpt-*", "o3"] }, "models"],
  [{ endpoints: ["chat"] }, { endpoints: ["chat", "files"] }, undefined],
  [{ endpoints: ["chat", "mcp"] }, { endpoints: ["chat", "files"] }, "endpoints"],
  [{ ips: ["203.0.113.7", "203.0.113.128/25"] }, { ips: ["203.0.113.0/24"] }, undefined],
  [{ ips: ["203.0.0.0/16"] }, { ips: ["203.0.113.0/24"] }, "ips"],
  [{ ips: ["2001:db8::/48"] }, { ips: ["2001:db8::/32"] }, undefined],
  [{ ips: ["2001:db8::/48"] }, { ips: ["0.0.0.0/0"] }, "ips"],
  [{ models: ["a"] }, { models: ["a"], ips: ["::1"] }, "ips"],
] as const)("the first list of %p that is wider than in %p is %p", (narrow, wide, name) => {
  expect(firstWider(narrow, wide)).toBe(name);
});
