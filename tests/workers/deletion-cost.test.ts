/** The cost of a pod as a cluster's API hears it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { pino } from "pino";

import { selfSigned } from "#tests/shared/net/certificate.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type DeletionCost, openDeletionCost } from "#workers/deletion-cost.ts";

const ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

interface Heard {
  readonly request: string;
  readonly token: string | null;
  readonly type: string | null;
  readonly cost: unknown;
}

let api: Bun.Server<undefined>;
let status = 200;
let hangs = false;
let heard: Heard[] = [];
let account = { directory: "", remove: (): void => undefined };
let cost: DeletionCost | undefined;
let busy = 0;
let warnings: string[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
const certificate = selfSigned("localhost");

beforeAll(() => {
  api = Bun.serve({
    port: 0,
    tls: certificate,
    async fetch(request) {
      const { metadata } = (await request.json()) as { metadata: { annotations: Record<string, unknown> } };
      heard.push({
        request: `${request.method} ${new URL(request.url).pathname}`,
        token: request.headers.get("authorization"),
        type: request.headers.get("content-type"),
        cost: metadata.annotations[ANNOTATION],
      });
      return hangs
        ? new Response(new ReadableStream({ start: (body) => body.enqueue("{") }))
        : Response.json({}, { status });
    },
  });
});
afterAll(() => api.stop(true));

beforeEach(() => {
  [status, hangs, heard, warnings, busy] = [200, false, [], [], 0];
  account = temporaryDirectory();
  const files = { token: "token-1\n", "ca.crt": certificate.cert, namespace: "calls" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(account.directory, name), text);
});
afterEach(async () => {
  await cost?.close();
  cost = undefined;
  account.remove();
});

async function open(): Promise<void> {
  const at = { account: account.directory, api: `https://localhost:${api.port}`, reportIntervalMs: 5 };
  cost = await openDeletionCost({ podName: "worker-video-7d9f-x2", busy: () => busy, log, ...at });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5);
}

const costs = (): unknown[] => heard.map((one) => one.cost);

test("a pod reports its load as a power of two, first its idle cost, and each once", async () => {
  await open();
  await until(() => heard.length > 0);
  await Bun.sleep(40);
  expect(heard).toEqual([
    {
      request: "PATCH /api/v1/namespaces/calls/pods/worker-video-7d9f-x2",
      token: "Bearer token-1",
      type: "application/merge-patch+json",
      // The container before this one may have told more.
      cost: "0",
    },
  ]);
  busy = 5;
  await until(() => heard.length > 1);
  for (const more of [6, 7, 4]) {
    busy = more;
    await Bun.sleep(20);
  }
  expect(costs()).toEqual(["0", "4"]);
  busy = 8;
  await until(() => heard.length > 2);
  busy = 0;
  await until(() => heard.length > 3);
  expect(costs()).toEqual(["0", "4", "8", "0"]);
});

test("an endless answer is aborted, and the current cost is reported again", async () => {
  await open();
  await until(() => heard.length > 0);
  hangs = true;
  busy = 4;
  await until(() => heard.length > 1);
  [hangs, busy] = [false, 0];
  await until(() => warnings.length > 0);
  expect(warnings.join()).toContain("did not answer in time");
  await until(() => heard.length > 2);
  // The cluster may have taken the one before.
  expect(costs().slice(0, 3)).toEqual(["0", "4", "0"]);
  await cost?.close();
}, 20_000);

test("a rejected report is repeated, with the current token, and logged once", async () => {
  status = 403;
  busy = 1;
  await open();
  await until(() => heard.length > 2);
  writeFileSync(join(account.directory, "token"), "token-2");
  // Taken before that, the one with the old token would be the last.
  await until(() => heard.at(-1)?.token === "Bearer token-2");
  const refused = heard.length;
  status = 200;
  await until(() => heard.length > refused);
  const { length } = heard;
  await Bun.sleep(40);
  // The one that came last may have been refused still.
  expect(heard.length - length).toBeLessThan(2);
  expect(warnings.filter((line) => line.includes("status 403"))).toHaveLength(1);
  expect(warnings.join()).not.toContain("token-");
});

test("a server with another certificate receives nothing", async () => {
  writeFileSync(join(account.directory, "ca.crt"), selfSigned("localhost").cert);
  await open();
  busy = 3;
  await until(() => warnings.length > 0);
  expect(heard).toEqual([]);
});

test("a pod without an account does not start", async () => {
  rmSync(join(account.directory, "token"));
  const opened = open().then(
    () => "open",
    (error: unknown) => (error as Error).message,
  );
  expect(await opened).toStartWith("SLUICE_POD_NAME is set, and its pod has no token for the cluster's API");
});
