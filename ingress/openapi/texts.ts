/** Descriptions of tags and path parameters in the OpenAPI document. */

/** Descriptions of the tags, in the order of the OpenAPI document. */
export const TAGS: Readonly<Record<string, string>> = {
  Chat: "Chat completions, Anthropic messages, and OpenAI responses with their conversations.",
  Embeddings: "Embedding vectors of texts.",
  Images: "Image generation and image edits.",
  Audio: "Speech, transcription and music.",
  Videos: "Video generation in asynchronous jobs.",
  "3D": "Generation and transformation of 3D meshes.",
  Models: "The catalogue of models with prices and limits, and estimates of calls.",
  Files: "Files of the workspace: uploads, downloads and results of jobs.",
  Batches: "Asynchronous runs of many calls from one file.",
  Jobs: "State, cancellation and results of media and capability jobs.",
  Capabilities: "Deterministic operations on images, audio, video, documents, archives, web pages and code.",
  MCP: "Capabilities, workflows and files as a server of the Model Context Protocol.",
  Workflows: "Stored workflows, their versions and their runs.",
  "Workspace settings": "Workspace, members, API keys, quota presets, fallback chains and the audit log.",
  "Usage and billing": "Usage, prices of calls, the credit balance, the ledger, budget alerts and balance alerts.",
  Notifications: "Notification channels, event subscriptions and deliveries.",
  "Console sessions": "Sign-in of the web console with an API key, a sign-in code or an operator token.",
  Health: "Liveness and readiness of a process.",
  Documentation: "This API description, its schemas and the documentation pages.",
  Operator: "Administration of the installation. Requires an operator token with the scope of the operation.",
};

/** Descriptions of path parameters. The key is the preceding path segment and the name of the parameter. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  "models/slug": "Slug of the model, from GET /v1/models.",
  "responses/response_id": "Id of the stored response.",
  "conversations/conversation_id": "Id of the conversation.",
  "items/item_id": "Id of the item.",
  "generations/id": "Id of the video job.",
  "capabilities/id": "Id of the capability in the form `<category>.<operation>`, from GET /v1/tools.",
  "jobs/job_id": "Id of the job. For a media call, this is the `x-request-id` of its response.",
  "jobs/id": "Id of the job.",
  "content/token": "Signed token of the download link.",
  "files/file_id": "Id of the stored file.",
  "batches/batch_id": "Id of the batch.",
  "workflows/id": "Id of the workflow.",
  "runs/id": "Id of the run.",
  "steps/stepId": "Id of the step.",
  "workspaces/workspaceId": "Id or name of the workspace, as returned by GET /v1/key.",
  "workspaces/id": "Id of the workspace.",
  "members/memberId": "Id of the member.",
  "api-keys/keyId": "Id of the API key.",
  "api-keys/id": "Id of the API key.",
  "fallback-chains/model": "Slug of the requested model.",
  "requests/request_id":
    "`x-request-id` of the call, or the id of its job or run, with an optional attempt such as `:1`.",
  "end-users/user": "Value of `user` in the calls, percent-encoded.",
  "balance-alerts/alertId": "Id of the balance alert.",
  "budget-alerts/alertId": "Id of the budget alert.",
  "notification-channels/channelId": "Id of the notification channel.",
  "subscriptions/subscriptionId": "Id of the subscription.",
  "deliveries/deliveryId": "Id of the delivery.",
  "pools/pool": "Name of the pool, such as `chat`.",
  "holds/id": "Id of the hold: job id and attempt, joined by a dot.",
  "settle-faults/id": "Id of the settle fault.",
  "dead-letters/id": "Id of the dead letter.",
  "sources/source": "Source as `provider/model`, with `%2F` for each slash.",
  "tokens/id": "Id of the operator token.",
  "mcp/tools": "`all`, or capability categories separated by commas, such as `image,video`.",
  "schemas/file": "Title of the schema with the suffix `.json`, such as `ChatCompletionRequest.json`.",
  "assets/name": "File name of the asset.",
  "docs/section": "Name of the section, or of a page without a section. The suffix `.md` selects Markdown.",
  "{section}/page": "Name of the page within its section. The suffix `.md` selects Markdown.",
};

/** Returns the key of a path parameter in PATH_PARAMETERS. @param path URL path with `{name}` for parameters */
export function pathParameterKey(path: string, name: string): string {
  const segments = path.split("/");
  return `${segments[segments.indexOf(`{${name}}`) - 1] ?? ""}/${name}`;
}
