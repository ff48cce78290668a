/** Runs of capabilities through the service: inputs of every sort, money, jobs, refusals, the death of a child. */
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { utils, write } from "@e965/xlsx";
import sharp from "sharp";

import type { CapabilityEntry, Job, ModelEntry, ModelList } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";

import { errorOf } from "../media/bench.ts";

import { type CapabilityBench, childrenAtWork, type RunAnswer } from "./bench.ts";
import { beginEndless, ENDLESS, endOf } from "./endless-run.ts";
import { sharedBench } from "./shared-bench.ts";

const PHOTO = { image: { file_id: "file-sample-photo" } };

let bench: CapabilityBench;
let poor: Workspace;
beforeAll(async () => {
  bench = await sharedBench();
  poor = await createWorkspace(bench.stack, { creditsNano: 1_000n });
}, 60_000);

const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string, key = bench.stack.key): Promise<string> => {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new Blob([bytes]), name);
  const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  return ((await answer.json()) as { id: string }).id;
};
const usageOf = (id: string) =>
  bench.stack.query("select status, settled, units from usage_record where job_id = $1", [id]);
const jobOf = async (id: string): Promise<Job> => (await (await bench.call(`/v1/images/jobs/${id}`)).json()) as Job;

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

describe("the list", () => {
  test("contains what every worker can run; only the operator sees the missing capabilities", async () => {
    const ids = async (path: string) => ((await (await bench.call(path)).json()) as { data: { id: string }[] }).data.map(({ id }) => id); // prettier-ignore
    const [own] = await bench.stack.query<{ ids: string[] }>("select ids from capability_offer");
    const all = (own?.ids ?? []).filter((id) => id !== "code.highlight");
    await eventually("all that is offered is listed", async () => Bun.deepEquals(await ids("/v1/tools"), all), 15_000);
    expect(all).not.toContain("code.run_python");
    expect(await errorOf(await bench.run("code.run_python", { input: { code: { text: "1" } } }))).toMatchObject({
      status: 404,
      message: "This service does not offer code.run_python; GET /v1/tools lists the capabilities that it offers.",
    });
    const worker = newId();
    await bench.stack.query("insert into capability_offer (worker, ids, missing) values ($1, $2::text[], $3::jsonb)", [
      worker,
      `{${all.filter((id) => id !== "image.ocr").join(",")}}`,
      JSON.stringify({ ocr: "Install the reader." }),
    ]);
    await eventually("the list is shorter", async () => !(await ids("/v1/tools")).includes("image.ocr"), 15_000);
    expect(await ids("/v1/tools")).toEqual(all.filter((id) => id !== "image.ocr"));
    expect(await ids("/v1/models?include_tools=true")).not.toContain("image.ocr");
    for (const path of ["run", "estimate"]) {
      expect(await errorOf(await bench.call(`/v1/capabilities/image.ocr/${path}`, PHOTO))).toMatchObject({
        status: 404,
        code: "capability_not_found",
        message: "This service does not offer image.ocr; GET /v1/tools lists the capabilities that it offers.",
      });
    }
    await bench.stack.query("delete from capability_offer where worker = $1", [worker]);
    await eventually("the list is whole again", async () => (await ids("/v1/tools")).includes("image.ocr"), 15_000);
    expect(await ids("/v1/models?include_tools=true")).toContain("image.ocr");
  }, 40_000);

  test("has the operator's prices, without the capabilities that the operator disables", async () => {
    const { data } = (await (await bench.call("/v1/tools")).json()) as { data: CapabilityEntry[] };
    expect(data.find(({ id }) => id === "code.diff")?.pricing).toEqual({ currency: "credits", unit: "per_operation", operation_price: 0.5 }); // prettier-ignore
    expect(data.map(({ id }) => id)).not.toContain("code.highlight");
    const ran = await bench.made("code.diff", { input: { old: { text: "tea" }, new: { text: "coffee" } } });
    expect(ran.credits_used).toBe(0.5);
    expect(await usageOf(ran.id)).toMatchObject([{ status: "succeeded", settled: 500_000_000n }]);
    expect(
      await errorOf(await bench.run("code.highlight", { input: { code: { text: "1" } }, params: { language: "js" } })),
    ).toMatchObject({ status: 404, code: "capability_not_found" });
  });

  test("has the shape and order of the specification, with prices, and supports conditional requests", async () => {
    const answer = await bench.call("/v1/tools");
    const { object, data } = (await answer.json()) as { object: string; data: CapabilityEntry[] };
    expect(object).toBe("list");
    // Without LibreOffice, which few machines have, Python, which is off, and what this operator disables.
    expect(data.length).toBeGreaterThanOrEqual(89);
    for (const entry of data) {
      expect([entry.id, validate("CapabilityEntry", entry)]).toEqual([entry.id, null]);
      expect(Object.keys(entry).filter((name) => ["members", "rules", "engine"].includes(name))).toEqual([]);
      expect(entry.pricing?.currency).toBe("credits");
    }
    const order = ["video", "audio", "image", "document", "archive", "web", "code"];
    const categories = data.map(({ category }) => order.indexOf(category));
    expect(categories).toEqual(categories.toSorted((one, other) => one - other));
    for (const { params_schema, input_schema } of data) {
      expect([params_schema["$schema"], input_schema["$schema"]]).toEqual([DRAFT_07, DRAFT_07]);
    }
    expect(data.filter(({ composite }) => composite === true).map(({ id }) => id)).toContain("image.pipeline");
    const headers = { authorization: `Bearer ${bench.stack.key}`, "if-none-match": answer.headers.get("etag") ?? "" };
    expect((await fetch(`${bench.stack.baseUrls[0]}/v1/tools`, { headers })).status).toBe(304);
    expect(await errorOf(await bench.call("/v1/tools", undefined, "sk_nobody_has_this_key_at_all"))).toMatchObject({
      status: 401,
    });
  });

  test("is part of the models if rows of kind tool are requested", async () => {
    const rows = async (query: string): Promise<readonly ModelEntry[]> =>
      ((await (await bench.call(`/v1/models${query}`)).json()) as ModelList).data;
    const ids = async (query: string): Promise<readonly string[]> => (await rows(query)).map(({ id }) => id);
    for (const query of ["", "?include_tools=false", "?include_tools=0", "?include_tools="]) {
      expect(await ids(query)).not.toContain("image.resize");
    }
    // As Python's True and a form's 1 are sent.
    for (const yes of ["true", "True", "1"]) expect(await ids(`?include_tools=${yes}`)).toContain("image.resize");
    for (const { id, _svc } of await rows("?include_tools=true")) {
      expect([id, _svc.kind]).toEqual([id, /^[a-z]+\.[a-z_]+$/.test(id) ? "tool" : undefined]);
    }
  });
});

