/**
 * Scenarios that every family that works by itself goes through, against the running service and models of our own
 * catalogue: a job that ends well, fails, never ends, is ended, whose start was lost, whose file lies where it must not.
 * All families go through each of them at the same time.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";

import type { Family } from "./families.ts";
import { type StartedJobs, free, paid, type Rounds, startRounds } from "./rounds.ts";

let rounds: Rounds;

beforeAll(async () => {
  // Longer than a list is read until what is not clear in it is given up.
  rounds = await startRounds({ env: { SLUICE_MEDIA_TOTAL_MS: "12000" } });
}, 60_000);

afterAll(() => rounds.close());

const those = (which: (family: Family) => boolean): Family[] => rounds.families.filter(which);
const once = (of: readonly Family[]) => new Map(of.map((family) => [family, family.submissions]));

describe("a job", () => {
  test("that succeeds is submitted once, stored, measured and charged once", async () => {
    const mark = rounds.charged();
    const begun = await rounds.begin("done");
    await rounds.expectEnds(begun, paid);
    expect(rounds.charged(mark)).toEqual(once(rounds.families));
    for (const [id] of begun) {
      const { data } = await rounds.bench.jobOf(id);
      const file = await rounds.bench.client.files.content(String(data?.[0]?.["file_id"]));
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(20);
    }
  }, 60_000);

  test("that its provider fails costs nothing, and the provider's text stays internal", async () => {
    const begun = await rounds.begin("failed");
    await rounds.expectEnds(begun, free("failed", "upstream_error"));
    for (const [id] of begun) expect(JSON.stringify(await rounds.bench.jobOf(id))).not.toContain("internal fault");
  }, 60_000);

  test("whose file has a private address is not fetched, and costs nothing", async () => {
    const begun = await rounds.begin(
      "private",
      those(({ namesAddresses }) => namesAddresses),
    );
    await rounds.expectEnds(begun, free("failed", "upstream_error"));
  }, 60_000);

  test("that its caller cancels is cancelled at its provider if possible, and then costs nothing", async () => {
    const begun = await rounds.begin(
      "hang",
      those(({ canStop }) => canStop),
    );
    await eventually("all have begun", async () => {
      const jobs = await Promise.all(begun.map(([id]) => rounds.bench.jobOf(id)));
      return jobs.every(({ status }) => status === "processing");
    });
    for (const [id] of begun) expect((await rounds.bench.call(`/v1/images/jobs/${id}/cancel`, {})).status).toBe(200);
    await rounds.expectEnds(begun, free("cancelled", "service_unavailable"));
  }, 60_000);
});

describe("a job whose start was accepted but not answered", () => {
  test("is never submitted again: it is found and charged if its provider lists jobs, and otherwise ends free immediately", async () => {
    const mark = rounds.charged();
    const begun = await rounds.begin("lost");
    const lost = free("failed", "upstream_timeout");
    await rounds.expectEnds(begun, (family) => (family.findsLost ? paid(family) : lost()));
    expect(await rounds.bench.stack.query("select 1 from job where unknown_since is not null")).toEqual([]);
    expect(rounds.charged(mark)).toEqual(once(rounds.families));
  }, 120_000);
});

describe("a job that outlasts its time", () => {
  let hanging: StartedJobs;

  beforeAll(async () => {
    hanging = await rounds.begin("hang");
  }, 60_000);

  test("is polled later, and its result is collected and charged once", async () => {
    const begun = hanging.filter(([, { canStop }]) => !canStop);
    await rounds.nobodyKnows(begun);
    for (const [, family] of begun) family.finish();
    await rounds.bench.stack.query(
      "update job set ask_at = now() where unknown_since is not null and state = 'running'",
    );
    await rounds.expectEnds(begun, paid);
  }, 120_000);

  test("ends if its provider stopped it on request", async () => {
    const begun = hanging.filter(([, { canStop }]) => canStop);
    await rounds.expectEnds(begun, free("failed", "upstream_timeout"));
  }, 120_000);
});
