/** The calls of the demonstration, in order: later ones go by what earlier ones made. */
import { setTimeout as delay } from "node:timers/promises";

import OpenAI, { toFile } from "openai";
import sharp from "sharp";

import type { CapabilityRun, Job, MediaResults, WorkflowRun, WorkflowTemplateList } from "#schemas/generated/types.ts";
import { parsePrice, priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { parseCredits } from "#shared/money.ts";

import { type Client, reasonOf, type Receipt, receiptOf } from "./client.ts";

export interface Artifact {
  /** Name within the results' folder. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Words below it on the page, where the call's text does not say them. */
  readonly caption?: string;
}

export interface Outcome {
  readonly receipt: Receipt;
  readonly artifacts: readonly Artifact[];
  /** In the file store, for a later call to go by. */
  readonly fileId?: string;
  /** Text about it on the page of results. */
  readonly text?: string;
}

/** `skipped` says why this place cannot show the call, where the service did what it can. */
export type Result = Outcome | { readonly skipped: string };

interface Stage {
  readonly client: Client;
  /** The call's own, or the one named instead. */
  readonly model: string;
  /** Shown while it is waited for. */
  readonly tell: (detail: string) => void;
  /** Outcome of an earlier call. @throws Error when it failed */
  made(name: string): Outcome;
}

export interface Call {
  /** Kebab-case; names its artifacts and is what `--model` goes by. */
  readonly name: string;
  /** For a heading. */
  readonly title: string;
  readonly model: string;
  run(stage: Stage): Promise<Result>;
}

const QUESTION = "Write three sentences about a lighthouse in a storm, for a child.";
const PACKING = "Name one thing to pack for a night at sea, and say why.";
const SENTENCES = [
  "A dog sleeps by the fire.",
  "A puppy naps next to the oven.",
  "The bank raised its interest rates.",
];
const NOTE =
  "Log of the keeper: the lamp was trimmed at nine, the wind turned north at midnight, and two ships passed.\n";
const IMAGE = "a lighthouse by the sea at sunset";
const EDIT = "add a red hot air balloon";
const SPOKEN = "Good evening. The lamp is lit, the sea is calm, and every ship will find its way home tonight.";
const MUSIC = "a calm waltz for piano and strings";
const VIDEO = "a sailing boat passes a lighthouse at sunset";
const MESH = "a blue vase";
const LETTER =
  "# Keeper's log\n\nThe lamp is lit, **all ships** are home tonight.\n\n| Hour | Wind |\n|---|---|\n| 20 | 4 |\n";
const PROGRAM = "const lamp = { lit: true };\nif (lamp.lit) greet('home');\n";
/** Providers' slowest models need some ten minutes. */
const VIDEO_WITHIN_MS = 20 * 60_000;

export const CALLS: readonly Call[] = [
  {
    name: "chat",
    title: "Chat, streamed",
    model: "sandbox-chat",
    async run(stage) {
      const { data: stream, response } = await stage.client.sdk.chat.completions
        .create({
          model: stage.model,
          messages: [{ role: "user", content: QUESTION }],
          stream: true,
          stream_options: { include_usage: true },
        })
        .withResponse();
      let text = "";
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        usage = chunk.usage ?? usage;
        stage.tell(text.slice(-60));
      }
      if (!usage) throw new Error("the stream ended without its usage");
      const receipt = { id: response.headers.get("x-request-id") ?? "", credits: await priceOf(stage, usage) };
      return { receipt, artifacts: [textArtifact("chat.txt", text)], text: `${QUESTION}\n\n${text}` };
    },
  },
  {
    name: "messages",
    title: "Anthropic's Messages API",
    model: "sandbox-chat",
    async run({ model, client }) {
      const request = { model, max_tokens: 300, messages: [{ role: "user", content: PACKING }] };
      const { body, receipt } = await client.post<{ content: { text?: string }[] }>("/messages", request);
      const text = body.content.map((block) => block.text ?? "").join("");
      return { receipt, artifacts: [textArtifact("messages.txt", text)], text: `${PACKING}\n\n${text}` };
    },
  },
  {
    name: "embeddings",
    title: "Embeddings",
    model: "sandbox-embed",
    async run({ model, client }) {
      const { data, response } = await client.sdk.embeddings
        .create({ model, input: SENTENCES, encoding_format: "float" })
        .withResponse();
      const vectors = data.data.map(({ embedding }) => embedding);
      const [first = [], ...others] = vectors;
      const lines = others.map(
        (other, at) => `${cosine(first, other).toFixed(3)}  "${SENTENCES[0]}" and "${SENTENCES[at + 1]}"`,
      );
      const text = `How near sentences are, from 0 to 1:\n${lines.join("\n")}`;
      const json = JSON.stringify({ model, sentences: SENTENCES, vectors });
      return { receipt: receiptOf(response), artifacts: [textArtifact("embeddings.json", json)], text };
    },
  },
  {
    name: "file",
    title: "A file, uploaded and asked about",
    model: "sandbox-chat",
    async run({ model, client, tell }) {
      tell("uploading");
      const upload = await toFile(Buffer.from(NOTE), "keepers-log.txt");
      const { id: fileId } = await client.sdk.files.create({ file: upload, purpose: "user_data" });
      tell("asking about it");
      const question = { type: "text", text: "What does this file say?" } as const;
      const content = [question, { type: "file", file: { file_id: fileId } } as const];
      const { data, response } = await client.sdk.chat.completions
        .create({ model, messages: [{ role: "user", content }] })
        .withResponse();
      const bytes = await client.download(fileId);
      if (new TextDecoder().decode(bytes) !== NOTE) throw new Error("the stored file is not what was uploaded");
      const text = data.choices[0]?.message.content ?? "";
      const artifacts = [textArtifact("file-answer.txt", text), { file: "keepers-log.txt", bytes }];
      return { receipt: receiptOf(response), artifacts, fileId, text };
    },
  },
  {
    name: "image",
    title: "Image",
    model: "sandbox-image",
    async run(stage) {
      const { bytes, ...made } = await make(stage, "images", { prompt: IMAGE, size: "1024x1024", seed: 3 });
      return { ...made, artifacts: [{ file: await imageFile("image", bytes), bytes }], text: IMAGE };
    },
  },
  {
    name: "image-edit",
    title: "Image edit with a mask",
    model: "sandbox-image",
    async run(stage) {
      const source = artifactOf(stage, "image").bytes;
      const mask = await maskOf(source);
      const [image_base64, mask_base64] = [source, mask].map((bytes) => Buffer.from(bytes).toString("base64"));
      const params = { prompt: EDIT, image_base64, mask_base64, strength: 1 };
      const { bytes, ...made } = await make(stage, "images", params, "edits");
      const caption = `The picture above, edited: ${EDIT}`;
      const masked = "The mask: what is grey stays, and the hole was repainted";
      const artifacts = [
        { file: await imageFile("image-edit", bytes), bytes, caption },
        { file: "image-edit-mask.png", bytes: mask, caption: masked },
      ];
      return { ...made, artifacts };
    },
  },
  {
    name: "speech",
    title: "Speech",
    model: "sandbox-tts",
    async run({ model, client }) {
      const request = { model, input: SPOKEN, voice: "nova", response_format: "mp3" } as const;
      const response = await client.sdk.audio.speech.create(request);
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { receipt: receiptOf(response), artifacts: [{ file: "speech.mp3", bytes }], text: SPOKEN };
    },
  },
  {
    name: "transcription",
    title: "Transcription of that speech",
    model: "sandbox-stt",
    async run(stage) {
      const { bytes, file } = artifactOf(stage, "speech");
      const { data, response } = await stage.client.sdk.audio.transcriptions
        .create({ model: stage.model, file: await toFile(bytes, file), response_format: "json" })
        .withResponse();
      const artifacts = [textArtifact("transcription.txt", data.text)];
      return { receipt: receiptOf(response), artifacts, text: data.text };
    },
  },
  {
    name: "music",
    title: "Music",
    model: "sandbox-music",
    async run(stage) {
      const params = { prompt: MUSIC, duration: 15, seed: 7, output_format: "mp3" };
      const { bytes, ...made } = await make(stage, "music", params);
      return { ...made, artifacts: [{ file: "music.mp3", bytes }], text: MUSIC };
    },
  },
  {
    name: "video",
    title: "Video",
    model: "sandbox-video",
    async run(stage) {
      const body = { model: stage.model, prompt: VIDEO, duration: 4, resolution: "720p", seed: 7 };
      const { id } = await stage.client.sdk.post<Job>("/videos/generations", { body });
      const job = await endOf(stage, id);
      const fileId = job.data?.[0]?.["file_id"];
      if (job.status !== "completed" || typeof fileId !== "string" || job.credits_used === undefined) {
        throw new Error(`the video is ${job.status}: ${job.error?.code ?? ""} ${job.error?.message ?? ""}`);
      }
      const receipt = { id, credits: parseCredits(String(job.credits_used)) };
      const bytes = await stage.client.download(fileId);
      return { receipt, artifacts: [{ file: "video.mp4", bytes }], fileId, text: VIDEO };
    },
  },
  {
    name: "3d",
    title: "3D",
    model: "sandbox-3d",
    async run(stage) {
      const { bytes, ...made } = await make(stage, "3d", { prompt: MESH, seed: 7 });
      return { ...made, artifacts: [{ file: "3d.glb", bytes }], text: MESH };
    },
  },
  {
    name: "3d-transform",
    title: "3D transform: bones for that mesh",
    model: "sandbox-3d-rig",
    async run(stage) {
      const { bytes, ...made } = await make(stage, "3d", { prompt: MESH, mesh_file_id: stage.made("3d").fileId });
      const text = "The same, with bones to move it by";
      return { ...made, artifacts: [{ file: "3d-transform.glb", bytes }], text };
    },
  },
  // One capability of each category, on the files that every service has for it.
  capability("video.trim", "A second of a video, as WebM", sample("video", "clip"), {
    params: { duration: 1, format: "webm" },
    file: "clip.webm",
  }),
  capability("audio.waveform", "A tune, drawn", sample("audio", "tune"), { file: "waveform.png" }),
  capability("image.watermark", "A photograph with a line of text", sample("image", "photo"), {
    params: { text: "Sluice", scale: 30 },
    file: "watermark.jpg",
  }),
  capability("document.markdown_to_pdf", "Markdown as PDF", { markdown: { text: LETTER } }, { file: "log.pdf" }),
  capability("archive.list", "What a zip holds", sample("archive", "bundle")),
  capability("web.to_markdown", "A page of the web as Markdown", { url: "https://example.com/" }),
  capability("code.format", "Code, formatted", { code: { text: PROGRAM } }, { params: { language: "javascript" } }),
  {
    name: "workflow",
    title: "An article as a narrated video, by a workflow",
    model: "article-to-video",
    async run({ client, model, tell }) {
      const { data } = await client.sdk.get<WorkflowTemplateList>("/workflows/templates");
      const template = data.find(({ id }) => id === model);
      if (!template) throw new Error(`the service has no template "${model}"`);
      const { definition, input } = template;
      tell(`${template.name}, ${(definition["steps"] as unknown[]).length} steps`);
      const { body, receipt } = await client.post<WorkflowRun>("/pipelines/runs", { definition, input });
      if (body.status !== "succeeded") throw new Error(body.error?.message ?? `the run ${body.status}`);
      const { video = "", script = "" } = body.output as { readonly video?: string; readonly script?: string };
      const artifacts = [{ file: "narrated.mp4", bytes: await client.download(video) }];
      const steps = body.stepRuns.map(({ id, durationMs }) => `${id} ${durationMs} ms`).join(", ");
      return { receipt, artifacts, text: `${script}\n\n${steps}` };
    },
  },
];

