/** A service that several stories of a test file share, as each of them sees it. */
import { EVENTS } from "#shared/events/events.ts";
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

/**
 * Subscribes a channel of the workspace, on which nothing is sent, to all events of jobs and runs. Without a subscriber they write
 * none.
 */
export async function hearEvents({ query }: Pick<Stack, "query">, workspaceId: string): Promise<void> {
  await query(
    `with channel as (
       insert into notification_channel (id, workspace_id, type, name, config, paused_until)
       values (gen_random_uuid(), $1, 'webhook', gen_random_uuid()::text, '{}', 'infinity') returning id)
     insert into subscription (id, workspace_id, channel_id, event)
     select gen_random_uuid(), $1, channel.id, event from channel, unnest($2::text[]) event`,
    [workspaceId, Object.keys(EVENTS).filter((event) => /^(?:job|run)\./.test(event))],
  );
}
