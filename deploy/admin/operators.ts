/** Commands that manage operator tokens for the API under /operator. */
import {
  findOperatorTokenByName,
  type OperatorTokenRow,
  pageOperatorTokens,
  revokeOperatorToken,
  type Scope,
  SCOPES,
} from "#shared/database/operator-tokens.ts";
import { newId } from "#shared/base/ids.ts";
import { makeOperatorToken, OPERATOR_TOKENS_MAX } from "#shared/operators/tokens.ts";

import { limitOf, nameOf } from "./arguments.ts";
import { type Command, quote, UsageError } from "./command.ts";
import { ACTOR } from "./context.ts";

const ROWS = 100;

export const OPERATOR_COMMANDS: readonly Command[] = [
  {
    usage: "operator add <name> --scope <scope> [--expires <time>]",
    about:
      "Creates a token for /operator and prints it. It cannot be printed again. Scopes are read, write and money; each includes the ones before.",
    needs: "database",
    async run(context, input) {
      const name = nameOf(input.argument("name"));
      const scope = scopeOf(input.argument("scope"));
      const asked = { id: newId(), name, scope, expiresAt: expiryOf(input.option("expires")), actor: ACTOR };
      const created = await makeOperatorToken(await context.database(), asked);
      if (created.result === "full")
        throw new Error(`there are ${OPERATOR_TOKENS_MAX} tokens, which is the maximum; revoke some`);
      if (created.result !== "made")
        throw new Error(`the name ${quote(name)} is taken; revoked tokens keep their names`);
      return { json: { ...tokenJson(created.row), token: created.token } };
    },
  },
  {
    usage: "operator list [--limit <n>]",
    about: `Lists the tokens for /operator, revoked ones included, newest first. Prints ${ROWS} rows by default.`,
    needs: "database",
    async run(context, input) {
      const limit = limitOf(input.option("limit"), ROWS);
      const rows = await pageOperatorTokens(await context.database(), { after: null, limit });
      return { json: rows.map(tokenJson), columns: "name scope id created_at expires_at revoked_at" };
    },
  },
  {
    usage: "operator revoke <name>",
    about: "Revokes a token for good. It stops working everywhere within a second.",
    needs: "database",
    async run(context, input) {
      const name = input.argument("name");
      const database = await context.database();
      const found = await findOperatorTokenByName(database, name);
      if (found === undefined) throw new Error(`there is no token ${quote(name)}`);
      const revoked = await revokeOperatorToken(database, { id: found.id, actor: ACTOR });
      const row = revoked ?? (await findOperatorTokenByName(database, name)) ?? found;
      return { json: tokenJson(row), text: `token ${row.name} ${revoked === undefined ? "was" : "is"} revoked` };
    },
  },
];

/** Parses the scope of an operator token. @throws UsageError for an unknown scope */
function scopeOf(value: string): Scope {
  const scope = SCOPES.find((known) => known === value);
  if (scope === undefined) throw new UsageError(`expected a scope of ${SCOPES.join(", ")}, got ${quote(value)}`);
  return scope;
}

/** Format of an expiry time. The time zone is required, so that the time does not depend on the machine that runs the command. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Parses an expiry time; null when absent. @throws UsageError for a time that is malformed or past */
function expiryOf(value: string | undefined): Date | null {
  if (value === undefined) return null;
  const time = new Date(TIME.test(value) ? value : Number.NaN);
  if (time.getTime() > Date.now()) return time;
  throw new UsageError(`expected --expires as a future time such as 2030-01-31T08:00:00Z, got ${quote(value)}`);
}

function tokenJson({ id, name, scope, created_at, expires_at, revoked_at }: OperatorTokenRow): Record<string, unknown> {
  return { id, name, scope, created_at, expires_at, revoked_at };
}
