/** POST /v1/videos/generations and GET /v1/videos/generations/{id}. */
import { VIDEO } from "#shared/calls/kinds/video.ts";
import { findShownJob } from "#shared/database/jobs.ts";

import type { IngressContext } from "../context.ts";
import { answerJob, cancelShownJob, JOB_HEADERS, shownJob } from "../media/jobs.ts";
import { admitMediaJob } from "../media/media-job.ts";
import { prepareMedia } from "../media/prepare.ts";
import { errorsOf } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

const LIST = "/v1/videos/generations";

export function videos(context: IngressContext): readonly Route[] {
  const common = { tags: ["Videos"], auth: "key" } as const;
  return [
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createVideo",
      summary: "Begin a video",
      description: "Answers at once with the job that makes it; its state is asked for under its id.",
      countsItself: true,
      request: { schema: "VideoGenerationRequest" },
      responses: { 200: { description: "The job", schema: "Job" } },
      errors: errorsOf(["reads_json", "resolves_model", "holds", "keeps_files", "reads_files", "fetches_addresses"]),
      handle: (call) => begin(context, call),
    },
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

async function begin(context: IngressContext, call: RouteCall): Promise<Response> {
  const { call: read } = await prepareMedia(context, call, VIDEO);
  const caller = callerOf(call);
  await admitMediaJob(context, call, caller, read);
  const row = await findShownJob(context.database, caller.workspaceId, call.requestId);
  if (!row) throw new Error("a job that was admitted is not there");
  return answerJob(context, call, row);
}
