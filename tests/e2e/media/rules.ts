/**
 * The rules that a model may have, each on a test model: what is refused before anything is billed, and what a call of each
 * unit of price settles at, to the nano-credit, as its estimate said.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import type { Estimate, Job, MediaResults, ModelEntry } from "#schemas/generated/types.ts";
import { readImageHeader } from "#shared/media/image-header.ts";
import { rowsOf } from "#tests/e2e/test-models-guide.ts";
import { eventually } from "#tests/faults/wait.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { pngOf } from "#tests/support/png.ts";
import { hostileFiles } from "#tests/support/hostile-files/corpus.ts";
import { documentOf, packedDocumentOf } from "#tests/support/hostile-files/documents.ts";

import { type Bench, CREDIT, errorOf } from "./bench.ts";
import { benchOfNewWorkspace } from "./shared-bench.ts";

const GENERATIONS = "/v1/images/generations";
const EDITS = "/v1/images/edits";
const SPEECH = "/v1/audio/speech";
const VIDEOS = "/v1/videos/generations";
const CHAT = "/v1/chat/completions";

const PICTURE = pngOf(64, 48).toString("base64");
const SHOWN = { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } };

let bench: Bench;
/** A video of the sandbox as a stored file. */
let footage: string;

beforeAll(async () => {
  bench = await benchOfNewWorkspace();
  const begun = await bench.call(VIDEOS, { model: "sandbox-video", prompt: "a hill", duration: 1, resolution: "240p" });
  const { data } = await bench.endOf(((await begun.json()) as Job).id);
  footage = String(data?.[0]?.["file_id"]);
}, 60_000);

function asked(...content: readonly object[]): object {
  return { messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...content] }], max_tokens: 20 };
}

function pdf(document: Buffer, type = "application/pdf"): object {
  const url = `data:${type};base64,${document.toString("base64")}`;
  return { type: "file", file: { filename: "a.pdf", file_data: url } };
}

const PDF = pdf(documentOf(1));

const LARGE_PDF = Buffer.concat([documentOf(1), Buffer.alloc(65_536, " ")]);
const LARGE_PICTURE = Buffer.concat([pngOf(4, 4), Buffer.alloc(1_048_576)]).toString("base64");

type Refusal = readonly [what: string, path: string, body: object, code: string, param: string];

