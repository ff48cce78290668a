/**
 * The calls of `npm run demo`, in order. Each one uses the stock `openai` package: methods of the SDK where it has one, and
 * `sluice.post(…)` for the endpoints that only Sluice has. Copy what you need and replace `model`.
 */
import { setTimeout as delay } from "node:timers/promises";

import OpenAI, { toFile } from "openai";
import sharp from "sharp";

import type {
  CapabilityRun,
  Job,
  Key,
  MediaResults,
  Message,
  UsageRequest,
  WorkflowRun,
  WorkflowTemplateList,
} from "#schemas/generated/types.ts";
import { parseCredits } from "#shared/base/money.ts";

/** Result of a call that succeeded. */
export interface CallResult {
  /** Cost of the call, in nano-credits. */
  readonly cost: bigint;
  /** Contents by file name; the runner writes them to the output folder. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Id of the main result in Sluice's file store, if a later call uses it. */
  readonly fileId?: string;
}

interface Context {
  readonly sluice: OpenAI;
  /** Model, capability or workflow template to call: the default of the call, or the value of `--model`. */
  readonly model: string;
  /** Returns the result of an earlier call. @throws Error if that call failed */
  readonly resultOf: (name: string) => CallResult;
}

export interface Call {
  readonly model: string;
  readonly run: (context: Context) => Promise<CallResult>;
}

/** Timeout of a video call, in milliseconds. The slowest video models take about ten minutes. */
const VIDEO_TIMEOUT_MS = 20 * 60_000;
/**
 * Maximum wait for a usage record, in milliseconds. The record appears when the call is settled, possibly after the last byte of a stream.
 */
const RECORD_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 500;

