/**
 * Mixed calls at once: three families, plain and streamed, served well or with each fault, by clients that stay, leave at a
 * random moment or read slowly, through two ingresses and two workers.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";

import { residentMb } from "../load/processes.ts";
import { natsServerBinary, temporaryDirectory } from "../support/infrastructure.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, setFallbacks, startBed } from "./bed.ts";
import type { Answer } from "./client.ts";
import { FAMILIES } from "./families.ts";
import { isServed } from "./load.ts";
import { metric } from "./metric.ts";
import { callAs, type Conduct } from "./mixed-client.ts";
import { bedModels, MAY_BE_REPEATED, CHAINED, MIX, type MixModel } from "./mixed-models.ts";
import { arrivalsByMarker } from "./probe.ts";
import { eventually } from "./wait.ts";
import { seeded } from "../support/seed.ts";

const WORKSPACES = 4;
/** Timeouts of a second or so each, so that silence costs a run little. */
const LIMITS_ENV = {
  // The sources of the test answer from its own thread, which two hundred calls share: it may come late to one.
  SLUICE_CALL_FIRST_BYTE_MS: "3000",
  SLUICE_CALL_STALL_MS: "1500",
  SLUICE_CALL_PLAIN_MS: "3000",
  SLUICE_CALL_TOTAL_MS: "6000",
};

export interface MixedBed extends Bed {
  /** Keys of different workspaces. */
  readonly keys: readonly string[];
  /** Subscriptions at the NATS server: each call that leaked one would raise it. */
  subscriptions(): Promise<number>;
}

export async function startMixedBed(): Promise<MixedBed> {
  const { directory, remove } = temporaryDirectory();
  // The stack starts NATS without its monitoring port; a wrapper of the same name adds it.
  const port = await freePort();
  const wrapper = join(directory, "nats-server");
  writeFileSync(wrapper, `#!/bin/sh\nexec '${await natsServerBinary()}' "$@" -m ${port}\n`);
  chmodSync(wrapper, 0o755);
  const given = process.env["TEST_NATS_SERVER"];
  process.env["TEST_NATS_SERVER"] = wrapper;
  let bed: Bed;
  try {
    bed = await startBed({ ingress: 2, workers: 2, models: bedModels(), env: LIMITS_ENV });
  } catch (error) {
    remove();
    throw error;
  } finally {
    if (given === undefined) delete process.env["TEST_NATS_SERVER"];
    else process.env["TEST_NATS_SERVER"] = given;
  }
  const keys: string[] = [];
  for (let at = 0; at < WORKSPACES; at += 1) {
    const { key } = await createWorkspace(bed.stack, { creditsNano: 1_000_000_000_000_000n });
    await setFallbacks(bed, Object.fromEntries(CHAINED.map(({ slug, fallbacks }) => [slug, fallbacks])), key);
    keys.push(key);
  }
  return {
    ...bed,
    keys,
    async subscriptions() {
      const page = await fetch(`http://127.0.0.1:${port}/subsz`);
      return ((await page.json()) as { num_subscriptions: number }).num_subscriptions;
    },
    async stop() {
      await bed.stop();
      remove();
    },
  };
}

export interface MixOptions {
  readonly calls: number;
  /** Same seed, same calls. */
  readonly seed: number;
  readonly inFlight?: number;
}

export interface MixResult {
  /** Number of calls that ended in each way. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Faults that were found, in words; empty when all is well. */
  readonly faults: readonly string[];
  /**
   * The least that each process, ingresses first, had resident in each quarter of the run, in megabytes: what it cannot do
   * without. Its size at one moment says more about when garbage was last collected.
   */
  readonly floorsMb: readonly (readonly number[])[];
  /** At the NATS server, at rest after each half. */
  readonly subscriptions: readonly number[];
}

const QUARTERS = 4;
const SAMPLE_MS = 100;

/** Runs the mix in two halves and looks at what each leaves behind. @throws what `audit` throws */
export async function runMixed(bed: MixedBed, options: MixOptions): Promise<MixResult> {
  const { calls, seed, inFlight = 64 } = options;
  const random = seeded(seed);
  const outcomes: Record<string, number> = {};
  const faults: string[] = [];
  const subscriptions: number[] = [];
  let started = 0;
  const memory = watchFloors(bed, () => Math.min(QUARTERS - 1, Math.floor((started * QUARTERS) / calls)));
  try {
    for (const until of [Math.floor(calls / 2), calls]) {
      const answers: Answer[] = [];
      const client = async (): Promise<void> => {
        while (started < until) {
          const plan = planOf(random, started++, bed);
          const answer = await callAs(plan.conduct, plan.target, plan.body);
          answers.push(answer);
          const outcome = `${plan.conduct.does}: ${outcomeOf(answer)}`;
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          const fault = answer.hasLeft ? undefined : faultOf(plan, answer);
          if (fault !== undefined) faults.push(`${plan.marker} ${plan.slug}: ${fault}: ${answer.body.slice(-300)}`);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, client));
      await settle(bed, answers, inFlight);
      subscriptions.push(await bed.subscriptions());
    }
  } finally {
    memory.stop();
  }
  return {
    outcomes,
    faults: [...faults, ...sentTwice(bed)],
    floorsMb: memory.floors,
    subscriptions,
  };
}

