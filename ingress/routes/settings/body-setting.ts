/** Checks changes of the setting that keeps requests and responses, of a workspace and of a key. Only owners may change it. */
import type { BodySetting as AskedSetting } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type BodySetting, bodySettingOf } from "#shared/base/body-setting.ts";

import type { IngressContext } from "../../context.ts";

/**
 * Returns the complete setting.
 * @throws ApiError `permission_denied` for other members than owners, and if the operator allows no kept bodies; `unsupported_value` for a
 * longer retention than the operator allows
 */
export function bodiesOf(
  { config: { bodyRetentionHoursMax: hoursMax } }: Pick<IngressContext, "config">,
  { role }: Caller,
  asked: AskedSetting,
): BodySetting {
  checkOwner(role);
  const setting = bodySettingOf(asked);
  if (setting.keep === "none") return setting;
  if (hoursMax === 0) {
    throw new ApiError("permission_denied", "The operator of this installation does not allow kept bodies.", {
      param: "bodies.keep",
    });
  }
  // The default is no value that the caller chose.
  if (asked.retention_hours === undefined)
    return { ...setting, retention_hours: Math.min(setting.retention_hours, hoursMax) };
  if (setting.retention_hours <= hoursMax) return setting;
  throw new ApiError("unsupported_value", `Expected bodies.retention_hours to be at most ${hoursMax}.`, {
    param: "bodies.retention_hours",
  });
}

/** The same as `bodiesOf`, for a key: null returns to the workspace's setting. */
export function keyBodiesOf(
  context: Pick<IngressContext, "config">,
  caller: Caller,
  asked: AskedSetting | null,
): BodySetting | null {
  if (asked !== null) return bodiesOf(context, caller, asked);
  checkOwner(caller.role);
  return null;
}

function checkOwner(role: Caller["role"]): void {
  if (role === "owner") return;
  throw new ApiError(
    "permission_denied",
    `Only owners may change which bodies are kept; the key has the role ${role}.`,
    {
      param: "bodies",
    },
  );
}

/** Returns the setting in the form of a response. */
export function presentBodies({ keep, retention_hours: hours, redact }: BodySetting): AskedSetting {
  const { members, patterns } = redact;
  return { keep, retention_hours: hours, redact: { members: [...members], patterns: [...patterns] } };
}