describe("a run", () => {
  test("waits for its result, which is a file of the workspace, and costs the measured time", async () => {
    const answer = await bench.run("image.resize", { input: PHOTO, params: { width: 300 } });
    const made = (await answer.json()) as RunAnswer;
    expect([answer.status, made]).toMatchObject([
      200,
      {
        object: "capability.run",
        capability: "image.resize",
        status: "completed",
        output: { width: 300, height: 200, format: "jpeg" },
        files: [{ content_type: "image/jpeg", name: "image.jpg" }],
        // 1200 × 800 pixels of the input, at 0.02 a megapixel.
        credits_used: 0.0192,
      },
    ]);
    expect(validate("CapabilityRun", made)).toBeNull();
    expect(answer.headers.get("x-credits-used")).toBe("0.0192");
    const facts = await sharp(await bench.bytes(made)).metadata();
    expect([facts.format, facts.width, facts.height]).toEqual(["jpeg", 300, 200]);
    expect(await usageOf(made.id)).toEqual([{ status: "succeeded", settled: 19_200_000n, units: { pixels: 960_000 } }]);
    expect((await bench.call(`/v1/files/${made.files[0]?.file_id}`)).status).toBe(200);
  }, 30_000);

  test("accepts a stored file, small and large base64, and text", async () => {
    const bytes = readFileSync("shared/calls/capabilities/samples/chart.png");
    const noise = { create: { width: 200, height: 200, channels: 3, background: "grey", noise: { type: "gaussian", mean: 128, sigma: 60 } } } as const; // prettier-ignore
    const large = await sharp(noise).png().toBuffer();
    const inputs = [
      { file_id: await upload(bytes, "chart.png") },
      { base64: bytes.toString("base64"), mime_type: "image/png" },
      { base64: large.toString("base64") },
    ];
    const sizes = await Promise.all(
      inputs.map(async (image) => (await bench.made("image.metadata", { input: { image } })).output["width"]),
    );
    expect(sizes).toEqual([640, 640, 200]);
    const { output } = await bench.made("code.format", {
      input: { code: { text: "a=1" } },
      params: { language: "javascript" },
    });
    expect(output).toEqual({ text: "a = 1;\n" });
  }, 30_000);

  test("accepts a zipped document without a type, and reads and renders a PDF, within the limits of its child", async () => {
    const letter = readFileSync("shared/calls/capabilities/samples/letter.docx").toString("base64");
    const { output } = await bench.made("document.extract_text", { input: { document: { base64: letter } } });
    expect(String(output["text"])).toContain("tea");
    const report = { document: { file_id: "file-sample-report" } };
    const made = await bench.made("document.render_pages", { input: report, params: { pages: "2", pack: "files" } });
    expect((await sharp(await bench.bytes(made)).metadata()).format).toBe("png");
    const zip = { document: { file_id: "file-sample-bundle" } };
    expect(await errorOf(await bench.run("document.extract_text", { input: zip }))).toMatchObject({
      code: "unprocessable_input",
      message: "Expected pdf, docx, xlsx, ods, html, md or txt, got application/zip.",
    });
  }, 30_000);

  test("creates an empty file from a sheet without rows, which is readable and can be the next input", async () => {
    for (const bookType of ["xlsx", "ods"] as const) {
      const book = utils.book_new();
      utils.book_append_sheet(book, utils.aoa_to_sheet([]), "Empty");
      utils.book_append_sheet(book, utils.aoa_to_sheet([["tea", 4]]), "Orders");
      const bytes = write(book, { type: "buffer", bookType }) as Buffer;
      const input = { document: { base64: bytes.toString("base64") } };
      const made = await bench.made("document.convert_spreadsheet", { input, params: { to: "csv" } });
      expect(made).toMatchObject({
        output: { sheets: [{ name: "Empty", rows: 0, columns: 0 }], sheet_names: ["Empty", "Orders"] },
        files: [{ content_type: "text/csv", bytes: 0, name: "sheet.csv" }],
      });
      expect(await bench.bytes(made)).toHaveLength(0);
      expect((await bench.call(`/v1/files/${made.files[0]?.file_id}/content`)).status).toBe(200);
      const document = { file_id: made.files[0]?.file_id };
      const again = await bench.made("document.convert_spreadsheet", { input: { document }, params: { to: "json" } });
      expect(Buffer.from(await bench.bytes(again)).toString()).toBe("[]\n");
    }
  }, 30_000);

  test("creates several files, which can be the next input, and costs its started tenths of a second", async () => {
    const tune = { audio: { file_id: "file-sample-tune" } };
    const made = await bench.made("audio.split", { input: tune, params: { by: "times", times: [1.8], pack: "files" } });
    expect(made).toMatchObject({ output: { parts: 2 }, files: [{ content_type: "audio/mpeg", name: "part-001.mp3" }, {}] }); // prettier-ignore
    const [{ settled, units } = {}] = await usageOf(made.id);
    const { milliseconds } = units as { milliseconds: number };
    expect([milliseconds > 0, milliseconds % 100, settled]).toEqual([true, 0, BigInt(milliseconds) * 10_000n]);
    const audio = { file_id: made.files[0]?.file_id };
    const { output, credits_used } = await bench.made("audio.probe", { input: { audio } });
    expect(output).toMatchObject({ codec: "mp3", sample_rate: 44_100, channels: 1 });
    expect(output["seconds"]).toBeCloseTo(1.8, 0);
    expect(credits_used).toBe(0.02);
  }, 30_000);

  test("is a job on request, with the same result", async () => {
    const answer = await bench.run("image.resize", { input: PHOTO, params: { width: 64, format: "png" }, async: true });
    expect(answer.status).toBe(202);
    const { id } = (await answer.json()) as Job;
    const job = await eventually("it is done", async () => {
      const found = await jobOf(id);
      return found.status === "completed" && found;
    });
    expect(job).toMatchObject({
      object: "job",
      modality: "image",
      model: "image.resize",
      progress: 1,
      credits_used: 0.0192,
    });
    expect(job.data).toMatchObject([
      { object: "capability.run", output: { width: 64, format: "png" }, files: [{ content_type: "image/png" }] },
    ]);
  }, 30_000);

  test("is estimated without a hold or a charge, at least at its cost", async () => {
    const body = { input: PHOTO, params: { width: 300 } };
    const estimate = (await (await bench.call("/v1/capabilities/image.resize/estimate", body)).json()) as {
      max_credits: number;
    };
    expect(validate("CapabilityEstimate", estimate)).toBeNull();
    expect(estimate.max_credits).toBeGreaterThanOrEqual((await bench.made("image.resize", body)).credits_used);
  }, 30_000);

  test("that is cancelled ends, and costs nothing", async () => {
    const answer = await bench.run("code.run_javascript", { input: ENDLESS, params: { timeout: 5 }, async: true });
    const { id } = (await answer.json()) as Job;
    await eventually("it runs", async () => (await jobOf(id)).status === "processing");
    await bench.call(`/v1/images/jobs/${id}/cancel`, {});
    await eventually("it has ended", async () => (await jobOf(id)).status === "cancelled");
    expect(await usageOf(id)).toMatchObject([{ status: "cancelled", settled: 0n }]);
  }, 30_000);

  test("over NATS is run, stored, charged and answered", async () => {
    const workspace = await createWorkspace(bench.stack, { creditsNano: 100_000_000_000n });
    const publisher = await openPublisher(bench.stack.natsUrl, workspace);
    try {
      const endpoint = "/v1/capabilities/{id}/run";
      const ask = async (params: object) => {
        const key = newId();
        await publisher.submit(
          { endpoint, capability: "image.resize", body: { input: PHOTO, params } },
          { key, pool: "capability" },
        );
        return publisher.ended(key, 20_000);
      };
      expect(await ask({ width: 30 })).toMatchObject({
        status: "completed",
        result: { capability: "image.resize", output: { width: 30 } },
      });
      expect(await ask({})).toMatchObject({
        status: "refused",
        error: { code: "invalid_request", param: "params.width" },
      });
    } finally {
      await publisher.close();
    }
  }, 30_000);
});