function sample(member: string, name: string): object {
  return { [member]: { file_id: `file-sample-${name}` } };
}

/** @param more `file` names the file that the run makes; without it, the artifact is the run's output as text */
function capability(
  id: string,
  title: string,
  input: object,
  { params = {}, file }: { readonly params?: object; readonly file?: string } = {},
): Call {
  return {
    name: id.replace(/[._].*/, "-tool"),
    title,
    model: id,
    async run({ model, client }) {
      try {
        const { body, receipt } = await client.post<CapabilityRun>(`/capabilities/${model}/run`, { input, params });
        const [fileId] = body.files.map((one) => one.file_id);
        if (file !== undefined && fileId !== undefined) {
          return { receipt, artifacts: [{ file, bytes: await client.download(fileId) }], fileId, text: model };
        }
        const { text: words } = body.output;
        const text = typeof words === "string" ? words : JSON.stringify(body.output, null, 2);
        return { receipt, artifacts: [textArtifact(`${id.replace(".", "-")}.txt`, text)], text };
      } catch (error) {
        // Where there is no way out, no page can be fetched; the answer says so and costs nothing.
        const isCutOff = id.startsWith("web.") && error instanceof OpenAI.APIError && error.status === 422;
        if (!isCutOff) throw error;
        return { skipped: `no way to the web from there (${reasonOf(error)})` };
      }
    },
  };
}

