/**
 * `npm run load:capabilities -- [--quick]`: runs of capabilities through the service against the same work done directly in one process of
 * its own, in turns. Prints a table; exits 1 when a run failed or the books are wrong. README.md says what the figures mean.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import sharp from "sharp";

import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { type CapabilityBench, startCapabilityBench } from "../e2e/capabilities/bench.ts";
import { closeShared } from "../support/infrastructure.ts";

import type { DirectTurn } from "./capabilities-direct.ts";
import { cpuMs, processTree, startChild } from "./processes.ts";
import { postmasterPid } from "./sluice-target.ts";
import { closedLoop, median, type Turn } from "./turn.ts";

interface Work extends Omit<DirectTurn, "seconds" | "inFlight"> {
  readonly name: string;
  readonly levels: readonly number[];
  /** Sent with each run; absent: the file is stored once, and named. */
  readonly text?: string;
}

/** Levels of 1 in flight only, since what the service adds to a small run is what they are for. */
async function makeWork(folder: string): Promise<readonly Work[]> {
  const [photo, small, data] = ["photo.jpg", "small.png", "data.json"].map((name) => join(folder, name));
  if (photo === undefined || small === undefined || data === undefined) throw new Error("no paths");
  const text = '{"items":[{"name":"tea","price":4},{"name":"milk","price":1}]}';
  await Promise.all([makePhoto(photo), sharp({ create: { width: 400, height: 300, channels: 3, background: "teal" } }).png().toFile(small)]); // prettier-ignore
  writeFileSync(data, text);
  const resize = { capability: "image.resize", member: "image" };
  return [
    { name: "photo to 1280 pixels", ...resize, path: photo, mediaType: "image/jpeg", params: { width: 1_280 }, levels: [1, 8] }, // prettier-ignore
    { name: "small picture", ...resize, path: small, mediaType: "image/png", params: { width: 100 }, levels: [1] },
    { name: "jq", capability: "code.transform_json", member: "data", path: data, mediaType: "application/json", params: { jq: "[.items[].price] | add" }, levels: [1], text }, // prettier-ignore
  ];
}

/** A photograph of about 3 MB: noise over a gradient, since flat areas would cost nothing. */
async function makePhoto(path: string): Promise<void> {
  const [width, height] = [3_000, 2_000];
  const noise = await sharp({
    create: { width, height, channels: 3, background: "gray", noise: { type: "gaussian", mean: 128, sigma: 24 } },
  })
    .png()
    .toBuffer();
  await sharp(noise).blur(0.6).jpeg({ quality: 95 }).toFile(path);
}

async function upload(bench: CapabilityBench, { path, mediaType }: Work): Promise<string> {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", Bun.file(path, { type: mediaType }), path);
  const headers = { authorization: `Bearer ${bench.stack.key}` };
  const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
  if (!answer.ok) throw new Error(`the upload was answered ${answer.status}`);
  return ((await answer.json()) as { id: string }).id;
}

/** CPU milliseconds of each part of the stack so far, and its transactions that wrote. */
async function readCosts({ stack }: CapabilityBench, postmaster: number): Promise<Readonly<Record<string, number>>> {
  const [row] = await stack.query<{ xid: string }>("select pg_snapshot_xmax(pg_current_snapshot())::text as xid");
  return {
    ingress: cpuMs(stack.ingresses.map(({ pid }) => pid)),
    worker: cpuMs(stack.workers.map(({ pid }) => pid)),
    postgres: cpuMs(processTree(postmaster)),
    nats: cpuMs([stack.nats.pid()]),
    transactions: Number(row?.xid),
  };
}

async function measure(seconds: number, rounds: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-load-"));
  const works = await makeWork(folder);
  const direct = startChild([process.execPath, `${import.meta.dir}/capabilities-direct.ts`]);
  await direct.readLine();
  const bench = await startCapabilityBench({ env: { SLUICE_IP_LIMIT: "10000000", SLUICE_LOG_LEVEL: "warn" } });
  try {
    const postmaster = await postmasterPid(bench.stack);
    for (const work of works) {
      const { capability, member, params, text } = work;
      const input = { [member]: text === undefined ? { file_id: await upload(bench, work) } : { text } };
      const viaService = (inFlight: number): Promise<Turn> =>
        closedLoop(seconds, inFlight, () => bench.made(capability, { input, params }).then(() => undefined));
      const asked = async (inFlight: number): Promise<Turn> => {
        direct.writeLine(JSON.stringify({ ...work, seconds, inFlight } satisfies DirectTurn));
        return JSON.parse(await direct.readLine()) as Turn;
      };
      await Promise.all([viaService(2), asked(2)]);
      for (const inFlight of work.levels) {
        const turns: { readonly direct: Turn[]; readonly service: Turn[] } = { direct: [], service: [] };
        const costs: Record<string, number> = {};
        for (let round = 0; round < rounds; round++) {
          turns.direct.push(await asked(inFlight));
          const before = await readCosts(bench, postmaster);
          turns.service.push(await viaService(inFlight));
          for (const [name, now] of Object.entries(await readCosts(bench, postmaster))) {
            costs[name] = (costs[name] ?? 0) + now - (before[name] ?? 0);
          }
        }
        process.stdout.write(`${work.name}, ${inFlight} in flight: ${told(turns, costs)}\n`);
      }
    }
    const faults = await bench.stack.query("select * from audit_ledger()");
    process.stdout.write(faults.length === 0 ? "books: exact\n" : `books: ${JSON.stringify(faults)}\n`);
    return faults.length === 0;
  } finally {
    await direct.stop();
    await bench.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function told(
  { direct, service }: { readonly direct: readonly Turn[]; readonly service: readonly Turn[] },
  costs: Readonly<Record<string, number>>,
): string {
  const rates = [direct, service].map((turns) => median(turns.map(({ perSecond }) => perSecond)));
  const times = [direct, service].map((turns) => median(turns.map(({ p50 }) => p50)));
  const runs = service.reduce((sum, turn) => sum + turn.runs, 0);
  const { transactions = 0, ...cpu } = costs;
  const [[rate = 0, ours = 0], [time = 0, own = 0]] = [rates, times];
  return [
    `direct ${rate.toFixed(1)}/s, service ${ours.toFixed(1)}/s (${(ours / rate).toFixed(2)})`,
    `p50 ${time.toFixed(1)} ms, ${own.toFixed(1)} ms (+${(own - time).toFixed(1)})`,
    `a run ${Object.entries(cpu).map(([name, ms]) => `${name} ${(ms / runs).toFixed(1)}`).join(", ")} ms of CPU, ${(transactions / runs).toFixed(1)} write transactions`, // prettier-ignore
  ].join("; ");
}

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const isExact = await measure(values.quick ? 4 : 15, values.quick ? 1 : 3);
await closeShared();
await closeReaper();
process.exit(isExact ? 0 : 1);
