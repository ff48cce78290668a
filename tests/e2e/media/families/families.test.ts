/**
 * What every family that works by itself goes through, against the running service and models of our own catalogue: a job that
 * ends well, fails, never ends, is ended, whose start was lost, whose worker was killed, whose file lies where it must not.
 * All families go through each of them at the same time.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { eventually } from "#tests/faults/wait.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type Bench, CREDIT, startBench } from "../bench.ts";
import { catalogueOf, type Family, type Fate, startFamilies } from "./families.ts";

const folder = temporaryDirectory();
const families = startFamilies();

let bench: Bench;

beforeAll(async () => {
  const catalogue = join(folder.directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueOf(families));
  bench = await startBench({
    pools: ["video", "3d"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      SLUICE_OUTBOUND_ALLOW: families.flatMap(({ delivery }) => (delivery === undefined ? [] : new URL(delivery).host)).join(","),
      // Of those that are waited for: all of them are collected by their jobs.
      SLUICE_MEDIA_WAIT_MS: "0",
      SLUICE_MEDIA_TOTAL_MS: "15000",
      ...Object.fromEntries(families.map(({ provider: { variable, key } }) => [variable, key])),
    },
  });
}, 60_000);

afterAll(async () => {
  await bench.close();
  expect(families.flatMap((family) => family.faults())).toEqual([]);
  for (const family of families) family.close();
  folder.remove();
});

/** Ids of a job of each family, begun one after the other so that each has the fate that it is given. */
async function begin(fate: Fate, of: readonly Family[] = families): Promise<Map<Family, string>> {
  const begun = new Map<Family, string>();
  for (const family of of) {
    family.next(fate);
    const response = await bench.call(family.path, { model: family.model, prompt: "a small house", ...family.body });
    begun.set(family, response.headers.get("x-request-id") ?? "");
  }
  return begun;
}

interface Ended {
  readonly family: string;
  readonly status: string;
  readonly code: string | undefined;
  readonly settled: bigint | undefined;
  readonly charged: number;
}

/** How each of them ended. */
async function ends(begun: ReadonlyMap<Family, string>, before: ReadonlyMap<Family, number>): Promise<Ended[]> {
  return Promise.all(
    Array.from(begun, async ([family, id]) => {
      const job = await bench.endOf(id, 90_000);
      const [usage] = await bench.usageOf(id);
      return {
        family: family.name,
        status: job.status,
        code: job.error?.code,
        settled: usage?.settled,
        charged: family.charged() - (before.get(family) ?? 0),
      };
    }),
  );
}

const charges = (): Map<Family, number> => new Map(families.map((family) => [family, family.charged()]));

/** What all of them are expected to have come to. */
function expectAll(ended: readonly Ended[], expected: (family: Family) => Omit<Ended, "family" | "charged"> & { charged?: number }): void {
  const names = new Map(families.map((family) => [family.name, family]));
  for (const one of ended) {
    const family = names.get(one.family);
    if (!family) throw new Error(one.family);
    expect(one).toMatchObject(expected(family));
  }
}

const paid = (family: Family) => ({
  status: "completed",
  code: undefined,
  settled: BigInt(Math.round(family.credits * 1_000)) * (CREDIT / 1_000n),
  charged: family.submissions,
});

/** Of those that nobody has a verdict on. */
async function unknownOnes(begun: ReadonlyMap<Family, string>): Promise<number> {
  const rows = await bench.stack.query(
    "select 1 from job where id = any($1::uuid[]) and state = 'running' and unknown_since is not null and lease_until is null",
    [`{${[...begun.values()].join(",")}}`],
  );
  return rows.length;
}

describe("a job", () => {
  test("that ends well is submitted once, kept, measured and paid once", async () => {
    const before = charges();
    const begun = await begin("done");
    expectAll(await ends(begun, before), paid);
    for (const id of begun.values()) {
      const { data } = await bench.jobOf(id);
      const file = await bench.client.files.content(String(data?.[0]?.["file_id"]));
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(20);
    }
  }, 60_000);

  test("that its provider fails costs nothing, and its provider's words stay with us", async () => {
    const begun = await begin("failed");
    expectAll(await ends(begun, charges()), () => ({ status: "failed", code: "upstream_error", settled: 0n }));
    for (const id of begun.values()) expect(JSON.stringify(await bench.jobOf(id))).not.toContain("internal fault");
  }, 60_000);

  test("whose file lies at a private address is not fetched, and costs nothing", async () => {
    const begun = await begin("private", families.filter(({ namesAddresses }) => namesAddresses));
    expectAll(await ends(begun, charges()), () => ({ status: "failed", code: "upstream_error", settled: 0n }));
  }, 60_000);

  test("that its caller ends is ended at its provider where that can be, and costs nothing then", async () => {
    const begun = await begin("hang", families.filter(({ canStop }) => canStop));
    await eventually("all have begun", async () => {
      const jobs = await Promise.all([...begun.values()].map((id) => bench.jobOf(id)));
      return jobs.every(({ status }) => status === "processing");
    });
    for (const id of begun.values()) expect((await bench.call(`/v1/images/jobs/${id}/cancel`, {})).status).toBe(200);
    expectAll(await ends(begun, charges()), () => ({ status: "cancelled", code: undefined, settled: 0n }));
  }, 60_000);

  test("whose worker is killed while it is asked about goes on in the next one: one submission, one payment", async () => {
    const before = charges();
    const begun = await begin("slow");
    await eventually("all are at their providers", async () => {
      const rows = await bench.stack.query(
        "select 1 from job where id = any($1::uuid[]) and provider_job is not null",
        [`{${[...begun.values()].join(",")}}`],
      );
      return rows.length === begun.size;
    }, 30_000);
    for (const worker of bench.stack.workers) worker.kill("SIGKILL");
    await bench.stack.addRole("worker", "video", "3d");
    expectAll(await ends(begun, before), paid);
  }, 150_000);
});

describe("a job of which nobody knows what became", () => {
  test("keeps its hold, is never submitted again, and is written off when nobody ever tells", async () => {
    const before = charges();
    const begun = await begin("lost");
    await eventually("nobody knows", async () => (await unknownOnes(begun)) === begun.size, 60_000);
    for (const [family, id] of begun) {
      expect((await bench.jobOf(id)).status, family.name).toBe("processing");
      expect(family.charged() - (before.get(family) ?? 0), family.name).toBe(family.submissions);
    }
    const held = await bench.stack.query("select 1 from hold where job_id = any($1::uuid[])", [`{${[...begun.values()].join(",")}}`]);
    expect(held).toHaveLength(begun.size);
    await bench.stack.query("update job set unknown_since = now() - interval '25 hours' where unknown_since is not null");
    expectAll(await ends(begun, before), (family) => ({
      status: "failed",
      code: "worker_lost",
      settled: 0n,
      charged: family.submissions,
    }));
  }, 120_000);

  test("since it outlasts its time is asked about later, and what came of it is collected and paid once", async () => {
    const before = charges();
    const begun = await begin("hang", families.filter(({ canStop }) => !canStop));
    await eventually("nobody knows", async () => (await unknownOnes(begun)) === begun.size, 60_000);
    for (const [family] of begun) family.finish();
    await bench.stack.query("update job set ask_at = now() where unknown_since is not null and state = 'running'");
    expectAll(await ends(begun, before), paid);
  }, 120_000);

  test("and that its provider stopped at its limit, as it was told to, is over", async () => {
    const begun = await begin("hang", families.filter(({ canStop }) => canStop));
    expectAll(await ends(begun, charges()), () => ({ status: "failed", code: "upstream_timeout", settled: 0n }));
  }, 120_000);
});
