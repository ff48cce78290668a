/** A service that several stories of a test file share, as each of them sees it. */
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";

import type { Stack } from "./stack.ts";

export interface Tenant extends Stack {
  readonly workspace: Workspace;
}

/** The same that the first workspace of a stack has. */
const CREDITS_NANO = 10n ** 15n;

/** The same service with the key of a new workspace, as its owner: what it counts and spends is the story's alone. */
export async function asNewWorkspace(stack: Stack): Promise<Tenant> {
  const workspace = await createWorkspace(stack, { creditsNano: CREDITS_NANO });
  await stack.query("update member set role = 'owner' where workspace_id = $1", [workspace.id]);
  return { ...stack, key: workspace.key, workspace };
}
