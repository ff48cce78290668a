/** Session of the signed-in operator, and the scopes of its token. */
import { computed, signal } from "@preact/signals";

import type { OperatorSession } from "#schemas/generated/types.ts";

export const operatorSession = signal<OperatorSession | undefined>(undefined);

/** Reason why an action is blocked for the token's scope; undefined if the scope allows it. */
export const writeBlocked = computed(() => blockedFor(["write", "money"]));
export const moneyBlocked = computed(() => blockedFor(["money"]));

function blockedFor(scopes: readonly OperatorSession["scope"][]): string | undefined {
  const scope = operatorSession.value?.scope;
  if (scope !== undefined && scopes.includes(scope)) return undefined;
  return `The token has the scope ${scope}; this needs ${scopes[0]}.`;
}
