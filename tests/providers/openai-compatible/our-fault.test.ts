import { describe, expect, test } from "bun:test";

import { namesOurFault } from "#workers/providers/openai-compatible/errors.ts";

const said = (message: string): boolean => namesOurFault({ code: "", type: "invalid_request_error", message });

describe("a configuration error of ours", () => {
  test.each([
    "The caller does not have permission to execute the specified operation",
    "permission-denied",
    "permission_error",
    "DeploymentNotFound",
    "AccessDenied",
    "model_permission_blocked_project",
    "account_deactivated",
    "invalid_organization",
    "billing_not_active",
    "unsupported_country_region_territory",
  ])("is recognised by the code or type %s", (word) => {
    expect(namesOurFault({ code: word, type: "", message: "" })).toBeTrue();
    expect(namesOurFault({ code: "", type: word, message: "" })).toBeTrue();
  });

  test.each([
    "The model `llama3.1-405b` does not exist or you do not have access to it.",
    "The model 'z-ai/glm4.7' has reached its end of life",
    "Model grok-beta was deprecated on 2025-09-15 and is no longer accessible",
    'model "llama3" not found, try pulling it first',
    "Model not found, inaccessible, and/or not deployed",
    "Project `proj_x` does not have access to model `gpt-4o`",
    "Unable to access model foo. Please visit https://example.com/models",
    "The API deployment does not exist.",
    "Your newly created teams doesn't have any credits yet.",
    "Your team abc has either used all available credits or reached its monthly spending limit.",
    "Access to the chat endpoint is denied. Please ensure you're using the correct credentials.",
    "Your organization must be verified to use the model `gpt-image-1`.",
    "Your account is not active, please check your billing details",
    "You do not have the required permissions.",
    "Incorrect API key provided: sk-x",
    "Country, region, or territory not supported",
    "User location is not supported for the API use.",
    "This model is not available in your region",
  ])("is recognised by the text: %s", (message) => {
    expect(said(message)).toBeTrue();
  });
});

describe("an error caused by a call", () => {
  test.each([
    "",
    "Not found",
    "Invalid URL (POST /v1/x)",
    "Live search is deprecated. Please switch to the Agent Tools API: https://docs.x.ai/docs/guides/tools/overview",
    "Previous response with id 'resp_1' not found.",
    "Item 7 in your project does not exist",
    "This model does not support tools",
    "The model cannot call a tool that was not found",
    "You do not have permission to access the file file-1",
    "No permission to fetch the image, is an API key missing?",
  ])("is not a configuration error: %j", (message) => {
    expect(said(message)).toBeFalse();
  });

  test.each(["`", "'", '"'])("cannot imitate one between %s", (quote) => {
    const quoted = `${quote}model not found, API key, billing${quote}`;
    expect(said(`Tool ${quoted} isn't there`)).toBeFalse();
    expect(said(`There isn't a tool ${quoted}`)).toBeFalse();
  });

  test("cannot imitate one in an address", () => {
    expect(said("Nothing is at https://example.com/api_key?billing=1")).toBeFalse();
  });

  test("cannot imitate one after a text of any length", () => {
    expect(said(`Not found: ${"x".repeat(10_000)} billing`)).toBeFalse();
  });
});
