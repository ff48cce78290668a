/** Classifies mail errors by their cause: the message, its recipient or our own server. */
import type { NodemailerError } from "nodemailer";

import type { AttemptFault, Verdict } from "./channel.ts";

/** Error about a mail. Its message may be logged, because it contains no mail address and no text of the server. */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly verdict: Verdict;
  readonly fault: AttemptFault;
  /** Code of the SMTP reply; null without a reply. */
  readonly status: number | null;
  /** The server's reply about this message. Empty for a reply about the session, which only operators may see. */
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

/** SMTP commands whose rejection concerns this mail. A rejection of any other command concerns our setup, and an operator can fix it. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/** SMTP reply codes that require credentials or TLS. Servers also send them in reply to MAIL FROM. */
const OF_THE_SESSION: ReadonlySet<number> = new Set([503, 530, 534, 535, 538]);

/**
 * Classifies an error. A 5xx reply to the mail is final. A 5xx reply to its recipient may end the channel. All other errors are retried.
 */
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
 * Returns true if a 5xx rejection says that the mailbox does not exist. Any other enhanced status code (RFC 3463) ends only this mail.
 * Examples are 5.7.1 of a relay that rejects us and 5.2.2 of a full mailbox. Otherwise a misconfigured relay would disable every channel.
 */
function endsMailbox(response: string): boolean {
  const [, subject, detail] = /^\d{3}[ -]5\.(\d{1,3})\.(\d{1,3})\b/.exec(response) ?? [];
  if (subject === undefined) return true;
  // 5.1.7 and 5.1.8 concern the sender's address.
  if (subject === "1") return detail !== "7" && detail !== "8";
  return subject === "2" && (detail === "0" || detail === "1");
}
