/** Command that prints a link with which a browser signs in to the console. */
import { createSignInCode, findSignInKey, SIGN_IN_CODE_MINUTES } from "#shared/access/sign-in-codes.ts";

import { findWorkspace, idOf } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";
import { ACTOR } from "./context.ts";

export const CONSOLE_COMMANDS: readonly Command[] = [
  {
    usage: "console link [--key <id>] [--workspace <workspace>]",
    about:
      `Prints a link that signs a browser in to the console once, within ${SIGN_IN_CODE_MINUTES} minutes. The link is a secret. ` +
      "Without options it signs in for the bootstrap key.",
    needs: "database",
    async run(context, input) {
      const [key, workspace] = [input.option("key"), input.option("workspace")];
      if (key !== undefined && workspace !== undefined)
        throw new UsageError("expected --key or --workspace, got both options");
      const asked = key === undefined ? undefined : idOf("a key id", key);
      const database = await context.database();
      const owners = workspace === undefined ? undefined : await findWorkspace(database, workspace);
      const keyId = asked ?? (await findSignInKey(database, owners?.id ?? null));
      const code = keyId === undefined ? undefined : await createSignInCode(database, keyId, ACTOR);
      if (keyId === undefined || code === undefined) {
        if (asked !== undefined) throw new Error(`there is no active key ${asked}; \`key list\` prints the keys`);
        if (owners !== undefined) throw new Error(`no owner of the workspace ${owners.name} has an active key`);
        throw new Error("there is no active bootstrap key; name a key with --key or a workspace with --workspace");
      }
      const url = `${context.publicUrl()}/console#code=${code}`;
      return { json: { url, code, key_id: keyId, minutes: SIGN_IN_CODE_MINUTES }, text: url };
    },
  },
];
