import { describe, expect, test } from "bun:test";

import { newJob } from "#workers/providers/fal/queue.ts";

const FACTS = { asked: 1, fields: { n: "num_images" } };

const jobAt = (baseUrl: string, answer: Readonly<Record<string, unknown>>, model = "fal-ai/flux/dev") =>
  newJob({ baseUrl, headers: {} }, model, { request_id: "r-1", ...answer }, FACTS);

describe("a new job", () => {
  test("has paths below a nested base, and none beside it", () => {
    const base = "https://proxy.example/fal";
    const told = { status_url: `${base}/a/b/requests/r-1/status`, response_url: "https://proxy.example/other/r-1" };
    expect(jobAt(base, told)).toMatchObject({
      status_path: "/a/b/requests/r-1/status",
      result_path: "/fal-ai/flux/requests/r-1",
      cancel_path: "/fal-ai/flux/requests/r-1/cancel",
    });
  });

  test.each([
    ["a user in front", "https://ours@queue.example.evil/requests/r-1"],
    ["another scheme", "http://queue.example/requests/r-1"],
    ["another port", "https://queue.example:8443/requests/r-1"],
    ["a longer name", "https://queue.example.evil/requests/r-1"],
    ["a way out", "https://queue.example/../r-1/../x"],
  ])("rejects an address with %s", (_what, status_url) => {
    expect(jobAt("https://queue.example", { status_url })?.status_path).toBe("/fal-ai/flux/requests/r-1/status");
  });
});
