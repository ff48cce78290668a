/**
 * The upgrade of schemas/docs/operate/upgrade.md, under load: migrate, new processes beside old ones, the old ones away, and then back again over the
 * new schema. The new version is this one with a migration more; with UPGRADE_FROM=<git reference> the old one is what that names, and this is
 * the new one. No call fails that a balancer would have sent: to ingresses that are ready, and to none from just before it stops.
 */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "bun:test";

import type { WorkflowRun } from "#schemas/generated/types.ts";
import { freePort } from "#deploy/embedded/probe.mjs";
import { run } from "#deploy/embedded/process.mjs";
import { newId } from "#shared/base/ids.ts";

import { BUN, ENTRY, PROJECT_ROOT, temporaryDirectory } from "../support/infrastructure.ts";
import { type ManagedProcess, startRole, type Version } from "../support/role-process.ts";
import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import type { Answer } from "./client.ts";
import { isServed, sentTwice } from "./load.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

const CLIENTS = storm(4, 16);
const BESIDE_MS = storm(1_500, 600_000);
const ALONE_MS = storm(700, 60_000);

/** Adds as releases do: nothing that the version before reads is taken away. */
const NEXT_MIGRATION = `alter table job add column next_note text;
alter table workspace add column next_limit int not null default 7;
create table next_thing (id uuid primary key, workspace_id uuid not null, at timestamptz not null default clock_timestamp());
create index next_thing_at on next_thing (at);
`;
const PARTS = ["deploy", "ingress", "schemas", "shared", "workers", "package.json", "tsconfig.json", "bunfig.toml"];

let bed: Bed;
let publisher: Publisher;
let folders: ReturnType<typeof temporaryDirectory>;
let versions: { readonly old: Version; readonly next: Version };

