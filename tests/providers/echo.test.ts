/**
 * Providers that repeat what they were sent in their errors: no word of a prompt reaches a log line at any level, a metric, or
 * what is told to a client.
 */
import { afterAll, afterEach, describe, expect, test } from "bun:test";

import type { Provider } from "#shared/calls/model.ts";
import { createLogger } from "#shared/base/logger.ts";
import { bench, closeBenches } from "#tests/workers/calls/chat/bench.ts";
import { run } from "#tests/workers/calls/media/run-bench.ts";
import { createProviders } from "#workers/providers/index.ts";
import type { MediaAdapter, MediaKind, MediaKinds, StartCall } from "#workers/providers/media.ts";
import type { ProviderError } from "#workers/providers/provider.ts";

import { chatCall, failureOf, mediaCall, never } from "./engine/calls.ts";
import { PRIVATE_KEY, PROJECT } from "./google-cloud/server.ts";
import { EDIT } from "./image-calls.ts";
import { speechCall, transcriptionCall } from "./sound-calls.ts";

const CANARY = "zanzibarquokka";
const SAID = `cannot do this: ${CANARY}`;

/** Says it under every name that a provider gives its words. */
const WORDS = {
  error: { message: SAID, type: "invalid_request_error", code: "invalid_value", param: "prompt", status: "X" },
  detail: SAID,
  title: SAID,
  message: SAID,
  err_msg: SAID,
  err_code: "Bad Request",
  base_resp: { status_msg: SAID },
};

/** Answers that say it. The path begins with a name of these. */
const ANSWERS: Readonly<Record<string, () => Response>> = {
  "400": () => Response.json(WORDS, { status: 400 }),
  "422": () =>
    Response.json({ ...WORDS, detail: [{ loc: ["body", "x"], msg: SAID, type: "value_error" }] }, { status: 422 }),
  "500": () => new Response(SAID, { status: 500 }),
  "error in 200": () => Response.json({ ...WORDS, status: "failed", code: 1_004 }),
  "no JSON": () => new Response(`{"error": ${CANARY} `, { headers: { "content-type": "application/json" } }),
};
const NAMES = Object.keys(ANSWERS);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const [, first = ""] = new URL(request.url).pathname.split("/");
    return ANSWERS[decodeURIComponent(first)]?.() ?? new Response(SAID, { status: 404 });
  },
});
afterAll(() => server.stop(true));
afterEach(closeBenches);

const providers = createProviders((variable) => (variable === "ACCOUNT_API_KEY" ? account : "key"));
const account = JSON.stringify({
  type: "service_account",
  client_email: "us@example.com",
  project_id: PROJECT,
  token_uri: `${server.url.href}400/token`,
  private_key: PRIVATE_KEY,
});

function entryOf(family: Provider["family"], answer: string): Provider {
  const api_key_env = family === "google-cloud" ? "ACCOUNT_API_KEY" : "OUR_API_KEY";
  return { id: "p", family, base_url: `${server.url.href}${encodeURIComponent(answer)}/v1`, api_key_env };
}

/** Records everything that a worker writes to its log at any level, as text. */
function listen(): { readonly log: ReturnType<typeof createLogger>; readonly text: () => string } {
  const lines: string[] = [];
  return {
    log: createLogger({ level: "trace", role: "test", write: (line) => lines.push(line) }),
    text: () => lines.join(""),
  };
}

const cells = <Row extends readonly unknown[]>(rows: readonly Row[]): [...Row, string][] =>
  rows.flatMap((row) => NAMES.map((name): [...Row, string] => [...row, name]));

describe("a chat provider that repeats the prompt in its error", () => {
  test.each(cells([["anthropic"], ["gemini"], ["openai-compatible"]] as [Provider["family"]][]))(
    "has none of it logged, counted or returned: %s, %s",
    async (family, answer) => {
      const chat = providers.chat(entryOf(family, answer));
      if (!chat) throw new Error("no chat");
      const error = await failureOf(chat.complete(chatCall({ messages: [{ role: "user", content: CANARY }] })));
      const { log, text } = listen();
      const pool = bench({ complete: () => Promise.reject(error) }, { log });
      await pool.run();
      expect(text()).toContain("provider call failed");
      expect(text()).not.toContain(CANARY);
      expect(JSON.stringify(pool.failure())).not.toContain(CANARY);
      expect(await pool.metric("sluice_provider_errors_total")).not.toContain(CANARY);
    },
  );
});

