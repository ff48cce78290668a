import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { errorOf } from "../media/bench.ts";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";

let bench: CapabilityBench;
beforeAll(async () => {
  bench = await startCapabilityBench();
}, 60_000);
afterAll(() => bench?.stop());

const PHOTO = { image: { file_id: "file-sample-photo" } };

describe("a run", () => {
  test("waits for its result, which is a file of the workspace, and costs what was measured", async () => {
    const answer = await bench.run("image.resize", { input: PHOTO, params: { width: 300 } });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, text]);
    const made = JSON.parse(text);
    expect(made).toMatchObject({
      object: "capability.run",
      capability: "image.resize",
      status: "completed",
      output: { width: 300, height: 200, format: "jpeg" },
      files: [{ content_type: "image/jpeg" }],
      // 1200 × 800 pixels of the input, at 0.02 a megapixel.
      credits_used: 0.0192,
    });
    expect(answer.headers.get("x-credits-used")).toBe("0.0192");
    const facts = await sharp(await bench.bytes(made)).metadata();
    expect([facts.format, facts.width, facts.height]).toEqual(["jpeg", 300, 200]);
    expect(await bench.stack.query("select 1 from hold")).toEqual([]);
  }, 30_000);

  test("is a job when it is asked for so", async () => {
    const answer = await bench.run("image.resize", { input: PHOTO, params: { width: 64, format: "png" }, async: true });
    expect(answer.status).toBe(202);
    const job = (await answer.json()) as { id: string; model: string };
    expect(job).toMatchObject({ object: "job", modality: "image", model: "image.resize" });
  });

  test("of what is not there is 404", async () => {
    expect(await errorOf(await bench.run("image.nothing", { input: PHOTO }))).toMatchObject({
      status: 404,
      code: "capability_not_found",
    });
  });
});
