/** GET /v1/media/content/{token}: serves the file behind a link in a media response. */
import { findFile } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { unavailable } from "#shared/files/unavailable.ts";

import type { IngressContext } from "../../context.ts";
import { fileContent } from "../files/content.ts";
import type { RequestFacts } from "../../core/call.ts";
import type { OpenRoute } from "../../core/route.ts";

export function mediaContent(context: IngressContext): OpenRoute {
  return {
    method: "GET",
    path: "/v1/media/content/{token}",
    operationId: "getMediaContent",
    summary: "Download media",
    description:
      "Downloads a result by the link in the response of a media call. Links need no key and are valid for about an " +
      "hour.",
    tags: ["Jobs"],
    auth: "none",
    responses: {
      200: { description: "The content", bytes: ["*/*"] },
      206: { description: "The requested range", bytes: ["*/*"] },
      304: { description: "The client's copy is current" },
    },
    errors: ["file_not_found", "range_not_satisfiable"],
    handle: (call) => handle(context, call),
  };
}

/** Header that allows pages of any site to embed the file (`<img>`, `<video>`). The link alone grants access to the file anyway. */
const EMBEDDABLE = { "cross-origin-resource-policy": "cross-origin" } as const;

async function handle(context: IngressContext, call: RequestFacts): Promise<Response> {
  const link = context.links.read(call.params["token"] ?? "");
  const row =
    link &&
    (await unavailable(
      "The file store cannot be reached right now; try again shortly.",
      findFile(context.database, anyMember(link.workspaceId), link.fileId),
    ));
  if (!row) throw new ApiError("file_not_found", "There is no such file, or its link has expired.");
  return fileContent(context, row, call.request, EMBEDDABLE);
}
