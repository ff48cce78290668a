/** Counts of the mail that channels sent today, by address and by workspace. */
import { mailboxOf } from "#shared/mail-address.ts";

import type { Queryable } from "./client.ts";

/** Maximum mails per unverified address and UTC day, separate for each workspace, so that none uses another's quota. */
export const MAIL_PER_ADDRESS_DAY_MAX = 100;
export const MAIL_PER_WORKSPACE_DAY_MAX = 1_000;

/** Returns the quota of a mail that was not sent. */
export type TakenMail = () => Promise<void>;

/** Returns undefined if the address, or the workspace, has reached its daily limit (UTC). */
export async function takeMail(
  target: Queryable,
  workspaceId: string,
  address: string,
): Promise<TakenMail | undefined> {
  const mailbox = mailboxOf(address);
  const [row] = await target.query<{ day: string | null }>("select take_mail($1, $2, $3, $4)::text as day", [
    workspaceId,
    mailbox,
    MAIL_PER_ADDRESS_DAY_MAX,
    MAIL_PER_WORKSPACE_DAY_MAX,
  ]);
  const day = row?.day ?? null;
  if (day === null) return undefined;
  return async () => {
    await target.query(
      `update mail_sent set sent = sent - 1
       where (workspace_id, mailbox, day) in (
         select workspace_id, mailbox, day from mail_sent
         where workspace_id = $1 and mailbox in ('', $2) and day = $3::date and sent > 0 order by mailbox for update)`,
      [workspaceId, mailbox, day],
    );
  };
}
