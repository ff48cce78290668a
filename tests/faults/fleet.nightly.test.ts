/**
 * A whole fleet on one machine under steady load: two ingresses behind a balancer, workers of every kind, two janitors. All of them are
 * replaced one after the other, and NATS and Postgres are killed and started again. A Prometheus scrapes everybody meanwhile. Expected: no
 * call fails while processes are replaced; while a server is away calls receive what schemas/docs/operate/outages.md says; no call, job or run is lost or paid
 * twice; what the dashboards and alerts ask for is there; and no alert fires without a reason.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { parser } from "@prometheus-io/lezer-promql";
import { afterAll, beforeAll, expect, test } from "bun:test";

import { ALERTS } from "#deploy/alerts/rules.ts";
import { DASHBOARDS } from "#deploy/dashboards/dashboards.ts";
import { freePort } from "#deploy/embedded/probe.mjs";

import { type FalServer, startFalServer } from "../providers/fal/server.ts";
import { temporaryDirectory } from "../support/infrastructure.ts";
import { HAS_PROMETHEUS, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { type ManagedProcess, startRole } from "../support/role-process.ts";
import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { type Bed, createWorkspace, startBed, type Workspace } from "./bed.ts";
import { type FleetLoad, LONG, startFleetLoad, type Told, TWO_SOURCES, WITHOUT_USAGE } from "./fleet-load.ts";
import { isServed, sentTwice } from "./load.ts";
import { catalogueOf, FAL_KEY } from "./media-bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const ROUNDS = storm(1, 2);
const PER_SECOND = storm(15, 40);
/** Without any fault, before and after each. */
const CALM_MS = storm(500, 30_000);
/** Janitors first: what is counted once an hour is counted within half a minute of their start. */
const ROLES: readonly (readonly string[])[] = [
  ...Array.from({ length: 2 }, () => ["janitor"]),
  ...Array.from({ length: storm(2, 3) }, () => ["worker", "chat"]),
  ...Array.from({ length: storm(1, 2) }, () => ["worker", "image", "audio", "video", "3d"]),
  ["worker", "capability", "workflow", "webhook"],
  ...Array.from({ length: 2 }, () => ["ingress"]),
];

let bed: Bed;
let fal: FalServer;
let folder: ReturnType<typeof temporaryDirectory>;
let workspace: Workspace;
let publisher: Publisher;
let prometheus: Prometheus | undefined;
let fleet: readonly ManagedProcess[] = [];
const ingresses = (): readonly ManagedProcess[] => fleet.filter(({ name }) => name === "ingress");

beforeAll(async () => {
  folder = temporaryDirectory();
  fal = startFalServer({ apiKey: FAL_KEY });
  const catalogue = join(folder.directory, "queued.yaml");
  writeFileSync(catalogue, catalogueOf(fal.url));
  bed = await startBed({
    ingress: 0,
    workers: 0,
    janitor: false,
    ownPostgres: true,
    behaviours: [WITHOUT_USAGE, LONG],
    models: [TWO_SOURCES],
    catalogues: [catalogue],
    env: {
      LOCAL_FAL_API_KEY: FAL_KEY,
      SLUICE_OUTBOUND_ALLOW: new URL(fal.filesUrl).host,
      SLUICE_GRACE_MS: "8000",
    },
  });
  bed.upstream.setDefault({ delayMs: 30 });
  workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
  // Ports of their own, so that each has the same addresses after a restart.
  fleet = await Promise.all(
    ROLES.map(async (args) => {
      const [port, adminPort] = [await freePort(), await freePort()];
      return startRole(args, { ...bed.stack.env, PORT: String(port), SLUICE_ADMIN_PORT: String(adminPort) });
    }),
  );
  if (HAS_PROMETHEUS) prometheus = await startPrometheus(fleet.map(({ adminUrl }) => new URL(adminUrl).host));
}, 120_000);
afterAll(async () => {
  await prometheus?.close();
  await publisher?.close();
  await Promise.all(fleet.map((role) => role.stop()));
  await bed?.stop();
  fal?.close();
  folder?.remove();
});

/** Times in which a server was away, until all processes could use it again. */
const away: (readonly [from: number, to: number])[] = [];
let load: FleetLoad;

async function served(calls: number): Promise<void> {
  const before = load.served();
  await eventually(`${calls} more calls are served`, () => load.served() >= before + calls);
}