/** Demo calls by name. `--model` accepts these names. */
export const CALLS: Readonly<Record<string, Call>> = {
  chat: call("sandbox-chat", async ({ sluice, model }) => {
    const content = "Write three sentences about a lighthouse in a storm, for a child.";
    const { data: stream, response } = await sluice.chat.completions
      .create({ model, messages: [{ role: "user", content }], stream: true })
      .withResponse();
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return { cost: await recordedCost(sluice, response), files: { "chat.txt": text } };
  }),

  // Anthropic's Messages API. Anthropic's own SDK works too: set its base URL to the one of Sluice without /v1.
  messages: call("sandbox-chat", async ({ sluice, model }) => {
    const content = "Name one thing to pack for a night at sea, and say why.";
    const body = { model, max_tokens: 300, messages: [{ role: "user", content }] };
    const { data, response } = await sluice.post<Message>("/messages", { body }).withResponse();
    const text = data.content.map((block) => ("text" in block ? block.text : "")).join("");
    return { cost: costOf(response), files: { "messages.txt": text } };
  }),

  embeddings: call("sandbox-embed", async ({ sluice, model }) => {
    const input = ["A dog sleeps by the fire.", "A puppy naps by the oven.", "The bank raised its interest rates."];
    const { data, response } = await sluice.embeddings
      .create({ model, input, encoding_format: "float" })
      .withResponse();
    const vectors = data.data.map(({ embedding }) => embedding);
    return { cost: costOf(response), files: { "embeddings.json": json({ input, vectors }) } };
  }),

  // Uploads a file, asks a chat model about it, and downloads it again.
  file: call("sandbox-chat", async ({ sluice, model }) => {
    const log = "Keeper's log: lamp lit at nine, wind from the north at midnight, two ships passed.\n";
    const file = await toFile(Buffer.from(log), "keepers-log.txt");
    const { id } = await sluice.files.create({ file, purpose: "user_data" });
    const content = [
      { type: "text" as const, text: "What does this file say?" },
      { type: "file" as const, file: { file_id: id } },
    ];
    const { data, response } = await sluice.chat.completions
      .create({ model, messages: [{ role: "user", content }] })
      .withResponse();
    const answer = data.choices[0]?.message.content ?? "";
    const files = { "file-answer.txt": answer, "keepers-log.txt": await download(sluice, id) };
    return { cost: costOf(response), files };
  }),

  image: call("sandbox-image", async ({ sluice, model }) => {
    const prompt = "a lighthouse by the sea at sunset";
    const { data, response } = await sluice.images
      .generate({ model, prompt, size: "1024x1024", response_format: "b64_json" })
      .withResponse();
    const bytes = Buffer.from(data.data?.[0]?.b64_json ?? "", "base64");
    return { cost: costOf(response), files: { [await imageName("image", bytes)]: bytes } };
  }),

  // Repaints the transparent part of the mask. `images.edit` of the SDK sends a form, and Sluice takes JSON.
  "image-edit": call("sandbox-image", async ({ sluice, model, resultOf }) => {
    const image = firstFile(resultOf("image"));
    const mask = await maskFor(image);
    const [image_base64, mask_base64] = [image, mask].map((bytes) => Buffer.from(bytes).toString("base64"));
    const body = { model, prompt: "add a red hot air balloon", image_base64, mask_base64, strength: 1 };
    const { cost, bytes } = await generate(sluice, "/images/edits", body);
    return { cost, files: { [await imageName("image-edit", bytes)]: bytes, "image-edit-mask.png": mask } };
  }),

  speech: call("sandbox-tts", async ({ sluice, model }) => {
    const input = "Good evening. The lamp is lit, the sea is calm, and every ship will find its way home tonight.";
    const response = await sluice.audio.speech.create({ model, input, voice: "nova", response_format: "mp3" });
    return { cost: costOf(response), files: { "speech.mp3": new Uint8Array(await response.arrayBuffer()) } };
  }),

  transcription: call("sandbox-stt", async ({ sluice, model, resultOf }) => {
    const file = await toFile(firstFile(resultOf("speech")), "speech.mp3");
    const { data, response } = await sluice.audio.transcriptions.create({ model, file }).withResponse();
    return { cost: costOf(response), files: { "transcription.txt": data.text } };
  }),

  music: call("sandbox-music", async ({ sluice, model }) => {
    const body = { model, prompt: "a calm waltz for piano and strings", duration: 15, output_format: "mp3" };
    const { cost, bytes } = await generate(sluice, "/music/generations", body);
    return { cost, files: { "music.mp3": bytes } };
  }),

  // A video is a job: the first response has its id, and the job is polled until it has ended.
  video: call("sandbox-video", async ({ sluice, model }) => {
    const body = { model, prompt: "a sailing boat passes a lighthouse at sunset", duration: 4, resolution: "720p" };
    let job = await sluice.post<Job>("/videos/generations", { body });
    const deadline = Date.now() + VIDEO_TIMEOUT_MS;
    while (job.status === "queued" || job.status === "processing") {
      if (Date.now() > deadline) throw new Error(`Job ${job.id} is still ${job.status} after 20 minutes.`);
      await delay(POLL_INTERVAL_MS);
      job = await sluice.get<Job>(`/videos/generations/${job.id}`);
    }
    const fileId = job.data?.[0]?.["file_id"];
    if (typeof fileId !== "string") throw new Error([job.status, job.error?.code, job.error?.message].join(" "));
    return { cost: parseCredits(String(job.credits_used)), files: { "video.mp4": await download(sluice, fileId) } };
  }),

  "3d": call("sandbox-3d", async ({ sluice, model }) => {
    const { cost, bytes, fileId } = await generate(sluice, "/3d/generations", { model, prompt: "a blue vase" });
    return { cost, files: { "3d.glb": bytes }, fileId };
  }),

  // Adds a skeleton to the mesh of the call before.
  "3d-transform": call("sandbox-3d-rig", async ({ sluice, model, resultOf }) => {
    const body = { model, prompt: "a blue vase", mesh_file_id: resultOf("3d").fileId };
    const { cost, bytes } = await generate(sluice, "/3d/generations", body);
    return { cost, files: { "3d-transform.glb": bytes } };
  }),

  // One capability of each category. `GET /v1/tools` lists all of them. The sample files exist in every workspace.
  "video-tool": capability("video.trim", "clip.webm", {
    input: { video: { file_id: "file-sample-clip" } },
    params: { duration: 1, format: "webm" },
  }),
  "audio-tool": capability("audio.waveform", "waveform.png", { input: { audio: { file_id: "file-sample-tune" } } }),
  "image-tool": capability("image.watermark", "watermark.jpg", {
    input: { image: { file_id: "file-sample-photo" } },
    params: { text: "Sluice", scale: 30 },
  }),
  "document-tool": capability("document.markdown_to_pdf", "log.pdf", {
    input: { markdown: { text: "# Keeper's log\n\nThe lamp is lit, **all ships** are home.\n" } },
  }),
  "archive-tool": capability("archive.list", "archive.json", { input: { archive: { file_id: "file-sample-bundle" } } }),
  "web-tool": capability("web.to_markdown", "page.json", { input: { url: "https://example.com/" } }),
  "code-tool": capability("code.format", "code.json", {
    input: { code: { text: "const lamp = { lit: true };\nif (lamp.lit) greet('home');\n" } },
    params: { language: "javascript" },
  }),

  // Runs a stored example: a script, pictures and speech become a narrated video.
  workflow: call("article-to-video", async ({ sluice, model }) => {
    const { data: templates } = await sluice.get<WorkflowTemplateList>("/workflows/templates");
    const template = templates.find(({ id }) => id === model);
    if (!template) throw new Error(`There is no workflow template "${model}".`);
    const body = { definition: template.definition, input: template.input };
    const { data: run, response } = await sluice.post<WorkflowRun>("/pipelines/runs", { body }).withResponse();
    if (run.status !== "succeeded") throw new Error(run.error?.message ?? `The run has status ${run.status}.`);
    const { video } = run.output as { readonly video: string };
    return { cost: costOf(response), files: { "narrated.mp4": await download(sluice, video) } };
  }),
};

