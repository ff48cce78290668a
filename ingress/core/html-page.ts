/** Headers of the service's HTML pages. */

/** Headers of pages and of the files that pages load. */
export const PAGE_HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };

/** Rights of a page beyond showing its text. */
interface PageRights {
  /** Directives of the content security policy for the resources that the page loads. */
  readonly loads: readonly string[];
  readonly formAction: "'none'" | "'self'";
}

export function htmlPage(
  html: string,
  { loads, formAction }: PageRights,
  headers: Readonly<Record<"cache-control", string>>,
): Response {
  const fixed = ["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"];
  return new Response(html, {
    headers: {
      ...PAGE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": ["default-src 'none'", ...loads, ...fixed].join("; "),
      ...headers,
    },
  });
}
