/** Tokens for the API under /operator: shown once, when they are made. */
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
      "makes a token for /operator and shows it, this once; scopes are read, write and money, each with those before",
    needs: "database",
    async run(context, given) {
      const name = nameOf(given.word("name"));
      const scope = scopeOf(given.word("scope"));
      const asked = { id: newId(), name, scope, expiresAt: expiryOf(given.option("expires")), actor: ACTOR };
      const made = await makeOperatorToken(await context.database(), asked);
      if (made.result === "full") throw new Error(`there are ${OPERATOR_TOKENS_MAX} tokens already; revoke some`);
      if (made.result !== "made") throw new Error(`the name ${quote(name)} is taken; revoked tokens keep theirs`);
      return { json: { ...tokenJson(made.row), token: made.token } };
    },
  },
  {
    usage: "operator list [--limit <n>]",
    about: `tokens for /operator, revoked ones too, newest first, ${ROWS} unless told otherwise`,
    needs: "database",
    async run(context, given) {
      const limit = limitOf(given.option("limit"), ROWS);
      const rows = await pageOperatorTokens(await context.database(), { after: null, limit });
      return { json: rows.map(tokenJson), columns: "name scope id created_at expires_at revoked_at" };
    },
  },
  {
    usage: "operator revoke <name>",
    about: "the token stops working everywhere within a second, for good",
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

/** With its zone: whose midnight is meant must not depend on where the command runs. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** @throws UsageError for what is no time to come */
function expiryOf(word: string | undefined): Date | null {
  if (word === undefined) return null;
  const time = new Date(TIME.test(word) ? word : Number.NaN);
  if (time.getTime() > Date.now()) return time;
  throw new UsageError(`expected --expires as a time to come such as 2030-01-31T08:00:00Z, got ${quote(word)}`);
}

function tokenJson({ id, name, scope, created_at, expires_at, revoked_at }: OperatorTokenRow): Record<string, unknown> {
  return { id, name, scope, created_at, expires_at, revoked_at };
}
