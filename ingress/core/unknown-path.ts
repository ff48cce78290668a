import { ApiError } from "#shared/base/errors.ts";

const NO_AGENTS = "Hosted agents are not offered: POST /v1/responses calls tools and keeps conversations.";
const NO_THREADS =
  "Assistants and threads are not offered: POST /v1/conversations keeps a conversation, and POST /v1/responses continues it.";
const NO_SECRETS =
  "Stores of credentials do not exist here: a function of your own keeps its credentials, and the model calls it.";
const NO_STORED_CHATS =
  "Chat completions are not stored: POST /v1/responses stores responses, and GET /v1/responses/{response_id} returns one.";
const NO_VOICES =
  "Custom voices are not offered: GET /v1/models lists each model's voices in _svc.allowed_params.voices.";
const NO_TUNING =
  "Fine-tuning is not offered: train the model at its provider, and add it to this service's catalogue (SLUICE_CATALOGUE).";
const NO_SKILLS =
  "Skills are not offered: send their text as a system message, and store its steps with POST /v1/workflows.";
const NO_SESSIONS =
  "Realtime sessions are not offered: use POST /v1/audio/transcriptions, /v1/chat/completions and /v1/audio/speech in turn.";
const NO_VIDEO_FORM =
  "Videos have one form for all providers: POST /v1/videos/generations creates one, GET /v1/videos/generations/{id} returns it.";
const NO_ORGANIZATION =
  "Other services' administration is not offered: /workspaces/{workspaceId} manages members, keys, usage and budgets.";
const SPENT =
  "Usage of a key is at GET /v1/usage, of a workspace at GET /workspaces/{workspaceId}/usage, single calls at /workspaces/{workspaceId}/usage/requests.";
const LIMITS = "Spend limits are at /workspaces/{workspaceId}/budget-alerts.";
const KEYS = "Keys are at /workspaces/{workspaceId}/api-keys.";
const MEMBERS = "Members and their roles are at /workspaces/{workspaceId}/members.";
const AUDIT = "The audit log is at GET /workspaces/{workspaceId}/audit-log.";
const PROMPT = "Text models take conversations here: send the prompt as one message to";

