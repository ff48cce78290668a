/**
 * The guide to the test models (schemas/docs/reference/test-models.md), the sections on media, row by row, with the stock SDK
 * against a running service: what a client is told, what its job ends as, what it is billed. A second ingress serves clients that
 * do not wait. The first worker of videos gives up early, for the jobs that never end; another one makes all other videos.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { toFile } from "openai";

import type { Job, MediaState } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { eventually } from "#tests/faults/wait.ts";
import { type ManagedProcess, startRole } from "#tests/support/role-process.ts";

import { type Bench, CREDIT, errorOf, startBench } from "./media/bench.ts";
import { type Caller, createCaller, type Told } from "./test-models-calls.ts";
import { type Row, rowsOf, sectionOf } from "./test-models-guide.ts";
import {
  BODIES,
  callMedia,
  endOf,
  expectSettled,
  mediaUsage,
  type MediaTold,
  MUSIC_SECONDS,
  pricesOf,
  type Section,
  SECTIONS,
  SPOKEN,
} from "./test-models-media-calls.ts";

type Case = readonly [model: string, section: Section, row: Row];

const CASES = SECTIONS.flatMap((section) => rowsOf(section).map((row): Case => [row.model, section, row]));
const SLOW = CASES.filter(([model]) => model.endsWith("-slow"));
/** They end at a limit of the service, or never. */
const NEVER_END = ["sandbox-video-hang", "sandbox-video-lost"];
const TRANSFORMS = ["remesh", "retexture", "segment", "rig"].map((what) => `sandbox-3d-${what}`);

let bench: Bench;
let impatient: ManagedProcess;
let videoWorker: ManagedProcess;
/** Resolves when the second worker of videos has replaced the first. */
let replaced: Promise<void>;
let caller: Caller;
let impatientCaller: Caller;
/** Impatient, too, with a client that resends. */
let hasty: Caller;
let late: Promise<MediaTold>;
let prices: ReadonlyMap<string, bigint>;
let sound: File;
const begun = new Map<string, Promise<MediaTold>>();

beforeAll(async () => {
  bench = await startBench({ pools: ["image", "audio", "3d"] });
  const { env } = bench.stack;
  [impatient, videoWorker] = await Promise.all([
    startRole(["ingress"], { ...env, SLUICE_MEDIA_WAIT_MS: "300" }),
    startRole(["worker", "video"], { ...env, SLUICE_MEDIA_TOTAL_MS: "2000" }),
  ]);
  caller = createCaller(bench.stack, bench.stack.key);
  impatientCaller = createCaller({ baseUrls: [impatient.baseUrl] }, bench.stack.key);
  hasty = createCaller({ baseUrls: [impatient.baseUrl] }, bench.stack.key, 2);
  prices = await pricesOf(caller.client);
  const spoken = { model: "sandbox-tts", input: SPOKEN, voice: "alloy", response_format: "wav" } as const;
  sound = await toFile(await caller.client.audio.speech.create(spoken), "talk.wav");
  replaced = replaceVideoWorker();
  replaced.catch(() => undefined);
  // All rows are begun at once, and looked at when their turn comes.
  for (const [model, section] of CASES) void begin(model, section);
  for (const [model, section] of SLOW) void begin(model, section, true);
  late = callMedia(hasty, "Music", "sandbox-music-slow");
  late.catch(() => undefined);
}, 60_000);

afterAll(async () => {
  await bench?.stack.settled();
  await Promise.all([impatient?.stop(), videoWorker?.stop()]);
  await bench?.close();
});

function begin(model: string, section: Section, isImpatient = false): Promise<MediaTold> {
  const name = `${model} ${isImpatient}`;
  const known = begun.get(name);
  if (known !== undefined) return known;
  const call = (async () => {
    if (section === "Videos" && !NEVER_END.includes(model)) await replaced;
    const more = await furtherOf(model, section);
    const made = await callMedia(isImpatient ? impatientCaller : caller, section, model, more);
    if (!isImpatient) await MEANWHILE[model]?.(made.id);
    return made;
  })();
  // A test looks at it later; until then its rejection is not unhandled.
  call.catch(() => undefined);
  begun.set(name, call);
  return call;
}

