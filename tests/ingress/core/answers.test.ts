/** Faults of the service as clients hear them. */
import { expect, test } from "bun:test";

import { asApiError } from "#ingress/core/answers.ts";
import { createLogger } from "#shared/base/logger.ts";

const log = createLogger({ level: "silent", role: "test" });

test.each([
  ["a lock that was not to be had", { code: "55P03" }, "overloaded", true],
  ["a database that is away", { code: "ECONNREFUSED" }, "service_unavailable", true],
  ["whatever else", { code: "42601" }, "internal_error", false],
])("%s", (_what, members, code, isRetried) => {
  const heard = asApiError(Object.assign(new Error("secret words"), members), log, "r");
  expect(heard).toMatchObject({ code, message: expect.not.stringContaining("secret") });
  expect(heard.shouldRetry !== false).toBe(isRetried);
});