describe("nothing is run or charged for", () => {
  const image = (given: object) => ({ input: { image: given }, params: { width: 3 } });
  test.each<[string, string, object, object]>([
    ["a capability that is not there", "image.nothing", image({}), { status: 404, code: "capability_not_found" }],
    [
      "a body without an input",
      "image.resize",
      { params: { width: 3 } },
      { status: 400, code: "missing_required_parameter", param: "input" },
    ],
    [
      "an input that is not asked for",
      "image.resize",
      { input: { ...PHOTO, other: {} }, params: { width: 3 } },
      { status: 400, code: "unknown_parameter", param: "input.other" },
    ],
    [
      "a param out of bounds",
      "image.resize",
      { input: PHOTO, params: { width: 0 } },
      { status: 400, code: "unsupported_value", param: "params.width" },
    ],
    [
      "a private address",
      "image.resize",
      image({ url: "http://127.0.0.1:1/a.png" }),
      { status: 400, code: "unsafe_url", param: "input.image.url" },
    ],
    [
      "a file that is not there",
      "image.resize",
      image({ file_id: "file-0123456789abcdef0123456789abcdef" }),
      { status: 404, code: "file_not_found", param: "input.image.file_id" },
    ],
    [
      "bytes that are no image",
      "image.resize",
      image({ base64: "aGVsbG8gdGhlcmU=" }),
      { status: 422, code: "unprocessable_input", param: "input.image" },
    ],
    [
      "audio in a container that is not taken",
      "audio.convert",
      {
        input: { audio: { base64: Buffer.from(`MAC \u0096\u000f${"\0".repeat(90)}`).toString("base64") } },
        params: { format: "mp3" },
      },
      {
        status: 422,
        code: "unprocessable_input",
        param: "input.audio",
        message:
          "Expected input.audio to be audio in mp3, m4a, aac, ogg, opus, flac, wav, aiff, caf, ac3, eac3, or the sound of mp4, mov, webm, mkv, avi, flv or ts, got audio/ape.",
      },
    ],
    [
      "a picture in a format that is not taken",
      "image.resize",
      image({ base64: Buffer.from(`8BPS\0\u0001${"\0".repeat(90)}`).toString("base64") }),
      {
        status: 422,
        message:
          "Expected input.image to be an image in jpeg, png, webp, avif, gif, tiff or bmp, got image/vnd.adobe.photoshop.",
      },
    ],
    [
      "words for base64",
      "image.resize",
      image({ base64: "not base64!" }),
      { status: 422, code: "unprocessable_input", param: "input.image.base64" },
    ],
    [
      "an image that is cut",
      "image.resize",
      image({ base64: readFileSync("shared/calls/capabilities/samples/chart.png").subarray(0, 90).toString("base64") }),
      { status: 422, code: "unprocessable_input" },
    ],
    [
      "a box outside the image",
      "image.crop",
      { input: PHOTO, params: { x: 5_000 } },
      { status: 400, code: "invalid_request" },
    ],
  ])(
    "%s",
    async (_what, id, body, expected) => {
      const answer = await bench.run(id, body);
      expect(await errorOf(answer)).toMatchObject(expected);
      const usage = await usageOf(answer.headers.get("x-request-id") ?? "");
      for (const row of usage) expect(row).toMatchObject({ settled: 0n });
    },
    30_000,
  );

  test("another workspace's file, which does not exist", async () => {
    const fileId = await upload(readFileSync("shared/calls/capabilities/samples/chart.png"), "chart.png");
    const rich = await createWorkspace(bench.stack, { creditsNano: 100_000_000_000n });
    expect(
      await errorOf(await bench.run("image.metadata", { input: { image: { file_id: fileId } } }, rich.key)),
    ).toMatchObject({ code: "file_not_found" });
  });

  test("a workspace without credits for its most expensive run", async () => {
    expect(
      await errorOf(await bench.run("image.resize", { input: PHOTO, params: { width: 3 } }, poor.key)),
    ).toMatchObject({ status: 402 });
  });
});

test("a run whose child is killed restarts in a new one", async () => {
  const id = await beginEndless(bench);
  const [worker] = bench.stack.workers;
  const child = await eventually("a child stands in its folder", async () => childrenAtWork(worker?.pid)[0]);
  process.kill(child, "SIGKILL");
  // The script never ends, so each child refuses it alike.
  expect((await endOf(bench, id)).error).toMatchObject({ code: "unprocessable_input" });
  expect((await bench.stack.query("select claims from job where id = $1", [id]))[0]).toMatchObject({ claims: 1 });
  expect(worker?.logs().filter((line) => line.includes(id) && line.includes("the run restarts")).length).toBe(1);
}, 60_000);
