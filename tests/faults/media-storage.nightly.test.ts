/**
 * Fault: the object store refuses, is too busy, resets connections, gives back other bytes or fewer. Expected: what
 * was made is kept as soon as it can be and paid once; a call that cannot be kept is a 503 that leaves nothing; a reader gets
 * the bytes that were made, or an error, or a cut, and never a whole answer that is wrong.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import sharp from "sharp";

import { startTcpProxy, type Fate, type TcpProxy } from "#tests/support/tcp-proxy.ts";
import { FILE_BLOCK_BYTES } from "#shared/files/digest.ts";

import { audit } from "./audit.ts";
import { type Answer, errorCode, requestId } from "./client.ts";
import { CREDIT, expectStorageExact, type MediaBed, startMediaBed } from "./media-bed.ts";
import { eventually } from "./wait.ts";

const BUSY_BODY =
  '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>';
const BUSY: Fate = {
  answer: `HTTP/1.1 503 Slow Down\r\ncontent-type: application/xml\r\ncontent-length: ${BUSY_BODY.length}\r\n\r\n${BUSY_BODY}`,
};
/** More often than one attempt to keep something repeats by itself. */
const OFTEN = 8;
const EVER = 1_000;

let bed: MediaBed;
let nats: TcpProxy;
/** More than a block of a file. */
let big: Uint8Array;

beforeAll(async () => {
  bed = await startMediaBed({ env: { SLUICE_MEDIA_WAIT_MS: "60000" } });
  nats = startTcpProxy(new URL(bed.stack.natsUrl).host);
  big = await noise(900, 600);
  bed.gallery.show("big", big);
}, 60_000);

afterAll(async () => {
  await bed?.stop();
  nats?.close();
});

const BLOCK = FILE_BLOCK_BYTES;
/** The first block is right, and nothing behind it ever is. */
const BEHIND: readonly (readonly Fate[])[] = [
  [{ flip: BLOCK }, ...many(EVER, { flip: 0 })],
  [{ cut: BLOCK }, ...many(EVER, { cut: 0 })],
];

function many(count: number, fate: Fate): Fate[] {
  return Array.from({ length: count }, () => fate);
}

const errorOf = (answer: Answer): unknown => (JSON.parse(answer.body) as { error: unknown }).error;

/** A picture of the gallery's, to its end. */
async function make(prompt: string, name = prompt, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const script = { polls: ["COMPLETED"] as const, result: bed.gallery.result(name) };
  return (await bed.place(prompt, script, more)).answer;
}

async function edit(prompt: string): Promise<Answer> {
  const image_base64 = Buffer.from(await noise(300, 200)).toString("base64");
  const body = { model: "sandbox-image", prompt, image_base64, size: "256x256" };
  return (await bed.client.open(bed.target("/v1/images/edits"), body)).ended;
}

describe("a store that accepts no writes", () => {
  test.each<[string, Fate]>([
    ["is too busy", BUSY],
    ["resets its connections", "refuse"],
  ])("since it %s stores results after its recovery, charged once", async (what, fate) => {
    const before = bed.storeFaults();
    bed.storeFails("PUT", "files/", ...many(OFTEN, fate));
    const answer = await make(what);
    expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "1"]);
    expect(bed.storeFaults() - before).toBe(OFTEN);
    expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "succeeded", settled: CREDIT }]);
    expect(bed.submissions(what)).toBe(1);
    await expectStorageExact(bed);
  });

  test.each<[string, Fate]>([
    ["is too busy", BUSY],
    ["resets its connections", "refuse"],
  ])("since it %s rejects a call too large for its row, and leaves nothing", async (_what, fate) => {
    bed.storeFails("PUT", "claims/", ...many(EVER, fate));
    const answer = await edit("turned away");
    expect([answer.status, errorCode(answer)]).toEqual([503, "service_unavailable"]);
    expect(await bed.jobOf(requestId(answer))).toBeUndefined();
    expect(await bed.usageOf(requestId(answer))).toEqual([]);
    expect(await bed.stack.query("select 1 from hold")).toEqual([]);
  });
});

