import { describe, expect, test } from "bun:test";

import { ERROR_GUIDE } from "#shared/base/error-guide.ts";
import recorded from "#tests/e2e/openapi/recorded-answers.json" with { type: "json" };
import { canSucceedLater, type Code } from "#shared/base/errors.ts";

const WORDS_MAX = 25;

describe("cause and fix of an error code", () => {
  test.each(Object.entries(ERROR_GUIDE))(
    "%s: complete sentences of at most 25 words",
    (_code, { cause, fix, operator }) => {
      for (const text of [cause, fix, ...Object.values(operator ?? {})]) {
        expect(text).toMatch(/^[A-Z`][^]*\.$/);
        const sentences = text.split(/(?<=[.:])\s+(?=[A-Z`])/);
        expect(sentences.filter((sentence) => sentence.split(/\s+/).length > WORDS_MAX)).toEqual([]);
      }
    },
  );

  test("a fix that forbids a retry does not contradict the retries of stock clients", () => {
    const both = Object.entries(ERROR_GUIDE).filter(
      ([code, { fix, retry = "" }]) =>
        fix.startsWith("Do not repeat") && !(canSucceedLater(code as Code) && retry.startsWith("no;")),
    );
    expect(both.map(([code]) => code)).toEqual([]);
    expect(ERROR_GUIDE.run_timeout.retry).toStartWith("no;");
  });

  test("the line on retries agrees with the header of every recorded error", async () => {
    const page = await Bun.file(new URL("../../../schemas/docs/reference/errors.md", import.meta.url)).text();
    const records = Object.values(recorded as Readonly<Record<string, Recorded>>);
    const errors = records.flatMap(({ status = 0, headers = {}, body }) =>
      status >= 400 && body?.error?.code !== undefined ? [{ code: body.error.code, headers }] : [],
    );
    expect(errors.length).toBeGreaterThan(40);
    const wrong = errors.filter(({ code, headers }) => {
      const line = new RegExp(`^### ${code}\\n[^#]*?\\*\\*Retry:\\*\\* (.*)$`, "m").exec(page)?.[1] ?? "";
      const isSent = headers["x-should-retry"] === "false";
      const isNever = line.startsWith("no;") && !line.includes("Exception");
      return isSent ? !line.includes("`x-should-retry: false`") : line === "" || isNever;
    });
    expect(wrong.map(({ code }) => code)).toEqual([]);
  });
});

interface Recorded {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly error?: { readonly code?: string } | null };
}
