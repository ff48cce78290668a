/** POST /v1/provider-callbacks/{job_id}/{token}: a provider says that a job of ours has moved there. */
import { askSoon } from "#shared/database/jobs.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { providerCallbackSubject } from "#shared/queue/subjects.ts";

import type { IngressContext } from "../context.ts";
import type { Route, RouteCall } from "../serve.ts";

export function providerCallbacks(context: IngressContext): Route {
  return {
    method: "POST",
    path: "/v1/provider-callbacks/{job_id}/{token}",
    operationId: "ringForJob",
    summary: "For providers: a job of ours has moved",
    description:
      "Given to providers that call back. The body is not read: whatever it says, the provider is asked, so a ring that is " +
      "forged, early or repeated does no harm.",
    tags: ["Jobs"],
    auth: "none",
    isHidden: true,
    responses: { 204: { description: "Heard" } },
    errors: ["not_found"],
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RouteCall): Promise<Response> {
  const { job_id: id = "", token = "" } = call.params;
  if (!isUuid(id) || !context.callbackTokens.isOf(id, token)) throw new ApiError("not_found", "There is no such bell.");
  await call.request.body?.cancel();
  context.connection.publish(providerCallbackSubject(id));
  await askSoon(context.database, id);
  return new Response(null, { status: 204 });
}
