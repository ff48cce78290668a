/** Commands for tokens of the API under /operator. */
import {
  findOperatorTokenByName,
  type OperatorTokenRow,
  pageOperatorTokens,
  revokeOperatorToken,
  type Scope,
  SCOPES,
} from "#shared/database/operator-tokens.ts";
import { newId } from "#shared/ids.ts";
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
    async run(context, given) {
      const name = nameOf(given.word("name"));
      const scope = scopeOf(given.word("scope"));
      const asked = { id: newId(), name, scope, expiresAt: expiryOf(given.option("expires")), actor: ACTOR };
      const made = await makeOperatorToken(await context.database(), asked);
      if (made.result === "full")
        throw new Error(`there are ${OPERATOR_TOKENS_MAX} tokens, which is the maximum; revoke some`);
      if (made.result !== "made") throw new Error(`the name ${quote(name)} is taken; revoked tokens keep their names`);
      return { json: { ...tokenJson(made.row), token: made.token } };
    },
  },
  {
    usage: "operator list [--limit <n>]",
    about: `Lists the tokens for /operator, revoked ones included, newest first. Prints ${ROWS} rows by default.`,
    needs: "database",
    async run(context, given) {
      const limit = limitOf(given.option("limit"), ROWS);
      const rows = await pageOperatorTokens(await context.database(), { after: null, limit });
      return { json: rows.map(tokenJson), columns: "name scope id created_at expires_at revoked_at" };
    },
  },
  {
    usage: "operator revoke <name>",
    about: "Revokes a token for good. It stops working everywhere within a second.",
    needs: "database",
    async run(context, given) {
      const name = given.word("name");
      const database = await context.database();
      const found = await findOperatorTokenByName(database, name);
      if (found === undefined) throw new Error(`there is no token ${quote(name)}`);
      const revoked = await revokeOperatorToken(database, { id: found.id, actor: ACTOR });
      const row = revoked ?? (await findOperatorTokenByName(database, name)) ?? found;
      return { json: tokenJson(row), text: `token ${row.name} ${revoked === undefined ? "was" : "is"} revoked` };
    },
  },
];

/** @throws UsageError */
function scopeOf(word: string): Scope {
  const scope = SCOPES.find((known) => known === word);
  if (scope === undefined) throw new UsageError(`expected a scope of ${SCOPES.join(", ")}, got ${quote(word)}`);
  return scope;
}

/** The zone is required, so that the time does not depend on where the command runs. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** @throws UsageError for a time that is malformed or past */
function expiryOf(word: string | undefined): Date | null {
  if (word === undefined) return null;
  const time = new Date(TIME.test(word) ? word : Number.NaN);
  if (time.getTime() > Date.now()) return time;
  throw new UsageError(`expected --expires as a future time such as 2030-01-31T08:00:00Z, got ${quote(word)}`);
}

function tokenJson({ id, name, scope, created_at, expires_at, revoked_at }: OperatorTokenRow): Record<string, unknown> {
  return { id, name, scope, created_at, expires_at, revoked_at };
}
