/** Stored state of a job at fal, sufficient for polling by another process. */
import { isMembers, type Members } from "../json.ts";
import type { Endpoint } from "../http.ts";
import type { Fields } from "../fields.ts";
import type { ProviderJob } from "../media.ts";

/** Paths are relative to the endpoint's base, so that credentials are sent nowhere else. */
export interface FalJob extends ProviderJob {
  readonly request_id: string;
  readonly status_path: string;
  readonly result_path: string;
  readonly cancel_path: string;
  /** Number of results requested. */
  readonly asked: number;
  /** Fields of the inputs, to name the caller's parameter when an error names a field. */
  readonly fields: Fields;
}

/** Facts that create a job from the job name in fal's callback. */
export interface FalMark extends ProviderJob, Pick<FalJob, "asked" | "fields"> {
  /** Name of the model at the source. */
  readonly model: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Returns the job of a submit's response; undefined without an id. Addresses in the response are used if they are on the submitted host and
 * contain the id; otherwise the documented ones.
 */
export function newJob(
  endpoint: Endpoint,
  sourceModel: string,
  answer: Members | undefined,
  facts: Pick<FalJob, "asked" | "fields">,
): FalJob | undefined {
  const id = answer?.["request_id"];
  if (typeof id !== "string" || !ID.test(id)) return undefined;
  const [owner = "", app = ""] = sourceModel.split("/");
  // Further parts of the model's name, after owner and app, are only used by the submit.
  const usual = `/${encodeURIComponent(owner)}/${encodeURIComponent(app)}/requests/${id}`;
  const pathOf = (name: string, otherwise: string): string => pathOn(endpoint, answer?.[name], id) ?? otherwise;
  return {
    request_id: id,
    status_path: pathOf("status_url", `${usual}/status`),
    result_path: pathOf("response_url", usual),
    cancel_path: pathOf("cancel_url", `${usual}/cancel`),
    ...facts,
  };
}

/** Returns a stored job; undefined for other values. */
export function readJob(job: ProviderJob): FalJob | undefined {
  const { request_id, status_path, result_path, cancel_path, asked, fields } = job;
  if (!isPath(status_path) || !isPath(result_path) || !isPath(cancel_path)) return undefined;
  if (typeof request_id !== "string" || typeof asked !== "number" || !isFields(fields)) return undefined;
  return { request_id, status_path, result_path, cancel_path, asked, fields };
}

/** Returns a stored mark; undefined for other values. */
export function readMark({ model, asked, fields }: ProviderJob): FalMark | undefined {
  if (typeof model !== "string" || typeof asked !== "number" || !isFields(fields)) return undefined;
  return { model, asked, fields };
}

function pathOn({ baseUrl }: Endpoint, url: unknown, id: string): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const there = new URL(url);
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/+$/, "");
  if (there.origin !== base.origin || !there.pathname.startsWith(`${prefix}/`)) return undefined;
  if (!there.pathname.split("/").includes(id)) return undefined;
  return there.pathname.slice(prefix.length) + there.search;
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/");
}

function isFields(value: unknown): value is Fields {
  return isMembers(value) && Object.values(value).every((field) => typeof field === "string");
}