/** Growth of the processes from the second quarter, when they are warm, to the last; megabytes, ingresses first. */
export function growthMb({ floorsMb }: MixResult): number[] {
  const warm = floorsMb[1] ?? [];
  return (floorsMb.at(-1) ?? []).map((mb, at) => mb - (warm[at] ?? 0));
}

function watchFloors({ stack }: Bed, quarter: () => number): { readonly floors: number[][]; stop(): void } {
  const pids = [...stack.ingresses, ...stack.workers].map(({ pid }) => pid);
  const floors = Array.from({ length: QUARTERS }, () => pids.map(() => Infinity));
  const timer = setInterval(() => {
    const row = floors[quarter()] ?? [];
    for (const [at, pid] of pids.entries()) row[at] = Math.min(row[at] ?? Infinity, residentMb([pid]));
  }, SAMPLE_MS);
  return { floors, stop: () => clearInterval(timer) };
}

/** Nothing may be open any more: no request at an upstream, no hold, no message, no stream. */
async function settle(bed: MixedBed, answers: readonly Answer[], inFlight: number): Promise<void> {
  const { stack, upstreams } = bed;
  const requests = FAMILIES.flatMap((family) => upstreams[family].requests);
  await Promise.all(requests.map((request) => request.finished));
  // What is left are idle connections of the workers' pools, never more than there were calls at once.
  await eventually("sockets at the upstreams are the pools'", () =>
    FAMILIES.every((family) => upstreams[family].openSockets() <= inFlight),
  );
  await audit({ stack, client: { ...bed.client, answers } }, { withinMs: 30_000 });
  for (const { adminUrl } of stack.ingresses) {
    await eventually(
      "no stream is counted as active",
      // There is no sample before the first stream.
      async () => (await metric(adminUrl, "sluice_streams_active").catch(() => 0)) === 0,
    );
  }
}

interface Plan {
  readonly marker: string;
  readonly slug: string;
  readonly ends: MixModel["ends"];
  readonly conduct: Conduct;
  readonly target: { readonly url: string; readonly key: string };
  readonly body: Record<string, unknown>;
}

function planOf(random: () => number, number: number, bed: MixedBed): Plan {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  let dice = random();
  const kind = MIX.find(({ share }) => (dice -= share) < 0) ?? MIX[0]!;
  const { slug, ends } = pick(kind.models);
  const stream = random() < 0.75;
  const marker = `mix-${number}.`;
  const text = `say one two three four five six seven eight nine ten ${marker}`;
  return {
    marker,
    slug,
    ends,
    conduct: conductOf(random),
    target: { url: pick(bed.stack.baseUrls), key: pick(bed.keys) },
    body: ask(slug, {
      messages: [{ role: "user", content: text }],
      ...(stream ? { stream, stream_options: { include_usage: random() < 0.5 } } : {}),
      ...(random() < 0.5 ? { max_tokens: 200 } : {}),
    }),
  };
}

function conductOf(random: () => number): Conduct {
  const dice = random();
  if (dice < 0.5) return { does: "stays" };
  if (dice < 0.65) return { does: "reads slowly", restMs: 5 + random() * 60 };
  const how = random() < 0.5 ? "fin" : "rst";
  const isPatient = random() < 0.5;
  return {
    does: "leaves",
    how,
    afterMs: isPatient ? 2_000 * random() : 40 * random(),
    afterEvents: isPatient ? 1 + Math.floor(random() * 12) : Infinity,
  };
}

/** Returns the fault of an answer beside those that the audit finds, given what its model does. */
function faultOf({ ends, body }: Plan, answer: Answer): string | undefined {
  if (answer.status === 0) return "no answer";
  const shouldServe = ends === "well" || (ends === "well unless streamed" && body["stream"] !== true);
  if (shouldServe === isServed(answer)) return undefined;
  return shouldServe ? `not served: ${outcomeOf(answer)}` : "served, though its source cannot";
}

function outcomeOf(answer: Answer): string {
  if (answer.hasLeft) return answer.status === 0 ? "before the answer" : "in the answer";
  if (isServed(answer)) return "whole";
  return answer.status === 200 ? "broken stream" : String(answer.status);
}

/** A source gets a call once, or twice where it said that it had not served it. */
function sentTwice({ upstreams }: Bed): string[] {
  return [...arrivalsByMarker(upstreams, /mix-\d+\./)].flatMap(([marker, sources]) =>
    Object.entries(Object.groupBy(sources, (source) => source))
      .filter(([source, times = []]) => times.length > (MAY_BE_REPEATED.test(source) ? 2 : 1))
      .map(([source, times = []]) => `${marker} reached ${source} ${times.length} times`),
  );
}
