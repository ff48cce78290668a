/** GET /v1/videos/generations/{id} and POST …/cancel: the job of a video. */
import type { IngressContext } from "../context.ts";
import { answerJob, cancelShownJob, JOB_HEADERS, shownJob } from "../media/jobs.ts";
import type { Route } from "../serve.ts";

const LIST = "/v1/videos/generations";

export function videos(context: IngressContext): readonly Route[] {
  const common = { tags: ["Videos"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "GET",
      path: `${LIST}/{id}`,
      operationId: "getVideo",
      summary: "State and result of a video",
      responses: { 200: { description: "The job", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => answerJob(context, call, await shownJob(context, call, "id", "video")),
    },
    {
      ...common,
      method: "POST",
      path: `${LIST}/{id}/cancel`,
      operationId: "cancelVideo",
      summary: "End a video that is not wanted any more",
      description:
        "Best effort: its provider is asked to stop. What is done by then is delivered and paid for; a job that has ended " +
        "stays as it is.",
      responses: { 200: { description: "The job as it is now", schema: "Job", headers: JOB_HEADERS } },
      errors: ["job_not_found"],
      handle: async (call) => {
        await cancelShownJob(context, call, "id", "video");
        return answerJob(context, call, await shownJob(context, call, "id", "video"));
      },
    },
  ];
}
