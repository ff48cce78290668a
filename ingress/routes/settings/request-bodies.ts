/**
 * …/usage/requests/{request_id}/bodies: reads and deletes the kept request and response of a call. Owners and admins reach those of all
 * calls, other members those of their own keys.
 */
import type { Deleted, RequestBodies } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { dropBody, findBody, findBodyToRead } from "#shared/database/kept-bodies.ts";
import { readBodies } from "#shared/kept-bodies/store.ts";
import { deleteBodies } from "#shared/storage/claim-check.ts";
import { isMissing } from "#shared/storage/objects.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RouteCall } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { KeyRoute } from "../../core/route.ts";
import { pathId } from "./body.ts";

const COMMON = {
  path: "/workspaces/{workspaceId}/usage/requests/{request_id}/bodies",
  tags: ["Usage and billing"],
  auth: "key",
  authorize: allow(...ANY_ROLE),
} as const satisfies Partial<KeyRoute>;

export function requestBodies(context: IngressContext): readonly KeyRoute[] {
  return [
    {
      ...COMMON,
      method: "GET",
      operationId: "getRequestBodies",
      summary: "Retrieve bodies of call",
      description:
        "Returns the request and the response of a call that the setting `bodies` of the workspace or key has kept. " +
        "Owners and admins read those of all calls, other members those of their own keys. The audit log records " +
        "each read.",
      responses: { 200: { description: "The request and the response", schema: "RequestBodies" } },
      errors: ["not_found", "service_unavailable"],
      handle: (call) => read(context, call),
    },
    {
      ...COMMON,
      method: "DELETE",
      operationId: "deleteRequestBodies",
      summary: "Delete bodies of call",
      description:
        "Deletes the kept request and response of a call before the end of their retention. The usage of the call stays.",
      responses: { 200: { description: "The confirmation", schema: "Deleted" } },
      errors: ["not_found", "service_unavailable"],
      handle: (call) => remove(context, call),
    },
  ];
}

async function read(context: IngressContext, call: RouteCall): Promise<Response> {
  const row = await findBodyToRead(context.database, placeOf(call), actorOf(call));
  if (row === undefined) throw noBodies();
  const kept = await readBodies(context, row).catch((error: unknown) => {
    throw unreadable(context, error, row.request_id);
  });
  const { endpoint, status, request, response } = kept;
  const bodies: RequestBodies = {
    object: "usage.request.bodies",
    request_id: row.request_id,
    key_id: row.key_id,
    endpoint,
    status,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    request: { ...request },
    response: { ...response },
  };
  return json(bodies, NEVER_KEPT);
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const { database, storage } = context;
  const place = placeOf(call);
  const row = await findBody(database, place);
  if (row === undefined) throw noBodies();
  // The object comes first: without its row, nothing would delete it.
  await deleteBodies(storage, row.request_id).catch((error: unknown) => {
    throw unreadable(context, error, row.request_id);
  });
  if (!(await dropBody(database, place, actorOf(call)))) throw noBodies();
  return json({ id: row.request_id, deleted: true } satisfies Deleted);
}

/** Returns the place of the bodies that the URL path names, within what the caller may see. */
function placeOf(call: RouteCall): {
  readonly workspaceId: string;
  readonly requestId: string;
  readonly memberId: string | null;
} {
  const { workspaceId, role, memberId } = call.caller;
  const requestId = pathId(call, "request_id", noBodies);
  return { workspaceId, requestId, memberId: READERS.has(role) ? null : memberId };
}

/** Roles that may read the bodies of all members. */
const READERS: ReadonlySet<Caller["role"]> = new Set(["owner", "admin"]);

function noBodies(): ApiError {
  return new ApiError("not_found", "No request and response of this call are kept, or they have expired.");
}

/** Returns the error for bodies whose object cannot be read or deleted. */
function unreadable({ log }: Pick<IngressContext, "log">, error: unknown, requestId: string): ApiError {
  if (isMissing(error)) return noBodies();
  log.warn({ err: error, request_id: requestId }, "the kept bodies of a call are not accessible");
  return new ApiError("service_unavailable", "The bodies cannot be accessed right now; try again shortly.", {
    cause: error,
  });
}
