import { describe, expect, test } from "bun:test";

import { rangeOf } from "#ingress/routes/files/content.ts";
import { attachment, cleanFilename } from "#ingress/routes/files/filename.ts";

describe("a byte range", () => {
  const of = (header: string | null, bytes = 10, ifRange: string | null = null) =>
    rangeOf(header, ifRange, '"e"', bytes);
  const part = (from: number, to: number) => ({ kind: "part", from, to }) as const;

  test.each<[string, ReturnType<typeof of>]>([
    ["bytes=0-9", part(0, 10)],
    ["bytes=0-0", part(0, 1)],
    ["bytes=9-9", part(9, 10)],
    ["bytes=3-", part(3, 10)],
    ["bytes=-3", part(7, 10)],
    ["bytes=-30", part(0, 10)],
    ["bytes=5-50", part(5, 10)],
    ["BYTES= 1-2 ", part(1, 3)],
    ["bytes=10-", { kind: "none" }],
    ["bytes=10-11", { kind: "none" }],
    ["bytes=-0", { kind: "none" }],
    ["bytes=5-4", { kind: "whole" }],
    ["bytes=-", { kind: "whole" }],
    ["bytes=0-1,3-4", { kind: "whole" }],
    ["bytes=a-b", { kind: "whole" }],
    ["items=0-1", { kind: "whole" }],
    ["bytes=99999999999999999999-", { kind: "whole" }],
  ])("%s of ten bytes", (header, expected) => expect(of(header)).toEqual(expected));

  test("is ignored for another version, and without a header", () => {
    expect(of("bytes=0-1", 10, '"other"')).toEqual({ kind: "whole" });
    expect(of("bytes=0-1", 10, '"e"')).toEqual(part(0, 2));
    expect(of(null)).toEqual({ kind: "whole" });
  });
});

describe("a filename", () => {
  test("keeps its extension if it is too long, and is counted in characters", () => {
    const kept = cleanFilename(`${"🙂".repeat(400)}.jsonl`);
    expect(Array.from(kept)).toHaveLength(255);
    expect(kept).toEndWith("🙂.jsonl");
    expect(cleanFilename("\ud800.txt")).toBe("\ufffd.txt");
  });

  test("cannot break out of its header", () => {
    expect(attachment(cleanFilename("a\"\r\nset-cookie: x=1;%41'*.txt"))).toBe(
      `attachment; filename="a_set-cookie: x=1;_41'*.txt"; filename*=UTF-8''a%22set-cookie%3A%20x%3D1%3B%2541%27%2A.txt`,
    );
  });
});