async function replaceVideoWorker(): Promise<void> {
  for (const { id } of await Promise.all(NEVER_END.map((model) => begin(model, "Videos")))) {
    await eventually("its worker has given it up", async () => (await isUnknown(id)) || (await bench.jobOf(id)).status === "failed"); // prettier-ignore
  }
  await videoWorker.stop();
  videoWorker = await startRole(["worker", "video"], bench.stack.env);
}

async function furtherOf(model: string, section: Section): Promise<object> {
  if (section === "Transcriptions") return { file: sound };
  if (!TRANSFORMS.includes(model)) return {};
  const { data } = await begin("sandbox-3d", "3D");
  return { mesh_file_id: data?.data?.[0]?.file_id };
}

/** Checks, by model, of what a row says about a job before it ends. */
const MEANWHILE: Readonly<Record<string, (id: string) => Promise<void>>> = {
  "sandbox-video-slow": async (id) => {
    await eventually("it tells how far it is", async () => {
      const { status, progress } = await bench.jobOf(id);
      return status === "processing" && progress > 0;
    });
  },
  "sandbox-video-lost": async (id) => {
    await eventually("its outcome is unknown", () => isUnknown(id));
    expect(await bench.jobOf(id)).toMatchObject({ status: "processing" });
    expect(await bench.stack.query("select 1 from hold where job_id = $1", [id])).toHaveLength(1);
    await age(id);
  },
};

async function isUnknown(id: string): Promise<boolean> {
  const [row] = await bench.stack.query("select 1 from job where id = $1 and unknown_since is not null", [id]);
  return row !== undefined;
}

/** Moves the job back in time, as if the hours of SLUICE_UNKNOWN_OUTCOME_HOURS had gone by. */
async function age(id: string): Promise<void> {
  await bench.stack.query("update job set unknown_since = unknown_since - interval '25 hours' where id = $1", [id]);
}

function jobIdOf({ answer }: Told): string | undefined {
  return (JSON.parse(answer.body) as ErrorEnvelope).error.job_id;
}

describe("a model", () => {
  test.each(CASES)(
    "%s behaves as its row states",
    async (model, section, row) => {
      const call = await begin(model, section);
      expect([call.outcome]).toEqual([...row.outcomes.plain]);
      expect(call.sdk).toBe(row.sdk.plain);
      if (call.error) expect([call.error.type, jobIdOf(call)]).toEqual(["server_error", undefined]);
      const job = section === "Transcriptions" ? undefined : await bench.endOf(call.id);
      if (job) expect([validate("Job", job), endOf(job)]).toEqual([null, row.job]);
      await expectBill(row.billed.plain, call, job);
      await WORDS[section]?.(call);
    },
    60_000,
  );

  /** Checks that the bill, the job, and the answer's head and body tell the same cost. */
  async function expectBill(billed: string, call: MediaTold, job: Job | undefined): Promise<void> {
    const usage = await mediaUsage(bench.stack, call.id);
    const model = usage.source?.replace("sandbox/", "") ?? "";
    expectSettled(billed, usage, prices.get(model) ?? 0n);
    const credits = Number(usage.settled) / Number(CREDIT);
    if (job) expect(job.credits_used).toBe(credits);
    if (call.error || call.isBroken || call.data?.status !== undefined) return;
    const { headers } = call.answer;
    expect(headers.get("x-model-used")).toBe(model);
    expect(Number(headers.get("x-credits-used"))).toBe(credits);
    if (call.data && "credits_used" in call.data) expect(call.data.credits_used).toBe(credits);
  }
});

