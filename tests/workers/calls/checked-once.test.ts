/** The check of a call: made where the call comes in, and by a worker for other models alone. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createHash } from "node:crypto";

import type { JobMessage } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { StoredInputs } from "#shared/calls/kinds/input-media.ts";
import { type Kind, type KindName } from "#shared/calls/kinds/kind.ts";
import { isPricedKind, KINDS } from "#shared/calls/kinds/kinds.ts";
import { readCall } from "#shared/calls/read.ts";
import { jobWorkOf } from "#shared/calls/work.ts";
import { validate } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { wavOf } from "#tests/providers/fal/clips.ts";
import { pngOf } from "#tests/support/png.ts";
import { catalogue } from "#tests/shared/workflows/definitions.ts";
import { fakeBreaker } from "#tests/workers/routing/fake-breaker.ts";
import { Answer } from "#workers/calls/answer.ts";
import { createCallHandler } from "#workers/calls/handlers.ts";
import { ResultBudget } from "#workers/calls/media/result-budget.ts";
import type { WorkerContext } from "#workers/context.ts";
import type { JobControl } from "#workers/job.ts";
import { ProviderError } from "#workers/providers/provider.ts";

const SOUND = wavOf(2);
const PLACE = `${SOUND.length}#${createHash("sha256").update(SOUND).digest("hex")}#claims/1/audio`;
const CALLER = { workspaceId: newId(), keyId: newId(), role: "owner", preset: {} } as Caller;
const log = createLogger({ level: "silent", role: "test" });

const BODIES: Readonly<Record<KindName, Readonly<Record<string, unknown>>>> = {
  chat: { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] },
  embeddings: { model: "sandbox-embed", input: "a boat" },
  images: { model: "sandbox-image", prompt: "a boat", size: "512x512", n: 2 },
  image_edits: {
    model: "sandbox-image",
    prompt: "in red",
    image_base64: pngOf(8, 8).toString("base64"),
    strength: 0.5,
  },
  speech: { model: "sandbox-tts", input: "Good morning.", response_format: "wav" },
  transcription: { model: "sandbox-stt", audio_base64: SOUND.toString("base64"), prompt: "boats" },
  music: { model: "sandbox-music", prompt: "a march", duration: 3 },
  video: { model: "sandbox-video", prompt: "a boat", duration: 2, resolution: "720p" },
  mesh: { model: "sandbox-3d", prompt: "a cube", seed: 3 },
};

/** Checks that the kind's record is asked for at the entry: of audio, that of the shortest is asked for before it is received. */
const atEntry = ({ name }: Kind): number => (name === "transcription" ? 2 : 1);

/** A call as its entry sends it on. */
async function sent(kind: Kind): Promise<JobMessage> {
  const context = {
    catalogue: { current: () => catalogue },
    probes: { audio: () => Promise.resolve({ seconds: 2 }) },
  } as unknown as Parameters<typeof readCall>[0];
  const call = await readCall(context, {
    caller: CALLER,
    draw: { id: "call" },
    target: { kind },
    body: BODIES[kind.name],
    tries: 1,
  });
  const checked = await call.load();
  const inputs: StoredInputs = kind.name === "transcription" ? { audio: { reference: PLACE, content_type: "audio/wav" } } : {}; // prettier-ignore
  const stored = { inputs, body: { text: checked.text(inputs) } };
  const of = { id: newId(), caller: CALLER };
  const { work } = jobWorkOf(of, { kind: call.kind, model: call.model, checked, stored, lifeMs: 60_000 });
  const message = { ...work, deadline_ms: Date.now() + 60_000, request: JSON.parse(stored.body.text) as object };
  return JSON.parse(JSON.stringify(message)) as JobMessage;
}

const asAnOlderVersion = ({ checked: _mark, ...job }: JobMessage, more: object = {}): JobMessage => {
  const { checked: _found, ...request } = job.request ?? {};
  return { ...job, request: { ...request, ...more } };
};

/** The params that a source is asked with: the format of a transcript is ours to make. */
function paramsOf({ kind, request = {} }: JobMessage): object {
  const { params } = request["checked"] as { readonly params: { readonly format?: string } };
  const { format: _ours, ...others } = params;
  return kind === "transcription" ? others : params;
}

