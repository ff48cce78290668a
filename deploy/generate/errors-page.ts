/** The page "Errors A–Z": every error code with its status, cause and fix. */
import { ERROR_GUIDE } from "#shared/error-guide.ts";
import { canSucceedLater, type Code, ERROR_CODES, PASSING_STATUSES } from "#shared/errors.ts";

const HEAD = `---
title: Errors A–Z
section: Reference
order: 10
summary: HTTP status, cause and fix of every error code.
---
\`npm run generate\` writes this page from \`shared/errors.ts\` and \`shared/error-guide.ts\`.

## Error body

Every error response has this body. \`code\` is stable: branch on \`code\`, not on \`message\`. \`param\` names the property, query parameter or header at
fault, or is \`null\`. \`job_id\` is present when a job exists for the call.

\`\`\`json
{
  "error": {
    "message": "Missing required parameter: messages.",
    "type": "invalid_request_error",
    "code": "missing_required_parameter",
    "param": "messages"
  }
}
\`\`\`

## Retries

Stock OpenAI clients retry 408, 409, 429 and every 5xx twice, unless the response has \`x-should-retry: false\`. Sluice sends this header when a repeat could
be charged twice or would fail again. Three error codes with status 403 count calls or tokens (\`rate_limit_exceeded\`, \`daily_tokens_exceeded\`,
\`storage_limit_exceeded\`); stock clients do not retry them.

## All codes
`;

export function errorsPage(): string {
  const codes = (Object.keys(ERROR_CODES) as Code[]).toSorted();
  const rows = codes.map((code) => `| [\`${code}\`](#${code}) | ${ERROR_CODES[code].status} |`);
  const list = `| Code | Status |\n|---|---|\n${rows.join("\n")}\n`;
  return [HEAD, list, ...codes.map(entryOf)].join("\n");
}

function entryOf(code: Code): string {
  const { status, type } = ERROR_CODES[code];
  const { cause, fix } = ERROR_GUIDE[code];
  return `### ${code}\n
- **Status:** ${status}, type \`${type}\`
- **Cause:** ${cause}
- **Fix:** ${fix}
- **Retry:** ${retryOf(code)}
`;
}

function retryOf(code: Code): string {
  const { status } = ERROR_CODES[code];
  if (!canSucceedLater(code)) return "no; the same request fails again until its cause is fixed.";
  if (status >= 500) return "stock clients retry, unless the response has `x-should-retry: false`.";
  return PASSING_STATUSES.has(status)
    ? "stock clients retry."
    : "stock clients do not retry; the same request can succeed later.";
}
