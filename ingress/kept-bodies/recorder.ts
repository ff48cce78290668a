/** Records requests and responses of HTTP calls whose callers asked to keep them, and passes them on to be stored. */
import type { Code } from "#shared/base/errors.ts";
import { CallCapture } from "#shared/kept-bodies/capture.ts";
import { type BodyKeeper, ERROR_STATUS, isMcp, isText } from "#shared/kept-bodies/keeper.ts";

import type { BodyRecorder } from "../core/body-capture.ts";

export function openBodyRecorder(keeper: Pick<BodyKeeper, "add" | "capture">): BodyRecorder {
  return {
    begin({ bodies: setting, workspaceId, keyId }, route, { requestId, request: { headers } }) {
      if (setting === undefined || route.countsItself !== true) return undefined;
      return keeper.capture({
        workspaceId,
        keyId,
        setting,
        requestId,
        endpoint: `${route.method} ${route.path}`,
        mediaType: mediaTypeOf(headers),
        requestBytes: lengthOf(headers),
      });
    },
    end(capture, { response, body, code }) {
      if (!(capture instanceof CallCapture)) return;
      capture.status = response.status;
      const type = mediaTypeOf(response.headers);
      capture.response.mediaType = type;
      capture.isStream = type === "text/event-stream";
      if (isRefusedUnread(capture, code) || isSuperfluous(capture)) {
        capture.release();
        return;
      }
      if (body !== undefined && isText(type)) {
        body.observe({
          onPiece: (piece) => capture.onResponse(piece),
          onEnd: (isWhole) => {
            if (!isWhole) capture.response.isCut = true;
            keeper.add(capture);
          },
        });
      } else if (isText(type)) void addPlain(keeper, capture, response.clone() as Response);
      else keeper.add(capture);
    },
  };
}

async function addPlain(keeper: Pick<BodyKeeper, "add">, capture: CallCapture, response: Response): Promise<void> {
  try {
    capture.onResponse(new Uint8Array(await response.arrayBuffer()));
  } catch {
    capture.drop("store");
  }
  keeper.add(capture);
}

/** Returns true for a call that was refused by the rate limit, or before its body was read. Storing these would multiply the load. */
function isRefusedUnread({ request }: CallCapture, code: Code | undefined): boolean {
  if (code === undefined) return false;
  return code === "rate_limit_exceeded" || (request.copied === 0 && request.mediaType !== "multipart/form-data");
}

/** Returns true for a call of which only failures are kept, and that has not failed. The outcome of some calls is known only later. */
function isSuperfluous({ options, status, isStream }: CallCapture): boolean {
  return options.setting.keep === "errors" && status < ERROR_STATUS && !isStream && !isMcp(options);
}

/** Returns the media type without parameters, in lower case; null if absent. */
function mediaTypeOf(headers: Headers): string | null {
  return headers.get("content-type")?.split(";", 1).join("").trim().toLowerCase() || null;
}

function lengthOf(headers: Headers): number | null {
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}
