/** POST /v1/provider-callbacks/{job_id}/{token}: receives a provider's callback that a job has changed. */
import { askSoon } from "#shared/database/jobs.ts";
import { noteRung } from "#shared/database/open-starts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { readJson } from "#shared/json/parse.ts";
import { providerCallbackSubject } from "#shared/queue/subjects.ts";

import { readJsonBody } from "../core/body.ts";
import type { IngressContext } from "../context.ts";
import type { RequestFacts } from "../core/call.ts";
import type { OpenRoute } from "../core/route.ts";

/** Maximum size of a provider's callback, in bytes. fal includes the result, which consists of URLs. */
export const RING_BYTES_MAX = 1_048_576;

export function providerCallbacks(context: IngressContext): OpenRoute {
  return {
    method: "POST",
    path: "/v1/provider-callbacks/{job_id}/{token}",
    operationId: "ringForJob",
    summary: "For providers: a job of ours has moved",
    description:
      "Given to providers that call back. Of the body nothing is taken but the provider's name of the job, and that only where the " +
      "answer to its submission was lost. Whatever else it says, the provider is asked, so a ring that is early or repeated does no harm.",
    tags: ["Jobs"],
    auth: "none",
    isHidden: true,
    responses: { 204: { description: "Heard" } },
    errors: ["not_found"],
    handle: (call) => handle(context, call),
  };
}

async function handle(context: IngressContext, call: RequestFacts): Promise<Response> {
  const { job_id: id = "", token = "" } = call.params;
  if (!isUuid(id) || !context.callbackTokens.isOf(id, token))
    throw new ApiError("not_found", "There is no such callback.");
  const startId = new URL(call.request.url).searchParams.get("start") ?? "";
  const name = isUuid(startId) ? await nameIn(call.request) : undefined;
  if (name !== undefined) await noteRung(context.database, id, startId, name);
  if (!call.request.bodyUsed) await call.request.body?.cancel();
  // Without this message, the job is polled a little later.
  if (!context.connection.isClosed()) context.connection.publish(providerCallbackSubject(id));
  await askSoon(context.database, id);
  return new Response(null, { status: 204 });
}

const NAME = /^[A-Za-z0-9_-]{1,512}$/;

/**
 * Returns the provider's id of the job: fal's `request_id`, Replicate's `id`, Google's `data.id`. Undefined if the body has no id or is
 * unreadable; the callback still triggers a poll.
 */
async function nameIn(request: Request): Promise<string | undefined> {
  try {
    const { value } = readJson(await readJsonBody(request, RING_BYTES_MAX));
    const { request_id: fal, data, id } = Object(value) as Readonly<Record<string, unknown>>;
    const { id: google } = Object(data) as Readonly<Record<string, unknown>>;
    const name = fal ?? google ?? id;
    return typeof name === "string" && NAME.test(name) ? name : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
