import { rename } from "node:fs/promises";
import { join } from "node:path";

import { endingOf } from "#shared/files/media-type.ts";
import { WEB_HEADER_CHARACTERS_MAX, WEB_PAGE_BYTES_MAX } from "#workers/capabilities/limits.ts";

import { defineCapability } from "../define.ts";
import { choice, custom, flag, integer } from "../params.ts";

import { PAGE_MEMBER, SAMPLE, WEB_PRICE } from "./page.ts";

/** Maximum number of request headers that a caller can set. */
const WEB_HEADERS_MAX = 20;

/** Headers of message framing and routing, which callers cannot set. */
const FRAMING = [
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "accept-encoding",
  "proxy-*",
];

const headers = custom<Readonly<Record<string, string>>>(
  {
    description: `Headers to send. They are not sent to another origin after a redirect. Not allowed: ${FRAMING.join(", ")}.`,
    type: "object",
    maxProperties: WEB_HEADERS_MAX,
    propertyNames: { pattern: "^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,100}$" },
    additionalProperties: {
      type: "string",
      maxLength: WEB_HEADER_CHARACTERS_MAX,
      pattern: "^[\\x20-\\x7e\\t]*$",
    },
  },
  {},
);

export default defineCapability({
  id: "web.fetch",
  display_name: "Fetch URL",
  description: "Fetches a public URL and returns its content as a file, with the final URL, status and headers.",
  long_description:
    "Up to 20 redirects are followed, each checked like the first address. Cookies that they set are sent to their hosts, and discarded " +
    "after the request. Compressed content is decompressed.",
  output_modality: "any",
  input: PAGE_MEMBER,
  params: {
    headers,
    method: choice("HEAD returns the headers only.", ["GET", "HEAD"], { default: "GET" }),
    max_bytes: integer("Maximum size of the decompressed response. Larger responses are refused.", {
      min: 1,
      max: WEB_PAGE_BYTES_MAX,
      unit: "bytes",
    }),
    respect_robots: flag("Read the site's robots.txt first, and refuse the fetch if it is disallowed.", false),
  },
  rules: [{ rule: "without", path: "params.headers", names: FRAMING }],
  sample_input: SAMPLE,
  examples: [
    { title: "A page", params: {} },
    {
      title: "In German, where robots are welcome",
      params: { headers: { "accept-language": "de" }, respect_robots: true },
    },
  ],
  price: WEB_PRICE,
  engine: "web",
  async run({ inputs: { url: page }, folder }) {
    const { address: url, status, contentType, bytes, mediaType } = page;
    const output = { url, status, content_type: contentType, bytes, headers: page.headers };
    if (bytes === 0) return { output };
    const name = `page.${endingOf(mediaType) ?? "bin"}`;
    const path = join(folder, name);
    await rename(page.path, path);
    return { output, files: [{ path, mediaType, name }] };
  },
});
