/** Workspaces whose budget is spent: what costs nothing goes on, everything else is refused before it holds anything. */
import { ApiError } from "#shared/errors.ts";

import type { Caller } from "#shared/access/authenticate.ts";

/**
 * @param holdNano nano-credits that the call would hold, or holds at least
 * @throws ApiError `budget_reached` that names the budget and not its amount: who calls may not be who sees amounts
 */
export function checkBudget({ stoppedBy }: Pick<Caller, "stoppedBy">, holdNano: bigint): void {
  if (stoppedBy === undefined || holdNano <= 0n) return;
  const which = stoppedBy === "" ? "A budget of the workspace" : `The workspace's budget ${JSON.stringify(stoppedBy)}`;
  throw new ApiError("budget_reached", `${which} is spent; calls are refused until its period ends or it is changed.`);
}