/** Returns a worker's log of a failed chat pool; the pool of embeddings logs the same (tests/workers/calls). */
const loggedAs = async (failure: ProviderError): Promise<string> => {
  const { log, text } = listen();
  await bench({ complete: () => Promise.reject(failure) }, { log }).run();
  return text();
};

test.each(cells([["gemini"], ["openai-compatible"]] as [Provider["family"]][]))(
  "a provider of embeddings that repeats an input in its error has none of it logged: %s, %s",
  async (family, answer) => {
    const embeddings = providers.embeddings(entryOf(family, answer));
    if (!embeddings) throw new Error("no embeddings");
    const call = { inputs: [CANARY], sourceModel: "m", dimensions: undefined, signal: never, adapt: () => undefined };
    const text = await loggedAs(await failureOf(embeddings.embed(call)));
    expect(text).toContain("provider call failed");
    expect(text).not.toContain(CANARY);
  },
);

type Calls = { readonly [Kind in MediaKind]: StartCall<MediaKinds[Kind][0]> };

const CALLS: Calls = {
  images: mediaCall({ prompt: CANARY, n: 1 }),
  imageEdits: mediaCall({ ...EDIT, prompt: CANARY }),
  speech: speechCall({ text: CANARY, voice: "alloy" }),
  transcription: transcriptionCall({ prompt: CANARY }),
  video: mediaCall({ prompt: CANARY }),
  music: mediaCall({ prompt: CANARY, format: "mp3" }),
  mesh: mediaCall({ prompt: CANARY }),
};

/** Kinds of media that each family has, with a model where the call depends on it. */
const MEDIA: readonly [Provider["family"], MediaKind, string?][] = [
  ["openai-compatible", "images"],
  ["openai-compatible", "imageEdits"],
  ["openai-compatible", "speech"],
  ["openai-compatible", "transcription"],
  ["openai-compatible", "video"],
  ["gemini", "images"],
  ["gemini", "imageEdits"],
  ["gemini", "video"],
  ["google-cloud", "video"],
  ["fal", "images"],
  ["fal", "imageEdits"],
  ["fal", "music"],
  ["fal", "video"],
  ["fal", "mesh"],
  ["elevenlabs", "speech"],
  ["elevenlabs", "transcription"],
  ["elevenlabs", "music"],
  ["deepgram", "speech"],
  ["deepgram", "transcription"],
  ["replicate", "images"],
  ["replicate", "video"],
  ["replicate", "music"],
  ["meshy", "mesh", "text-to-3d"],
  ["tripo", "mesh", "text-to-model/v3.1-20260211"],
];

async function refusalOf(
  [family, kind, sourceModel = "acme/m"]: (typeof MEDIA)[number],
  answer: string,
): Promise<ProviderError> {
  const adapter = providers.media(entryOf(family, answer), kind) as MediaAdapter<unknown, unknown> | undefined;
  if (!adapter) throw new Error("the family has no such thing");
  const call = { ...CALLS[kind], sourceModel, signal: never };
  return failureOf("run" in adapter ? adapter.run(call) : adapter.start(call));
}

describe("a media provider that repeats the prompt in its error", () => {
  test.each(cells(MEDIA.map((row): [(typeof MEDIA)[number]] => [row])))(
    "has none of it logged or returned: %p, %s",
    async (row, answer) => {
      const error = await refusalOf(row, answer);
      const { log, text } = listen();
      const { told } = await run([{ run: () => Promise.reject(error) }], { log });
      expect(text() + told).not.toContain(CANARY);
    },
  );

  test("logs none of it without an outcome of the job", async () => {
    const { log, text } = listen();
    const polls = [{ state: "unknown", detail: SAID } as const, { state: "failed" } as never];
    await run(
      [{ start: () => Promise.resolve({ id: "1" }), poll: () => Promise.resolve(polls.shift() ?? ({} as never)) }],
      { log },
    );
    expect(text()).toContain("did not report a job's outcome");
    expect(text()).not.toContain(CANARY);
  });
});
