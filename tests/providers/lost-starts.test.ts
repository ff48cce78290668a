/** Starts whose answers were lost, at each family that can tell of them: found by list or ring, or proved never to have been taken. */
import { describe, expect, test } from "bun:test";

import { createFal } from "#workers/providers/fal/index.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";
import type { Found, LostStart, ProviderJob, QueuedAdapter, StartCall } from "#workers/providers/media.ts";
import { createMeshy } from "#workers/providers/meshy/index.ts";
import { createReplicate } from "#workers/providers/replicate/index.ts";
import { createTripo } from "#workers/providers/tripo/index.ts";

import { jsonReply, ok, redirect } from "./engine/behaviour.ts";
import { failureOf, mediaCall, never, overriding, queued, stored, useServers } from "./engine/calls.ts";
import { startFalServer } from "./fal/server.ts";
import { startGeminiVideoServer } from "./gemini/video-server.ts";
import { startMeshyServer } from "./meshy/server.ts";
import { startReplicateServer } from "./replicate/server.ts";
import { startTripoServer } from "./tripo/server.ts";
import { videoCall } from "./video-calls.ts";

const own = useServers();
const apiKey = "key";
const RING = "https://sluice.example/v1/provider-callbacks/1/t?start=2";

/** Begins a job and returns what is left of it when its answer is lost: what was noted before it was sent. */
async function lose<Input>(
  queue: QueuedAdapter<Input, unknown>,
  call: StartCall<Input>,
): Promise<LostStart & { readonly found: (told?: string) => Promise<Found> }> {
  let lost: LostStart | undefined;
  const noteStart = async (mark: ProviderJob | null): Promise<void> => {
    lost = { mark: stored(mark ?? {}), sentMs: Date.now() };
  };
  expect(await failureOf(queue.start({ ...call, noteStart }))).toMatchObject({ kind: "unknown" });
  if (!lost) throw new Error("nothing was noted");
  const known = lost;
  const found = async (told?: string): Promise<Found> => {
    const asked = await queue.find?.({ ...known, ...(told === undefined ? {} : { told }) }, never);
    if (!asked) throw new Error("it cannot be looked for");
    return asked;
  };
  return { ...known, found };
}

const LOST = { start: "lost" } as const;
const GATEWAY = { answer: jsonReply(502, "<html>") } as const;

describe("a prediction of Replicate", () => {
  const SEEDANCE = "bytedance/seedance-1.5-pro";
  const at = () => {
    const server = own(startReplicateServer({ token: apiKey }));
    const { video } = createReplicate({ baseUrl: server.url, headers: { authorization: "Bearer key" } });
    const queue = queued(video);
    const call = (prompt: string, more = {}) => videoCall({ prompt }, { sourceModel: SEEDANCE, ...more });
    return { server, queue, call };
  };

  test.each([
    ["whose answer was lost on the way", LOST],
    ["that a gateway has no answer of", GATEWAY],
  ])("%s is found by its input, and its prompt is nowhere in what finds it", async (_how, script) => {
    const { server, queue, call } = at();
    server.next({}, script);
    await queue.start(call("another one"));
    const { mark, found } = await lose(queue, call("an owl over a lake"));
    expect(JSON.stringify(mark)).not.toContain("owl");
    const [, taken] = server.jobs;
    expect(await found()).toMatchObject({
      state: "listed",
      alike: [
        { name: taken?.id ?? "", madeMs: taken?.madeMs ?? 0, job: { id: taken?.id, asked: 1 }, hasFailed: false },
      ],
      unclear: [],
      mayRing: false,
    });
    // One list: the job is submitted once.
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(2);
  });

  test("that was not taken is in no list, whatever else there is", async () => {
    const { server, queue, call } = at();
    server.next({}, {}, { start: "reset" });
    for (const prompt of ["one", "two"]) await queue.start(call(prompt));
    const { found } = await lose(queue, call("three"));
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [] });
  });

  test("is found on a later page, and one that has failed comes last", async () => {
    const { server, queue, call } = at();
    server.next(LOST);
    const { found } = await lose(queue, call("the same"));
    for (let more = 0; more < 4; more++) await queue.start(call(more === 1 ? "the same" : `another ${more}`));
    const [first, , second] = server.jobs;
    if (second) second.status = "failed";
    const names = async (): Promise<string[]> => {
      const asked = await found();
      return asked.state === "listed" ? asked.alike.map(({ name }) => name) : [];
    };
    expect(await names()).toEqual([first?.id ?? "", second?.id ?? ""]);
  });

  test("whose media may lie under other addresses there is not clear, nor is one whose data are deleted", async () => {
    const { server, queue } = at();
    const image = { url: "https://pictures.example/a.png" };
    server.next(LOST);
    const call = videoCall({ prompt: "it moves", image }, { sourceModel: SEEDANCE });
    const { found } = await lose(queue, call);
    expect(await found()).toMatchObject({ alike: [{ name: server.jobs[0]?.id }], unclear: [] });
    Object.assign(server.jobs[0]?.facts.input ?? {}, { image: "https://replicate.example/files/1" });
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: server.jobs[0]?.id }] });
    server.nextLists(
      ok({ next: null, results: [{ id: "x", model: SEEDANCE, data_removed: true, created_at: "now" }] }),
    );
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: "x", madeMs: Number.NaN }] });
  });

  test.each([
    ["is down", jsonReply(502, "<html>")],
    ["is cut", "cut"],
    ["is no JSON", ok("<html>")],
    ["has no results", ok({ next: null })],
    ["wants another key", jsonReply(401, {})],
    ["leads elsewhere", redirect],
  ] as const)("is neither found nor given up while the list %s", async (_how, reply) => {
    const { server, queue, call } = at();
    server.next(LOST);
    const { found } = await lose(queue, call("an owl"));
    server.nextLists(reply);
    const asked = await found().catch((error: unknown) => ({ state: "unknown", error }));
    expect(asked).toMatchObject({ state: "unknown" });
    expect(await found()).toMatchObject({ state: "listed", alike: [{}] });
  });

  test("is not looked for on pages that lie elsewhere, and no key goes there", async () => {
    const { server, queue, call } = at();
    const other = own(startReplicateServer({ token: apiKey }));
    server.next(LOST);
    const { found } = await lose(queue, call("an owl"));
    for (const next of [`${other.url}/predictions?cursor=2`, "nonsense", 7]) {
      server.nextLists(ok({ next, results: [] }));
      expect(await found()).toMatchObject({ state: "unknown" });
    }
    expect(other.requests).toEqual([]);
  });

  test("that was told where to ring may ring yet, and is known by the name that it rings with", async () => {
    const { server, queue, call } = at();
    server.next(LOST);
    const { found } = await lose(queue, call("an owl", { callbackUrl: RING }));
    expect(await found()).toMatchObject({ state: "listed", mayRing: true });
    const id = server.jobs[0]?.id ?? "";
    expect(await found(id)).toEqual({ state: "found", job: { id, asked: 1 } });
  });
});

