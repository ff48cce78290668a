/** Run by tls.test.ts as a process of its own: which authorities it trusts is read when it starts. Prints the result. */
import { allow } from "#tests/shared/net/servers.ts";
import { sendEmail } from "#workers/webhook/channels/email.ts";
import { webhookSender } from "#workers/webhook/channels/webhook.ts";
import { openMailer } from "#workers/webhook/mailer.ts";

import { channelOf, contextOf, outgoing } from "./receivers.ts";

const url = process.argv[2] ?? "";

async function attempt(): Promise<unknown> {
  if (url.startsWith("smtp")) {
    const mailer = openMailer({ smtpUrl: url, from: "sluice@mail.example.com" });
    return sendEmail(channelOf("email", {}, { recipient: "jo@example.org" }), outgoing(), contextOf(mailer));
  }
  allow("127.0.0.1");
  const toHere = webhookSender(() => Promise.resolve([{ address: "127.0.0.1", family: 4 }]));
  return toHere(channelOf("webhook", { url }), outgoing(), contextOf());
}

process.stdout.write(JSON.stringify(await attempt()));
process.exit();
