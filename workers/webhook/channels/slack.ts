/** Sends plain text to a Slack incoming webhook. The URL of the webhook is the credential. */
import type { Resolve } from "#shared/net/fetch.ts";

import { type AttemptResult, failed, type Send } from "../channel.ts";
import { type Answer, isRedirect, post } from "../post.ts";
import { renderMessage } from "../message-templates.ts";

/** Maximum length of a text, in characters after escaping. Slack truncates longer texts. */
const SLACK_CHARACTERS_MAX = 3_000;

/**
 * Creates the Slack sender.
 * @param resolve replaces the system's DNS resolver in tests
 */
export function slackSender(resolve?: Resolve): Send {
  return async ({ secrets }, outgoing, { signal }) => {
    const posted = await post({
      url: secrets["url"] ?? "",
      body: JSON.stringify({
        text: escaped(renderMessage(outgoing).text, SLACK_CHARACTERS_MAX),
        // Names and messages of the workspace contain no markup, and Slack must not open their links.
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
      }),
      secrets: [],
      signal,
      resolve,
    });
    return "failure" in posted ? posted.failure : resultOf(posted.answer);
  };
}

/** Returns the result of an attempt. A word in Slack's response body is more precise than the HTTP status. */
function resultOf({ status, text, responseStart, retryAfterMs }: Answer): AttemptResult {
  const slackCode = text.trim();
  const facts = { status, responseStart };
  if (status === 200 && slackCode === "ok") return { ok: true, ...facts };
  if (status === 429) {
    return failed("again", "rate_limited", { ...facts, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  if (isRedirect(status)) return failed("again", "redirect", facts);
  if (status >= 500) return failed("again", "status", facts);
  if (GONE_STATUSES.has(status) || GONE_CODE.test(slackCode)) return failed("gone", "refused", facts);
  // invalid_payload, no_text, …: Slack cannot read our message, and a retry would send the same.
  if (status === 400) return failed("final", "misconfigured", facts);
  return failed("again", "status", facts);
}

const GONE_STATUSES: ReadonlySet<number> = new Set([403, 404, 410]);
/** Matches response words that mean a removed webhook: no_service, no_team, no_active_hooks, … */
const GONE_CODE = /^(?:no_(?!text)|invalid_token)/;

/**
 * Escapes `<`, which starts a link or a mention in Slack, such as `<!channel>`. The result has at most `max` characters and does not end
 * inside a character.
 */
function escaped(text: string, max: number): string {
  let result = "";
  for (const character of text) {
    const piece = ESCAPES.get(character) ?? character;
    if (result.length + piece.length > max) break;
    result += piece;
  }
  return result;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
]);