describe("a task of Meshy", () => {
  const at = () => {
    const server = own(startMeshyServer({ apiKey }));
    const queue = queued(createMeshy({ baseUrl: server.url, headers: { authorization: "Bearer key" } }).mesh);
    return { server, queue };
  };
  const words = (prompt: string) => mediaCall({ prompt }, { sourceModel: "text-to-3d/meshy-6" });
  const image = () => mediaCall({ image: { url: "https://x.example/1.png" } }, { sourceModel: "image-to-3d/meshy-6" });

  test("made of words is found by them", async () => {
    const { server, queue } = at();
    server.next({}, GATEWAY);
    await queue.start(words("a fox"));
    const { mark, found } = await lose(queue, words("a red chair"));
    expect(JSON.stringify(mark)).not.toContain("chair");
    const [, taken] = server.jobs;
    const asked = await found();
    expect(asked).toMatchObject({ state: "listed", alike: [{ name: taken?.id }], unclear: [] });
    // What is found goes on to its second half.
    const job = asked.state === "listed" ? (asked.alike[0]?.job ?? {}) : {};
    if (taken) taken.status = "SUCCEEDED";
    expect((await queue.poll(job, never)).state).toBe("pending");
  });

  test("made of an image is never found, since a list shows no image: it can be told only that there is none", async () => {
    const { server, queue } = at();
    server.next(LOST, { start: "reset" });
    const { found } = await lose(queue, image());
    expect(await found()).toMatchObject({ alike: [], unclear: [{ name: server.jobs[0]?.id }] });
    const other = at();
    other.server.next({ start: "reset" });
    const untaken = await lose(other.queue, image());
    expect(await untaken.found()).toMatchObject({ state: "listed", alike: [], unclear: [], mayRing: false });
  });

  test("that is the second half of another is told from first halves, and not from other second ones", async () => {
    const { server, queue } = at();
    server.next({ polls: ["SUCCEEDED"] }, LOST);
    const first = await queue.start(words("a fox"));
    const polled = await queue.poll(first, never);
    let mark: ProviderJob | null = null;
    const noteStart = async (noted: ProviderJob | null): Promise<void> => void (mark = noted);
    const begun = polled.state === "next" ? polled.start({ signal: never, noteStart }) : Promise.resolve({});
    expect(await failureOf(begun)).toMatchObject({ kind: "unknown" });
    const find = () => queue.find?.({ mark: mark ?? {}, sentMs: Date.now() }, never);
    const [, refine] = server.jobs;
    expect(await find()).toMatchObject({ alike: [], unclear: [{ name: refine?.id }] });
    // Where Meshy says what it refines.
    const known = { id: refine?.id, type: "text-to-3d-refine", created_at: Date.now(), preview_task_id: first["id"] };
    server.nextLists(jsonReply(200, [known]));
    expect(await find()).toMatchObject({ alike: [{ name: refine?.id, job: { preview: first["id"] } }], unclear: [] });
  });

  test("of a kind that is not listed leaves nothing to look for", async () => {
    const { queue } = at();
    const marks: unknown[] = [];
    const call = mediaCall({ mesh: { url: "https://x.example/1.glb" } }, { sourceModel: "rigging" });
    await queue.start({ ...call, noteStart: async (mark) => void marks.push(mark) });
    expect(marks).toEqual([null]);
  });

  test.each([
    ["is down", jsonReply(503, {})],
    ["is no list", jsonReply(200, { tasks: [] })],
    ["is cut", "cut"],
  ] as const)("is not given up while the list %s", async (_how, reply) => {
    const { server, queue } = at();
    server.next({ start: "reset" });
    const { found } = await lose(queue, words("a fox"));
    server.nextLists(reply);
    expect(await found().catch(() => ({ state: "unknown" }))).toMatchObject({ state: "unknown" });
  });

  test("made long before, by our clock and Meshy's together, is another", async () => {
    const { server, queue } = at();
    server.next({ start: "reset" });
    const { found } = await lose(queue, words("a fox"));
    const old = { id: "old", type: "text-to-3d-preview", prompt: "a fox", created_at: Date.now() - 3_600_000 };
    server.nextLists(jsonReply(200, [old]));
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [] });
    server.nextLists(jsonReply(200, [{ ...old, created_at: undefined }]));
    expect(await found()).toMatchObject({ state: "listed", alike: [], unclear: [{ name: "old" }] });
  });
});