const REFUSED: readonly Refusal[] = [
  ["a voice that is not described", SPEECH, { model: "sandbox-tts-designed", input: "Hello" }, "missing_required_parameter", "instructions"], // prettier-ignore
  ["a voice described by nothing", SPEECH, { model: "sandbox-tts-designed", input: "Hello", instructions: " " }, "missing_required_parameter", "instructions"], // prettier-ignore
  ["an edit without the strength it needs", EDITS, { model: "sandbox-image-redraw", prompt: "rain", image_base64: PICTURE }, "missing_required_parameter", "strength"], // prettier-ignore
  ["a picture of words by a model that changes pictures", GENERATIONS, { model: "sandbox-image-redraw", prompt: "rain" }, "model_not_supported", "model"], // prettier-ignore
  ["an edit by a model that takes no pictures", EDITS, { model: "sandbox-image-megapixels", prompt: "rain", image_base64: PICTURE }, "edit_not_supported", "model"], // prettier-ignore
  ["an upscale of nothing", EDITS, { model: "sandbox-upscale", prompt: "larger" }, "missing_required_parameter", "image_base64"], // prettier-ignore
  ["a picture of words by an upscaler", GENERATIONS, { model: "sandbox-upscale", prompt: "rain" }, "model_not_supported", "model"], // prettier-ignore
  ["an edit by a model that only looks", EDITS, { model: "sandbox-vision", prompt: "rain", image_base64: PICTURE }, "model_not_supported", "model"], // prettier-ignore
  ["a question about no picture", CHAT, { model: "sandbox-vision", ...asked() }, "missing_required_parameter", "messages"], // prettier-ignore
  ["a question about sound, of a model that looks", CHAT, { model: "sandbox-vision", ...asked(SHOWN, { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }) }, "audio_not_supported_by_model", "messages[0].content[2]"], // prettier-ignore
  ["a question about a picture that is too large", CHAT, { model: "sandbox-vision", ...asked({ type: "image_url", image_url: { url: `data:image/png;base64,${LARGE_PICTURE}` } }) }, "unsupported_value", "messages[0].content[1].image_url.url"], // prettier-ignore
  ["a video of no video", VIDEOS, { model: "sandbox-video-restyle", prompt: "as a drawing" }, "missing_required_parameter", "video_url"], // prettier-ignore
  ["a transcription of no sound", "/v1/audio/transcriptions", { model: "sandbox-stt" }, "missing_required_parameter", "file"], // prettier-ignore
  ["people of a kind that no model knows", GENERATIONS, { model: "sandbox-image-tiers", prompt: "rain", person_generation: "everybody" }, "unsupported_value", "person_generation"], // prettier-ignore
  ["people that this model makes not", GENERATIONS, { model: "sandbox-image-tiers", prompt: "rain", person_generation: "allow_all" }, "unsupported_value", "person_generation"], // prettier-ignore
  ["people in an edit that no model knows", EDITS, { model: "sandbox-image-redraw", prompt: "rain", image_base64: PICTURE, strength: 0.5, person_generation: "everybody" }, "unsupported_value", "person_generation"], // prettier-ignore
  ["people in an edit that this model makes not", EDITS, { model: "sandbox-image-tiers", prompt: "rain", image_base64: PICTURE, person_generation: "allow_all" }, "unsupported_value", "person_generation"], // prettier-ignore
  ["a quality that the model has not", GENERATIONS, { model: "sandbox-image-tiers", prompt: "rain", quality: "low" }, "unsupported_value", "quality"], // prettier-ignore
  ["a quality of an edit that the model has not", EDITS, { model: "sandbox-image-tiers", prompt: "rain", image_base64: PICTURE, quality: "low" }, "unsupported_value", "quality"], // prettier-ignore
  ["a label of size that the model has not", EDITS, { model: "sandbox-image-tiers", prompt: "rain", image_base64: PICTURE, image_size: "4K" }, "unsupported_value", "image_size"], // prettier-ignore
  ["more steps than a hundred", GENERATIONS, { model: "sandbox-image-megapixels", prompt: "rain", steps: 101 }, "unsupported_value", "steps"], // prettier-ignore
  ["more files than the model takes", CHAT, { model: "sandbox-documents", ...asked(PDF, PDF, PDF) }, "unsupported_value", "messages[0].content[3]"], // prettier-ignore
  ["a larger PDF than the model takes", CHAT, { model: "sandbox-documents", ...asked(pdf(LARGE_PDF)) }, "unsupported_value", "messages[0].content[1].file.file_data"], // prettier-ignore
];

interface Paid {
  readonly what: string;
  readonly path: string;
  readonly body: () => object;
  readonly credits: string;
  readonly units: Readonly<Record<string, number>>;
  /** Header of the picture that the call returns, for a row that checks the picture. */
  readonly picture?: object;
}

const redrawn = { model: "sandbox-image-redraw", prompt: "rain", image_base64: PICTURE };
const tiers = { model: "sandbox-image-tiers", prompt: "rain" };
const changed = { ...tiers, image_base64: PICTURE };
const extended = { model: "sandbox-image-extend", prompt: "rain" };
const measured = { model: "sandbox-image-megapixels", prompt: "rain" };
const one = { images: 1 };

const row = (
  what: string,
  path: string,
  body: object,
  credits: string,
  units: Paid["units"],
  picture?: object,
): Paid => ({
  what,
  path,
  body: () => (picture ? { ...body, response_format: "b64_json" } : body),
  credits,
  units,
  ...(picture && { picture }),
});

