/** Mail by SMTP. One connection for each message: notifications are few, and no server minds an idle one. */
import { createTransport } from "nodemailer";

import { paced } from "#shared/pace.ts";

import { MailError, mailErrorOf } from "./mail-error.ts";

/** Silence of the mail server: less than an attempt, so that a dead server is told apart from a slow one. */
const MAIL_SILENCE_MS = paced(10_000);

/** RFC 5322 asks for lines below 998 bytes; mail readers show far less of a subject. */
const MAIL_SUBJECT_CHARACTERS_MAX = 150;

export interface Mail {
  /** One address (shared/mail-address.ts). */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Part of the Message-ID before the @; the same on every retry. */
  readonly messageId: string;
  /** Names what the recipient asks to be left out of; absent: it cannot be. */
  readonly list?: string;
}

export interface MailReceipt {
  readonly status: number;
  /** The server's last word. */
  readonly response: string;
}

export interface Mailer {
  /** @throws MailError; what the signal was aborted with */
  send(mail: Mail, signal: AbortSignal): Promise<MailReceipt>;
  /** Ends what is being sent; nothing more is. */
  close(): void;
}

/**
 * @param smtpUrl `smtp://user:password@host:587`, which is encrypted when the server offers it, or `smtps://…:465`. A password
 * goes over an encrypted connection only, but for one that stays on this machine.
 * @param from one address
 */
export function openMailer({ smtpUrl, from }: { readonly smtpUrl: string; readonly from: string }): Mailer {
  const server = serverOf(smtpUrl);
  const transport = createTransport({
    ...server,
    requireTLS: server.auth !== undefined && !isThisMachine(server.host),
    // Whatever the environment says: the operator's debugging aids do not open mail to others.
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
          // Said apart from the headers, so that nothing in them becomes a further recipient.
          envelope: { from, to: [to] },
          subject: oneLine(subject),
          text,
          messageId: `<${messageId}@${from.slice(from.lastIndexOf("@") + 1)}>`,
          // Absence notes and the like are not to answer (RFC 3834).
          headers: {
            "auto-submitted": "auto-generated",
            // The operator reads it (RFC 2369): no address has been confirmed.
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
  /** TLS from the first byte. */
  readonly secure: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
}

/** Only these parts: nodemailer would take any of its options from the query, certificate checks among them. */
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
