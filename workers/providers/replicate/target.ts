/**
 * Path that runs a model: official ones by their name, all others by a version. Source:
 * replicate.com/docs/topics/predictions/create-a-prediction and …/reference/http (models.predictions.create).
 */
import { ProviderError } from "../provider.ts";

export interface Target {
  readonly path: string;
  /** Goes into the body. */
  readonly version?: string;
}

const NAME = "[A-Za-z0-9][A-Za-z0-9._-]*";
const OFFICIAL = new RegExp(`^(${NAME})/(${NAME})$`);
/** 64 hexadecimal digits, the model's name before them or not: both are taken as they are. */
const VERSION = new RegExp(`^(?:${NAME}/${NAME}:)?[0-9a-f]{64}$`);

/** @throws ProviderError `misconfigured` for what is neither */
export function targetOf(sourceModel: string): Target {
  if (VERSION.test(sourceModel)) return { path: "/predictions", version: sourceModel };
  const [, owner, name] = OFFICIAL.exec(sourceModel) ?? [];
  if (owner !== undefined && name !== undefined) return { path: `/models/${owner}/${name}/predictions` };
  throw new ProviderError("misconfigured", `expected owner/name, with or without :version, got ${sourceModel}`);
}
