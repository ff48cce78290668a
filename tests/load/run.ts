/**
 * `npm run load -- [--quick] [--plain] [--out=<file>] [--targets=sluice,node,bun] [--delay=<ms>] [--save]`: compares Sluice with
 * the upstream called directly and with Portkey, then checks the books. README.md explains the figures.
 * Exits 1 when a call failed or the books are wrong.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { baselineOf, readBaseline, renderComparison, saveBaseline } from "./baseline.ts";
import { FULL_PLAN, QUICK_PLAN } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { keep, runToEnd, setPace, startBench, tellProgress } from "./parts.ts";
import { residentMb } from "./processes.ts";
import { renderReport } from "./report.ts";
import { loadsOf, peak, type RunResult } from "./result.ts";
import type { Bench, Turn } from "./rounds.ts";
import { alternate, idleCpu, warmUp } from "./rounds.ts";
import type { SluiceTarget } from "./sluice-target.ts";
import { limitKeys, startSluice } from "./sluice-target.ts";
import type { SluiceName, Target } from "./targets.ts";
import { directTarget, startPortkey } from "./targets.ts";
import type { Verification } from "./verify.ts";
import { verifyBooks } from "./verify.ts";

/** The whole run. */
async function measure(plan: Plan, isPlain: boolean, wanted: ReadonlySet<string>): Promise<RunResult> {
  const { bench, address } = await startBench(isPlain);
  const direct = directTarget(address);
  tellProgress("starting targets");
  const sluice = wanted.has("sluice") ? keep(await startSluice(address.port, address.certificate?.certFile)) : null;
  const sluices = sluice ? [sluice, await limitKeys(sluice)] : [];
  const rivals: Target[] = [];
  for (const runtime of ["node", "bun"] as const) {
    if (wanted.has(runtime)) rivals.push(keep(await startPortkey(runtime, address)));
  }
  const targets: readonly Target[] = [direct, ...sluices, ...rivals];
  // Both targets of Sluice are the same processes.
  const servers: readonly Target[] = [...(sluice ? [sluice] : []), ...rivals];

  await setPace(address, plan.plainPace);
  for (const target of targets) {
    tellProgress(`warming up ${target.name}`);
    await warmUp(bench, target, false, plan.warmSeconds.plain);
  }
  const before = resident(servers, bench);
  const idle = await measureIdle(servers, plan.idleSeconds);

  const plain = new Map<number, Turn[]>();
  for (const inFlight of plan.levels) {
    tellProgress(`plain answers, ${inFlight} in flight`);
    plain.set(
      inFlight,
      await alternate(bench, targets, plan.rounds, { isStream: false, seconds: plan.roundSeconds, inFlight }),
    );
  }
  const open = new Map<SluiceName, { rate: number; turns: Turn[] }>();
  for (const target of sluices) {
    const rate = peak(plain, target.name) / 2;
    tellProgress(`open loop, ${Math.round(rate)} calls a second`);
    const load = { isStream: false, seconds: plan.openSeconds, rate };
    open.set(target.name, { rate, turns: await alternate(bench, [direct, target], plan.rounds, load) });
  }

  await setPace(address, plan.streamPace);
  const streams = new Map<number, Turn[]>();
  if (plan.streamLevels.length > 0) {
    tellProgress("warming up streams");
    for (const target of targets) await warmUp(bench, target, true, plan.warmSeconds.streams);
  }
  for (const inFlight of plan.streamLevels) {
    tellProgress(`streams, ${inFlight} in flight`);
    streams.set(
      inFlight,
      await alternate(bench, targets, plan.rounds, { isStream: true, seconds: plan.roundSeconds, inFlight }),
    );
  }
  const after = resident(servers, bench);
  const memory = Object.fromEntries(
    Object.entries(before).map(([name, megabytes]) => [name, { before: megabytes, after: after[name] ?? Number.NaN }]),
  );
  tellProgress("checking the books");
  const verification = sluice ? await verify(sluice, bench) : null;
  const upstream = isPlain ? "plain" : "tls";
  const names = targets.map((target) => target.name);
  return { plan, upstream, targets: names, plain, open, streams, memory, idle, verification };
}

/** One target after the other, so that none is charged for another's rest after work. */
async function measureIdle(targets: readonly Target[], seconds: number): Promise<Record<string, number>> {
  const idle: Record<string, number> = {};
  for (const target of targets) {
    for (const [name, spent] of Object.entries(await idleCpu(target, seconds))) idle[`${target.name}: ${name}`] = spent;
  }
  return idle;
}

async function verify(sluice: SluiceTarget, { all }: Bench): Promise<Verification> {
  const own = all.filter(({ counters }) => counters !== null);
  return verifyBooks(
    sluice.stack,
    own.reduce((calls, { drive }) => calls + drive.calls - drive.failed, 0),
  );
}

function resident(targets: readonly Target[], { driver, upstream }: Bench): Record<string, number> {
  const named = targets.flatMap((target) =>
    Object.entries(target.processes()).map(([name, pids]): [string, number] => [
      `${target.name}: ${name}`,
      residentMb(pids),
    ]),
  );
  return Object.fromEntries([...named, ["driver", residentMb([driver.pid])], ["upstream", residentMb([upstream.pid])]]);
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    plain: { type: "boolean", default: false },
    out: { type: "string" },
    targets: { type: "string", default: "sluice,node,bun" },
    delay: { type: "string", default: "0" },
    save: { type: "boolean", default: false },
  },
});
await runToEnd(async () => {
  const plan = values.quick ? QUICK_PLAN : FULL_PLAN;
  if (!/^\d{1,5}$/.test(values.delay)) throw new Error(`--delay takes whole milliseconds, got "${values.delay}"`);
  const delayMs = Number(values.delay);
  const plainPace = { ...plan.plainPace, delayMs };
  const result = await measure({ ...plan, plainPace }, values.plain, new Set(values.targets.split(",")));
  const costs = baselineOf(result, { isQuick: values.quick, delayMs });
  const kept = `${import.meta.dir}/${values.quick ? "baseline-quick" : "baseline"}.json`;
  const page = `${renderReport(result)}${renderComparison(costs, readBaseline(kept))}`;
  if (values.save) saveBaseline(kept, costs);
  process.stdout.write(page);
  if (values.out !== undefined) writeFileSync(values.out, page);
  const turns = loadsOf(result).flatMap(([, ofLoad]) => ofLoad);
  const failed = turns.reduce((count, { drive }) => count + drive.failed, 0);
  return failed === 0 && (result.verification?.faults.length ?? 0) === 0;
});
