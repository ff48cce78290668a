/** Sends a mail to one address through the SMTP server of the installation. */
import { beforeAbort } from "#shared/base/abortable.ts";
import { startCountdown } from "#shared/base/countdown.ts";
import { isMailAddress } from "#shared/base/mail-address.ts";
import { ATTEMPT_MS } from "#workers/webhook/post.ts";

import { failed, type Send } from "../channel.ts";
import { MailError } from "../mail-error.ts";
import { responseStart } from "../response-start.ts";
import { renderMessage } from "../message-templates.ts";

export const sendEmail: Send = async ({ id, config }, outgoing, { signal, mailer }) => {
  signal.throwIfAborted();
  if (!mailer) return failed("again", "mail_off");
  const to = config["recipient"] ?? "";
  if (!isMailAddress(to)) return failed("final", "misconfigured");
  const late = new AbortController();
  const total = startCountdown(ATTEMPT_MS, () => late.abort());
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const mail = { to, ...renderMessage(outgoing), messageId: outgoing.deliveryId, ...(id === "" ? {} : { list: id }) };
    const { status, response } = await beforeAbort(mailer.send(mail, either), either);
    return { ok: true, status, responseStart: responseStart(response, []) };
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return failed("again", "timeout");
    if (!(error instanceof MailError)) throw error;
    const { verdict, fault, status, response } = error;
    return failed(verdict, fault, { status, responseStart: responseStart(response, []) });
  } finally {
    total.stop();
  }
};
