import { describe, expect, test } from "bun:test";

import { classifyRefusal, classifyTaskError, readAnswer } from "#workers/providers/tripo/mesh.ts";
import type { MeshInputName } from "#workers/providers/mesh-inputs.ts";
import type { ProviderError, ProviderErrorClass } from "#workers/providers/provider.ts";

import { VENDOR_MARK } from "../engine/behaviour.ts";

const PROMPT = { kind: "rejected", code: "invalid_request", param: "prompt" };
const PICTURE = { kind: "rejected", code: "unprocessable_input", param: "image_url" };
const MESH = { kind: "rejected", code: "unprocessable_input", param: "mesh_url" };
const SEED = { kind: "rejected", code: "unsupported_value", param: "seed" };

/** @throws Error when the text is no refusal */
function classOf(
  status: number,
  text: string,
  { given = ["prompt"], headers = new Headers() }: { given?: readonly MeshInputName[]; headers?: Headers } = {},
): ProviderError {
  const answer = readAnswer(status, text);
  if (answer.state === "taken") throw new Error("expected a refusal");
  return classifyRefusal(status, headers, answer, given);
}

const body = (code: unknown, message = "no"): string =>
  JSON.stringify({ code, message: `${message} (${VENDOR_MARK})`, suggestion: "Read", request_id: "r1" });

describe("a Tripo error", () => {
  test.each<[number, string, readonly MeshInputName[], object]>([
    [1_000, "authentication failed", ["prompt"], { kind: "misconfigured" }],
    [1_001, "no permission", ["prompt"], { kind: "misconfigured" }],
    [1_002, "unauthorized", ["prompt"], { kind: "misconfigured" }],
    [1_003, "malformed body", ["prompt"], { kind: "misconfigured" }],
    [1_004, "invalid parameter: prompt", ["prompt"], PROMPT],
    [1_004, "invalid parameter: model_seed", ["prompt"], SEED],
    [1_004, "invalid parameter: input", ["image"], PICTURE],
    [1_004, "invalid parameter: input", ["mesh", "prompt"], MESH],
    [1_004, "invalid parameter: model", ["prompt"], { kind: "misconfigured", param: null }],
    [1_004, "invalid parameter: texture_prompt", ["mesh"], { kind: "misconfigured" }],
    [1_005, "forbidden", ["prompt"], { kind: "misconfigured" }],
    [1_007, "rate limit", ["prompt"], { kind: "busy" }],
    [2_000, "too many tasks", ["prompt"], { kind: "busy" }],
    [2_002, "unsupported parameter: texture_seed", ["mesh"], SEED],
    [2_002, "unsupported parameter: quad", ["mesh"], { kind: "misconfigured" }],
    [2_003, "file is empty", ["image"], PICTURE],
    [2_004, "unsupported type", ["mesh", "prompt"], MESH],
    [2_018, "too complex", ["mesh", "image"], MESH],
    [2_018, "too complex", ["prompt"], PROMPT],
    [2_008, "content policy", ["prompt"], { kind: "refused" }],
    [
      2_009,
      "illegal characters",
      ["prompt"],
      { ...PROMPT, say: "The prompt contains characters that this model does not accept." },
    ],
    [2_010, "insufficient credits", ["prompt"], { kind: "misconfigured" }],
    [2_014, "audit failed", ["prompt"], { kind: "failed" }],
    [2_015, "version deprecated", ["prompt"], { kind: "misconfigured" }],
    [2_016, "type deprecated", ["prompt"], { kind: "misconfigured" }],
    [2_017, "invalid version", ["prompt"], { kind: "misconfigured" }],
    [2_019, "file not found", ["image"], { kind: "failed" }],
  ])("%i (%s) of %j has its class in every status, and its public part", (code, message, given, expected) => {
    for (const status of [200, 400, 403, 429, 500]) {
      const error = classOf(status, body(code, message), { given });
      expect(error).toMatchObject({ ...expected, status });
      expect(error.say ?? "").not.toContain(VENDOR_MARK);
      expect(error.detail).toContain(VENDOR_MARK);
    }
  });

  test.each<[number, ProviderErrorClass]>([
    [302, "failed"],
    [400, "rejected"],
    [401, "misconfigured"],
    [402, "misconfigured"],
    [403, "misconfigured"],
    [404, "misconfigured"],
    [408, "failed"],
    [410, "misconfigured"],
    [413, "rejected"],
    [422, "rejected"],
    [429, "busy"],
    [500, "failed"],
    [502, "failed"],
    [503, "busy"],
    [504, "failed"],
  ])("with status %i and an unknown code is %s", (status, kind) => {
    for (const text of ["", "<html>", "null", "[]", "{}", '{"code":9999}', '{"code":null}', '{"code":"toString"}']) {
      expect(classOf(status, text).kind).toBe(kind);
    }
  });

  test("in a 200 with an unknown code is a failure", () => {
    expect(classOf(200, body(9_999)).kind).toBe("failed");
    expect(classOf(200, body("9999")).kind).toBe("failed");
  });

  test.each([2_000, 1_007, 0])("contains Tripo's retry time, if any (%i)", (code) => {
    const headers = new Headers({ "retry-after": "3" });
    expect(classOf(429, body(code), { headers })).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });

  test("truncates the text for the log", () => {
    expect(classOf(500, "x".repeat(9_999)).detail).toHaveLength(500);
  });
});

describe("a failed task", () => {
  test.each<[unknown, readonly MeshInputName[], object]>([
    [2_008, ["prompt"], { kind: "refused" }],
    ["2008", ["prompt"], { kind: "refused" }],
    [2_003, ["image"], PICTURE],
    [2_004, ["mesh", "image"], MESH],
    [2_018, ["mesh"], MESH],
    [2_000, ["prompt"], { kind: "busy" }],
    [9_999, ["prompt"], { kind: "failed" }],
    [undefined, ["prompt"], { kind: "failed" }],
    [null, ["prompt"], { kind: "failed" }],
    ["toString", ["prompt"], { kind: "failed" }],
  ])("with %p has its class, and its public part", (code, given, expected) => {
    const error = classifyTaskError({ error_code: code, error_message: VENDOR_MARK }, given);
    expect(error).toMatchObject(expected);
    expect(`${error.say ?? ""}${error.message}`).not.toContain(VENDOR_MARK);
    expect(error.detail).toContain(VENDOR_MARK);
  });

  test("without a reason has one for the log", () => {
    expect(classifyTaskError({}, []).detail).toBe("the task failed without a reason");
  });
});
