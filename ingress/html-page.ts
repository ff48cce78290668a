/** Headers of our pages for people. */

/** For what pages load, too. */
export const PAGE_HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };

/** @param may directives of the page's content security policy: what they do not name is forbidden */
export function htmlPage(
  html: string,
  may: readonly string[],
  headers: Readonly<Record<"cache-control", string>>,
): Response {
  return new Response(html, {
    headers: {
      ...PAGE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", ...may].join("; "),
      ...headers,
    },
  });
}
