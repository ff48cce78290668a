/**
 * Fault: Postgres is away for three seconds while the providers of calls answer. Expected: every call is answered, what it stores is
 * there, and it is paid once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { ModelResponse } from "#schemas/generated/types.ts";
import type { KINDS } from "#shared/calls/kinds/kinds.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { callOfResponse } from "#shared/responses/ids.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { pngOf } from "#tests/support/png.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";
import { eventsOf } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { eventually } from "./wait.ts";

/** At this pace slow models answer after 1.2 to 2 s. */
const PACE = "0.4";
const AWAY_MS = 3_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    pools: ["chat", "image", "audio", "video", "3d"],
    ownPostgres: true,
    env: { SLUICE_PACE: PACE },
  });
}, 60_000);
afterAll(() => stack?.stop());

const TEXT = "Say exactly: a b c d e f g h i j k l m n o p q r s t";
const CHAT = { model: "sandbox-slow", messages: [{ role: "user", content: TEXT }] };
const RESPONSE = { model: "sandbox-slow", input: TEXT };
const PICTURE = pngOf(64, 64).toString("base64");

/** Calls of every kind, each with a model that is slow. Embeddings have none, and store nothing. */
const KIND_CALLS: Readonly<Record<Exclude<keyof typeof KINDS, "embeddings">, readonly [path: string, body: object]>> = {
  chat: ["chat/completions", CHAT],
  images: ["images/generations", { model: "sandbox-image-slow", prompt: "a boat", size: "256x256" }],
  image_edits: ["images/edits", { model: "sandbox-image-slow", prompt: "in red", image_base64: PICTURE }],
  speech: ["audio/speech", { model: "sandbox-tts-slow", input: "Good morning." }],
  transcription: ["audio/transcriptions", { model: "sandbox-stt-slow", audio_base64: wavOf(2).toString("base64"), mime_type: "audio/wav" }], // prettier-ignore
  music: ["music/generations", { model: "sandbox-music-slow", prompt: "a march", duration: 3 }],
  video: ["videos/generations", { model: "sandbox-video-slow", prompt: "a boat", duration: 1 }],
  mesh: ["3d/generations", { model: "sandbox-3d-slow", prompt: "a cube" }],
};

/** Ways in which a response is stored: by its worker, behind its turns, or by the job of a background call. */
const RESPONSE_CALLS: Readonly<Record<string, object>> = {
  plain: RESPONSE,
  streamed: { ...RESPONSE, stream: true },
  large: { ...RESPONSE, instructions: "x".repeat(100_000) },
  "in turns": { ...RESPONSE, tools: [{ type: "image_generation", model: "sandbox-image" }] },
  "in turns, streamed": { ...RESPONSE, tools: [{ type: "image_generation", model: "sandbox-image" }], stream: true },
  background: { ...RESPONSE, background: true },
  "background, streamed": { ...RESPONSE, background: true, stream: true },
};

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const get = async <T>(path: string): Promise<T> =>
  (await (await fetch(`${stack.baseUrls[0]}/v1/${path}`, { headers: { authorization: `Bearer ${stack.key}` } })).json()) as T; // prettier-ignore

/** Returns the response that an answer tells of, whatever its form. */
async function toldIn(answer: Response): Promise<ModelResponse> {
  const text = await answer.text();
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") !== true) return JSON.parse(text) as ModelResponse; // prettier-ignore
  return (eventsOf(text).at(-1) as { readonly response: ModelResponse }).response;
}

test("every kind of call is answered, stored and charged if Postgres fails during its provider's answer", async () => {
  const conversations = await Promise.all([1, 2, 3].map(() => post("conversations", {})));
  const ids = await Promise.all(conversations.map(async (made) => ((await made.json()) as { id: string }).id));
  const inConversations = ids.map((conversation, at) => ({
    ...RESPONSE,
    conversation,
    ...[{}, { stream: true }, { background: true }][at],
  }));
  const kinds = Object.values(KIND_CALLS).map(([path, body]) => post(path, body));
  const bodies = [...Object.values(RESPONSE_CALLS), ...inConversations];
  const responses = bodies.map((body) => post("responses", body));
  const calls = kinds.length + responses.length;

  await eventually("every provider is asked", async () => {
    const [row] = await stack.query<{ open: bigint; asked: bigint }>(
      `select (select count(*) from hold) as open,
         (select count(*) from hold h left join job j on j.id = h.job_id where j.id is null or j.intent_at is not null or j.provider_job is not null) as asked`,
    );
    return row?.open === BigInt(calls) && row.asked === row.open;
  });
  // Those of live calls have had their message by now.
  await Bun.sleep(200);
  expect(await stack.query("select from usage_record")).toEqual([]);
  await stack.postgres?.stop("fast");
  await Bun.sleep(AWAY_MS);
  await stack.postgres?.start();

  const answers = await Promise.all(kinds);
  const statuses = answers.map(({ status }, at) => [Object.keys(KIND_CALLS)[at], status]);
  expect(statuses).toEqual(Object.keys(KIND_CALLS).map((name) => [name, 200]));
  const told = await Promise.all(responses.map(async (answer) => toldIn(await answer)));
  const stored = await Promise.all(
    told.map(({ id }) =>
      eventually(`the response ${id} has ended`, async () => {
        const response = await get<ModelResponse>(`responses/${id}`);
        return response.status !== "queued" && response.status !== "in_progress" && response;
      }),
    ),
  );
  expect(stored.map(({ status, output }) => [status, output.length])).toEqual(stored.map(() => ["completed", 1]));
  for (const id of ids) {
    const { data } = await get<{ data: readonly object[] }>(`conversations/${id}/items`);
    expect(data).toHaveLength(2);
  }
  const jobs = "select from job where ended_at is null";
  await eventually("every job has ended", async () => (await stack.query(jobs)).length === 0);
  await stack.settled();
  const paid = await stack.query<{ status: string; is_paid: boolean }>("select status, settled > 0 as is_paid from usage_record"); // prettier-ignore
  expect(paid).toEqual(Array.from({ length: calls }, () => ({ status: "succeeded", is_paid: true })));
  const ofResponses = "select count(*) as count from usage_record where job_id = any($1::uuid[])";
  const storedIds = stored.map(({ id }) => callOfResponse(id) ?? "");
  expect(await stack.query(ofResponses, [storedIds])).toEqual([{ count: BigInt(responses.length) }]);
  expect(await auditLedger({ query: stack.query })).toEqual([]);
}, 60_000);
