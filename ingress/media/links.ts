/** Links to files that work for about an hour and need no key: what they say is signed with the installation's secret. */
import { createHmac, timingSafeEqual } from "node:crypto";

import { commonNow } from "#shared/clock.ts";
import { isFileId } from "#shared/files/id.ts";
import { isUuid } from "#shared/ids.ts";

/** A link to an image works this long (spec "Limits"). */
const LINK_LIFE_S = 3_600;

export interface FileLinks {
  /** Returns the token at the end of a link's path. */
  token(workspaceId: string, fileId: string): string;
  /** Undefined for tokens that we did not make, and for expired ones. */
  read(token: string): { readonly workspaceId: string; readonly fileId: string } | undefined;
}

/** @param now Unix milliseconds */
export function createFileLinks(secret: Uint8Array, now: () => number = commonNow): FileLinks {
  const sign = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url");
  return {
    token(workspaceId, fileId) {
      const untilS = Math.floor(now() / 1_000) + LINK_LIFE_S;
      const text = `${untilS}.${workspaceId}.${fileId}`;
      return `${text}.${sign(text)}`;
    },
    read(token) {
      const [until = "", workspaceId = "", fileId = "", signature = "", ...rest] = token.split(".");
      if (rest.length > 0 || !/^\d{1,12}$/.test(until) || !isUuid(workspaceId) || !isFileId(fileId)) return undefined;
      // As text: other texts decode to the same bytes.
      const expected = Buffer.from(sign(`${until}.${workspaceId}.${fileId}`));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return Number(until) * 1_000 > now() ? { workspaceId, fileId } : undefined;
    },
  };
}
