/**
 * `npm run load:capabilities -- [--quick]`: `image.resize` through the service against the same work done directly in one process of its own,
 * in turns. Prints a table; exits 1 when a run failed or the books are wrong. README.md says what the figures mean.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import sharp from "sharp";

import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { type CapabilityBench, startCapabilityBench } from "../e2e/capabilities/bench.ts";
import { closeShared } from "../support/infrastructure.ts";

import { startChild } from "./processes.ts";
import { closedLoop, median, type Turn } from "./turn.ts";

const IN_FLIGHT = 8;
const PARAMS = { width: 1_280 };

/** A photograph of about 3 MB: noise over a gradient, since flat areas would cost nothing. */
async function photo(path: string): Promise<void> {
  const [width, height] = [3_000, 2_000];
  const noise = await sharp({
    create: { width, height, channels: 3, background: "gray", noise: { type: "gaussian", mean: 128, sigma: 24 } },
  })
    .png()
    .toBuffer();
  await sharp(noise).blur(0.6).jpeg({ quality: 95 }).toFile(path);
}

async function upload(bench: CapabilityBench, path: string): Promise<string> {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", Bun.file(path), "photo.jpg");
  const headers = { authorization: `Bearer ${bench.stack.key}` };
  const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
  if (!answer.ok) throw new Error(`the upload was answered ${answer.status}`);
  return ((await answer.json()) as { id: string }).id;
}

async function measure(seconds: number, rounds: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-load-"));
  const path = join(folder, "photo.jpg");
  await photo(path);
  const direct = startChild([process.execPath, `${import.meta.dir}/capabilities-direct.ts`, path]);
  await direct.readLine();
  const bench = await startCapabilityBench({ env: { SLUICE_IP_LIMIT: "10000000", SLUICE_LOG_LEVEL: "warn" } });
  try {
    const id = await upload(bench, path);
    const viaService = async (): Promise<void> => {
      await bench.made("image.resize", { input: { image: { file_id: id } }, params: PARAMS });
    };
    const asked = async (inFlight: number): Promise<Turn> => {
      direct.writeLine(JSON.stringify({ seconds, inFlight, params: PARAMS }));
      return JSON.parse(await direct.readLine()) as Turn;
    };
    const targets = { direct: asked, service: (inFlight: number) => closedLoop(seconds, inFlight, viaService) };
    for (const target of Object.values(targets)) await target(IN_FLIGHT);
    const lines = [
      `photo of ${(Bun.file(path).size / 1e6).toFixed(1)} MB to 1280 pixels, ${rounds} turns of ${seconds} s each`,
    ];
    for (const inFlight of [1, IN_FLIGHT]) {
      const turns: Record<keyof typeof targets, Turn[]> = { direct: [], service: [] };
      for (let round = 0; round < rounds; round++) {
        turns.direct.push(await targets.direct(inFlight));
        turns.service.push(await targets.service(inFlight));
      }
      const rate = (one: keyof typeof targets): number => median(turns[one].map(({ perSecond }) => perSecond));
      const p50 = (one: keyof typeof targets): number => median(turns[one].map((all) => all.p50));
      lines.push(
        `${inFlight} in flight: direct ${rate("direct").toFixed(1)}/s, service ${rate("service").toFixed(1)}/s (${(rate("service") / rate("direct")).toFixed(2)}); ` +
          `p50 ${p50("direct").toFixed(0)} ms, ${p50("service").toFixed(0)} ms (+${(p50("service") - p50("direct")).toFixed(0)})`,
      );
    }
    const faults = await bench.stack.query("select * from audit_ledger()");
    lines.push(faults.length === 0 ? "books: exact" : `books: ${JSON.stringify(faults)}`);
    process.stdout.write(`${lines.join("\n")}\n`);
    return faults.length === 0;
  } finally {
    await direct.stop();
    await bench.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const isExact = await measure(values.quick ? 4 : 15, values.quick ? 1 : 3);
await closeShared();
await closeReaper();
process.exit(isExact ? 0 : 1);
