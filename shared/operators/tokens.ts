/** Creates tokens for /operator. Shared by the admin command and the API. */
import type { Actor } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";
import {
  findOperatorToken,
  insertOperatorToken,
  liveOperatorTokens,
  lockOperatorTokens,
  type OperatorTokenRow,
  type Scope,
} from "#shared/database/operator-tokens.ts";
import { isSameRequest } from "#shared/json/same-request.ts";
import { hashKey, mintOperatorToken } from "#shared/secrets/api-keys.ts";

/** Maximum number of tokens that are neither revoked nor expired. All of them are read at once. */
export const OPERATOR_TOKENS_MAX = 1_000;

/**
 * Names that no token may have. The audit log uses them for actors without a created token: `settings`, `command` for admin commands, and
 * `bootstrap` for the first start.
 */
const RESERVED: ReadonlySet<string> = new Set(["settings", "command", "bootstrap"]);

export interface TokenRequest {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly expiresAt: Date | null;
  readonly actor: Actor;
}

/**
 * Result of creating a token. `made`: the token was created. `repeat`: an earlier, equal request created the token with this id. The token
 * text is not returned again. `other`: the id belongs to a different token. `taken`: the name is in use or reserved. `full`: the maximum
 * number of tokens is reached.
 */
export type TokenCreation =
  | { readonly result: "made"; readonly row: OperatorTokenRow; readonly token: string }
  | { readonly result: "repeat"; readonly row: OperatorTokenRow }
  | { readonly result: "other" | "taken" | "full" };

export async function makeOperatorToken(database: Database, request: TokenRequest): Promise<TokenCreation> {
  if (RESERVED.has(request.name)) return { result: "taken" };
  const token = mintOperatorToken();
  return database.transaction(async (tx) => {
    await lockOperatorTokens(tx);
    const earlier = await findOperatorToken(tx, request.id);
    if (earlier !== undefined) {
      const { name, scope, expiresAt } = request;
      const isSame = isSameRequest(earlier, { name, scope, expires_at: expiresAt });
      return isSame ? { result: "repeat", row: earlier } : { result: "other" };
    }
    if ((await liveOperatorTokens(tx)).length >= OPERATOR_TOKENS_MAX) return { result: "full" };
    const row = await insertOperatorToken(tx, { ...request, sha256: hashKey(token) });
    return row === undefined ? { result: "taken" } : { result: "made", row, token };
  });
}
