import { describe, expect, test } from "bun:test";

import { classifyStart, classifyTaskError } from "#workers/providers/meshy/mesh.ts";
import type { MeshInputName } from "#workers/providers/mesh-inputs.ts";

import { VENDOR_MARK } from "../engine/behaviour.ts";

const none = new Headers();
const body = (message: string, more: object = {}): string =>
  JSON.stringify({ message: `${message} (${VENDOR_MARK})`, ...more });

const PROMPT = { kind: "rejected", code: "invalid_request", param: "prompt" };
const PICTURE = { kind: "rejected", code: "unprocessable_input", param: "image_url" };
const MESH = { kind: "rejected", code: "unprocessable_input", param: "mesh_url" };

describe("a rejected task", () => {
  test.each<[number, string, readonly MeshInputName[], object]>([
    [400, "Invalid values: prompt", ["prompt"], PROMPT],
    [400, "Invalid values: TextStylePrompt", ["mesh", "prompt"], PROMPT],
    [400, "image_url is not reachable", ["image"], PICTURE],
    [400, "Invalid values: ModelURL", ["mesh"], MESH],
    [400, "Failed to download the file", ["image"], PICTURE],
    [400, "Invalid values: ai_model", ["prompt"], { kind: "misconfigured", param: null }],
    [400, "AI model is not available", ["image"], { kind: "misconfigured" }],
    [400, "Bad request", ["prompt"], { kind: "rejected", code: "invalid_request", param: null }],
    [400, "image_url is not reachable", ["prompt"], { kind: "rejected", code: "invalid_request", param: null }],
    [400, "The prompt was blocked by moderation", ["prompt"], { kind: "refused" }],
    [422, "Pose estimation failed", ["mesh"], MESH],
    [422, "no good", ["image", "prompt"], PICTURE],
    [413, "Request Entity Too Large", ["mesh", "prompt"], MESH],
    [401, "Invalid API key", ["prompt"], { kind: "misconfigured" }],
    [402, "Insufficient credits", ["prompt"], { kind: "misconfigured" }],
    [403, "Forbidden", ["prompt"], { kind: "misconfigured" }],
    [404, "NotFound", ["prompt"], { kind: "misconfigured" }],
    [410, "Gone", ["prompt"], { kind: "misconfigured" }],
    [409, "Conflict", ["prompt"], { kind: "failed" }],
    [429, "NoMoreConcurrentTasks", ["prompt"], { kind: "busy", retryAfterMs: undefined }],
    [429, "NoMorePendingTasks", ["prompt"], { kind: "busy" }],
    [503, "Service Unavailable", ["prompt"], { kind: "busy" }],
    [500, "Internal Server Error", ["prompt"], { kind: "failed" }],
    [502, "Bad Gateway", ["prompt"], { kind: "failed" }],
    [302, "Found", ["prompt"], { kind: "failed" }],
    [408, "Request Timeout", ["prompt"], { kind: "failed" }],
    [504, "Gateway Timeout", ["prompt"], { kind: "failed" }],
  ])("%i %s of %j has its class, and its public part", (status, message, given, expected) => {
    const error = classifyStart(status, none, body(message), given);
    expect(error).toMatchObject({ ...expected, status });
    expect(error.say ?? "").not.toContain(VENDOR_MARK);
    expect(error.detail).toContain(VENDOR_MARK);
  });

  test("contains Meshy's retry time, if any", () => {
    const error = classifyStart(429, new Headers({ "retry-after": "3" }), body("RateLimitExceeded"), ["prompt"]);
    expect(error).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });

  test.each(["", "<html>", "null", "[]", '{"message":7}'])("with the body %p has its status' class", (text) => {
    expect(classifyStart(500, none, text, ["prompt"])).toMatchObject({ kind: "failed" });
    expect(classifyStart(400, none, text, ["prompt"])).toMatchObject({ kind: "rejected", param: null });
  });

  test.each([400, 413, 422])("%i about a field that we set is not the caller's error", (status) => {
    expect(classifyStart(status, none, body("prompt"), [])).toMatchObject({ kind: "misconfigured", param: null });
  });

  test("truncates the text for the log", () => {
    expect(classifyStart(500, none, "x".repeat(9_999), []).detail).toHaveLength(500);
  });
});

describe("a failed task", () => {
  const said = (type: string, code?: string): object => ({
    type,
    ...(code === undefined ? {} : { code }),
    message: `Something on ${type} (${VENDOR_MARK})`,
    doc_url: "https://docs.meshy.ai/errors",
  });

  test.each<[string, object, readonly MeshInputName[], object]>([
    ["over moderation", said("invalid_input", "moderation_blocked"), ["prompt"], { kind: "refused" }],
    ["over a picture", said("invalid_input", "image_too_complex"), ["image"], PICTURE],
    ["over a prompt", said("invalid_input", "image_too_complex"), ["prompt"], PROMPT],
    ["over a mesh without UV", said("invalid_input", "model_missing_uv"), ["mesh", "prompt"], MESH],
    ["over a mesh with few UV", said("invalid_input", "model_insufficient_uv"), ["mesh", "image"], MESH],
    ["over the picture of a style", said("invalid_input", "image_too_complex"), ["mesh", "image"], PICTURE],
    ["over an input", said("invalid_input", "invalid_input"), ["mesh", "prompt"], MESH],
    ["over an input of a newer code", said("invalid_input", "polygons_too_many"), ["image"], PICTURE],
    ["over a prompt alone", said("invalid_input"), ["prompt"], PROMPT],
    ["over moderation, whatever its type", said("server_error", "moderation_blocked"), ["prompt"], { kind: "refused" }],
    ["over time", said("timeout", "timeout"), ["prompt"], { kind: "timeout" }],
    ["over time, without a code", said("timeout"), ["prompt"], { kind: "timeout" }],
    ["over a format", said("server_error", "format_conversion_failed"), ["mesh"], { kind: "failed" }],
    ["for want of a server", said("service_unavailable"), ["prompt"], { kind: "busy" }],
    ["by a server's fault", said("server_error"), ["prompt"], { kind: "failed" }],
    ["by something new", said("constructor", "toString"), ["prompt"], { kind: "failed" }],
  ])("%s has its class, and its public part", (_what, error, given, expected) => {
    const verdict = classifyTaskError(error, given);
    expect(verdict).toMatchObject(expected);
    expect(verdict.say ?? "").not.toContain(VENDOR_MARK);
    expect(verdict.message).not.toContain(VENDOR_MARK);
    expect(verdict.detail).toContain(VENDOR_MARK);
  });

  test.each([undefined, null, "no", {}, { message: "" }, { type: 7, code: [] }])("with %j has failed", (error) => {
    expect(classifyTaskError(error, ["prompt"])).toMatchObject({ kind: "failed" });
  });
});
