/** Routes with which members of a workspace manage its settings. */
import type { IngressContext } from "../../context.ts";
import type { Route } from "../../core/route.ts";
import { apiKeys } from "./api-keys.ts";
import { auditLog } from "./audit-log.ts";
import { balanceAlerts } from "./balance-alerts.ts";
import { budgetAlerts } from "./budget-alerts.ts";
import { credits } from "./credits.ts";
import { deliveries } from "./deliveries.ts";
import { fallbackChains } from "./fallback-chains.ts";
import { labelLimits } from "./label-limits.ts";
import { members } from "./members.ts";
import { notificationChannels, signingSecrets } from "./notification-channels.ts";
import { requestBodies } from "./request-bodies.ts";
import { subscriptions } from "./subscriptions.ts";
import { unavailableModels } from "./unavailable-models.ts";
import { usageRequests } from "./usage-requests.ts";
import { usage } from "./usage.ts";
import { usageFocus } from "./usage-focus.ts";
import { workspace } from "./workspace.ts";

export function settings(context: IngressContext): readonly Route[] {
  return [
    ...workspace(context),
    ...members(context),
    ...apiKeys(context),
    ...fallbackChains(context),
    unavailableModels(context),
    usage(context),
    usageFocus(context),
    ...usageRequests(context),
    ...requestBodies(context),
    ...credits(context),
    ...labelLimits(context),
    ...budgetAlerts(context),
    ...balanceAlerts(context),
    ...notificationChannels(context),
    ...signingSecrets(context),
    ...subscriptions(context),
    ...deliveries(context),
    auditLog(context),
  ];
}
