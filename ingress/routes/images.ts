/** POST /v1/images/generations and /v1/images/edits. */
import { IMAGE_EDITS, IMAGES } from "#shared/calls/kinds/images.ts";
import { ApiError } from "#shared/errors.ts";

import type { IngressContext } from "../context.ts";
import { runMediaJob } from "../media/media-job.ts";
import { prepareMedia } from "../media/prepare.ts";
import { answerMade } from "../media/present.ts";
import { streamMediaJob } from "../media/state-stream.ts";
import { errorsOf, MEDIA_CALL } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

const HEADERS = ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"] as const;

export function images(context: IngressContext): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/v1/images/generations",
      operationId: "createImage",
      summary: "Make images",
      description:
        "Made by a job that is paid and goes on when its caller leaves. A call that is waited for too long ends as " +
        "`job_timeout` with the job's id, under which the images can be collected. With `stream: true` in the body the " +
        "answer is an event stream of states that ends with `[DONE]`; who leaves it ends the call.",
      tags: ["Images"],
      auth: "key",
      countsItself: true,
      request: { schema: "ImageGenerationRequest", example: { model: "sandbox-image", prompt: "a boat at sea" } },
      responses: {
        200: { description: "The images", schema: "MediaResults", stream: "MediaState", headers: HEADERS },
      },
      errors: errorsOf(MEDIA_CALL),
      handle: (call) => generate(context, call),
    },
    {
      method: "POST",
      path: "/v1/images/edits",
      operationId: "editImage",
      summary: "Change an image",
      description:
        "As images are made, from one that the body holds in base64 or names as a file. Models of modality `upscale` are " +
        "called here. Not multipart.",
      tags: ["Images"],
      auth: "key",
      countsItself: true,
      request: { schema: "ImageEditRequest" },
      responses: { 200: { description: "The changed images", schema: "MediaResults", headers: HEADERS } },
      errors: errorsOf([...MEDIA_CALL, "reads_files"], "edit_not_supported"),
      handle: (call) => edit(context, call),
    },
  ];
}

async function generate(context: IngressContext, call: RouteCall): Promise<Response> {
  const { request, call: read } = await prepareMedia(context, call, IMAGES);
  const isInline = request.response_format === "b64_json";
  if (request.stream === true) return streamMediaJob(context, call, callerOf(call), read, isInline);
  return answerMade(context, call, await runMediaJob(context, call, callerOf(call), read), isInline);
}

async function edit(context: IngressContext, call: RouteCall): Promise<Response> {
  if (/^multipart\//i.test(call.request.headers.get("content-type") ?? "")) {
    throw new ApiError("invalid_request", "Expected JSON with the image as base64 in image_base64, got a form.");
  }
  const { request, call: read } = await prepareMedia(context, call, IMAGE_EDITS);
  const row = await runMediaJob(context, call, callerOf(call), read);
  return answerMade(context, call, row, request.response_format === "b64_json");
}