async function replaceAll(): Promise<void> {
  for (const role of fleet) {
    await served(PER_SECOND / 3);
    expect([role.name, await role.stop()]).toEqual([role.name, { code: 0, signal: null, error: null }]);
    await role.restart();
  }
}

async function killServer(stop: () => Promise<unknown> | undefined, start: () => Promise<unknown> | undefined) {
  const from = performance.now();
  const pids = fleet.map(({ pid }) => pid);
  await stop();
  await Bun.sleep(storm(500, 3_000));
  await start();
  const isReady = async ({ adminUrl }: ManagedProcess): Promise<boolean> => (await fetch(`${adminUrl}/readyz`)).ok;
  await eventually("all can use it again", async () => !(await Promise.all(fleet.map(isReady))).includes(false));
  away.push([from, performance.now()]);
  await served(PER_SECOND);
  expect(fleet.map(({ pid }) => pid)).toEqual(pids);
}

const wasAway = ({ began, ended }: Told): boolean => away.some(([from, to]) => began < to && ended > from);
const shown = ({ kind, answer }: Told): unknown => [kind, answer.status, answer.body.slice(-300)];

test(
  "processes replaced one after the other, and servers killed, lose no call, job or run, and none is charged twice",
  async () => {
    const { stack, client, upstream } = bed;
    load = startFleetLoad({ bed, ingresses: ingresses(), workspace, publisher, perSecond: PER_SECOND });
    const startedAt = performance.now();
    await served(PER_SECOND);
    await Bun.sleep(CALM_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      await replaceAll();
      await Bun.sleep(CALM_MS);
      if (round > 0) continue;
      await killServer(() => stack.nats.stop("SIGKILL"), () => stack.nats.start()); // prettier-ignore
      await Bun.sleep(CALM_MS);
      await killServer(() => stack.postgres?.stop("immediate"), () => stack.postgres?.start()); // prettier-ignore
      await Bun.sleep(CALM_MS);
    }
    await load.stop();
    const { told, kept, jobs, runs, batches } = load;
    const counts = Object.groupBy(told, (one) => `${one.kind} ${isServed(one.answer) ? "served" : one.answer.hasLeft ? "left" : one.answer.status}${wasAway(one) ? ", a server away" : ""}`); // prettier-ignore
    const tally = Object.fromEntries(Object.entries(counts).map(([name, of]) => [name, of?.length]));
    process.stdout.write(`${JSON.stringify({ seconds: Math.round((performance.now() - startedAt) / 1000), awayMs: away.map(([from, to]) => Math.round(to - from)), ...tally, jobs: jobs.length, runs: runs.length, batches: batches.length })}\n`); // prettier-ignore

    const failed = told.filter(({ answer }) => !isServed(answer) && !answer.hasLeft);
    expect(failed.filter((one) => !wasAway(one)).map(shown)).toEqual([]);
    expect(failed.filter(({ answer }) => answer.status !== 503 && !(answer.isStream && answer.status === 200)).map(shown)).toEqual([]); // prettier-ignore
    expect(sentTwice(upstream)).toEqual([]);
    const prompts = fal.requests.filter(({ method }) => method === "POST").map(({ body }) => (body as { prompt: string }).prompt); // prettier-ignore
    expect(prompts.length).toBe(new Set(prompts).size);
    const ends = await Promise.all(jobs.map((key) => publisher.ended(key)));
    expect(ends.filter(({ status }) => status !== "completed")).toEqual([]);
    expect(batches.filter(({ total, completed, failed }) => completed !== total || failed > 0)).toEqual([]);
    expect(batches).not.toEqual([]);
    const unfinished = "select id, status from run where id::text = any($1) and status <> 'succeeded'";
    await eventually("all runs have succeeded", async () => (await stack.query(unfinished, [runs])).length === 0, 60_000); // prettier-ignore
    await audit({ stack, client: { ...client, answers: [...client.answers, ...kept] } }, { withinMs: 40_000 });
    expect(await stack.query("select job_id from usage_record where settled > 0 group by job_id having count(*) > 1")).toEqual([]); // prettier-ignore
    const paid =
      "select count(*) as paid from usage_record join job on job.id = job_id where run_id::text = any($1) and settled > 0";
    expect(await stack.query(paid, [runs])).toEqual([{ paid: 2n * BigInt(runs.length) }]);
  },
  storm(180_000, 900_000),
);

