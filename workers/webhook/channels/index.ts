/** Senders, by type of channel. */
import type { ChannelType } from "#shared/notifications/channel-config.ts";

import type { Send } from "../channel.ts";
import { sendEmail } from "./email.ts";
import { slackSender } from "./slack.ts";
import { telegramSender } from "./telegram.ts";
import { webhookSender } from "./webhook.ts";

export const SENDERS: Readonly<Record<ChannelType, Send>> = {
  email: sendEmail,
  slack: slackSender(),
  telegram: telegramSender(),
  webhook: webhookSender(),
};