/** Checks, by section, of what the guide says about its models beside their rows. */
const WORDS: Readonly<Partial<Record<Section, (call: MediaTold) => Promise<void>>>> = {
  async Images({ id, error }) {
    if (!error) expect((await mediaUsage(bench.stack, id)).units).toEqual({ images: 1 });
  },
  async Speech({ id, error, answer, isBroken }) {
    if (!error && !isBroken) expect((await mediaUsage(bench.stack, id)).units).toEqual({ characters: SPOKEN.length });
    if (!isBroken) return;
    expect(Number(answer.headers.get("x-credits-used"))).toBeGreaterThan(0);
    for (const response_format of ["wav", "opus"]) {
      const { outcome } = await callMedia(caller, "Speech", "sandbox-tts-truncate", { response_format });
      expect(outcome).toBe("200 … cut");
    }
  },
  async Transcriptions({ id, data, error }) {
    if (!error) expect(data?.text).toBe(SPOKEN);
    // A transcription is waited for to its end, and no job is found of it.
    expect(await errorOf(await bench.call(`/v1/images/jobs/${id}`))).toMatchObject({ code: "job_not_found" });
  },
  async Videos({ id, data }) {
    // One that fails at once may have failed by the time of the answer.
    expect(["queued", "processing", "failed"]).toContain(data?.status ?? "");
    const own = (await (await bench.call(`/v1/videos/generations/${id}`)).json()) as Job;
    expect(own).toMatchObject({ id, status: (await bench.jobOf(id)).status });
    const { status, units } = await mediaUsage(bench.stack, id);
    if (status === "succeeded") expect(units).toEqual({ seconds: 1 });
  },
  async Music({ id, error }) {
    const { units } = await mediaUsage(bench.stack, id);
    if (!error) expect(units["seconds"]).toBeCloseTo(MUSIC_SECONDS, 1);
  },
  async "3D"({ error, data }) {
    if (!error) expect(data?.data).toMatchObject([{ content_type: "model/gltf-binary" }]);
  },
};

describe("waiting", () => {
  const [TIMEOUT = ""] = /`504 job_timeout[^`]*`/.exec(sectionOf("Media")) ?? [];
  const waited = SLOW.filter(([, section]) => section !== "Videos" && section !== "Transcriptions");
  const unbound = SLOW.filter(([, section]) => section === "Videos" || section === "Transcriptions");

  test.each(waited)(
    "%s ends for a caller that does not wait, and continues as a job that is charged",
    async (model, section, row) => {
      const call = await begin(model, section, true);
      expect(`\`${call.outcome}\``).toBe(TIMEOUT);
      expect([call.sdk, call.error?.type]).toEqual(["`InternalServerError`, not resent", "server_error"]);
      expect(jobIdOf(call)).toBe(call.id);
      expect(endOf(await bench.endOf(call.id))).toBe(row.job);
      expectSettled(row.billed.plain, await mediaUsage(bench.stack, call.id), prices.get(model) ?? 0n);
    },
    60_000,
  );

  test.each(unbound)("%s answers with any wait limit", async (model, section) => {
    expect(await begin(model, section, true)).toMatchObject({ outcome: "200" });
  });
});

describe("resending by a stock SDK", () => {
  const [, , resent] = rowsOf("Music");

  test("happens twice if nothing was charged, and not for a call whose job continues", async () => {
    expect(resent?.sdk.plain).toBe("`InternalServerError`, resent");
    const resender = createCaller(bench.stack, bench.stack.key, 2);
    const [{ id }] = await Promise.all([late, callMedia(resender, "Music", resent?.model ?? "")]);
    expect(resender.recorder.answers.map(({ status }) => status)).toEqual([502, 502, 502]);
    for (const { headers } of resender.recorder.answers) {
      expect(await mediaUsage(bench.stack, headers.get("x-request-id") ?? "")).toMatchObject({ settled: 0n });
    }
    expect(hasty.recorder.answers.map(({ status }) => status)).toEqual([504]);
    expect(await bench.endOf(id)).toMatchObject({ status: "completed" });
  }, 30_000);
});

