/**
 * /operator/tokens: manages operator tokens. Only a token with every scope can create tokens, so no token can grant more than its own
 * scope.
 */
import type { OperatorToken, OperatorTokenCreateRequest } from "#schemas/generated/types.ts";
import {
  findOperatorToken,
  type OperatorTokenRow,
  pageOperatorTokens,
  revokeOperatorToken,
} from "#shared/database/operator-tokens.ts";
import { ApiError } from "#shared/base/errors.ts";
import { makeOperatorToken, OPERATOR_TOKENS_MAX } from "#shared/operators/tokens.ts";

import type { IngressContext } from "../../context.ts";
import { operatorOf } from "../../core/caller.ts";
import type { Operator } from "../../core/authenticate-operator.ts";
import type { Route } from "../../core/route.ts";
import { createdId, plainName, reusedId } from "../settings/body.ts";
import { timeOf, unsupported } from "../../core/page.ts";
import { type ChangeRequest, type Created, resource } from "../settings/resource.ts";
import { iso, MONEY } from "./common.ts";

export function tokens(context: IngressContext): readonly Route[] {
  const { database } = context;
  return resource({
    path: "/operator/tokens/{id}",
    schema: "OperatorToken",
    readers: MONEY,
    writers: MONEY,
    within: operatorOf,
    find: (_operator, id) => findOperatorToken(database, id),
    unknown: () => new ApiError("not_found", "There is no such operator token."),
    present,
    list: {
      operationId: "listOperatorTokens",
      summary: "List operator tokens",
      answer: "A page of tokens, including revoked ones",
      page: (_operator, page) => pageOperatorTokens(database, page),
    },
    create: {
      operationId: "createOperatorToken",
      summary: "Create operator token",
      description: "Returns the secret token once. An expiring token cannot create a token that expires later.",
      answer: "The created token with its secret",
      repeated: "The token, created by an earlier request, without its secret",
      errors: ["permission_denied"],
      make: (operator, asked) => make(context, operator, asked),
    },
    remove: {
      operationId: "deleteOperatorToken",
      summary: "Delete operator token",
      description:
        "Revokes the token permanently within a second. Its name cannot be used again, because the audit log " +
        "contains it.",
      answer: "The confirmation",
      async end(_operator, { id }, actor) {
        await revokeOperatorToken(database, { id, actor });
        return true;
      },
    },
  });
}

async function make(
  { database }: IngressContext,
  { expires_at: latest }: Operator,
  { body, actor }: ChangeRequest<"OperatorTokenCreateRequest">,
): Promise<Created<OperatorTokenRow>> {
  const created = await makeOperatorToken(database, {
    id: createdId(body),
    name: plainName(body.name),
    scope: body.scope,
    expiresAt: expiryOf(body, latest),
    actor,
  });
  switch (created.result) {
    case "made":
      return { row: created.row, isNew: true, oneTimeFields: { token: created.token } };
    case "repeat":
      return { row: created.row, isNew: false };
    case "other":
      throw reusedId();
    case "full":
      throw new ApiError("conflict", `There are already ${OPERATOR_TOKENS_MAX} operator tokens; revoke one first.`);
    default:
      throw new ApiError("conflict", "An operator token with this name exists or existed; use another name.", {
        param: "name",
      });
  }
}

/**
 * Returns the expiry of a new token. Default: the expiry of the calling token.
 * @param own expiry of the calling token, which a new token cannot exceed; null if it does not expire
 * @throws ApiError for a time in the past
 */
function expiryOf({ expires_at: text }: OperatorTokenCreateRequest, own: Date | null): Date | null {
  if (text === undefined) return own;
  const time = timeOf(text);
  if (time === undefined || time.getTime() <= Date.now()) throw unsupported("expires_at", "a time in the future", text);
  if (own === null || time <= own) return time;
  throw new ApiError("permission_denied", "An expiring token cannot create a token that expires later.", {
    param: "expires_at",
  });
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
