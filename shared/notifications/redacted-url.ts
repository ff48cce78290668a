/** Form in which a URL that is a secret is shown: its origin and its last four characters. */

const SHOWN_CHARS = 4;
/** No URL holds it as it stands, so what does was shown by us. Clients may have encoded it. */
const MARK = "…";
const REDACTED = /^https?:\/\/[^/?#]+\/(?:…|%E2%80%A6)/iu;

export function redactUrl(url: string): string {
  return `${new URL(url).origin}/${MARK}${url.slice(-SHOWN_CHARS)}`;
}

/** True if a text is the redacted form of a URL, rather than a URL. */
export function looksRedacted(text: string): boolean {
  return text.includes(MARK) || REDACTED.test(text);
}
