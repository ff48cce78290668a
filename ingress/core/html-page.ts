/** Headers of the service's HTML pages. */

/** Headers of HTML pages and of the scripts and styles that they load. */
export const PAGE_HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };

/** Permissions that a page's content security policy grants, besides displaying its text. */
interface PageRights {
  /** Content security policy directives that permit the page to load resources. */
  readonly loads: readonly string[];
  readonly formAction: "'none'" | "'self'";
}

export function htmlPage(
  html: string,
  { loads, formAction }: PageRights,
  headers: Readonly<Record<"cache-control", string>>,
  status = 200,
): Response {
  const fixed = ["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"];
  return new Response(html, {
    status,
    headers: {
      ...PAGE_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": ["default-src 'none'", ...loads, ...fixed].join("; "),
      ...headers,
    },
  });
}
