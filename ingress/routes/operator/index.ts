/** Routes below /operator. Operators of the service use them with operator tokens instead of API keys. */
import type { IngressContext } from "../../context.ts";
import type { Route } from "../../core/route.ts";
import type { Within } from "../settings/within.ts";
import { fallbackChains } from "../settings/fallback-chains.ts";
import { usageRequests } from "../settings/usage-requests.ts";
import { auditLog } from "./audit-log.ts";
import { catalogue } from "./catalogue.ts";
import { READ, WRITE } from "./common.ts";
import { credits } from "./credits.ts";
import { deadLetters } from "./dead-letters.ts";
import { holds } from "./holds.ts";
import { keys } from "./keys.ts";
import { ledgerAudit } from "./ledger-audit.ts";
import { pools } from "./pools.ts";
import { settleFaults } from "./settle-faults.ts";
import { sources } from "./sources.ts";
import { status } from "./status.ts";
import { tokens } from "./tokens.ts";
import { workspaces } from "./workspaces.ts";

/** Base path and permissions of the settings routes of a workspace, for operators. Operators can use them for any workspace. */
const ANY: Within = { path: "/operator/workspaces/{id}", readers: READ, writers: WRITE, operationInfix: "Operator" };

export function operator(context: IngressContext): readonly Route[] {
  return [
    ...workspaces(context),
    ...credits(context),
    ...keys(context),
    ...fallbackChains(context, ANY),
    ...usageRequests(context, ANY),
    ...pools(context),
    ...holds(context),
    ...settleFaults(context),
    ...deadLetters(context),
    ...catalogue(context),
    ...sources(context),
    ledgerAudit(context),
    auditLog(context),
    status(context),
    ...tokens(context),
  ];
}
