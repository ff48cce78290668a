/** One running service that tells people of what happens in it, with its receiver, its post office and its operators. */
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { postbox, type Postbox } from "#tests/workers/webhook/smtp.ts";

import { type NotificationsBench, type Receiver, startNotifications, startReceiver } from "./bench.ts";

export interface SharedBench extends NotificationsBench {
  readonly receiver: Receiver;
  readonly mail: Postbox;
  /** Named by SLUICE_ADMIN_WORKSPACE. */
  readonly operators: Workspace;
}

let started: Promise<SharedBench> | undefined;

export function sharedBench(): Promise<SharedBench> {
  started ??= start();
  return started;
}

async function start(): Promise<SharedBench> {
  const [mail, receiver] = await Promise.all([postbox(), startReceiver()]);
  let operators: Workspace | undefined;
  const bench = await startNotifications({
    pools: ["chat", "image", "workflow", "webhook"],
    env: { SLUICE_SMTP_URL: mail.url(), SLUICE_MAIL_FROM: "sluice@example.com", SLUICE_ADMIN_WORKSPACE: "operators" },
    async prepare(query) {
      operators = await createWorkspace({ query }, { creditsNano: 0n });
      await query("update workspace set name = 'operators' where id = $1", [operators.id]);
      await query("update member set role = 'owner' where workspace_id = $1", [operators.id]);
    },
  });
  if (operators === undefined) throw new Error("the database was not prepared");
  const close = async (): Promise<void> => {
    await bench.close();
    await Promise.all([receiver.close(), mail.close()]);
  };
  return { ...bench, receiver, mail, operators, close };
}