/**
 * Paths of other services' APIs that clients request here, with a sentence about the alternative. A sentence applies to all paths below,
 * unless a longer path has its own; `*` is one segment. Sources: OpenAI's API description and Anthropic's SDK.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // OpenAI
  "/v1/answers": `${PROMPT} POST /v1/chat/completions.`,
  "/v1/assistants": NO_THREADS,
  "/v1/audio/translations": "Translations are not offered: use POST /v1/audio/transcriptions, and then a text model.",
  "/v1/audio/voice_consents": NO_VOICES,
  "/v1/audio/voices": NO_VOICES,
  "/v1/chat/completions": NO_STORED_CHATS,
  "/v1/chatkit": "ChatKit is not offered: POST /v1/conversations keeps conversations for a chat window of your own.",
  "/v1/classifications": `${PROMPT} POST /v1/chat/completions.`,
  "/v1/completions": `${PROMPT} POST /v1/chat/completions.`,
  "/v1/containers":
    "Containers are not offered: POST /v1/capabilities/code.run_python/run runs code, and POST /v1/files stores files.",
  "/v1/content_provenance_checks": "Checks of where content comes from do not exist here, and nothing replaces them.",
  "/v1/edits": `${PROMPT} POST /v1/chat/completions.`,
  "/v1/engines": "Engines are called models here: GET /v1/models lists them.",
  "/v1/evals":
    "Evals are not offered: POST /v1/batches calls a model for every line of a file, and a text model can score the answers.",
  "/v1/fine-tunes": NO_TUNING,
  "/v1/fine_tuning": NO_TUNING,
  "/v1/images/variations": "Variations are not offered: use POST /v1/images/edits.",
  "/v1/moderations": "No moderation model is offered: ask a text model for its verdict by POST /v1/chat/completions.",
  "/v1/organization": NO_ORGANIZATION,
  "/v1/organization/admin_api_keys": `Operators' tokens are at /operator/tokens. ${KEYS}`,
  "/v1/organization/audit_logs": AUDIT,
  "/v1/organization/costs": SPENT,
  "/v1/organization/invites": MEMBERS,
  "/v1/organization/projects":
    "Workspaces take the place of projects: /workspaces/{workspaceId} has one workspace's settings.",
  "/v1/organization/projects/*/api_keys": KEYS,
  "/v1/organization/projects/*/rate_limits":
    "Rate limits are presets of keys: GET /workspaces/{workspaceId}/presets lists them.",
  "/v1/organization/projects/*/service_accounts": MEMBERS,
  "/v1/organization/projects/*/service_accounts/*/api_keys": KEYS,
  "/v1/organization/projects/*/spend_alerts": LIMITS,
  "/v1/organization/projects/*/spend_limit": LIMITS,
  "/v1/organization/projects/*/users": MEMBERS,
  "/v1/organization/roles": MEMBERS,
  "/v1/organization/spend_alerts": LIMITS,
  "/v1/organization/spend_limit": LIMITS,
  "/v1/organization/usage": SPENT,
  "/v1/organization/users": MEMBERS,
  "/v1/projects": `Roles belong to members of a workspace. ${MEMBERS}`,
  "/v1/realtime": NO_SESSIONS,
  "/v1/search": "Search is not offered: POST /v1/embeddings returns vectors for a search index of your own.",
  "/v1/skills": NO_SKILLS,
  "/v1/threads": NO_THREADS,
  "/v1/uploads": "Uploads in parts are not offered: POST /v1/files takes a file of any allowed size in one request.",
  "/v1/vector_stores":
    "Vector stores are not offered: POST /v1/embeddings returns vectors for a vector database of your own.",
  "/v1/videos": NO_VIDEO_FORM,
  "/v1/videos/characters":
    "Characters of videos are not offered: send a picture as input of POST /v1/videos/generations where the model takes one.",
  // Anthropic
  "/v1/agents": NO_AGENTS,
  "/v1/complete": `${PROMPT} POST /v1/messages.`,
  "/v1/deployment_runs": NO_AGENTS,
  "/v1/deployments": NO_AGENTS,
  "/v1/dreams": NO_AGENTS,
  "/v1/environments": NO_AGENTS,
  "/v1/experimental": "Tools that write prompts are not offered: ask a text model by POST /v1/messages.",
  "/v1/memory_stores":
    "Memory stores are not offered: POST /v1/conversations keeps conversations, POST /v1/files keeps files.",
  "/v1/messages/batches":
    "Batches of messages are not offered: POST /v1/batches runs a file of calls of /v1/chat/completions, for the same models.",
  "/v1/organizations": NO_ORGANIZATION,
  "/v1/organizations/api_keys": KEYS,
  "/v1/organizations/cost_report": SPENT,
  "/v1/organizations/invites": MEMBERS,
  "/v1/organizations/usage_report": SPENT,
  "/v1/organizations/users": MEMBERS,
  "/v1/organizations/workspaces": "A workspace's settings are at /workspaces/{workspaceId}.",
  "/v1/sessions": NO_AGENTS,
  "/v1/tunnels":
    "Tunnels are not offered: an MCP client connects to /mcp, and workflows call services by their addresses.",
  "/v1/user_profiles": `End users are not stored here: send \`user\` with a call. ${MEMBERS}`,
  "/v1/vaults": NO_SECRETS,
  // Other gateways and servers
  "/api/chat": "Ollama's API is not offered: use POST /v1/chat/completions.",
  "/api/generate": `${PROMPT} POST /v1/chat/completions.`,
  "/api/tags": "Ollama's API is not offered: GET /v1/models lists the models.",
  "/api/v1": "Paths of this API begin with /v1: remove /api from the base URL of the client.",
  "/key": KEYS,
  "/model": "GET /v1/models lists the models with prices and limits.",
  "/openai/deployments": "A deployment is a model here: use POST /v1/chat/completions with its name as `model`.",
  "/spend": SPENT,
  "/team": "Workspaces take the place of teams: /workspaces/{workspaceId} has one workspace's settings.",
  "/user": MEMBERS,
  "/v1/generation": SPENT,
  "/v1/keys": KEYS,
  "/v1/model": "GET /v1/models lists the models with prices and limits.",
  "/v1/models/*": "Names of models have no slash: GET /v1/models lists them.",
  "/v1/rerank": "Rerankers are not offered: POST /v1/embeddings returns vectors, whose distances order texts.",
  "/v1beta": "Gemini's API is not offered: use POST /v1/chat/completions, with the same models.",
};

const PATTERNS = Object.entries(ELSEWHERE).map(([path, sentence]) => ({ segments: path.split("/"), sentence }));

/** First segments of the service's URL paths below /v1. Clients with a wrong base URL request them without /v1. */
const UNDER_V1 = new Set(
  [
    "3d",
    "audio",
    "batches",
    "capabilities",
    "chat",
    "conversations",
    "embeddings",
    "files",
    "images",
    "messages",
  ].concat(["models", "music", "responses", "videos", "workflows"]),
);

/**
 * Returns the error for a URL path that does not exist, or that this caller may not see. @param asked URL or path as the caller wrote it
 */
export function unknownPath(asked = ""): ApiError {
  const [path = ""] = asked.replace(/^https?:\/\/[^/]*/, "").split("?");
  const segments = path.split("/");
  const sentence = baseUrlSentence(segments) ?? sentenceOf(segments);
  return new ApiError("not_found", sentence ?? "There is no such path; GET /openapi.json lists those there are.");
}

/** Explains that a base URL contains `/v1` twice or not at all; undefined for other paths. The error does not repeat the path. */
function baseUrlSentence([, first = "", second = ""]: readonly string[]): string | undefined {
  if (first === "v1" && second === "v1") return "The path has /v1 twice: remove it from the base URL of the client.";
  return UNDER_V1.has(first) ? "Paths of this API begin with /v1: add it to the base URL of the client." : undefined;
}

/** Returns the sentence of the longest known path that is a prefix of the requested path; undefined if there is none. */
function sentenceOf(segments: readonly string[]): string | undefined {
  return PATTERNS.filter((known) =>
    known.segments.every((segment, at) => segment === segments[at] || (segment === "*" && at < segments.length)),
  ).toSorted((a, b) => b.segments.length - a.segments.length)[0]?.sentence;
}