const PAID: readonly Paid[] = [
  row("per_image: two pictures", GENERATIONS, { model: "sandbox-image", prompt: "rain", size: "256x256", n: 2 }, "4", { images: 2 }), // prettier-ignore
  row("quality: the usual one", GENERATIONS, { ...tiers, size: "256x256", quality: "standard" }, "4", one),
  row("quality: the dearer one", GENERATIONS, { ...tiers, size: "256x256", quality: "high" }, "8", one),
  row("image_size: the larger label", GENERATIONS, { ...tiers, image_size: "2K" }, "6", one, { width: 2_048 }),
  row("image_size: without effect beside a size", GENERATIONS, { ...tiers, image_size: "2K", size: "256x256" }, "4", one), // prettier-ignore
  row("quality and image_size: both", GENERATIONS, { ...tiers, image_size: "2K", quality: "high" }, "12", one),
  row("quality of an edit", EDITS, { ...changed, quality: "high", person_generation: "allow_adult" }, "8", one),
  row("image_size of an edit", EDITS, { ...changed, image_size: "2K" }, "6", one),
  row("prompt_extend: absent", GENERATIONS, extended, "3", one),
  row("prompt_extend: true", GENERATIONS, { ...extended, prompt_extend: true }, "3", one),
  row("prompt_extend: false", GENERATIONS, { ...extended, prompt_extend: false }, "2", one),
  row("prompt_extend of an edit: false", EDITS, { ...extended, image_base64: PICTURE, prompt_extend: false }, "2", one), // prettier-ignore
  row("per_megapixel: at the usual steps", GENERATIONS, measured, "1", { images: 1, pixels: 100_000, steps: 20 }),
  row("per_megapixel: half as many steps", GENERATIONS, { ...measured, steps: 10 }, "1", { images: 1, pixels: 100_000, steps: 10 }), // prettier-ignore
  row("per_megapixel: half as many steps again", GENERATIONS, { ...measured, steps: 30, size: "256x256", n: 2 }, "1.96608", { images: 2, pixels: 131_072, steps: 30 }), // prettier-ignore
  row("strength: given", EDITS, { ...redrawn, strength: 0.5 }, "5", one),
  row("strength: brought into the range", EDITS, { ...redrawn, strength: 7 }, "5", one),
  row("per_operation: an upscale", EDITS, { model: "sandbox-upscale", prompt: "larger", image_base64: PICTURE }, "1.5", one, { format: "PNG", width: 128, height: 96 }), // prettier-ignore
  row("per_character: a voice by its description", SPEECH, { model: "sandbox-tts-designed", input: "Grüße 👋", instructions: "calm" }, "0.014", { characters: 7 }), // prettier-ignore
  row("per_minute: music", "/v1/music/generations", { model: "sandbox-music", prompt: "a waltz", duration: 3, output_format: "wav" }, "0.3", { seconds: 3 }), // prettier-ignore
  row("per_minute: a transcription", "/v1/audio/transcriptions", { model: "sandbox-stt", audio_base64: wavOf(6).toString("base64") }, "0.05", { seconds: 6 }), // prettier-ignore
  {
    what: "per_second: a video of a video, of the default length",
    path: VIDEOS,
    body: () => ({ model: "sandbox-video-restyle", prompt: "as a drawing", video_file_id: footage }),
    credits: "3",
    units: { seconds: 1 },
  },
];

/** The one usage record of a call, once it is settled. */
async function settled(response: Response): Promise<{ settled: bigint; units: Readonly<Record<string, number>> }> {
  const [record] = await eventually("its usage record", async () => {
    const rows = await bench.usageOf(response);
    return rows.length > 0 && rows;
  });
  if (record?.status !== "succeeded") throw new Error(`expected a call that succeeded, got ${record?.status}`);
  return { settled: record.settled, units: record.units };
}

async function estimateOf({ model, ...rest }: { readonly model: string }): Promise<Estimate> {
  const response = await bench.call(`/v1/models/${model}/estimate`, rest);
  expect(response.status).toBe(200);
  return (await response.json()) as Estimate;
}

function nanoOf(credits: string): bigint {
  return BigInt(Math.round(Number(credits) * Number(CREDIT)));
}

describe("rejected without a hold or a charge:", () => {
  test.each(REFUSED)("%s", async (_what, path, body, code, param) => {
    const response = await bench.call(path, body);
    const id = response.headers.get("x-request-id") ?? "";
    expect(await errorOf(response)).toMatchObject({ status: 400, code, param });
    expect(await bench.usageOf(id)).toEqual([]);
    expect(await bench.stack.query("select 1 from hold where job_id = $1", [id])).toEqual([]);
  });
});