describe("a job that only a ring finds", () => {
  test("is fal's: its queue is asked by name alone", async () => {
    const server = own(startFalServer({ apiKey }));
    const queue = queued(createFal({ baseUrl: server.url, headers: { authorization: "Key key" } }).video);
    server.next(LOST);
    const { found } = await lose(queue, videoCall({}, { sourceModel: "acme/filmer/pro", callbackUrl: RING }));
    expect(await found()).toMatchObject({ state: "unknown" });
    const { id = "", facts } = server.jobs[0] ?? {};
    expect(facts?.callbackUrl).toBe(RING);
    const rung = await found(id);
    expect(rung).toMatchObject({
      state: "found",
      job: { request_id: id, status_path: `/acme/filmer/requests/${id}/status` },
    });
    expect((await queue.poll(rung.state === "found" ? rung.job : {}, never)).state).toBe("pending");
    expect(await found("../../account")).toMatchObject({ state: "unknown" });
  });

  test("is Omni's, which is told where to ring", async () => {
    const server = own(startGeminiVideoServer({ apiKey }));
    const queue = queued(createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": apiKey } }).video);
    server.next(LOST);
    const { found } = await lose(queue, videoCall({}, { callbackUrl: RING }));
    expect(server.requests[0]?.body).toMatchObject({ webhook_config: { uris: [RING] } });
    expect(await found()).toMatchObject({ state: "unknown" });
    const { id = "" } = server.jobs[0] ?? {};
    expect(await found(id)).toEqual({ state: "found", job: { api: "interactions", id } });
  });

  test.each([
    ["fal without an address to ring at", "fal"],
    ["Omni where our address is none that Google rings at", "omni"],
    ["Veo with a key", "veo"],
    ["Tripo", "tripo"],
  ])("is none of %s: nothing finds it", async (_what, which) => {
    const marks: unknown[] = [];
    const noteStart = async (mark: unknown): Promise<void> => void marks.push(mark);
    if (which === "fal") {
      const server = own(startFalServer({ apiKey }));
      const { video } = createFal({ baseUrl: server.url, headers: { authorization: "Key key" } });
      await queued(video).start(videoCall({}, { sourceModel: "acme/filmer", noteStart }));
    } else if (which === "tripo") {
      const server = own(startTripoServer({ apiKey }));
      const { mesh } = createTripo({ baseUrl: server.url, headers: { authorization: "Bearer key" } });
      const sourceModel = "text-to-model/v3.1-20260211";
      await queued(mesh).start(mediaCall({ prompt: "a fox" }, { sourceModel, noteStart }));
    } else {
      const server = own(startGeminiVideoServer({ apiKey }));
      const { video } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": apiKey } });
      const api = which === "veo" ? "predictLongRunning" : "interactions";
      const callbackUrl = RING.replace("https:", "http:");
      await queued(video).start(videoCall({}, { callbackUrl, noteStart, ...overriding({ api }) }));
      expect(server.requests[0]?.body).not.toHaveProperty("webhook_config");
    }
    expect(marks).toEqual([null]);
  });
});
