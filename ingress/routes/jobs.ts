/** GET /v1/images/jobs/{job_id}: the state of a job, of whatever modality, and what came of it. */
import type { IngressContext } from "../context.ts";
import { answerJob, cancelShownJob, JOB_HEADERS, shownJob } from "../media/jobs.ts";
import type { Route } from "../serve.ts";

const ONE = "/v1/images/jobs/{job_id}";

export function jobs(context: IngressContext): readonly Route[] {
  const common = { tags: ["Jobs"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getJob",
      summary: "State and result of a job",
      description:
        "Jobs of every modality are found here. Of another workspace's job is told what is told of none; a key of the " +
        "billing role finds the jobs of its own member alone. Jobs of runs, batches, batch messages and background responses are found by " +
        "the member whose key made them, owners and admins.",
      responses: { 200: { description: "The job", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => answerJob(context, call, await shownJob(context, call, "job_id")),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/cancel`,
      operationId: "cancelJob",
      summary: "End a job that is not wanted any more",
      description:
        "Best effort: its provider is asked to stop. What is done by then is delivered and paid for; a job that has ended " +
        "stays as it is.",
      responses: { 200: { description: "The job as it is now", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => {
        await cancelShownJob(context, call, "job_id");
        return answerJob(context, call, await shownJob(context, call, "job_id"));
      },
    },
  ];
}
