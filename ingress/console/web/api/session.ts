/** Session of the signed-in member. Pages read it; sign-in and sign-out change it. */
import { computed, signal } from "@preact/signals";

import type { ConsoleSession } from "#schemas/generated/types.ts";

export type Role = ConsoleSession["role"];

/** Signed-in session; null without one; undefined until the first response. */
export const session = signal<ConsoleSession | null | undefined>(undefined);

export const workspaceId = computed(() => session.value?.workspace.id ?? "");

/** Returns true if the member has one of the roles. */
export function hasRole(...roles: readonly Role[]): boolean {
  const role = session.value?.role;
  return role !== undefined && roles.includes(role);
}

/** Shows the sign-in page, because the session has ended. */
export function endSession(): void {
  session.value = null;
}