describe("a call settles at its estimate", () => {
  test.each(PAID)("$what", async ({ path, body, credits, units, picture }) => {
    const asked = body() as { readonly model: string };
    const { estimated_credits, max_credits } = await estimateOf(asked);
    expect([estimated_credits, max_credits]).toEqual([Number(credits), Number(credits)]);
    const response = await bench.call(path, asked);
    expect(response.status).toBe(200);
    const bytes = await response.arrayBuffer();
    if (picture) {
      const { data } = JSON.parse(Buffer.from(bytes).toString()) as MediaResults;
      expect(readImageHeader(Buffer.from(String(data[0]?.b64_json), "base64"))).toMatchObject(picture);
    }
    expect(await settled(response)).toEqual({ settled: nanoOf(credits), units });
  });

  test("per_request: a question about an image, regardless of its usage", async () => {
    const body = { model: "sandbox-vision", ...asked(SHOWN) };
    expect(await estimateOf(body)).toMatchObject({ unit: "per_request", estimated_credits: 0.5, max_credits: 0.5 });
    const response = await bench.call(CHAT, body);
    expect([response.status, response.headers.get("x-credits-used")]).toEqual([200, "0.5"]);
    expect((await settled(response)).settled).toBe(CREDIT / 2n);
  });

  test("per_token: by its reported tokens", async () => {
    const body = { model: "sandbox-embed", input: "How many legs has a spider?" };
    const { estimated_credits } = await estimateOf(body);
    const response = await bench.call("/v1/embeddings", body);
    const { usage } = (await response.json()) as { usage: { total_tokens: number } };
    expect(usage.total_tokens).toBeGreaterThan(0);
    const { settled: nano } = await settled(response);
    expect([nano, nanoOf(String(estimated_credits))]).toEqual(Array(2).fill(2_000n * BigInt(usage.total_tokens)));
  });
});

describe("a document is accepted by a model with a page limit", () => {
  const send = (...parts: readonly object[]) => bench.call(CHAT, { model: "sandbox-documents", ...asked(...parts) });
  const stored = async (document: Buffer): Promise<object> => {
    const file = new File([Uint8Array.from(document)], "a.pdf", { type: "application/pdf" });
    const { id } = await bench.client.files.create({ file, purpose: "user_data" });
    return { type: "file", file: { file_id: id } };
  };
  const [inline, byId] = ["file.file_data", "file.file_id"].map((name) => `messages[0].content[1].${name}`);

  test("if it has at most that many pages, inline or stored", async () => {
    const response = await send(pdf(packedDocumentOf(3)), await stored(documentOf(3)));
    expect(response.status).toBe(200);
    expect((await settled(response)).settled).toBeGreaterThan(0n);
  });

  const lies = ["a PDF of nothing", "a PDF whose pages hold themselves", "a PDF that claims endless pages"];
  const uncounted = [
    ...hostileFiles("disguise").filter(([name]) => name !== "nothing"),
    ...hostileFiles("document").filter(([name]) => lies.includes(name)),
  ];

  test.each<readonly [string, () => object | Promise<object>, string | undefined, string]>([
    ["with one page more", () => pdf(documentOf(4)), inline, "unsupported_value"],
    ["with one page more, packed", () => pdf(packedDocumentOf(4)), inline, "unsupported_value"],
    ["with one page more under another type", () => pdf(documentOf(4), "text/plain"), inline, "unsupported_value"],
    ["too large under another type", () => pdf(LARGE_PDF, "text/plain"), inline, "unsupported_value"],
    ["with one page more, stored", () => stored(documentOf(4)), byId, "unsupported_value"],
    ["whose pages cannot be counted", () => pdf(documentOf(0)), inline, "unprocessable_input"],
    ["that is none", () => pdf(Buffer.from("hello")), inline, "unprocessable_input"],
    ...uncounted.map(
      ([name, make]) =>
        [`that is ${name}`, async () => pdf(Buffer.from(await make())), inline, "unprocessable_input"] as const,
    ),
  ])("and a document %s is rejected without a charge", async (_what, part, param, code) => {
    const response = await send(await part());
    const status = code === "unprocessable_input" ? 422 : 400;
    expect(await errorOf(response)).toMatchObject({ status, code, param });
    const records = await eventually("its usage record", async () => {
      const rows = await bench.usageOf(response);
      return rows.length > 0 && rows;
    });
    expect(records).toMatchObject([{ status: "failed", settled: 0n }]);
  });
});

test("each unit of price and each modality of the contract exists on a sandbox model", async () => {
  const { data } = (await (await bench.call("/v1/models")).json()) as { data: ModelEntry[] };
  const own = data.filter(({ owned_by }) => owned_by === "sandbox").map(({ _svc }) => _svc);
  expect(new Set(own.map(({ pricing }) => pricing.unit)).size).toBe(8);
  expect(new Set(own.map(({ modality }) => modality)).size).toBe(10);
});

test("each test model of the guide's rules is called here", () => {
  const called = [...REFUSED.map(([, , body]) => body), ...PAID.map(({ body }) => body())].map(
    (body) => (body as { readonly model: string }).model,
  );
  expect(rowsOf("Rules").filter(({ model }) => !called.includes(model))).toEqual([]);
  expect(rowsOf("Rules").length).toBeGreaterThan(0);
});
