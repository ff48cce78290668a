/** Page on which a person chooses the workspace to sign in to. It has no script. */
import type { KnownMember } from "#shared/database/console-sessions.ts";

import { NEVER_KEPT } from "../answers.ts";
import { htmlPage } from "../html-page.ts";

/** Warning, because any manager of a workspace can enter a person's address. */
const UNPROVEN = " You have not signed in to this workspace before.";

/**
 * @param pathOf returns the path that the choice of a workspace is posted to
 * @param hasMore true if the page does not show all workspaces
 */
export function choicePage(
  email: string,
  members: readonly Pick<KnownMember, "workspace_id" | "workspace_name" | "is_proven">[],
  { pathOf, hasMore }: { readonly pathOf: (workspaceId: string) => string; readonly hasMore: boolean },
): Response {
  // A name may contain characters that change the text direction of its neighbours.
  const buttons = members.map(
    ({ workspace_id, workspace_name, is_proven }) =>
      `<p><button formaction="${Bun.escapeHTML(pathOf(workspace_id))}"><bdi>${Bun.escapeHTML(workspace_name)}</bdi></button>${is_proven ? "" : UNPROVEN}</p>`,
  );
  const more = hasMore
    ? "<p>There are more workspaces. To sign in to one that is not listed, start again with <code>?workspace=</code> and its name.</p>\n"
    : "";
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Choose a workspace</title>
</head>
<body>
<h1>Choose a workspace</h1>
<p><bdi>${Bun.escapeHTML(email)}</bdi> is a member of several workspaces. Choose one:</p>
<form method="post">
${buttons.join("\n")}
</form>
${more}</body>
</html>
`;
  return htmlPage(page, { loads: [], formAction: "'self'" }, NEVER_KEPT);
}
