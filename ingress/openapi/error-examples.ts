/** Example bodies of common errors, as components of the OpenAPI document. */
import { type Code, ERROR_CODES, type ErrorEnvelope, statusOf } from "#shared/base/errors.ts";

type Example = Pick<ErrorEnvelope["error"], "message"> & Partial<Pick<ErrorEnvelope["error"], "job_id" | "param">>;

const JOB_ID = "019a8f2e-6c41-7d01-9b3a-5e7c1f2a4d01";

/** Example errors by code. An error response uses the example of its first code in this order that fits the route. */
const EXAMPLES: { readonly [C in Code]?: Example } = {
  model_not_found: { message: "There is no such model. GET /v1/models lists the models.", param: "model" },
  // The name is that of the route's own body.
  missing_required_parameter: { message: "Missing required parameter: model.", param: "model" },
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

/**
 * Examples for operator routes where they differ from EXAMPLES. Undefined: no example fits every operation with that code. An error
 * response uses the example of its first code in this order, as in EXAMPLES.
 */
const OPERATOR_EXAMPLES: { readonly [C in Code]?: Example | undefined } = {
  invalid_api_key: { message: "The operator token is unknown, revoked or expired." },
  permission_denied: { message: "Expected an operator token with the scope money, got read." },
  rate_limit_exceeded: {
    message: "This operator token made more than 600 calls in a minute; try again in a minute.",
  },
  conflict: undefined,
};

/** Example of an invalid request for routes without a body, where no body member can be wrong. */
const WITHOUT_BODY: Example = { message: "Expected one host header, got several." };

/** Properties of a route on which its error examples depend. */
export interface ErrorExampleFacts {
  readonly isAnthropic: boolean;
  readonly isOperator: boolean;
  readonly hasBody: boolean;
  /** Name of the first required member of the body; undefined if no member is required. */
  readonly requiredMember: string | undefined;
  /** True if the route accepts the query parameter `limit`. */
  readonly hasLimit: boolean;
}

/** Example of an error response, stored as a component of the OpenAPI document. */
export interface ErrorExample {
  /** Name of the OpenAPI component. */
  readonly name: string;
  readonly value: object;
}

/** Returns the example of an error response; undefined if none of its codes has an example that fits the route. */
export function errorExampleOf(codes: readonly Code[], facts: ErrorExampleFacts): ErrorExample | undefined {
  const order = facts.isOperator ? [...(Object.keys(OPERATOR_EXAMPLES) as Code[]), ...CODES] : CODES;
  for (const code of order) {
    const found = codes.includes(code) ? fitting(code, facts) : undefined;
    if (found === undefined) continue;
    const prefix = facts.isAnthropic ? "anthropic_" : facts.isOperator && code in OPERATOR_EXAMPLES ? "operator_" : "";
    return { name: prefix + found.name, value: bodyOf(code, found.example, facts.isAnthropic) };
  }
  return undefined;
}

function fitting(code: Code, facts: ErrorExampleFacts): { name: string; example: Example } | undefined {
  const { isOperator, hasBody, requiredMember, hasLimit } = facts;
  const example = isOperator && code in OPERATOR_EXAMPLES ? OPERATOR_EXAMPLES[code] : EXAMPLES[code];
  if (example === undefined) return undefined;
  if (code === "missing_required_parameter") {
    if (requiredMember === undefined) return undefined;
    const message = `Missing required parameter: ${requiredMember}.`;
    return { name: `${code}_${requiredMember}`, example: { message, param: requiredMember } };
  }
  if (code === "unsupported_value" && !hasLimit) return undefined;
  if (code === "invalid_request" && !hasBody) return { name: `${code}_header`, example: WITHOUT_BODY };
  return { name: code, example };
}

/** Builds an error body. @param isAnthropic true for a body in the format of Anthropic's API */
function bodyOf(code: Code, { message, param = null, job_id: jobId }: Example, isAnthropic: boolean): object {
  const { type } = ERROR_CODES[code];
  const error = { message, type, code, param, ...(jobId === undefined ? {} : { job_id: jobId }) };
  if (!isAnthropic) return { error };
  const anthropicError = statusOf(code, true) === 404 ? { ...error, type: "not_found_error" } : error;
  return { type: "error", error: anthropicError, request_id: JOB_ID };
}
