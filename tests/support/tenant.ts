/** Gives each test of a file a separate workspace on a shared service. */
import { EVENTS } from "#shared/events/events.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";

import type { Stack } from "./stack.ts";

export interface Tenant extends Stack {
  readonly workspace: Workspace;
}

/** Credits of a stack's first workspace, in nano-credits. */
const CREDITS_NANO = 10n ** 15n;

/** Returns the service with the key of a new workspace's owner. Its counts and costs then belong to one test. */
export async function asNewWorkspace(stack: Stack): Promise<Tenant> {
  const workspace = await createWorkspace(stack, { creditsNano: CREDITS_NANO });
  await stack.query("update member set role = 'owner' where workspace_id = $1", [workspace.id]);
  return { ...stack, key: workspace.key, workspace };
}

/** Subscribes a paused channel of the workspace to all events of jobs and runs. Jobs and runs write no events without a subscriber. */
export async function subscribeToEvents({ query }: Pick<Stack, "query">, workspaceId: string): Promise<void> {
  await query(
    `with channel as (
       insert into notification_channel (id, workspace_id, type, name, config, paused_until)
       values (gen_random_uuid(), $1, 'webhook', gen_random_uuid()::text, '{}', 'infinity') returning id)
     insert into subscription (id, workspace_id, channel_id, event)
     select gen_random_uuid(), $1, channel.id, event from channel, unnest($2::text[]) event`,
    [workspaceId, Object.keys(EVENTS).filter((event) => /^(?:job|run)\./.test(event))],
  );
}
