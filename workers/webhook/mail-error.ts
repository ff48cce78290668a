/** Verdicts of failed mail on the message, its recipient, and our own server. */
import type { NodemailerError } from "nodemailer";

import type { AttemptFault, Verdict } from "./channel.ts";

/** Its message may be logged: it holds no address and nothing that the server sent. */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly verdict: Verdict;
  readonly fault: AttemptFault;
  /** The code of SMTP's reply. */
  readonly status: number | null;
  /** The server's reply about this message. Empty for a reply about the session: that is the operator's to know. */
  readonly response: string;

  constructor(
    verdict: Verdict,
    fault: AttemptFault,
    { status, response }: { status?: number; response?: string } = {},
  ) {
    super(`mail ${fault}${status === undefined ? "" : `: ${status}`}`);
    this.verdict = verdict;
    this.fault = fault;
    this.status = status ?? null;
    this.response = response ?? "";
  }
}

/** Commands that a refusal of this one message answers. Refusals of others are about us, and an operator can mend them. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/** Credentials or TLS are asked for: answered to MAIL FROM as well. */
const OF_THE_SESSION: ReadonlySet<number> = new Set([503, 530, 534, 535, 538]);

/** A reply of 5xx to the message is final and one to its recipient may end the channel; everything else may pass. */
export function mailErrorOf(error: unknown): MailError {
  const { code, command = "", responseCode: status, response = "" } = error as NodemailerError;
  if (code === "ETIMEDOUT") return new MailError("again", "timeout");
  if (code === "EAUTH" || code === "ENOAUTH") return new MailError("again", "misconfigured", statusOf(status));
  if (status === undefined || !OF_THE_MESSAGE.has(command)) {
    return new MailError("again", "unreachable", statusOf(status));
  }
  if (OF_THE_SESSION.has(status)) return new MailError("again", "misconfigured", { status });
  if (status < 500) return new MailError("again", "status", { status, response });
  if (command !== "RCPT TO") return new MailError("final", "refused", { status, response });
  return new MailError(endsMailbox(response) ? "gone" : "final", "rejected_recipient", { status, response });
}

function statusOf(status: number | undefined): { status?: number } {
  return status === undefined ? {} : { status };
}

/**
 * True if a refusal of 5xx says that there is no such mailbox. An enhanced status code (RFC 3463) that tells of something else, such as
 * 5.7.1 when a relay refuses us or 5.2.2 of a mailbox that is full, ends this message only: a relay that is set up wrongly would
 * otherwise disable every channel.
 */
function endsMailbox(response: string): boolean {
  const [, subject, detail] = /^\d{3}[ -]5\.(\d{1,3})\.(\d{1,3})\b/.exec(response) ?? [];
  if (subject === undefined) return true;
  // 5.1.7 and 5.1.8 are about the sender's address.
  if (subject === "1") return detail !== "7" && detail !== "8";
  return subject === "2" && (detail === "0" || detail === "1");
}
