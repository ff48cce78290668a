/** Example bodies of common errors, as components of the OpenAPI document. */
import { type Code, ERROR_CODES, type ErrorEnvelope, statusOf } from "#shared/errors.ts";

type Example = Pick<ErrorEnvelope["error"], "message"> & Partial<Pick<ErrorEnvelope["error"], "job_id" | "param">>;

const JOB_ID = "019a8f2e-6c41-7d01-9b3a-5e7c1f2a4d01";

/** The first code of a status that an operation can return is its example. */
const EXAMPLES: { readonly [C in Code]?: Example } = {
  model_not_found: { message: "There is no such model. GET /v1/models lists the models.", param: "model" },
  missing_required_parameter: { message: "Missing required parameter: name.", param: "name" },
  unsupported_value: { message: "Expected limit to be a whole number from 1 to 100, got 1000.", param: "limit" },
  invalid_request: { message: "The body must be an object." },
  invalid_api_key: { message: "The API key is not valid." },
  insufficient_credits: {
    message: "The balance does not cover this call, which may cost up to 2 credits. Top up the workspace.",
  },
  rate_limit_exceeded: {
    message: "The keys of the workspace made more than 30 requests in the last 60 seconds. Refused requests count too.",
  },
  permission_denied: { message: "Expected a key with the role owner or admin, got developer." },
  file_not_found: { message: "There is no such file in this workspace." },
  job_not_found: { message: "There is no such job in this workspace." },
  workflow_not_found: { message: "There is no such workflow in this workspace." },
  run_not_found: { message: "There is no such run in this workspace." },
  batch_not_found: { message: "There is no such batch in this workspace." },
  capability_not_found: { message: "There is no such capability. GET /v1/tools lists the capabilities." },
  channel_not_found: { message: "There is no such notification channel." },
  conversation_not_found: { message: "There is no such conversation." },
  response_not_found: { message: "There is no such response." },
  not_found: { message: "There is no such object." },
  conflict: { message: "The workspace has a member of this name already.", param: "name" },
  request_too_large: { message: "The request body is larger than 104857600 bytes." },
  ip_rate_limit_exceeded: { message: "More than 5000 requests in 10 minutes came from this address." },
  internal_error: { message: "The service failed to handle the request." },
  upstream_error: { message: "The model's provider failed to answer." },
  service_unavailable: { message: "The service cannot accept calls right now." },
  job_timeout: { message: `The call exceeds the wait limit. Retrieve job ${JOB_ID}.`, job_id: JOB_ID },
};

const CODES = Object.keys(EXAMPLES) as readonly (keyof typeof EXAMPLES)[];

/** Name of the example for an error response; undefined when none of its codes has an example. */
export function errorExampleOf(codes: readonly Code[], isAnthropic: boolean): string | undefined {
  const code = CODES.find((one) => codes.includes(one));
  if (code === undefined) return undefined;
  return isAnthropic ? `anthropic_${code}` : code;
}

/** All examples by name: `{ value }` with a whole error body. Examples for Anthropic's clients have the prefix `anthropic_`. */
export function errorExamples(): Record<string, { readonly value: object }> {
  return Object.fromEntries(
    CODES.flatMap((code) => {
      const { message, param = null, job_id: jobId } = EXAMPLES[code] as Example;
      const { type } = ERROR_CODES[code];
      const error = { message, type, code, param, ...(jobId === undefined ? {} : { job_id: jobId }) };
      const anthropicError = statusOf(code, true) === 404 ? { ...error, type: "not_found_error" } : error;
      const anthropic = { type: "error", error: anthropicError, request_id: JOB_ID };
      return [
        [code, { value: { error } }],
        [`anthropic_${code}`, { value: anthropic }],
      ];
    }),
  );
}
