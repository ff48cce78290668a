/** GET /v1/jobs lists jobs; GET /v1/images/jobs/{job_id} returns state and result of a job of any modality. */
import { JOB_STATUSES } from "#shared/database/jobs.ts";

import type { IngressContext } from "../../context.ts";
import { answerJob, answerJobList, cancelVisibleJob, JOB_HEADERS, requireVisibleJob } from "./jobs.ts";
import { LIST_QUERY } from "../../core/page.ts";
import type { KeyRoute } from "../../core/route.ts";

const ONE = "/v1/images/jobs/{job_id}";

export function jobs(context: IngressContext): readonly KeyRoute[] {
  const common = { tags: ["Jobs"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: "/v1/jobs",
      operationId: "listJobs",
      summary: "List jobs",
      description:
        "Lists the jobs of media calls, capability runs and background responses that the key may see, without " +
        "`data`. Jobs of workflow runs, batches and batch messages are not listed.",
      query: [
        ...LIST_QUERY,
        {
          name: "status",
          description: "State of the jobs. Default: all.",
          schema: { type: "string", enum: [...JOB_STATUSES] },
        },
      ],
      responses: { 200: { description: "A page of jobs, newest first", schema: "JobList" } },
      errors: ["unsupported_value"],
      handle: (call) => answerJobList(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getJob",
      summary: "Retrieve job",
      description:
        "Returns a job of any modality. Jobs of other workspaces return 404. A key with the role `billing` sees " +
        "only the jobs of its own member. Jobs of runs, batches, batch messages and background responses are " +
        "visible to the member who created them, owners and admins.",
      responses: { 200: { description: "The started job", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => answerJob(context, call, await requireVisibleJob(context, call, "job_id")),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/cancel`,
      operationId: "cancelJob",
      summary: "Cancel job",
      description:
        "Requests cancellation from the provider (best effort). Work done before the cancellation is delivered and " +
        "billed. A job that has ended does not change.",
      responses: { 200: { description: "The job after the cancellation", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => {
        await cancelVisibleJob(context, call, "job_id");
        return answerJob(context, call, await requireVisibleJob(context, call, "job_id"));
      },
    },
  ];
}