describe("a store that returns wrong bytes", () => {
  test.each<[string, Fate]>([
    ["altered", { flip: 1_000 }],
    ["cut short", { cut: 1_000 }],
    ["not at all", "refuse"],
  ])(
    "of a large request, %s, is read again before a provider is called",
    async (_what, fate) => {
      // The SDK repeats connections that were lost by itself.
      bed.storeFails("GET", "claims/", ...many(fate === "refuse" ? 4 : 1, fate));
      const before = bed.storeFaults();
      const answer = await edit("read again");
      expect([answer.status, answer.headers.get("x-credits-used")]).toEqual([200, "2"]);
      expect(bed.storeFaults()).toBeGreaterThan(before);
      expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "succeeded", settled: 2n * CREDIT }]);
    },
    30_000,
  );

  test("once, is read again, and its reader receives the right bytes", async () => {
    bed.storeFails("GET", "files/");
    const [url = "", id = ""] = await linkOf(await make("once", "big"));
    for (const [path, fate] of [
      [url, { flip: 1_000 }],
      [url, { cut: 1_000 }],
      [url, "refuse"],
      [`${bed.target().url}/v1/files/${id}/content`, { flip: 1_200_000 }],
      [`${bed.target().url}/v1/files/${id}/content`, { cut: 1_200_000 }],
    ] as const) {
      bed.storeFails("GET", "files/", fate);
      const { status, bytes } = await read(path);
      expect([status, bytes?.equals(big)]).toEqual([200, true]);
    }
  });

  test("always, is never trusted: its reader receives an error, or is cut off after the right part", async () => {
    bed.storeFails("GET", "files/");
    const [url = ""] = await linkOf(await make("always", "big"));
    for (const fate of [{ flip: 0 }, { flip: BLOCK - 1 }, { cut: 0 }, { cut: BLOCK - 1 }, "refuse", BUSY] as const) {
      bed.storeFails("GET", "files/", ...many(EVER, fate));
      const isAltered = typeof fate === "object" && "flip" in fate;
      expect([fate, (await read(url)).status]).toEqual([fate, isAltered ? 500 : 503]);
    }
    // Behind its first block a status has been told.
    for (const fates of BEHIND) {
      bed.storeFails("GET", "files/", ...fates);
      const { status, bytes } = await read(url);
      expect([fates[0], status, bytes]).toEqual([fates[0], 200, undefined]);
    }
  });

  test("is never trusted in base64 either: the caller receives the job to collect", async () => {
    for (const fate of [{ flip: 40 }, { cut: 40 }, "refuse"] as const) {
      const prompt = `inline ${JSON.stringify(fate)}`;
      bed.storeFails("GET", "files/", ...many(EVER, fate));
      const answer = await make(prompt, "inline", { response_format: "b64_json" });
      const id = requestId(answer);
      expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([503, "false"]);
      expect(errorOf(answer)).toMatchObject({ code: "service_unavailable", job_id: id });
      expect(await bed.usageOf(id)).toEqual([{ status: "succeeded", settled: CREDIT }]);
      bed.storeFails("GET", "files/");
      const { data = [] } = (await (await bed.shown(id)).json()) as { data?: { url: string }[] };
      expect((await read(data[0]?.url ?? "")).status).toBe(200);
    }
    // Behind the first block of it.
    for (const fates of BEHIND) {
      bed.storeFails("GET", "files/", ...fates);
      const answer = await make(`behind ${JSON.stringify(fates[0])}`, "big", { response_format: "b64_json" });
      expect([answer.status, answer.isCut]).toEqual([200, true]);
      expect(() => JSON.parse(answer.body) as unknown).toThrow();
      expect(await bed.usageOf(requestId(answer))).toEqual([{ status: "succeeded", settled: CREDIT }]);
      // For the audit: a cut that is meant.
      answer.hasLeft = true;
    }
  });
});

