/** The tables of schemas/docs/reference/test-models.md as a test reads them, and a fetch that writes down what came. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Answer } from "#tests/faults/client.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

export const GUIDE = readFileSync(join(PROJECT_ROOT, "schemas/docs/reference/test-models.md"), "utf8");

export type Mode = "plain" | "streamed";

export interface Row {
  readonly model: string;
  /** Each outcome that may be, in the guide's words. */
  readonly outcomes: Readonly<Record<Mode, readonly string[]>>;
  /** Final status of the call's job; empty where the table has no such column. */
  readonly job: string;
  readonly billed: Readonly<Record<Mode, string>>;
  readonly sdk: Readonly<Record<Mode, string>>;
}

/** The rows of a section that name a model, read by the titles of its columns. One outcome under `Call` is that of both modes. */
export function rowsOf(heading: string): Row[] {
  const [titles = [], ...rows] = sectionOf(heading)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return rows
    .filter(([, model]) => model?.startsWith("`sandbox-") === true)
    .map((cells) => {
      const cell = (title: string): string | undefined => cells[titles.indexOf(title)];
      const plain = cell("Plain call") ?? cell("Call") ?? "";
      return {
        model: (cell("Model") ?? "").replaceAll("`", ""),
        outcomes: { plain: quoted(plain), streamed: quoted(cell("Streamed call") ?? plain) },
        job: quoted(cell("Job") ?? "").join(),
        billed: byMode(cell("Billed") ?? ""),
        sdk: byMode(cell("Stock SDK") ?? ""),
      };
    });
}

/** The text under a heading of the second order. */
export function sectionOf(heading: string): string {
  const start = GUIDE.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`the guide has no section ${heading}`);
  const end = GUIDE.indexOf("\n## ", start + 1);
  return GUIDE.slice(start, end < 0 ? undefined : end);
}

/** The one fenced block of the language that contains the text. */
export function blockWith(language: string, containing: string): string {
  for (const [, name, text = ""] of GUIDE.matchAll(/```(\w+)\n([\s\S]*?)```/g)) {
    if (name === language && text.includes(containing)) return text;
  }
  throw new Error(`the guide has no ${language} block with ${containing}`);
}

function quoted(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = ""]) => text);
}

function byMode(cell: string): Record<Mode, string> {
  const [plain = "", streamed = plain] = cell.split(";").map((part) => part.trim());
  return { plain, streamed };
}

export interface Recorder {
  /** Answers to calls; those to reads are left out. */
  readonly answers: Answer[];
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Resolves when the answer is over. */
  whole(answer: Answer): Promise<void>;
}

/** Passes everything through unchanged and keeps a copy of each answer to a call for the audit. */
export function createRecorder(): Recorder {
  const answers: Answer[] = [];
  const reading = new Map<Answer, Promise<void>>();
  return {
    answers,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (init?.method?.toUpperCase() !== "POST") return response;
      const { status, headers } = response;
      const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
      const answer: Answer = {
        status,
        headers,
        body: "",
        frames: [],
        comments: 0,
        isStream,
        isCut: false,
        hasLeft: false,
        endedAt: 0,
      };
      answers.push(answer);
      if (response.body === null) return response;
      const [own, theirs] = response.body.tee();
      reading.set(answer, read(own, answer, init.signal ?? undefined));
      return new Response(theirs, { status, headers });
    },
    async whole(answer) {
      await reading.get(answer);
    },
  };
}

async function read(body: ReadableStream<Uint8Array>, answer: Answer, signal: AbortSignal | undefined): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) answer.body += decoder.decode(bytes, { stream: true });
  } catch {
    answer.isCut = true;
  }
  answer.hasLeft = signal?.aborted === true;
  answer.endedAt = performance.now();
  if (!answer.isStream) return;
  for (const line of answer.body.split("\n")) {
    if (line.startsWith("data: ")) answer.frames.push(line.slice("data: ".length));
    else if (line.startsWith(":")) answer.comments += 1;
  }
}
