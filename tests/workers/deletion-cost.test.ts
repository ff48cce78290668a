/** The cost of a pod as a cluster's API hears it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { pino } from "pino";

import { selfSigned } from "#tests/shared/outbound/certificate.ts";
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
      return Response.json({}, { status });
    },
  });
});
afterAll(() => api.stop(true));

beforeEach(() => {
  [status, heard, warnings, busy] = [200, [], [], 0];
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
  const at = { account: account.directory, api: `https://localhost:${api.port}`, lookMs: 5 };
  cost = await openDeletionCost({ podName: "worker-video-7d9f-x2", busy: () => busy, log, ...at });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5);
}

const costs = (): unknown[] => heard.map((one) => one.cost);

test("an idle pod tells nothing, a busy one its highest power of two, and each once", async () => {
  await open();
  await Bun.sleep(40);
  expect(heard).toEqual([]);
  busy = 5;
  await until(() => heard.length > 0);
  expect(heard).toEqual([
    {
      request: "PATCH /api/v1/namespaces/calls/pods/worker-video-7d9f-x2",
      token: "Bearer token-1",
      type: "application/merge-patch+json",
      cost: "4",
    },
  ]);
  for (const more of [6, 7, 4]) {
    busy = more;
    await Bun.sleep(20);
  }
  expect(costs()).toEqual(["4"]);
  busy = 8;
  await until(() => heard.length > 1);
  busy = 0;
  await until(() => heard.length > 2);
  expect(costs()).toEqual(["4", "8", "0"]);
});

test("what the cluster refuses is told again, with the token that it has by then, and warned of once", async () => {
  await open();
  status = 403;
  busy = 1;
  await until(() => heard.length > 2);
  writeFileSync(join(account.directory, "token"), "token-2");
  status = 200;
  await until(() => heard.at(-1)?.token === "Bearer token-2");
  await until(() => heard.length > 0);
  const { length } = heard;
  await Bun.sleep(40);
  // The one with the new token may have been refused still.
  expect(heard.length - length).toBeLessThan(2);
  expect(warnings.filter((line) => line.includes("status 403"))).toHaveLength(1);
  expect(warnings.join()).not.toContain("token-");
});

test("a server with another certificate is told nothing", async () => {
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