/** The one thing that a media call makes. */
async function make({ client, model }: Stage, kind: string, params: object, route = "generations") {
  const { body, receipt } = await client.post<MediaResults>(`/${kind}/${route}`, { model, ...params });
  const fileId = body.data[0]?.file_id;
  if (fileId === undefined) throw new Error("the answer holds nothing that was made");
  return { receipt, fileId, bytes: await client.download(fileId) };
}

/** Asks after a video until it has ended. */
async function endOf({ client, tell }: Stage, id: string): Promise<Job> {
  for (const began = Date.now(); Date.now() - began < VIDEO_WITHIN_MS; await delay(500)) {
    const job = await client.sdk.get<Job>(`/videos/generations/${id}`);
    if (job.status !== "queued" && job.status !== "processing") return job;
    tell(`${job.status}, ${Math.round(job.progress * 100)} %`);
  }
  throw new Error(`the video is not done after ${VIDEO_WITHIN_MS / 60_000} minutes; it goes on as job ${id}`);
}

/** The head of a stream is sent before its price is known: it is worked out of the list price, as a client would. */
async function priceOf({ client, model }: Stage, usage: OpenAI.CompletionUsage): Promise<bigint> {
  for await (const entry of client.sdk.models.list()) {
    if (entry.id !== model) continue;
    const { _svc } = entry as unknown as { _svc: { pricing: Record<string, unknown> } };
    const price = parsePrice(
      Object.fromEntries(Object.entries(_svc.pricing).map(([name, value]) => [name, String(value)])),
    );
    const cachedInput = usage.prompt_tokens_details?.cached_tokens ?? 0;
    const input = usage.prompt_tokens - cachedInput;
    return priceTokens(price, { ...NO_USAGE, input, cachedInput, output: usage.completion_tokens });
  }
  throw new Error(`the catalogue does not list ${model}`);
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

/** The first artifact of an earlier call. @throws Error when that call failed */
function artifactOf(stage: Stage, name: string): Artifact {
  const [artifact] = stage.made(name).artifacts;
  if (artifact === undefined) throw new Error(`the call "${name}" made nothing`);
  return artifact;
}

function textArtifact(file: string, text: string): Artifact {
  return { file, bytes: new TextEncoder().encode(text.endsWith("\n") ? text : `${text}\n`) };
}

/** Some models choose the format themselves. */
async function imageFile(name: string, bytes: Uint8Array): Promise<string> {
  const { format } = await sharp(bytes).metadata();
  return `${name}.${format === "jpeg" ? "jpg" : format}`;
}

/** Opaque but for a rectangle at the top left, in the sky, which is to be repainted. Grey shows on a page of any colour. */
async function maskOf(source: Uint8Array): Promise<Buffer> {
  const { width, height } = await sharp(source).metadata();
  const filled = (width: number, height: number, background: string) =>
    sharp({ create: { width: Math.round(width), height: Math.round(height), channels: 4, background } });
  const input = await filled(width * 0.4, height * 0.3, "#000f")
    .png()
    .toBuffer();
  const [left, top] = [Math.round(width * 0.05), Math.round(height * 0.05)];
  return filled(width, height, "#777f")
    .composite([{ input, left, top, blend: "dest-out" }])
    .png()
    .toBuffer();
}
