import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";

const ID = "0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d";

const MESSAGE = {
  job_id: ID,
  attempt: 1,
  dispatch: 1,
  kind: "chat",
  request_id: ID,
  workspace_id: ID,
  key_id: ID,
  model: "sandbox-chat",
  hold_nano: "1500000000",
  may_exceed: false,
  output_tokens_max: 100,
  price: { unit: "per_token" },
  deadline_ms: 1_800_000_000_000,
  request: { model: "sandbox-chat", messages: [] },
};

function without(name: keyof typeof MESSAGE): Record<string, unknown> {
  const { [name]: _gone, ...rest } = MESSAGE;
  return rest;
}

describe("a work message", () => {
  test("carries the request or a reference to it", () => {
    expect(validate("JobMessage", MESSAGE)).toBeNull();
    expect(validate("JobMessage", { ...without("request"), request_ref: "claims/a" })).toBeNull();
    expect(validate("JobMessage", without("request"))).toMatchObject({ param: "request" });
  });

  test.each(Object.keys(MESSAGE).filter((name) => name !== "request") as (keyof typeof MESSAGE)[])(
    "is rejected without %s",
    (name) => {
      expect(validate("JobMessage", without(name))).toMatchObject({ param: name, code: "missing_required_parameter" });
    },
  );

  test.each([
    { job_id: "1" },
    { workspace_id: "*" },
    { attempt: 0 },
    { dispatch: 1.5 },
    { kind: "image" },
    { hold_nano: 1_500_000_000 },
    { hold_nano: "1.5" },
    { hold_nano: "-1" },
    { hold_nano: "" },
    { output_tokens_max: -1 },
    { price: null },
    { deadline_ms: "soon" },
    { request: "{}" },
  ])("is rejected with %j", (change) => {
    const message = { ...MESSAGE, ...change };
    expect(validate("JobMessage", message)).toMatchObject({ param: Object.keys(change)[0] ?? "" });
  });

  test("may write its ids in capitals", () => {
    expect(validate("JobMessage", { ...MESSAGE, job_id: ID.toUpperCase() })).toBeNull();
  });
});
