/** One capability of each category, on the files that every service has for it. */
import OpenAI from "openai";

import type { CapabilityRun } from "#schemas/generated/types.ts";

import { type Artifact, type Call, textArtifact } from "../call.ts";
import { reasonOf } from "../client.ts";

const LETTER =
  "# Keeper's log\n\nThe lamp is lit, **all ships** are home tonight.\n\n| Hour | Wind |\n|---|---|\n| 20 | 4 |\n";
const PROGRAM = "const lamp = { lit: true };\nif (lamp.lit) greet('home');\n";

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly input: object;
  readonly params?: object;
  /** Name for the file that the run makes; without one, the artifact is the run's output as text. */
  readonly file?: string;
}

const SHOWN: readonly Shown[] = [
  {
    id: "video.trim",
    title: "A second of a video, as WebM",
    input: sample("video", "clip"),
    params: { duration: 1, format: "webm" },
    file: "clip.webm",
  },
  { id: "audio.waveform", title: "A tune, drawn", input: sample("audio", "tune"), file: "waveform.png" },
  {
    id: "image.watermark",
    title: "A photograph with a line of text",
    input: sample("image", "photo"),
    params: { text: "Sluice", scale: 30 },
    file: "watermark.jpg",
  },
  { id: "document.markdown_to_pdf", title: "Markdown as PDF", input: { markdown: { text: LETTER } }, file: "log.pdf" },
  { id: "archive.list", title: "What a zip holds", input: sample("archive", "bundle") },
  { id: "web.to_markdown", title: "A page of the web as Markdown", input: { url: "https://example.com/" } },
  {
    id: "code.format",
    title: "Code, formatted",
    input: { code: { text: PROGRAM } },
    params: { language: "javascript" },
  },
];

function sample(member: string, name: string): object {
  return { [member]: { file_id: `file-sample-${name}` } };
}

export const capabilities: readonly Call[] = SHOWN.map(({ id, title, input, params = {}, file }) => ({
  name: id.replace(/[._].*/, "-tool"),
  title,
  model: id,
  async run({ model, client }) {
    try {
      const { body, receipt } = await client.post<CapabilityRun>(`/capabilities/${model}/run`, { input, params });
      const [made] = body.files;
      if (file === undefined || made === undefined) return { receipts: [receipt], ...told(id, body.output) };
      const artifacts: Artifact[] = [{ file, bytes: await client.download(made.file_id) }];
      return { receipts: [receipt], artifacts, fileId: made.file_id, text: model };
    } catch (error) {
      // Where there is no way out, no page can be fetched; the answer says so and costs nothing.
      const isCutOff = id.startsWith("web.") && error instanceof OpenAI.APIError && error.status === 422;
      if (!isCutOff) throw error;
      return { skipped: `no way to the web from there (${reasonOf(error)})` };
    }
  },
}));

function told(id: string, output: Readonly<Record<string, unknown>>) {
  const text = typeof output["text"] === "string" ? output["text"] : JSON.stringify(output, null, 2);
  return { artifacts: [textArtifact(`${id.replace(".", "-")}.txt`, text)], text };
}
