/** Sends a message to a Telegram chat through the workspace's own bot. The URL path of every request contains the bot's token. */
import type { Resolve } from "#shared/net/fetch.ts";

import { type AttemptResult, failed, type Send } from "../channel.ts";
import { type Answer, isRedirect, post, ATTEMPT_RETRY_AFTER_MS_MAX } from "../post.ts";
import { renderMessage } from "../message-templates.ts";

/** Maximum length of a text, in UTF-16 units. Telegram rejects longer texts. */
const TELEGRAM_CHARACTERS_MAX = 4_096;

const TELEGRAM_API = "https://api.telegram.org";

/**
 * Creates the Telegram sender.
 * @param resolve replaces the system's DNS resolver in tests
 */
export function telegramSender(api: string = TELEGRAM_API, resolve?: Resolve): Send {
  return async ({ config, secrets }, outgoing, { signal }) => {
    const { botToken = "" } = secrets;
    // Any other character could lead to another path.
    if (!/^\d+:[\w-]+$/.test(botToken)) return failed("final", "misconfigured");
    const posted = await post({
      url: `${api}/bot${botToken}/sendMessage`,
      // Without parse_mode, the text has no markup.
      body: JSON.stringify({
        chat_id: config["chatId"] ?? "",
        text: cut(renderMessage(outgoing).text, TELEGRAM_CHARACTERS_MAX),
        disable_web_page_preview: true,
      }),
      secrets: [botToken],
      signal,
      resolve,
    });
    return "failure" in posted ? posted.failure : resultOf(posted.answer);
  };
}

function resultOf(answer: Answer): AttemptResult {
  const { status, responseStart } = answer;
  const facts = { status, responseStart };
  const { ok, description = "", parameters = {} } = read(answer.text);
  if (status === 200 && ok) return { ok: true, ...facts };
  if (isRedirect(status)) return failed("again", "redirect", facts);
  if (status === 429) {
    const retryAfterMs = waitMs(parameters["retry_after"]) ?? answer.retryAfterMs;
    return failed("again", "rate_limited", { ...facts, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  const newChatId = parameters["migrate_to_chat_id"];
  // The group became a supergroup with a new id, of at most 52 bits according to Telegram's documentation.
  if (status === 400 && Number.isSafeInteger(newChatId)) {
    return failed("again", "refused", { ...facts, newChatId: String(newChatId) });
  }
  // 401 and 404: the token is not valid any more; 403: the bot was blocked or removed.
  if (status === 401 || status === 403 || status === 404) return failed("gone", "refused", facts);
  if (status === 400) {
    return /chat not found/i.test(description)
      ? failed("gone", "refused", facts)
      : failed("final", "misconfigured", facts);
  }
  return failed("again", "status", facts);
}

function waitMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" && seconds >= 0
    ? Math.min(seconds * 1_000, ATTEMPT_RETRY_AFTER_MS_MAX)
    : undefined;
}

interface TelegramAnswer {
  readonly ok?: boolean;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Returns the response members that have the expected type. Empty for a response that is not a JSON object, such as a proxy's page. */
function read(text: string): TelegramAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  if (!isObject(value)) return {};
  const { ok, description, parameters } = value;
  return {
    ok: ok === true,
    ...(typeof description === "string" ? { description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Truncates a text to `max` UTF-16 units, without half a character at the end. */
function cut(text: string, max: number): string {
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}