describe("a stream of states", () => {
  const PATHS: Readonly<Partial<Record<Section, string>>> = {
    Images: "/v1/images/generations",
    Music: "/v1/music/generations?stream=true",
  };
  const streamed = CASES.filter(([model, section]) => PATHS[section] !== undefined && !model.endsWith("-slow"));

  async function statesOf(model: string, section: Section): Promise<{ states: MediaState[]; id: string }> {
    const body = section === "Images" ? { ...BODIES.Images, stream: true } : BODIES.Music;
    const response = await bench.call(PATHS[section] ?? "", { model, ...body });
    expect(response.status).toBe(200);
    const frames = Array.from((await response.text()).matchAll(/^data: (.*)$/gm), ([, data = ""]) => data);
    expect(frames.pop()).toBe("[DONE]");
    const states = frames.map((frame) => JSON.parse(frame) as MediaState);
    return { states, id: response.headers.get("x-request-id") ?? "" };
  }

  const wordsOf = (state: MediaState | undefined): string =>
    state?.error ? `${state.status} ${state.error.code}` : String(state?.status);

  test.each(streamed)(
    "of %s ends as its row states for the job, which is not found afterwards",
    async (model, section, row) => {
      const { states, id } = await statesOf(model, section);
      expect(states.map(({ status }) => status).slice(0, -1)).toEqual(["queued", "processing"]);
      expect(wordsOf(states.at(-1))).toBe(row.job);
      expect(await errorOf(await bench.call(`/v1/images/jobs/${id}`))).toMatchObject({ code: "job_not_found" });
      expectSettled(row.billed.plain, await mediaUsage(bench.stack, id), prices.get(model) ?? 0n);
    },
  );

  test("is not served by a fallback, unlike a plain call", async () => {
    const chain = (...models: string[]) =>
      bench.stack.command("admin", "fallback-chains", "set", ...models, "--workspace", "default");
    expect(await chain("sandbox-image-error", "sandbox-image")).toMatchObject({ code: 0 });
    expect(await chain("sandbox-music-error", "sandbox-image")).toMatchObject({ code: 1 });
    expect(await chain("sandbox-music-error", "sandbox-music")).toMatchObject({ code: 0 });
    const names = ["x-model-used", "x-fallback-from", "x-fallback-depth"];
    for (const [section, model] of [
      ["Images", "sandbox-image"],
      ["Music", "sandbox-music"],
    ] as const) {
      const served = await eventually("the chain is in force", async () => {
        const call = await callMedia(caller, section, `${model}-error`);
        return call.error === undefined && call.answer.headers;
      });
      expect(names.map((name) => served.get(name))).toEqual([model, `${model}-error`, "1"]);
    }
    const { states } = await statesOf("sandbox-image-error", "Images");
    expect(wordsOf(states.at(-1))).toBe("failed upstream_error");
  }, 30_000);
});

describe("a cancel", () => {
  const cancelled = async (model: string): Promise<string> => {
    const { id } = await callMedia(caller, "Videos", model);
    // Before that a cancel ends it whatever its provider would say.
    await eventually("it is at its provider", async () => {
      const begun = "select 1 from job where id = $1 and provider_job ? 'job'";
      return (await bench.stack.query(begun, [id])).length === 1;
    });
    expect((await bench.call(`/v1/videos/generations/${id}/cancel`, {})).status).toBe(200);
    return id;
  };

  test("ends a hanging job, free of charge", async () => {
    const id = await cancelled("sandbox-video-hang");
    expect(await bench.endOf(id)).toMatchObject({ status: "cancelled", credits_used: 0 });
  });

  test("does not end the job whose outcome is unknown", async () => {
    const id = await cancelled("sandbox-video-lost");
    await eventually("its outcome is unknown", () => isUnknown(id));
    expect(await bench.jobOf(id)).toMatchObject({ status: "processing" });
    await age(id);
    expect(endOf(await bench.endOf(id))).toBe("failed upstream_timeout");
  }, 30_000);
});

describe("a mesh in the call", () => {
  const codes = Array.from(sectionOf("3D").matchAll(/`400 ([a-z_]+)`/g), ([, code]) => code);
  const makers = rowsOf("3D").filter(({ model }) => !TRANSFORMS.includes(model));
  const mesh_url = "https://example.com/mesh.glb";

  test.each(TRANSFORMS)("is missed by %s", async (model) => {
    const { error } = await callMedia(caller, "3D", model);
    expect(error).toMatchObject({ status: 400, code: codes[0], type: "invalid_request_error", param: "mesh_url" });
  });

  test.each(makers)("is refused by $model", async ({ model }) => {
    const { error } = await callMedia(caller, "3D", model, { mesh_url });
    expect(error).toMatchObject({ status: 400, code: codes[1], type: "invalid_request_error", param: "mesh_url" });
  });

  test("has two codes in the guide", () => {
    expect(codes).toEqual(["missing_required_parameter", "unsupported_value"]);
  });
});
