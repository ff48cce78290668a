/** Sends mail by SMTP. Each mail has its own connection, because notifications are rare and servers close idle connections. */
import { createTransport } from "nodemailer";

import { paced } from "#shared/config/pace.ts";

import { MailError, mailErrorOf } from "./mail-error.ts";

/**
 * Maximum time without a reply of the mail server, in milliseconds. It is shorter than an attempt, to distinguish a dead server from a slow
 * one.
 */
const MAIL_SILENCE_MS = paced(10_000);

/** Maximum length of a subject, in characters. RFC 5322 requires lines below 998 bytes, and mail readers show far less of a subject. */
const MAIL_SUBJECT_CHARACTERS_MAX = 150;

export interface Mail {
  /** One address (shared/base/mail-address.ts). */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Part of the Message-ID before the @. It is the same on every retry. */
  readonly messageId: string;
  /** Name of the list for unsubscribe requests. Without it, the mail has no unsubscribe header. */
  readonly list?: string;
}

export interface MailReceipt {
  readonly status: number;
  /** Last reply of the server. */
  readonly response: string;
}

export interface Mailer {
  /** Sends one mail. @throws MailError; the signal's abort reason */
  send(mail: Mail, signal: AbortSignal): Promise<MailReceipt>;
  /** Aborts mails that are being sent. Later calls of `send` fail. */
  close(): void;
}

/**
 * Creates the mailer.
 * @param smtpUrl `smtp://user:password@host:587`, encrypted when the server supports it, or `smtps://…:465`. A password requires an
 * encrypted connection, except to this machine.
 * @param from mail address of the sender, only one
 */
export function openMailer({ smtpUrl, from }: { readonly smtpUrl: string; readonly from: string }): Mailer {
  const server = serverOf(smtpUrl);
  const transport = createTransport({
    ...server,
    requireTLS: server.auth !== undefined && !isThisMachine(server.host),
    // Overrides the environment: debugging settings of the operator must not disable certificate checks.
    tls: { rejectUnauthorized: true },
    connectionTimeout: MAIL_SILENCE_MS,
    dnsTimeout: MAIL_SILENCE_MS,
    greetingTimeout: MAIL_SILENCE_MS,
    socketTimeout: MAIL_SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const closing = new AbortController();
  return {
    async send({ to, subject, text, messageId, list }, signal) {
      signal.throwIfAborted();
      try {
        const { response } = await transport.sendMail({
          from,
          to: { name: "", address: to },
          // Separate from the headers, so that their content cannot add a recipient.
          envelope: { from, to: [to] },
          subject: oneLine(subject),
          text,
          messageId: `<${messageId}@${from.slice(from.lastIndexOf("@") + 1)}>`,
          // Prevents automatic replies such as absence notes (RFC 3834).
          headers: {
            "auto-submitted": "auto-generated",
            // The operator receives unsubscribe requests (RFC 2369), since addresses are not confirmed.
            ...(list === undefined ? {} : { "list-unsubscribe": `<${mailTo(from, `unsubscribe ${list}`)}>` }),
          },
          signal: AbortSignal.any([signal, closing.signal]),
        });
        return { status: Number.parseInt(response, 10), response };
      } catch (error) {
        signal.throwIfAborted();
        if (closing.signal.aborted) throw new MailError("again", "unreachable");
        throw mailErrorOf(error);
      }
    },
    close() {
      closing.abort();
      transport.close();
    },
  };
}

function mailTo(address: string, subject: string): string {
  return `mailto:${encodeURIComponent(address).replace("%40", "@")}?subject=${encodeURIComponent(subject)}`;
}

interface MailServer {
  readonly host: string;
  readonly port: number;
  /** True if the connection uses TLS from the first byte. */
  readonly secure: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

/**
 * Returns the host, port, encryption and credentials of the URL, and nothing else. From the query string, nodemailer would accept any of
 * its options, including disabled certificate checks.
 */
function serverOf(smtpUrl: string): MailServer {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === "smtps:" || port === "465";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function oneLine(text: string): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return Array.from(plain).slice(0, MAIL_SUBJECT_CHARACTERS_MAX).join("");
}
