/** /operator/tokens: who may call /operator. Only a token for everything makes others, so none gives more than it has. */
import type { OperatorDeleted, OperatorToken, OperatorTokenCreateRequest } from "#schemas/generated/types.ts";
import {
  findOperatorToken,
  type OperatorTokenRow,
  pageOperatorTokens,
  revokeOperatorToken,
} from "#shared/database/operator-tokens.ts";
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";
import { makeOperatorToken } from "#shared/operators/tokens.ts";

import { json, NEVER_KEPT } from "../../answers.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../route-errors.ts";
import { actorOf, type Route, type RouteCall } from "../../serve.ts";
import { createdId, parsedBody, pathId, plainName, reusedId } from "../../settings/body.ts";
import { LIST_QUERY, listOf, pageOf, timeOf, unsupported } from "../../settings/page.ts";
import { iso, MONEY } from "./common.ts";

const LIST = "/operator/tokens";

export function tokens(context: IngressContext): readonly Route[] {
  return [
    {
      ...MONEY,
      method: "GET",
      path: LIST,
      operationId: "listOperatorTokens",
      summary: "List tokens for /operator",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of tokens, revoked ones too", schema: "OperatorTokenList" } },
      errors: ["unsupported_value"],
      async handle(call) {
        const page = pageOf(call);
        const rows = await pageOperatorTokens(context.database, { ...page, limit: page.limit + 1 });
        return json(listOf(rows, page, present));
      },
    },
    {
      ...MONEY,
      method: "POST",
      path: LIST,
      operationId: "createOperatorToken",
      summary: "Make a token for /operator, which is shown this once",
      description: "A token that ends makes none that ends later.",
      request: { schema: "OperatorTokenCreateRequest" },
      responses: {
        200: { description: "It was made before; the token is not shown again", schema: "OperatorToken" },
        201: { description: "The token", schema: "OperatorToken" },
      },
      errors: errorsOf(["reads_json"], "permission_denied", "conflict", "idempotency_key_reused"),
      handle: (call) => create(context, call),
    },
    {
      ...MONEY,
      method: "DELETE",
      path: `${LIST}/{id}`,
      operationId: "deleteOperatorToken",
      summary: "Revoke a token for /operator",
      description: "It is refused everywhere within a second, for good. Its name stays taken: the audit log knows it.",
      responses: { 200: { description: "It is revoked", schema: "OperatorDeleted" } },
      errors: ["not_found"],
      handle: (call) => remove(context, call),
    },
  ];
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const body = await parsedBody(call, "OperatorTokenCreateRequest");
  const made = await makeOperatorToken(context.database, {
    id: createdId(body),
    name: plainName(body.name),
    scope: body.scope,
    expiresAt: expiryOf(body, call.operator?.expires_at ?? null),
    actor: actorOf(call),
  });
  if (made.result === "made") {
    return json({ ...present(made.row), token: made.token } satisfies OperatorToken, NEVER_KEPT, 201);
  }
  if (made.result === "repeat") return json(present(made.row));
  if (made.result === "other") throw reusedId();
  if (made.result === "full") {
    throw new ApiError("conflict", `There are ${LIMITS.operatorTokensMax} operator tokens already.`);
  }
  throw new ApiError("conflict", "There is or was an operator token of this name.", { param: "name" });
}

/**
 * @param own end of the token that asks: what it makes ends no later
 * @throws ApiError for a time that is over
 */
function expiryOf({ expires_at: text }: OperatorTokenCreateRequest, own: Date | null): Date | null {
  if (text === undefined) return own;
  const time = timeOf(text);
  if (time === undefined || time.getTime() <= Date.now()) throw unsupported("expires_at", "a time to come", text);
  if (own === null || time <= own) return time;
  throw new ApiError("permission_denied", "The token that asks has an end, and gives no token a later one.", {
    param: "expires_at",
  });
}

async function remove(context: IngressContext, call: RouteCall): Promise<Response> {
  const id = pathId(call, "id", noToken);
  const revoked = await revokeOperatorToken(context.database, { id, actor: actorOf(call) });
  if (revoked === undefined && (await findOperatorToken(context.database, id)) === undefined) throw noToken();
  return json({ id, deleted: true } satisfies OperatorDeleted);
}

function present(row: OperatorTokenRow): OperatorToken {
  return {
    object: "operator_token",
    id: row.id,
    name: row.name,
    scope: row.scope,
    created_at: row.created_at.toISOString(),
    expires_at: iso(row.expires_at),
    revoked_at: iso(row.revoked_at),
  };
}

function noToken(): ApiError {
  return new ApiError("not_found", "There is no such operator token.");
}