/** Inputs that the sources of a job are asked with, in their order. @param served what they answer; absent: none of them serves */
async function askedOf(job: JobMessage, served?: object): Promise<readonly unknown[]> {
  const asked: unknown[] = [];
  const handle = { inc: () => undefined, observe: () => undefined };
  const run = ({ input }: { readonly input: unknown }): Promise<object> => {
    asked.push(input);
    return served ? Promise.resolve(served) : Promise.reject(new ProviderError("failed", "an outage"));
  };
  const context = {
    config: { mediaTotalMs: 60_000, calls: { plainMs: 60_000 } },
    log,
    catalogue: { current: () => catalogue },
    breaker: fakeBreaker(),
    repeats: { succeeded: () => undefined, take: () => false },
    database: { query: () => Promise.resolve([{ verdict: 0 }]) },
    storage: {
      bucket: "b",
      request: () => Promise.resolve(undefined),
      client: { send: () => Promise.resolve({ Body: new Blob([SOUND]).stream() }) },
    },
    results: new ResultBudget({ bytesMax: 1_000_000, waitMs: 50 }),
    metrics: { providerSeconds: handle, providerErrors: handle },
    providers: { media: () => ({ run }) },
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const control = {
    signal: new AbortController().signal,
    answer: new Answer(
      { isClosed: () => true, publish: () => undefined, waitForDrain: () => undefined },
      undefined,
      job.model,
    ),
    providerJob: { found: null, isLate: false, keep: () => Promise.resolve() },
  } as unknown as JobControl;
  const outcome = await createCallHandler(context).run(job, control);
  expect(outcome).toMatchObject(served ? { status: "succeeded" } : { failure: { code: "upstream_error" } });
  return asked;
}

const kinds = Object.values(KINDS);
const spies = new Map<string, ReturnType<typeof spyOn<Kind, "check">>>();
const checksOf = ({ name }: Kind): number => spies.get(name)?.mock.calls.length ?? 0;
beforeEach(() => {
  for (const kind of kinds) spies.set(kind.name, spyOn(kind, "check"));
});
afterEach(() => {
  for (const spy of spies.values()) spy.mockRestore();
});

describe.each(kinds.filter(isPricedKind).map((kind) => [kind.name, kind] as const))("a call of %s", (_name, kind) => {
  test("is validated at its entry, and its worker uses that result", async () => {
    const job = await sent(kind);
    expect([validate("JobMessage", job), job.checked, checksOf(kind)]).toEqual([null, true, atEntry(kind)]);
    const [input] = await askedOf(job);
    expect(input).toMatchObject(paramsOf(job));
    expect(checksOf(kind)).toBe(atEntry(kind));
  });

  test("is served by its validation though its model accepts less now", async () => {
    const job = await sent(kind);
    spies.get(kind.name)?.mockImplementation(() => {
      throw new Error("checked again");
    });
    expect(await askedOf(job)).toHaveLength(1);
  });

  test("is validated once by each fallback model", async () => {
    const job = await sent(kind);
    const fallbacks = [`${job.model}-slow`, `${job.model}-error`];
    expect(await askedOf({ ...job, fallbacks })).toHaveLength(3);
    expect(checksOf(kind)).toBe(atEntry(kind) + 2);
    const models = spies.get(kind.name)?.mock.calls.map(([, { slug }]) => slug);
    expect(models?.slice(-2)).toEqual(fallbacks);
  });

  test("that an earlier version admitted is validated by its worker, with the same request", async () => {
    const job = await sent(kind);
    const before = checksOf(kind);
    expect(await askedOf(asAnOlderVersion(job))).toEqual(await askedOf(job));
    expect(checksOf(kind) - before).toBe(1);
    // Its members are the client's, whatever they are called.
    const forged = asAnOlderVersion(job, { checked: { params: { prompt: "forged" }, most: {}, tokensMax: 0 } });
    expect(await askedOf(forged)).toEqual(await askedOf(job));
  });

  test("transfers its validation as JSON, byte for byte", async () => {
    const job = await sent(kind);
    const [{ value } = { value: undefined }] = spies.get(kind.name)?.mock.results.slice(-1) ?? [];
    const { params, most, bound } = value as { params: unknown; most: unknown; bound: { tokensMax: number } };
    const found = { params, most, tokensMax: bound.tokensMax, secondsOf: catalogue.models.get(job.model)?.seconds_of };
    expect(job.request?.["checked"]).toStrictEqual(found);
  });
});

test("a transcript is generated and charged by the validation at its entry", async () => {
  const kind = KINDS.transcription;
  const job = await sent(kind);
  expect(await askedOf(job, { output: { text: "boats" }, usage: {} })).toHaveLength(1);
  expect(checksOf(kind)).toBe(atEntry(kind));
});

test.each(kinds.filter((kind) => !isPricedKind(kind)).map((kind) => [kind.name, kind] as const))(
  "a call of %s is transferred unchanged, with nothing beside it",
  async (_name, kind) => {
    const job = await sent(kind);
    expect([job.request, job.checked, checksOf(kind)]).toEqual([{ ...BODIES[kind.name] }, undefined, 1]);
  },
);
