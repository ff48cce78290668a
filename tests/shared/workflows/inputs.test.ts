/** Inputs of runs: what is refused, and in which words. */
import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import { readRunInput, refuseMisspeltMembers } from "#shared/workflows/inputs.ts";

const DECLARED = { topic: { type: "string", required: true }, count: { type: "integer" } } as const;

function refusal(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.param}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("the input of a run", () => {
  test.each([
    [undefined, 'missing_required_parameter input.topic: Missing required input "topic".'],
    [{ topic: null }, 'missing_required_parameter input.topic: Missing required input "topic".'],
    [
      { topics: "x" },
      'invalid_request input.topics: Unknown input "topics". The workflow declares topic, count. Did you mean topic?',
    ],
    [{ other: "x" }, 'invalid_request input.other: Unknown input "other". The workflow declares topic, count.'],
    [
      { topic: "x", count: "2" },
      "invalid_request input.count: Expected input.count to be a whole number, got a string",
    ],
    [{ topic: "x", count: 2 }, "accepted"],
  ])("%p", (input, expected) => {
    expect(refusal(() => readRunInput(DECLARED, input))).toStartWith(expected);
  });

  test("of a workflow without inputs is rejected by name", () => {
    const expected = 'invalid_request input.topic: Unknown input "topic". The workflow declares no inputs.';
    expect(refusal(() => readRunInput({}, { topic: "x" }))).toBe(expected);
  });
});

describe("a request with a misspelled member", () => {
  test.each([
    [{ inputs: {} }, "unknown_parameter inputs: inputs is not a known parameter. Did you mean input?"],
    [{ Input: {} }, "unknown_parameter Input: Input is not a known parameter. Did you mean input?"],
    [{ max_credit: 1 }, "unknown_parameter max_credit: max_credit is not a known parameter. Did you mean max_credits?"],
    [
      { input: {}, maxCredits: 1 },
      "unknown_parameter maxCredits: maxCredits is not a known parameter. Did you mean max_credits?",
    ],
    [{ max_credits: 1, maxCredits: 2, max_tokens: 3 }, "accepted"],
    [{ input: {}, inputs: {} }, "accepted"],
    [{ mode: "sync", version: 1, parameters: {} }, "accepted"],
    [Object.fromEntries([...Array.from({ length: 64 }, (_, at) => [`m${at}`, 1]), ["inputs", {}]]), "accepted"],
  ])("%p", (request, expected) => {
    expect(refusal(() => refuseMisspeltMembers(request))).toBe(expected);
  });
});
