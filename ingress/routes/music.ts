/** POST /v1/music/generations. */
import { MUSIC } from "#shared/calls/kinds/music.ts";

import type { IngressContext } from "../context.ts";
import { runMediaJob } from "../media/media-job.ts";
import { prepareMedia } from "../media/prepare.ts";
import { answerMade } from "../media/present.ts";
import { streamMediaJob } from "../media/state-stream.ts";
import { errorsOf, MEDIA_CALL } from "../route-errors.ts";
import { callerOf, type Route, type RouteCall } from "../serve.ts";

export function music(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/music/generations",
    operationId: "createMusic",
    summary: "Make music",
    description:
      "One call that answers when the music is there. A call that is waited for too long ends as `job_timeout` with the " +
      "job's id. With `?stream=true` in the address the answer is an event stream of states, as for images.",
    tags: ["Audio"],
    auth: "key",
    countsItself: true,
    query: [
      {
        name: "stream",
        description: "`true` answers with an event stream of states.",
        schema: { type: "boolean", default: false },
      },
    ],
    request: { schema: "MusicGenerationRequest" },
    responses: {
      200: {
        description: "The music",
        schema: "MediaResults",
        stream: "MediaState",
        headers: ["x-credits-used", "x-model-used", "x-fallback-from", "x-fallback-depth"],
      },
    },
    errors: errorsOf(MEDIA_CALL),
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const isStreamed = new URL(call.request.url).searchParams.get("stream") === "true";
  const { request, call: read } = await prepareMedia(context, call, MUSIC);
  const isInline = request.response_format === "b64_json";
  if (isStreamed) return streamMediaJob(context, call, callerOf(call), read, isInline);
  return answerMade(context, call, await runMediaJob(context, call, callerOf(call), read), isInline);
}
