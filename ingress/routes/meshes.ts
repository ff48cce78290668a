/** POST /v1/3d/generations. */
import { MESH } from "#shared/calls/kinds/mesh.ts";

import type { IngressContext } from "../context.ts";
import { runMediaJob } from "../media/media-job.ts";
import { prepareMedia } from "../media/prepare.ts";
import { answerMade } from "../media/present.ts";
import { errorsOf, MEDIA_CALL } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

export function meshes(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/3d/generations",
    operationId: "createMesh",
    summary: "Make or transform a mesh",
    description:
      "From words, an image or both; models that transform a mesh need one. A call that is waited for too long ends as " +
      "`job_timeout` with the job's id, under which the mesh can be collected.",
    tags: ["3D"],
    auth: "key",
    countsItself: true,
    request: { schema: "MeshGenerationRequest" },
    responses: {
      200: {
        description: "The mesh",
        schema: "MediaResults",
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"],
      },
    },
    errors: errorsOf([...MEDIA_CALL, "reads_files", "fetches_addresses"]),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const { call: read } = await prepareMedia(context, call, MESH);
  return answerMade(context, call, await runMediaJob(context, call, callerOf(call), read), false);
}
