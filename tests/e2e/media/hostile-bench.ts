/** The service under attack: what every refusal has in common, and how much memory each process came to. */
import { expect } from "bun:test";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { freePort } from "#deploy/embedded/probe.mjs";
import { ERROR_CODES, type ErrorEnvelope } from "#shared/base/errors.ts";
import { pngOf } from "#tests/support/png.ts";
import { storm } from "#tests/support/storm.ts";
import { blocks } from "#tests/support/meshes.ts";

import { type Bench, startBench } from "./bench.ts";
import { wav } from "#tests/support/hostile-files/sounds.ts";

export const EDITS = "/v1/images/edits";
export const MESHES = "/v1/3d/generations";
export const TRANSCRIPTIONS = "/v1/audio/transcriptions";
export const VIDEOS = "/v1/videos/generations";
export const MB = 1_048_576;

/** A picture, a recording and a mesh with nothing wrong about them. */
export const PICTURE = pngOf(64, 64);
export const SOUND = wav();

export interface HostileBench extends Bench {
  readonly base: string;
  /** Answers like anything else, and nobody may ask it. */
  readonly innerUrl: string;
  /** Requests that reached it all the same. */
  readonly askedInside: readonly string[];
  /** Server that the operator lets callers reach. */
  readonly site: Server;
  readonly siteUrl: string;
  /** undefined where it is not measured. */
  readonly memory: MemoryWatch | undefined;
  readonly mesh: Uint8Array;
  /** A body as it is. */
  raw(path: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response>;
  /** A stored file's id. */
  store(bytes: Uint8Array, name: string, key?: string): Promise<string>;
  /** One good call of each kind is served. */
  expectService(): Promise<void>;
  expectAlive(): void;
}

/** @param pages what the site hands out, by path */
export async function startHostileBench(
  pages: (bench: Pick<HostileBench, "innerUrl" | "siteUrl" | "mesh">) => Readonly<Record<string, RequestListener>>,
): Promise<HostileBench> {
  const askedInside: string[] = [];
  const inner = createServer((request, response) => {
    askedInside.push(request.url ?? "");
    response.end(PICTURE);
  });
  let handed: ReturnType<typeof pages> = {};
  const site = createServer((request, response) => {
    const page = handed[request.url ?? ""];
    if (page) page(request, response);
    else response.writeHead(404).end();
  });
  const [innerUrl, siteUrl] = await Promise.all([opened(inner), opened(site)]);
  const mesh = await blocks(2);
  handed = pages({ innerUrl, siteUrl, mesh });
  const port = String(await freePort());
  const bench = await startBench({
    apart: true,
    env: { PORT: port, SLUICE_OUTBOUND_ALLOW: `${new URL(siteUrl).host},127.0.0.1:${port}` },
  });
  const { stack, client } = bench;
  const base = stack.baseUrls[0] ?? "";
  const store: HostileBench["store"] = async (bytes, name, key = stack.key) => {
    const file = new File([new Uint8Array(bytes)], name);
    return (await client.withOptions({ apiKey: key }).files.create({ file, purpose: "user_data" })).id;
  };
  const expectService = (): Promise<void> => everyRouteServes(bench, store, mesh);
  const memory = isMeasured() ? await watchAttack(bench, expectService) : undefined;
  return {
    ...bench,
    base,
    innerUrl,
    askedInside,
    site,
    siteUrl,
    memory,
    mesh,
    store,
    expectService,
    raw: (path, body) =>
      fetch(base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
        body,
      }),
    expectAlive: () => expect([...stack.ingresses, ...stack.workers].map((one) => one.alive())).toEqual([true, true]),
    async close() {
      memory?.stop();
      for (const server of [inner, site]) {
        server.closeAllConnections();
        server.close();
      }
      await bench.close();
    },
  };
}

/** In the suite other tests beside it would be measured too. */
const isMeasured = (): boolean => storm(false, process.platform === "linux");

/** Starts to watch memory after one call of each kind, so that what these need once is not counted as the attack's. */
async function watchAttack(bench: Bench, expectService: () => Promise<void>): Promise<MemoryWatch> {
  await expectService();
  return watchMemory(bench);
}