beforeAll(async () => {
  folders = temporaryDirectory();
  versions = await makeVersions();
  bed = await startBed({ ingress: 0, workers: 0, janitor: false, env: { SLUICE_GRACE_MS: "15000" } });
  const workspace = await createWorkspace(bed.stack, { creditsNano: 10n ** 15n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 120_000);
afterAll(async () => {
  await publisher?.close();
  await bed?.stop();
  folders?.remove();
});

async function makeVersions(): Promise<typeof versions> {
  const reference = process.env["UPGRADE_FROM"];
  const folder = join(folders.directory, "other");
  mkdirSync(folder);
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(folder, "node_modules"));
  const other: Version = { entry: [BUN, "deploy/sluice.ts"], folder };
  const present: Version = { entry: ENTRY, folder: PROJECT_ROOT };
  if (reference === undefined) {
    for (const part of PARTS) cpSync(join(PROJECT_ROOT, part), join(folder, part), { recursive: true });
    writeFileSync(join(folder, "shared/database/migrations/9999_next.sql"), NEXT_MIGRATION);
    return { old: present, next: other };
  }
  const archive = join(folders.directory, "old.tar");
  const unpack = `git archive --output ${archive} "$0" && tar -xf ${archive} -C ${folder}`;
  const { code, stderr } = await run({
    name: "git",
    command: "/bin/sh",
    args: ["-c", unpack, reference],
    cwd: PROJECT_ROOT,
  });
  if (code !== 0) throw new Error(`expected UPGRADE_FROM as a git reference: ${stderr}`);
  return { old: other, next: present };
}

async function migrate({ entry: [command, ...args], folder }: Version): Promise<void> {
  const { code, stderr } = await run({
    name: "migrate",
    command,
    args: [...args, "migrate"],
    cwd: folder,
    env: bed.stack.env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

interface Fleet {
  readonly ingresses: readonly ManagedProcess[];
  readonly all: readonly ManagedProcess[];
}

async function startFleet(version: Version): Promise<Fleet> {
  const start = (...args: string[]): Promise<ManagedProcess> => startRole(args, bed.stack.env, { version });
  const ingress = async (): Promise<ManagedProcess> =>
    startRole(["ingress"], { ...bed.stack.env, PORT: String(await freePort()) }, { version });
  const [chat, workflow, janitor, ...ingresses] = await Promise.all([
    start("worker", "chat"),
    start("worker", "workflow"),
    start("janitor"),
    ingress(),
    ingress(),
  ]);
  return { ingresses, all: [chat, workflow, janitor, ...ingresses] };
}

/** Addresses that a balancer would send to, and the calls that each has. */
const ready: string[] = [];
const sent = new Map<string, number>();

/** Sends a call to the next address. */
async function balance<T>(at: number, send: (url: string) => Promise<T>): Promise<T> {
  const url = ready[at % ready.length] ?? "";
  sent.set(url, (sent.get(url) ?? 0) + 1);
  try {
    return await send(url);
  } finally {
    sent.set(url, (sent.get(url) ?? 0) - 1);
  }
}

/**
 * One after the other, as a rollout does. An ingress gets no new call for a while before it is told to stop, as with the manifests' preStop:
 * what was sent before has to be there. Calls that run when a process is told to stop are in sigterm.nightly.test.ts.
 */
async function stopFleet({ ingresses, all }: Fleet): Promise<void> {
  for (const process of all) {
    if (ingresses.includes(process)) {
      ready.splice(ready.indexOf(process.baseUrl), 1);
      await eventually("the last calls have ended", () => sent.get(process.baseUrl) === 0);
    }
    expect(await process.stop()).toMatchObject({ code: 0, signal: null });
  }
}

interface Work {
  readonly answers: Answer[];
  readonly jobs: string[];
  readonly runs: string[];
  stop(): Promise<void>;
}

/** Plain and streamed calls without pause, and beside them batch messages and runs. */
function startWork(): Work {
  const stopping = new AbortController();
  const [answers, jobs, runs]: [Answer[], string[], string[]] = [[], [], []];
  const isOver = (): boolean => stopping.signal.aborted;
  const call = async (client: number): Promise<void> => {
    for (let at = client; !isOver(); at += CLIENTS) {
      const user = newId();
      const body = ask(at % 2 === 0 ? "flat" : "metered", at % 3 === 0 ? { user, stream: true } : { user });
      answers.push(await balance(at, (url) => bed.client.chat({ url, key: bed.stack.key }, body)));
    }
  };
  const publish = async (): Promise<void> => {
    for (; !isOver(); await Bun.sleep(60)) {
      const key = newId();
      jobs.push(key);
      await publisher.publish({ body: ask("flat") }, { key });
    }
  };
  const begin = async (): Promise<void> => {
    for (let at = 0; !isOver(); at += 1, await Bun.sleep(100)) {
      const step = (id: string): object => ({
        id,
        type: "model",
        model: "flat",
        params: { messages: [{ role: "user", content: id }] },
      });
      const answer = await balance(at, (url) =>
        fetch(`${url}/v1/pipelines/runs`, {
          method: "POST",
          headers: { authorization: `Bearer ${bed.stack.key}`, "content-type": "application/json" },
          body: JSON.stringify({ definition: { steps: [step("one"), step("two")] }, mode: "async" }),
        }),
      );
      const made = (await answer.json()) as { id?: string };
      expect([answer.status, typeof made.id]).toEqual([202, "string"]);
      runs.push(made.id ?? "");
    }
  };
  const working = Promise.all([...Array.from({ length: CLIENTS }, (_, client) => call(client)), publish(), begin()]);
  return {
    answers,
    jobs,
    runs,
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

async function endOf(id: string): Promise<string> {
  return eventually(
    `run ${id} ends`,
    async () => {
      const answer = await fetch(`${ready[0]}/v1/workflows/runs/${id}`, {
        headers: { authorization: `Bearer ${bed.stack.key}` },
      });
      const { status } = (await answer.json()) as WorkflowRun;
      return status === "queued" || status === "running" ? undefined : status;
    },
    60_000,
  );
}

test(
  "an upgrade under load, and the rollback on the new schema, fail no call, job or run, and the books are exact",
  async () => {
    await migrate(versions.old);
    const old = await startFleet(versions.old);
    ready.push(...old.ingresses.map(({ baseUrl }) => baseUrl));
    const work = startWork();
    const served = async (what: string): Promise<void> => {
      const before = work.answers.length;
      await eventually(what, () => work.answers.length > before + 20, 30_000);
    };
    const fleets: Fleet[] = [old];
    try {
      await served("the old version answers");
      await migrate(versions.next);
      const next = await startFleet(versions.next);
      fleets.push(next);
      ready.push(...next.ingresses.map(({ baseUrl }) => baseUrl));
      await Bun.sleep(BESIDE_MS);
      await stopFleet(old);
      await served("the new version answers alone");
      await Bun.sleep(ALONE_MS);
      const again = await startFleet(versions.old);
      fleets.push(again);
      ready.push(...again.ingresses.map(({ baseUrl }) => baseUrl));
      await stopFleet(next);
      await served("the old version answers over the new schema");
      await work.stop();
      const unserved = work.answers.filter((answer) => !isServed(answer));
      expect(unserved.map(({ status, body }) => [status, body.slice(-300)])).toEqual([]);
      expect(sentTwice(bed.upstream)).toEqual([]);
      const ends = await Promise.all(work.jobs.map((key) => publisher.ended(key, 60_000)));
      expect(ends.filter(({ status }) => status !== "completed")).toEqual([]);
      expect(new Set(await Promise.all(work.runs.map(endOf)))).toEqual(new Set(["succeeded"]));
      await audit(bed, { withinMs: 40_000 });
    } finally {
      await work.stop().catch(() => undefined);
      for (const { all } of fleets) await Promise.all(all.map((process) => process.stop()));
    }
  },
  storm(120_000, 1_200_000),
);
