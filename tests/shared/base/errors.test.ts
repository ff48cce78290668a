import { describe, expect, test } from "bun:test";

import { ApiError, type Code, ERROR_CODES, errorEnvelope } from "#shared/base/errors.ts";

const CODES = Object.keys(ERROR_CODES) as Code[];

describe("error codes", () => {
  test.each(CODES)("%s makes an envelope with all four members", (code) => {
    expect(errorEnvelope(code, "Said plainly.")).toEqual({
      error: { message: "Said plainly.", type: ERROR_CODES[code].type, code, param: null },
    });
  });

  test("follow the rules that tie type to status", () => {
    for (const code of CODES) {
      const { status, type } = ERROR_CODES[code];
      if (status === 401) expect(type, code).toBe("authentication_error");
      if (status === 402) expect(type, code).toBe("quota_exceeded");
      if (status === 429) expect(type, code).toBe("rate_limit_error");
      if (status >= 500) expect(type, code).toBe("server_error");
      if ([400, 404, 405, 408, 413, 415, 422].includes(status)) expect(type, code).toBe("invalid_request_error");
      if (status === 403) expect(["permission_error", "rate_limit_error", "quota_exceeded"], code).toContain(type);
    }
  });

  test("equal the exact pairs that clients branch on", () => {
    expect(ERROR_CODES.insufficient_credits).toEqual({ status: 402, type: "quota_exceeded" });
    expect(ERROR_CODES.budget_reached).toEqual({ status: 402, type: "quota_exceeded" });
    expect(ERROR_CODES.rate_limit_exceeded).toEqual({ status: 403, type: "rate_limit_error" });
    expect(ERROR_CODES.daily_tokens_exceeded).toEqual({ status: 403, type: "quota_exceeded" });
    expect(ERROR_CODES.ip_rate_limit_exceeded).toEqual({ status: 429, type: "rate_limit_error" });
    expect(ERROR_CODES.invalid_api_key).toEqual({ status: 401, type: "authentication_error" });
    expect(ERROR_CODES.upstream_timeout).toEqual({ status: 504, type: "server_error" });
  });
});

describe("an error for the client", () => {
  test("has its status, parameter and cause", () => {
    const cause = new Error("inner");
    const error = new ApiError("unsupported_value", "No.", { param: "n", shouldRetry: false, cause });
    expect(error).toMatchObject({ name: "ApiError", status: 400, param: "n", shouldRetry: false, message: "No." });
    expect(error.cause).toBe(cause);
  });

  test("has no parameter and no retry hint by default", () => {
    const error = new ApiError("internal_error", "Broken.");
    expect(error.param).toBeNull();
    expect(error.shouldRetry).toBeUndefined();
    expect("cause" in error).toBe(false);
  });
});
