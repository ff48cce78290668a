/**
 * Cause and fix of every error code, in one sentence each. The documentation page "Errors A–Z" and the API reference are generated from
 * this table.
 */
import type { Code } from "./errors.ts";

interface Guide {
  /** Cause of the error, in Markdown. */
  readonly cause: string;
  /** Fix of the error, in Markdown. */
  readonly fix: string;
  /** Says when stock clients retry and when a repeat can succeed, in Markdown. If absent, the status and `x-should-retry` alone decide. */
  readonly retry?: string;
  /** Cause and fix on routes below `/operator`, if they differ. */
  readonly operator?: { readonly cause: string; readonly fix: string };
  /** Link to a page with more details for operators, in Markdown, relative to the page of errors. */
  readonly operate?: string;
}

export const ERROR_GUIDE: Readonly<Record<Code, Guide>> = {
  invalid_json: {
    cause: "The request body is not valid JSON.",
    fix: "Send valid JSON in UTF-8. The message names the position of the fault.",
  },
  invalid_request: {
    cause: "A property, query parameter or header has a wrong type or form.",
    fix: "Correct the value that `param` and the message name.",
  },
  missing_required_parameter: {
    cause: "A required property is absent or null.",
    fix: "Send the property that `param` names.",
  },
  unknown_parameter: {
    cause:
      "The body has a property that the operation does not know. Bodies of settings, operator routes and capabilities may only contain known properties.",
    fix: "Correct the name, which `param` contains, or remove the property. The message suggests similar names.",
  },
  unsupported_value: {
    cause: "A value is well-formed, but the operation or the model does not accept it.",
    fix: "Send one of the values that the message lists. `GET /v1/models` returns the accepted values of each model.",
  },
  model_not_found: {
    cause: "The installation has no model of this name. Clients of Anthropic's API receive status 404.",
    fix: "Take a name from `GET /v1/models`.",
  },
  model_not_supported: {
    cause: "The model exists, but not for this endpoint.",
    fix: "Call the endpoint that the message names, or take a model of the right modality from `GET /v1/models`.",
  },
  audio_not_supported_by_model: {
    cause: "The conversation contains audio, and the model accepts none.",
    fix: "Remove the audio, transcribe it first, or take a model with audio input.",
  },
  image_not_supported_by_model: {
    cause: "The conversation contains an image, and the model accepts none.",
    fix: "Remove the image, or take a model with image input.",
  },
  edit_not_supported: {
    cause: "The model creates images but does not edit them.",
    fix: "Take a model that accepts an input image, or call `POST /v1/images/generations`.",
  },
  context_length_exceeded: {
    cause: "The input and the output limit together exceed the context window of the model.",
    fix: "Shorten the conversation, lower `max_tokens`, or take a model with a larger context window.",
  },
  previous_response_not_found: {
    cause: "The response in `previous_response_id` is not stored, has expired, or belongs to another member.",
    fix: "Send the whole conversation in `input`, or continue from a response that was stored with `store: true`.",
  },
  unsafe_url: {
    cause: "A URL of the request leads to a private or reserved address.",
    fix: "Send a public URL or the bytes. Operators can allow hosts with `SLUICE_OUTBOUND_ALLOW`.",
  },
  invalid_workflow_definition: {
    cause: "A workflow definition breaks a rule of its format.",
    fix: "Correct the part of the definition that `param` names. The message states what is expected there.",
  },
  missing_api_key: {
    cause: "The request has no API key.",
    fix: "Send `Authorization: Bearer <key>` or `x-api-key: <key>`.",
    operator: {
      cause: "The request has no operator token.",
      fix: "Send `Authorization: Bearer <token>` with an operator token.",
    },
  },
  invalid_api_key: {
    cause: "The API key is unknown, revoked or expired.",
    fix: "Check the key for missing characters, or create a new one.",
    operator: {
      cause: "The operator token is unknown, revoked or expired.",
      fix: "Check the token, or create one with `admin operator add`.",
    },
  },
  insufficient_credits: {
    cause: "The available balance of the workspace is smaller than the most that the call can cost.",
    fix: "Top up the workspace, or lower `max_tokens` so that the call holds fewer credits.",
    retry:
      "stock clients do not retry. With `retry-after`, a crashed process still holds credits: wait, then retry. Without it, the response has `x-should-retry: false`.",
  },
  budget_reached: {
    cause: "The spend of the workspace has reached a budget alert with `stops_calls`.",
    fix: "Wait until the period of the budget ends, or ask an owner, admin or billing member to raise it. A top-up does not help.",
  },
  key_limit_reached: {
    cause: "A spend limit of the key, its member, the end user or a tag leaves less than the call may cost.",
    fix: "Wait until the time in the message, request less, for example with `max_completion_tokens`, or ask an owner or admin to raise the limit. A top-up does not help.",
  },
  max_credits_exceeded: {
    cause: "The call may cost more than its `max_credits`, or more than `max_credits` of its run or batch leaves.",
    fix: "Set a higher `max_credits`, or lower the most that the call can cost, for example with `max_tokens`.",
  },
  permission_denied: {
    cause: "The role, the preset, the tools or the `limits` of the key do not allow the operation.",
    fix: "Use a key with a role that the API reference names for the operation. If the message names a list of the key, ask an admin to extend the list, or use another key.",
    operator: {
      cause:
        "The scope of the operator token does not include the operation. The scopes are `read`, `write` and `money`; each includes the ones before it.",
      fix: "Use an operator token with the scope that the API reference names for the operation.",
    },
  },
  rate_limit_exceeded: {
    cause:
      "All keys of the workspace together made more calls in 60 seconds than the preset of the key allows. Or the key sent ten times as many reads, cancels and settings changes.",
    fix: "Wait up to 60 seconds before the next call; rejected calls count too. Reads, cancels and settings changes have their own limit per ingress process.",
    operator: {
      cause: "The operator token made more than 600 calls in a minute at one ingress process.",
      fix: "Wait one minute before the next call.",
    },
  },
  storage_limit_exceeded: {
    cause: "The files, stored responses and batch lines of the workspace have reached its storage limit.",
    fix: "Delete files, conversations or responses, or ask the operator for a higher limit.",
  },
  daily_tokens_exceeded: {
    cause: "All keys of the workspace together have used the tokens that the preset of the key allows per UTC day.",
    fix: "Wait until 00:00 UTC, or use a key with a higher preset.",
  },
  not_found: {
    cause: "The path or the object does not exist, or belongs to another workspace.",
    fix: "Check the id and the path. For paths of other APIs, the message names what to use instead.",
    operator: {
      cause:
        "The path or the object does not exist, no operator token exists, or `SLUICE_OPERATOR_ALLOW` excludes the address.",
      fix: "Check the id and the path, then the settings of operator access.",
    },
  },
  file_not_found: {
    cause: "The file does not exist, has expired, or is not visible to the member.",
    fix: "Upload the file again, or take an id from `GET /v1/files`.",
  },
  batch_not_found: {
    cause: "The batch does not exist, has expired, or belongs to another member.",
    fix: "Take an id from `GET /v1/batches`.",
  },
  capability_not_found: {
    cause: "The installation offers no capability of this id.",
    fix: "Take an id from `GET /v1/tools`. A capability is missing when no worker has its engine.",
  },
  channel_not_found: {
    cause: "The notification channel does not exist in the workspace.",
    fix: "Take an id from the list of notification channels.",
  },
  job_not_found: {
    cause: "The job does not exist, has expired, or belongs to another member.",
    fix: "Check the id: it is the `x-request-id` of the call. Jobs expire after `SLUICE_JOB_RETENTION_HOURS`.",
  },
  response_not_found: {
    cause: "The response is not stored, has expired, or belongs to another member.",
    fix: "Create responses with `store: true` to read them later.",
  },
  conversation_not_found: {
    cause: "The conversation does not exist, has expired, or belongs to another member.",
    fix: "Create a conversation with `POST /v1/conversations`.",
  },
  run_not_found: {
    cause: "The workflow run does not exist, has expired, or belongs to another member.",
    fix: "Take an id from `GET /v1/workflows/runs`. Runs expire after `SLUICE_RUN_RETENTION_HOURS`.",
  },
  workflow_not_found: {
    cause: "The workflow does not exist in the workspace.",
    fix: "Take an id from `GET /v1/workflows`.",
  },
  method_not_allowed: {
    cause: "The path does not accept this HTTP method.",
    fix: "Use a method that the `allow` header lists.",
  },
  request_timeout: {
    cause: "The request body arrived too slowly.",
    fix: "Retry on a faster connection, or upload large inputs with `POST /v1/files` first.",
  },
  conflict: {
    cause: "The current state forbids the change: a name is taken, an owner is the last one, a channel is disabled.",
    fix: "Read the object again and resolve what the message names.",
    retry:
      "stock clients retry: the response has no `x-should-retry`. A repeat fails again until the named state changes, for example until running work ends.",
    operator: {
      cause: "The current state forbids the change: a name is taken, a balance is too small, a hold is being closed.",
      fix: "Read the object again and resolve what the message names.",
    },
  },
  conversation_locked: {
    cause: "Another call is adding to the same conversation.",
    fix: "Retry when the other call has ended.",
  },
  idempotency_in_progress: {
    cause: "A request with the same `Idempotency-Key` has not ended.",
    fix: "Retry after a second; the response of the first request is then returned.",
  },
  upload_in_progress: {
    cause: "An upload with the same `Idempotency-Key` has not ended.",
    fix: "Retry after a second; the file of the first upload is then returned.",
  },
  request_too_large: {
    cause: "The request body is larger than the limit.",
    fix: "Upload large inputs with `POST /v1/files` and send the file id. The limit is `SLUICE_BODY_BYTES_MAX`.",
  },
  unsupported_media_type: {
    cause: "The `content-type` of the request is not accepted.",
    fix: "Send `application/json`, or `multipart/form-data` where the API reference lists a form.",
  },
  range_not_satisfiable: {
    cause: "The `range` header lies beyond the end of the file.",
    fix: "Send a range within the size that `content-range` returns.",
  },
  idempotency_key_reused: {
    cause: "An `Idempotency-Key`, or an `id` that the client chose, was sent before with a different request.",
    fix: "Use a new key or id for each request, and the same one only to repeat it.",
    operator: {
      cause: "The `id` of the body was used before for a different request, such as another amount of credits.",
      fix: "Use a new `id` for each change, and the same one only to repeat it.",
    },
  },
  unprocessable_input: {
    cause: "An input file or URL has content that the operation cannot read.",
    fix: "Check that the file is complete and of a listed type. The message names the input.",
  },
  input_unavailable: {
    cause: "The server of an input URL is down, busy or too slow.",
    fix: "Retry later, or upload the input with `POST /v1/files`.",
  },
  ip_rate_limit_exceeded: {
    cause: "The IP address made more requests in ten minutes than `SLUICE_IP_LIMIT` allows.",
    fix: "Wait for the seconds in `retry-after`. Operators: set `SLUICE_TRUSTED_PROXIES` behind a proxy.",
  },
  internal_error: {
    cause: "The service has failed unexpectedly.",
    fix: "Check the usage record before you repeat a paid call. Report the `x-request-id` to the operator: the log has the cause.",
    retry: "no; the response has `x-should-retry: false`. A repeat could be charged twice.",
  },
  artifact_unreadable: {
    cause: "The result was created and charged, but the object store does not return it now.",
    fix: "Do not repeat the call. Read the job that `job_id` names later.",
    retry: "no; the response has `x-should-retry: false`. Read the job instead.",
  },
  worker_lost: {
    cause: "The worker that ran the job has crashed, and the outcome at the provider is unknown.",
    fix: "Check `credits_used` of the job before you send the call again.",
    retry: "no; the response has `x-should-retry: false`. A repeat could be charged twice.",
  },
  model_unavailable: {
    cause: "Every provider of the model lacks a valid key, or rejects the key that is set.",
    fix: "Operators: set the provider key that the message or the log names. Callers: take another model.",
    retry:
      "no; the response has `x-should-retry: false`. Exception: with `retry-after`, the rejected keys are tried again after these seconds, and stock clients retry.",
  },
  upstream_error: {
    cause: "The provider has failed, or has sent an invalid response.",
    fix: "Retry, or set a fallback chain. Nothing is charged before the first output; a begun chat stream is charged for its input and output so far.",
    retry:
      "stock clients retry. The response has `x-should-retry: false` when the failed call was charged or its tools have run.",
  },
  upstream_refused: {
    cause: "The provider has refused the content of the request.",
    fix: "Change the prompt or the input, or set a fallback chain to a model of another provider. An unchanged repeat is usually refused again.",
    retry:
      "stock clients retry: the response has no `x-should-retry` unless work was charged. Refused content is usually refused again.",
  },
  overloaded: {
    cause: "The provider or the service has no capacity now.",
    fix: "Retry after the seconds in `retry-after`, or set a fallback chain.",
    retry: "stock clients retry. `retry-after` contains the seconds to wait, when they are known.",
    operate: "[Outages](../operate/outages.md) lists the effects of every server that is away.",
  },
  service_unavailable: {
    cause: "A part of the service is unavailable, or every provider of the model is temporarily disabled after errors.",
    fix: "Retry after the seconds in `retry-after`.",
    operator: {
      cause: "Postgres, NATS or the object store does not answer, or the process is restarting.",
      fix: "Retry. The log and `/readyz` of the admin port name the server.",
    },
    retry:
      "stock clients retry. The response has `x-should-retry: false` when the call may have been served: check its usage record first.",
    operate: "[Outages](../operate/outages.md) lists the effects of every server that is away.",
  },
  job_timeout: {
    cause:
      "The media job runs longer than a caller may wait (`SLUICE_MEDIA_WAIT_MS`). The job continues and is charged.",
    fix: "Do not repeat the call. Poll `GET /v1/images/jobs/{job_id}` with the `job_id` of the error.",
    retry: "no; the response has `x-should-retry: false`. The job continues; a repeat would be charged again.",
  },
  upstream_timeout: {
    cause: "The provider has not responded in time. A media job has this error, too, when its result stays unknown.",
    fix: "Check `credits` of the usage record, then repeat the call or set a fallback chain. Status 504 charges nothing but finished turns of service tools; a begun chat stream charges its input and output so far.",
    retry:
      "no; the response has `x-should-retry: false`. The provider may have done the work and bill the operator for it, and again for a repeat.",
  },
  run_timeout: {
    cause: "The run takes longer than the five minutes that a synchronous caller may wait. The run continues.",
    fix: 'Poll `GET /v1/workflows/runs/{id}` with the id in `x-run-id`, or start long runs with `mode: "async"`.',
    retry: "no; the response has `x-should-retry: false`. The run continues; a repeat would start another one.",
  },
  run_failed: {
    cause: "A step of the workflow run has failed.",
    fix: "Read the run: `error.stepId` and `error.message` name the step and the reason.",
    retry:
      "only the job of a run has this error; the response of a call never does. A new run executes its steps again.",
  },
};
