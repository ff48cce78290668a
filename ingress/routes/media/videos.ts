/** GET /v1/videos/generations/{id} returns the job of a video, and POST …/cancel cancels it. */
import type { IngressContext } from "../../context.ts";
import { answerJob, cancelVisibleJob, JOB_HEADERS, requireVisibleJob } from "./jobs.ts";
import type { KeyRoute } from "../../core/route.ts";

const LIST = "/v1/videos/generations";

export function videos(context: IngressContext): readonly KeyRoute[] {
  const common = { tags: ["Videos"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: `${LIST}/{id}`,
      operationId: "getVideo",
      summary: "Retrieve video",
      responses: { 200: { description: "The started job", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => answerJob(context, call, await requireVisibleJob(context, call, "id", "video")),
    },
    {
      ...common,
      method: "POST",
      path: `${LIST}/{id}/cancel`,
      operationId: "cancelVideo",
      summary: "Cancel video",
      description:
        "Requests cancellation from the provider (best effort). Work done before the cancellation is delivered and " +
        "billed. A job that has ended does not change.",
      responses: { 200: { description: "The job after the cancellation", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => {
        await cancelVisibleJob(context, call, "id", "video");
        return answerJob(context, call, await requireVisibleJob(context, call, "id", "video"));
      },
    },
  ];
}