function call(model: string, run: Call["run"]): Call {
  return { model, run };
}

/** Returns a demo call that runs a capability. The call saves the file that the capability made, or its JSON output if there is no file. */
function capability(id: string, file: string, body: { readonly input: object; readonly params?: object }): Call {
  return call(id, async ({ sluice, model }) => {
    const { data, response } = await sluice.post<CapabilityRun>(`/capabilities/${model}/run`, { body }).withResponse();
    const [generatedFile] = data.files;
    const content = generatedFile === undefined ? json(data.output) : await download(sluice, generatedFile.file_id);
    return { cost: costOf(response), files: { [file]: content } };
  });
}

/** Calls an endpoint that creates media, and downloads its first result. */
async function generate(sluice: OpenAI, path: string, body: object) {
  const { data, response } = await sluice.post<MediaResults>(path, { body }).withResponse();
  const fileId = data.data[0]?.file_id;
  if (fileId === undefined) throw new Error("The response contains no file.");
  return { cost: costOf(response), fileId, bytes: await download(sluice, fileId) };
}

async function download(sluice: OpenAI, fileId: string): Promise<Uint8Array> {
  const response = await sluice.files.content(fileId);
  return new Uint8Array(await response.arrayBuffer());
}

/** Returns the cost of a call in nano-credits, from the response header `x-credits-used`. */
function costOf({ headers }: Pick<Response, "headers">): bigint {
  const credits = headers.get("x-credits-used");
  if (credits === null) throw new Error("The response has no header x-credits-used.");
  return parseCredits(credits);
}

/** Returns the cost of a streamed call, from its usage record. The headers of a stream are sent before the cost is known. */
async function recordedCost(sluice: OpenAI, { headers }: Pick<Response, "headers">): Promise<bigint> {
  const { workspace } = await sluice.get<Key>("/key");
  const records = new URL(`/workspaces/${workspace.id}/usage/requests/`, sluice.baseURL);
  const record = new URL(headers.get("x-request-id") ?? "", records).href;
  for (const deadline = Date.now() + RECORD_TIMEOUT_MS; ; await delay(POLL_INTERVAL_MS)) {
    try {
      return parseCredits(String((await sluice.get<UsageRequest>(record)).credits));
    } catch (error) {
      if (!(error instanceof OpenAI.NotFoundError) || Date.now() > deadline) throw error;
    }
  }
}

function firstFile({ files }: CallResult): Uint8Array {
  const [content = ""] = Object.values(files);
  return Buffer.from(content);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Returns a file name with the extension of the image's format, because some models choose the format themselves. */
async function imageName(name: string, bytes: Uint8Array): Promise<string> {
  const { format } = await sharp(bytes).metadata();
  return `${name}.${format === "jpeg" ? "jpg" : format}`;
}

/** Makes a grey mask with a transparent rectangle at the top left, which the edit repaints. */
async function maskFor(image: Uint8Array): Promise<Uint8Array> {
  const { width, height } = await sharp(image).metadata();
  const shape = `<path d="M0 0H16V16H0ZM1 1V5H7V1Z" fill="#777" shape-rendering="crispEdges"/>`;
  const svg = `<svg width="${width}" height="${height}" viewBox="0 0 16 16" preserveAspectRatio="none">${shape}</svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}