/** Returns the sides of comparisons in an alert, since it has a sample itself only while it fires. */
function comparedIn(expression: string): string[] {
  const sides: string[] = [];
  parser.parse(expression).iterate({
    enter({ node }) {
      if (node.name === "FunctionCall" && expression.startsWith("absent(", node.from)) {
        sides.push(expression.slice(node.from + "absent(".length, node.to - 1));
      }
      const operator = node.name === "BinaryExpr" && node.firstChild?.nextSibling?.name;
      if (!operator || !["Gtr", "Lss", "Gte", "Lte", "Eql", "Neq"].includes(operator)) return;
      for (const side of [node.firstChild, node.lastChild]) {
        if (side && !side.name.startsWith("Number")) sides.push(expression.slice(side.from, side.to));
      }
    },
  });
  return sides.length === 0 ? [expression] : sides;
}

/** Metrics that have no sample before what they count has happened, and it does not in this story. */
const NOT_HERE: Readonly<Record<string, string>> = {
  sluice_budgets_fired_total: "no budget",
  sluice_breaker_open_sources: "providers of the bed have no breaker",
  sluice_streams_rescued_total: "no model has another to go on with",
  sluice_delivery_attempts_total: "no channel",
  sluice_provider_key_refusals_total: "providers of the bed accept every key",
  sluice_spans_dropped_total: "no collector of traces",
  'sluice_catalogue_reloads_total{result="refused"}': "no catalogue is changed",
};

/** Longer than a janitor takes until its first audit. */
const FIRST_AUDIT_MS = 35_000;

/** Alerts that may fire in this story. */
const REASONS: Readonly<Record<string, string>> = {
  Watchdog: "always on",
  AvailabilityBurn: "NATS and Postgres were away, in a service that is minutes old",
  OverheadBurn: "a dozen processes and their servers share this machine",
  UsageEstimated: "one call in seventy has no usage",
  CapabilityEngineDown: "engines that are no package are not on every machine",
};

test.skipIf(!HAS_PROMETHEUS)("the metrics of dashboards and alerts exist", async () => {
  const window = `${Math.ceil(performance.now() / 1_000)}s`;
  const expressions = [
    ...DASHBOARDS.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels.flatMap(({ lines }) => lines))).map(({ expr }) => expr), // prettier-ignore
    ...ALERTS.flatMap(({ expr }) => comparedIn(expr)),
  ];
  const isEmpty = async (expression: string): Promise<boolean> => {
    const samples = (await prometheus?.query(expression.replaceAll("$__rate_interval", window))) ?? [];
    return !samples.some(({ value: [, value] }) => Number.isFinite(Number(value)));
  };
  const isUnexplained = (expression: string): boolean => !Object.keys(NOT_HERE).some((name) => expression.includes(name)); // prettier-ignore
  const emptyOnes = async (): Promise<string[]> => {
    const asked = await Promise.all(expressions.map(async (expression) => ((await isEmpty(expression)) ? [expression] : []))); // prettier-ignore
    return asked.flat();
  };
  let empty = await emptyOnes();
  for (const until = performance.now() + FIRST_AUDIT_MS; empty.some(isUnexplained) && performance.now() < until;) {
    await Bun.sleep(1_000);
    empty = await emptyOnes();
  }
  expect(empty.filter(isUnexplained)).toEqual([]);
  const idle = Object.keys(NOT_HERE).filter((name) => !empty.some((expression) => expression.includes(name)));
  expect(idle).toEqual([]);
});

test.skipIf(!HAS_PROMETHEUS)("every alert is evaluated, and each firing alert has a cause", async () => {
  const rules = (await prometheus?.rules()) ?? [];
  expect(rules.map(({ name }) => name)).toEqual(ALERTS.map(({ name }) => `Sluice${name}`));
  expect(rules.filter(({ health, lastError }) => health !== "ok" || lastError)).toEqual([]);
  const firing = rules.filter(({ state }) => state === "firing").map(({ name }) => name);
  process.stdout.write(`${JSON.stringify({ firing })}\n`);
  expect(firing).toContain("SluiceWatchdog");
  const isKnown = (name: string): boolean => Object.keys(REASONS).some((known) => name.startsWith(`Sluice${known}`));
  expect(firing.filter((name) => !isKnown(name))).toEqual([]);
});
