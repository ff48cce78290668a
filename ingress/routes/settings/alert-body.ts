/** Reads members that bodies of budget alerts and of balance alerts have in common. */
import { unknownChannels } from "#shared/database/budget-alerts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { parseCredits } from "#shared/base/money.ts";

import { digitsOf } from "./body.ts";

/** Parses an amount from the digits that the client sent and returns nano-credits. @throws ApiError `unsupported_value` */
export function creditsIn(text: string, param: string): bigint {
  try {
    const nano = parseCredits(digitsOf(text, param));
    if (nano > 0n) return nano;
    throw new RangeError("expected more than 0 credits");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `Expected ${param} to have at most nine decimal places.`;
    throw new ApiError("unsupported_value", message, { param, cause: error });
  }
}

/** Checks that the channels exist in the workspace. @throws ApiError `unsupported_value` */
export async function checkChannels(
  target: Queryable,
  workspaceId: string,
  ids: readonly string[] = [],
): Promise<void> {
  const [unknown] = await unknownChannels(target, workspaceId, distinctIds(ids));
  if (unknown === undefined) return;
  const param = `channel_ids[${ids.findIndex((id) => id.toLowerCase() === unknown)}]`;
  throw new ApiError("unsupported_value", `Expected ${param} to be a notification channel of the workspace.`, {
    param,
  });
}

/** Returns the ids in lower case, each once. */
export function distinctIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