test("unreadable generated speech is `artifact_unreadable` with its job, and charged once", async () => {
  const { client, stack } = bed;
  // What this worker tells of the speech as it makes it gets lost, as with a connection that breaks.
  const worker = await bed.addWorker(["audio"], { NATS_URL: `nats://${nats.host}` });
  bed.storeFails("GET", "files/", ...many(EVER, { flip: 40 }));
  const body = { model: "sandbox-tts-slow", input: "Nobody hears this.", voice: "alloy" };
  const { head } = client.begin(bed.target("/v1/audio/speech"), body);
  await eventually(
    "it is made",
    async () => (await stack.query("select 1 from job where kind = 'speech' and state = 'running'")).length > 0,
  );
  nats.freeze();
  const answer = await (await head).ended;
  const id = requestId(answer);
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([500, "false"]);
  expect(errorOf(answer)).toMatchObject({ code: "artifact_unreadable", job_id: id });
  const [usage] = await bed.usageOf(id);
  expect([usage?.status, (usage?.settled ?? 0n) > 0n]).toEqual(["succeeded", true]);
  worker.kill("SIGKILL");
  await bed.addWorker(["audio"]);
  bed.storeFails("GET", "files/");
  const { data = [] } = (await (await bed.shown(id)).json()) as { data?: { url: string }[] };
  expect((await read(data[0]?.url ?? "")).status).toBe(200);
}, 60_000);

test("an unavailable store takes no process out of service: readiness reports it, and fails if a probe requires it", async () => {
  const { client, s3, stack } = bed;
  const roles = [...stack.ingresses, ...stack.workers, ...stack.janitors];
  const askAll = (query: string) =>
    Promise.all(
      roles.map(async ({ adminUrl }) => {
        const answer = await fetch(`${adminUrl}/readyz${query}`);
        const body = (await answer.json()) as { dependencies: { database: string; queue: string; storage: string } };
        return { status: answer.status, ...body.dependencies };
      }),
    );
  const usual = { status: 200, database: "ok", queue: "ok" };
  s3.decide(() => "refuse");
  await eventually("each role has seen it", async () => (await askAll("")).every(({ storage }) => storage !== "ok"));
  expect(await askAll("")).toEqual(roles.map(() => expect.objectContaining(usual)));
  expect((await askAll("?require=storage")).map(({ status }) => status)).toEqual(roles.map(() => 503));
  const { url } = bed.target();
  const asked = ["/readyz", "/readyz?require=storage"].map(async (path) => (await fetch(url + path)).status);
  expect(await Promise.all(asked)).toEqual([200, 503]);
  for (const { adminUrl } of roles) {
    const page = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(page).toMatch(/^sluice_dependency_up\{[^}]*dependency="storage"[^}]*\} 0$/m);
    expect(page).toMatch(/^sluice_dependency_up\{[^}]*dependency="database"[^}]*\} 1$/m);
  }
  const chat = { model: "sandbox-chat", messages: [{ role: "user", content: "hello" }] };
  await bed.addWorker(["chat"]);
  const answer = await (await client.open(bed.target("/v1/chat/completions"), chat)).ended;
  expect(answer.status).toBe(200);
  s3.decide(undefined);
  await eventually("it is back", async () =>
    (await askAll("?require=storage")).every(({ status, storage }) => status === 200 && storage === "ok"),
  );
}, 60_000);

test("the books are exact afterwards", async () => {
  await expectStorageExact(bed);
  await audit(bed, { withinMs: 30_000 });
  expect(bed.fal.faults).toEqual([]);
}, 60_000);

/** Address and file id of what was made. */
async function linkOf(answer: Answer): Promise<readonly string[]> {
  const { data = [] } = JSON.parse(answer.body) as { data?: { url: string; file_id: string }[] };
  return data.flatMap(({ url, file_id }) => [url, file_id]);
}

/** The bytes where they came whole. */
async function read(url: string): Promise<{ readonly status: number; readonly bytes: Buffer | undefined }> {
  const headers = { authorization: `Bearer ${bed.stack.key}` };
  const response = await fetch(url, { headers, keepalive: false });
  const bytes = await response.arrayBuffer().then(
    (whole) => Buffer.from(whole),
    () => undefined,
  );
  return { status: response.status, bytes };
}

async function noise(width: number, height: number): Promise<Uint8Array> {
  const create = {
    width,
    height,
    channels: 3,
    background: "#000",
    noise: { type: "gaussian", mean: 128, sigma: 60 },
  } as const;
  return new Uint8Array(await sharp({ create }).png().toBuffer());
}
