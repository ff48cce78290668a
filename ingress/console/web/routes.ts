/** Pages of the console: path below /console, name, place in the navigation, roles that may open the page, and its code. */
import type { ComponentType } from "preact";

import { type Role, session } from "./api/session.ts";
import type { IconName } from "./parts/icon.tsx";

export interface PageRoute {
  /** Pattern of the path, such as `/requests/:id?`. */
  readonly path: string;
  readonly name: string;
  readonly group: "" | "Build" | "Settings";
  readonly icon: IconName;
  /** Roles that see the page. Absent: all roles. */
  readonly roles?: readonly Role[];
  /** Loads the code of the page, which is a file of its own. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** Roles that make calls and manage what belongs to them. */
const BUILDERS: readonly Role[] = ["owner", "admin", "developer"];

const GROUPS: Readonly<Record<PageRoute["group"], readonly Omit<PageRoute, "group">[]>> = {
  "": [
    { path: "/", name: "Overview", icon: "home", load: () => import("./routes/overview.tsx") },
    { path: "/requests/:id?", name: "Requests", icon: "list", load: () => import("./routes/requests.tsx") },
    { path: "/usage", name: "Usage", icon: "chart", load: () => import("./routes/usage.tsx") },
  ],
  Build: [
    { path: "/playground/:kind?", name: "Playground", icon: "play", load: () => import("./routes/playground.tsx") },
    {
      path: "/workflows/:id?/:part?",
      name: "Workflows",
      icon: "flow",
      roles: BUILDERS,
      load: () => import("./routes/workflows.tsx"),
    },
    { path: "/runs/:id?", name: "Runs", icon: "spin", roles: BUILDERS, load: () => import("./routes/runs.tsx") },
    { path: "/models/:slug?", name: "Models and prices", icon: "cube", load: () => import("./routes/models.tsx") },
    {
      path: "/fallbacks",
      name: "Fallback chains",
      icon: "updown",
      roles: BUILDERS,
      load: () => import("./routes/fallbacks.tsx"),
    },
    {
      path: "/capabilities/:id?",
      name: "Capabilities",
      icon: "server",
      load: () => import("./routes/capabilities.tsx"),
    },
    { path: "/files/:id?", name: "Files", icon: "tray", roles: BUILDERS, load: () => import("./routes/files.tsx") },
    {
      path: "/batches/:id?",
      name: "Batches",
      icon: "list",
      roles: BUILDERS,
      load: () => import("./routes/batches.tsx"),
    },
    { path: "/jobs/:id?", name: "Jobs", icon: "spin", load: () => import("./routes/jobs.tsx") },
  ],
  Settings: [
    { path: "/keys/:id?", name: "Keys", icon: "key", roles: BUILDERS, load: () => import("./routes/keys.tsx") },
    {
      path: "/notifications/:id?/:part?/:delivery?",
      name: "Notifications",
      icon: "bell",
      roles: BUILDERS,
      load: () => import("./routes/notifications.tsx"),
    },
    {
      path: "/members/:id?",
      name: "Members",
      icon: "people",
      roles: BUILDERS,
      load: () => import("./routes/members.tsx"),
    },
    { path: "/budgets", name: "Budgets and alerts", icon: "warn", load: () => import("./routes/budgets.tsx") },
    { path: "/credits", name: "Credits", icon: "coin", load: () => import("./routes/credits.tsx") },
    {
      path: "/audit/:id?",
      name: "Audit log",
      icon: "log",
      roles: ["owner", "admin"],
      load: () => import("./routes/audit.tsx"),
    },
    { path: "/settings", name: "Settings", icon: "menu", load: () => import("./routes/settings.tsx") },
  ],
};

export const ROUTES: readonly PageRoute[] = Object.entries(GROUPS).flatMap(([group, pages]) =>
  pages.map((page) => ({ ...page, group: group as PageRoute["group"] })),
);

/** Returns the address of a page in the navigation, without its optional parameters. */
export function hrefOf({ path }: PageRoute): string {
  return path.replaceAll(/\/:\w+\??/g, "") || "/";
}

/** Returns the pages that the member's role may open. */
export function openPages(): readonly PageRoute[] {
  const role = session.value?.role;
  return ROUTES.filter(({ roles }) => roles === undefined || (role !== undefined && roles.includes(role)));
}
