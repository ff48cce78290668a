/** Labels of a call: read from its body and from the header `x-tags`. */
import { describe, expect, test } from "bun:test";

import { labelIdOf, isTagName, LABEL_CHARS_MAX, labelsInHeader, labelsOf } from "#shared/calls/labels.ts";
import { holdOf } from "#shared/calls/work.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";

const WORKSPACE = { tags: ["project", "feature"] };

describe("the header x-tags", () => {
  test("contains the end user and tags of the workspace, percent-encoded where needed", () => {
    expect(labelsInHeader(WORKSPACE, "project=alpha, feature=sea%20rch%2C%C3%A9 ,user=alice%40example.com")).toEqual({
      project: "alpha",
      feature: "sea rch,é",
      user: "alice@example.com",
    });
    expect(labelsInHeader({}, "user=alice")).toEqual({ user: "alice" });
    for (const absent of [null, "", "  "]) expect(labelsInHeader(WORKSPACE, absent)).toBeUndefined();
  });

  test("is refused with other names, repeats, and values that cannot be labels", () => {
    const longest = "v".repeat(LABEL_CHARS_MAX);
    expect(labelsInHeader(WORKSPACE, `project=${longest}`)).toEqual({ project: longest });
    for (const header of [
      "team=core",
      "chain=gpt",
      "constructor=x",
      "project",
      "project=",
      "project=a=b",
      "project=a,project=b",
      "project=a,",
      "project=%00",
      "project=%zz",
      `project=${longest}v`,
    ]) {
      const read = (): unknown => labelsInHeader(WORKSPACE, header);
      expect(read, header).toThrow(ApiError);
      expect(read, header).toThrow("Expected the header x-tags to have");
    }
    expect(() => labelsInHeader({}, "project=alpha")).toThrow("one of the names user in each pair");
  });
});

describe("a body", () => {
  test("names the end user as user, safety_identifier or metadata.user_id, in this order", () => {
    const metadata = { user_id: "c" };
    expect(labelsOf({}, { user: "a", safety_identifier: "b", metadata })).toEqual({ user: "a" });
    expect(labelsOf({}, { safety_identifier: "b", metadata })).toEqual({ user: "b" });
    expect(labelsOf({}, { metadata })).toEqual({ user: "c" });
    expect(labelsOf({}, { user: null, metadata })).toEqual({ user: "c" });
  });

  test("takes precedence over the header, and keeps no member that the workspace has not named", () => {
    const metadata = { project: "beta", secret: "s", constructor: "x" };
    const outer = { user: "alice", project: "alpha", feature: "search" };
    expect(labelsOf(WORKSPACE, { metadata }, outer)).toEqual({ user: "alice", project: "beta", feature: "search" });
    expect(labelsOf(WORKSPACE, { user: "bob" }, outer)).toEqual({ ...outer, user: "bob" });
    expect(labelsOf({ tags: ["constructor"] }, { metadata: {} })).toBeUndefined();
  });

  test("is accepted with values that cannot be labels, which are ignored", () => {
    for (const value of ["", 7, true, null, {}, "\u0000", "\ud800", "v".repeat(LABEL_CHARS_MAX + 1)]) {
      expect(labelsOf(WORKSPACE, { user: value, metadata: { project: value } })).toBeUndefined();
    }
    for (const body of [undefined, null, "text", [], { metadata: "project" }]) {
      expect(labelsOf(WORKSPACE, body)).toBeUndefined();
    }
  });
});

test("a tag has a name that is not reserved", () => {
  for (const name of ["project", "Team-2", "cost_center", "a".repeat(64)])
    expect([name, isTagName(name)]).toEqual([name, true]);
  for (const name of ["user", "chain", "", "2nd", "a b", "a:b", "a.b", "é", "a".repeat(65)]) {
    expect([name, isTagName(name)]).toEqual([name, false]);
  }
});

test("a label has one id in a workspace, and another in every other workspace", () => {
  const [one, other] = ["0190a0a0-0000-7000-8000-000000000001", "0190a0a0-0000-7000-8000-000000000002"];
  expect(labelIdOf(one, "user", "alice")).toBe(labelIdOf(one, "user", "alice"));
  expect(isUuid(labelIdOf(one, "user", "alice"))).toBe(true);
  const ids = [
    labelIdOf(one, "user", "alice"),
    labelIdOf(one, "user", "bob"),
    labelIdOf(one, "project", "alice"),
    labelIdOf(other, "user", "alice"),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

describe("the hold of a call", () => {
  const [model, bound] = [
    { slug: "sandbox-chat" },
    { holdNano: 1n, mayExceed: false, tokensMax: 1, outputTokensMax: 1 },
  ] as const;
  const caller = { keyId: "k", workspaceId: "0190a0a0-0000-7000-8000-000000000001", preset: { daily_tokens: null } };
  const of = (more: Partial<Caller>, labels?: Record<string, string>, chosen?: Record<string, string>) =>
    holdOf({ id: "j", caller: { ...caller, ...more } as Caller, labels }, model, bound, 1_000, chosen);

  test("has the labels of the call and of its fallback chain, and none without them", () => {
    expect(of({}, { user: "ada" }, { chain: "gpt" }).labels).toEqual({ user: "ada", chain: "gpt" });
    expect(of({}, undefined, { chain: "gpt" }).labels).toEqual({ chain: "gpt" });
    expect(of({}, { user: "ada" }).labels).toEqual({ user: "ada" });
    expect(of({})).not.toHaveProperty("labels");
  });

  test("counts for the labels of which the workspace limits a value", () => {
    const [user, project] = [
      labelIdOf(caller.workspaceId, "user", "ada"),
      labelIdOf(caller.workspaceId, "project", "alpha"),
    ];
    const labels = { user: "ada", project: "alpha", feature: "search" };
    expect(of({ limitedLabels: ["user"] }, labels).scopes).toEqual([user]);
    expect(of({ limitedLabels: ["project", "user"] }, labels).scopes).toEqual([project, user]);
    expect(of({ limitedLabels: ["project"] }, { user: "ada" })).not.toHaveProperty("scopes");
    expect(of({ limitedLabels: ["constructor"] }, labels)).not.toHaveProperty("scopes");
    expect(of({ limitedLabels: ["user"] })).not.toHaveProperty("scopes");
    expect(of({}, labels)).not.toHaveProperty("scopes");
  });
});
