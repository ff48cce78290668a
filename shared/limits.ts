/**
 * Every bound of the service: a unit in the name, the reason beside it, by area in `limits/`. Tests shorten the waits that are
 * `paced`.
 */
import { ARCHIVE_LIMITS } from "./limits/archives.ts";
import { CALLS_LIMITS } from "./limits/calls.ts";
import { CAPABILITIES_LIMITS } from "./limits/capabilities.ts";
import { DOCUMENT_LIMITS } from "./limits/documents.ts";
import { FILES_LIMITS } from "./limits/files.ts";
import { HTTP_LIMITS } from "./limits/http.ts";
import { JOBS_LIMITS } from "./limits/jobs.ts";
import { MEDIA_LIMITS } from "./limits/media.ts";
import { NOTIFICATION_LIMITS } from "./limits/notifications.ts";
import { OPERATOR_LIMITS } from "./limits/operators.ts";
import { PROVIDERS_LIMITS } from "./limits/providers.ts";
import { SETTINGS_LIMITS } from "./limits/settings.ts";
import { STORAGE_LIMITS } from "./limits/storage.ts";
import { VIDEO_LIMITS } from "./limits/video.ts";
import { WEB_LIMITS } from "./limits/web.ts";
import { WORKFLOW_LIMITS } from "./limits/workflows.ts";

export { CAPABILITY_INPUT_BYTES_MAX, CAPABILITY_RUN_MS } from "./limits/capabilities.ts";
export { jobHoldMs } from "./limits/jobs.ts";
export { BREAKER } from "./limits/breaker.ts";
export { INPUT_BYTES_MAX, MEDIA_JOBS, TOKENS_PER_IMAGE } from "./limits/media.ts";

export const LIMITS = {
  ...HTTP_LIMITS,
  ...CALLS_LIMITS,
  ...OPERATOR_LIMITS,
  ...PROVIDERS_LIMITS,
  ...JOBS_LIMITS,
  ...MEDIA_LIMITS,
  ...NOTIFICATION_LIMITS,
  ...FILES_LIMITS,
  ...SETTINGS_LIMITS,
  ...STORAGE_LIMITS,
  ...CAPABILITIES_LIMITS,
  ...ARCHIVE_LIMITS,
  ...DOCUMENT_LIMITS,
  ...VIDEO_LIMITS,
  ...WEB_LIMITS,
  ...WORKFLOW_LIMITS,
} as const;
