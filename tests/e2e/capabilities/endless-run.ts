/** A run that ends by its timeout only, for tests that kill what runs it. */
import type { Job } from "#schemas/generated/types.ts";
import { eventually } from "#tests/faults/wait.ts";

import type { CapabilityBench } from "./bench.ts";

export const ENDLESS = { code: { text: "for (let i = 0; ; i++) {}" } };

const jobOf = async (bench: CapabilityBench, id: string): Promise<Job> =>
  (await (await bench.call(`/v1/images/jobs/${id}`)).json()) as Job;

/** Begins a run of two seconds, and returns its id when it is under way. */
export async function beginEndless(bench: CapabilityBench): Promise<string> {
  const body = { input: ENDLESS, params: { timeout: 2 }, async: true };
  const { id } = (await (await bench.run("code.run_javascript", body)).json()) as Job;
  await eventually("it runs", async () => (await jobOf(bench, id)).status === "processing");
  return id;
}

/** The job of a run as it ended. */
export function endOf(bench: CapabilityBench, id: string): Promise<Job> {
  return eventually("it has ended", async () => {
    const job = await jobOf(bench, id);
    return (job.status === "failed" || job.status === "completed") && job;
  });
}
