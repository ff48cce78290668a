/** Bytes of files pass through an ingress and do not stay in it. The same bound as for 4 × 512 MB, at a size for every run. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

import { startStack, type Stack } from "#tests/support/stack.ts";

const MB = 1_048_576;
const GROWTH_BYTES_MAX = 64 * MB;
/** Twelve parts each: more than all that is kept at once. SLUICE_TEST_FILE_MB=512 is the whole promise. */
const FILE_BYTES = Number(process.env["SLUICE_TEST_FILE_MB"] ?? 64) * MB;
const PARALLEL = 4;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apart: true, workers: 0, janitor: false });
}, 120_000);
afterAll(() => stack.stop());

function residentBytes(): number {
  const status = readFileSync(`/proc/${stack.ingresses[0]?.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

/** The most that the ingress had beyond what it had before. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = residentBytes();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 10);
  await work().finally(() => clearInterval(timer));
  return peak - before;
}

/** A file of zeros, made as it is sent. */
async function upload(bytes: number): Promise<string> {
  const boundary = "x";
  const head = `--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="zeros"\r\n\r\n`;
  const piece = new Uint8Array(256 * 1_024);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(head);
    for (let sent = 0; sent < bytes; sent += piece.length) yield piece.subarray(0, bytes - sent);
    yield Buffer.from("\r\n--x--\r\n");
  };
  const answer = await fetch(`${stack.baseUrls[0]}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": `multipart/form-data; boundary=${boundary}` },
    body: body() as unknown as ReadableStream,
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}

const onLinux = test.skipIf(process.platform !== "linux");
let ids: string[] = [];

onLinux(
  "four uploads at once grow the ingress by less than 64 MB",
  async () => {
    // What a process needs once is not what a file costs.
    await upload(6 * MB);
    const grown = await growthDuring(async () => {
      ids = await Promise.all(Array.from({ length: PARALLEL }, () => upload(FILE_BYTES)));
    });
    expect(grown).toBeLessThan(GROWTH_BYTES_MAX);
  },
  600_000,
);

onLinux(
  "four downloads that nobody reads grow it by less than 64 MB, and a read one is whole",
  async () => {
    const [first = ""] = ids;
    const answer = await fetch(`${stack.baseUrls[0]}/v1/files/${first}/content`, {
      headers: { authorization: `Bearer ${stack.key}` },
    });
    let bytes = 0;
    for await (const piece of answer.body ?? []) bytes += piece.length;
    expect(bytes).toBe(FILE_BYTES);
    const grown = await growthDuring(async () => {
      const stopped = await Promise.all(ids.map(stopAfterHead));
      // Long enough for all of it to have come, if it did.
      await Bun.sleep(1_000);
      for (const socket of stopped) socket.destroy();
    });
    expect(grown).toBeLessThan(GROWTH_BYTES_MAX);
  },
  60_000,
);

/** Asks for a file, and reads no more than the beginning of the answer. */
function stopAfterHead(id: string): Promise<Socket> {
  const { hostname, port, host } = new URL(stack.baseUrls[0] ?? "");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.on("error", reject);
    socket.once("data", () => {
      socket.pause();
      resolve(socket);
    });
    socket.write(`GET /v1/files/${id}/content HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${stack.key}\r\n\r\n`);
  });
}