async function opened(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function everyRouteServes(bench: Bench, store: HostileBench["store"], mesh: Uint8Array): Promise<void> {
  const calls: readonly [path: string, body: object][] = [
    ["/v1/images/generations", { model: "sandbox-image", prompt: "a ball", size: "256x256" }],
    [EDITS, { model: "sandbox-image", prompt: "a sun", image_base64: base64(PICTURE) }],
    ["/v1/audio/speech", { model: "sandbox-tts", input: "Hello.", voice: "alloy" }],
    [TRANSCRIPTIONS, { model: "sandbox-stt", audio_base64: base64(SOUND) }],
    ["/v1/music/generations", { model: "sandbox-music", prompt: "drums", duration: 3 }],
    [MESHES, { model: "sandbox-3d-remesh", prompt: "a block", mesh_file_id: await store(mesh, "good.glb") }],
    [VIDEOS, { model: "sandbox-video", prompt: "a lake", duration: 1, resolution: "240p" }],
  ];
  const served = await Promise.all(
    calls.map(async ([path, body]) => {
      const response = await bench.call(path, body);
      if (path !== VIDEOS) {
        await response.arrayBuffer();
        return [path, response.status];
      }
      const { id } = (await response.json()) as { id: string };
      return [path, (await bench.endOf(id)).status === "completed" ? response.status : 0];
    }),
  );
  expect(served).toEqual(calls.map(([path]) => [path, 200]));
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

export interface Refusal {
  readonly status: number;
  readonly code: keyof typeof ERROR_CODES;
  readonly param: string | null;
}

export const unprocessable = (param: string): Refusal => ({ status: 422, code: "unprocessable_input", param });
export const unsupported = (param: string): Refusal => ({ status: 400, code: "unsupported_value", param });
export const invalid = (param: string | null): Refusal => ({ status: 400, code: "invalid_request", param });
export const unsafe = (param: string): Refusal => ({ status: 400, code: "unsafe_url", param });
export const missingFile = (param: string): Refusal => ({ status: 404, code: "file_not_found", param });

/** A refusal in the envelope, nothing settled, nothing held. @returns what it says */
export async function expectRefusal(bench: Bench, response: Response, expected: Refusal): Promise<string> {
  const { error, ...beside } = (await response.json()) as ErrorEnvelope;
  const { message, type, job_id: _job, ...told } = error;
  expect({ status: response.status, ...told }).toEqual(expected);
  expect([beside, type]).toEqual([{}, ERROR_CODES[expected.code].type]);
  expectPlainSentence(message);
  const id = response.headers.get("x-request-id") ?? "";
  expect(id).not.toBe("");
  await expectUnpaid(bench, id);
  return message;
}

/** The job of an answer ends as refused. */
export async function expectFailedJob(
  bench: Bench,
  response: Response,
  { code, param }: Omit<Refusal, "status">,
): Promise<void> {
  expect(response.status).toBe(200);
  const { id } = (await response.json()) as { id: string };
  const job = await bench.endOf(id, 30_000);
  const { error } = job;
  expect({ status: job.status, code: error?.code, type: error?.type, param: error?.param }).toEqual({
    status: "failed",
    code,
    type: ERROR_CODES[code].type,
    param,
  });
  expectPlainSentence(error?.message ?? "");
  expect([job.credits_used, job.data]).toEqual([0, undefined]);
  await expectUnpaid(bench, id);
}

/** For clients: nothing of our files, of our stack, or of what the address sent. */
function expectPlainSentence(message: string): void {
  expect(message).toMatch(/^\S.{10,400}\.$/);
  expect(message).not.toMatch(/Error:|\bat \/|node_modules|\.ts\b|failed to (?:handle|run)|<script|passwd/);
}

export async function expectUnpaid(bench: Bench, id: string): Promise<void> {
  for (const { status, settled } of await bench.usageOf(id)) expect([status, settled]).toEqual(["failed", 0n]);
  expect(await bench.stack.query("select 1 from hold where job_id::text = $1", [id])).toEqual([]);
}

/** Bytes of resident memory: of a process at its most, at the beginning and at the end. */
export interface Memory {
  readonly before: number;
  readonly most: number;
  readonly now: number;
}

export interface MemoryWatch {
  ingress(): Memory;
  worker(): Memory;
  /** The most that one child of the worker came to: those that decode what callers send. */
  childMost(): number;
  stop(): void;
}

/** Looks every 20 ms, on Linux; elsewhere all is 0. */
export function watchMemory(bench: Bench): MemoryWatch {
  const [ingress, worker] = [bench.stack.ingresses[0]?.pid ?? 0, bench.stack.workers[0]?.pid ?? 0];
  const before = [residentBytes(ingress), residentBytes(worker)];
  let childMost = 0;
  const timer = setInterval(() => {
    for (const child of childrenOf(worker)) childMost = Math.max(childMost, residentBytes(child));
  }, 20);
  const of = (pid: number, was = 0): Memory => ({
    before: was,
    most: statusBytes(pid, "VmHWM"),
    now: residentBytes(pid),
  });
  return {
    ingress: () => of(ingress, before[0]),
    worker: () => of(worker, before[1]),
    childMost: () => childMost,
    stop: () => clearInterval(timer),
  };
}

function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

function statusBytes(pid: number, name: "VmRSS" | "VmHWM"): number {
  const text = read(`/proc/${pid}/status`);
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1_024;
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Nothing grew to anything like what callers' files would have become, which is gigabytes each. A body of 32 MB is held about
 * five times over while it is read, and collectors on busy machines fall behind.
 */
export function expectBounded(watch: MemoryWatch | undefined): void {
  if (watch === undefined) return;
  const [ingress, worker] = [watch.ingress(), watch.worker()];
  const bounds: readonly [what: string, bytes: number, mostMb: number][] = [
    ["the ingress grew", ingress.most - ingress.before, 512],
    ["the ingress kept", ingress.now - ingress.before, 384],
    ["the worker grew", worker.most - worker.before, 768],
    ["a child came to", watch.childMost(), 1_024],
  ];
  const faults = bounds.filter(([, bytes, mostMb]) => bytes > mostMb * MB);
  expect(faults.map(([what, bytes, mostMb]) => `${what} ${Math.round(bytes / MB)} MB, of ${mostMb}`)).toEqual([]);
}

/** No job was lost, nothing inside was asked, and the logs hold neither errors nor what callers sent. */
export async function expectQuiet({ stack, askedInside }: HostileBench): Promise<void> {
  expect(askedInside).toEqual([]);
  expect(await stack.query("select job_id, status from usage_record where status = 'lost'")).toEqual([]);
  const lines = [...stack.ingresses, ...stack.workers].flatMap((one) => one.logs());
  expect(lines.filter((line) => /"level":(?:50|60|"error"|"fatal")/.test(line))).toEqual([]);
  expect(lines.filter((line) => /evil\.example|etc\/passwd|user:password/.test(line))).toEqual([]);
}
