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

export const ROUTES: readonly PageRoute[] = [
  { path: "/", name: "Overview", group: "", icon: "home", load: () => import("./routes/overview.tsx") },
  { path: "/requests/:id?", name: "Requests", group: "", icon: "list", load: () => import("./routes/requests.tsx") },
  { path: "/usage", name: "Usage", group: "", icon: "chart", load: () => import("./routes/usage.tsx") },
  {
    path: "/playground/:kind?",
    name: "Playground",
    group: "Build",
    icon: "play",
    load: () => import("./routes/playground.tsx"),
  },
  {
    path: "/workflows/:id?/:part?",
    name: "Workflows",
    group: "Build",
    icon: "flow",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/workflows.tsx"),
  },
  {
    path: "/runs/:id?",
    name: "Runs",
    group: "Build",
    icon: "spin",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/runs.tsx"),
  },
  {
    path: "/models/:slug?",
    name: "Models and prices",
    group: "Build",
    icon: "cube",
    load: () => import("./routes/models.tsx"),
  },
  {
    path: "/fallbacks",
    name: "Fallback chains",
    group: "Build",
    icon: "updown",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/fallbacks.tsx"),
  },
  {
    path: "/capabilities/:id?",
    name: "Capabilities",
    group: "Build",
    icon: "server",
    load: () => import("./routes/capabilities.tsx"),
  },
  {
    path: "/files/:id?",
    name: "Files",
    group: "Build",
    icon: "tray",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/files.tsx"),
  },
  {
    path: "/batches/:id?",
    name: "Batches",
    group: "Build",
    icon: "list",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/batches.tsx"),
  },
  {
    path: "/jobs/:id?",
    name: "Jobs",
    group: "Build",
    icon: "spin",
    load: () => import("./routes/jobs.tsx"),
  },
  {
    path: "/keys/:id?",
    name: "Keys",
    group: "Settings",
    icon: "key",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/keys.tsx"),
  },
  {
    path: "/notifications/:id?/:part?/:delivery?",
    name: "Notifications",
    group: "Settings",
    icon: "bell",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/notifications.tsx"),
  },
  {
    path: "/members/:id?",
    name: "Members",
    group: "Settings",
    icon: "people",
    roles: ["owner", "admin", "developer"],
    load: () => import("./routes/members.tsx"),
  },
  {
    path: "/budgets",
    name: "Budgets and alerts",
    group: "Settings",
    icon: "warn",
    load: () => import("./routes/budgets.tsx"),
  },
  { path: "/credits", name: "Credits", group: "Settings", icon: "coin", load: () => import("./routes/credits.tsx") },
  {
    path: "/audit/:id?",
    name: "Audit log",
    group: "Settings",
    icon: "log",
    roles: ["owner", "admin"],
    load: () => import("./routes/audit.tsx"),
  },
  { path: "/settings", name: "Settings", group: "Settings", icon: "menu", load: () => import("./routes/settings.tsx") },
];

/** Returns the address of a page in the navigation, without its optional parameters. */
export function hrefOf({ path }: PageRoute): string {
  return path.replaceAll(/\/:\w+\??/g, "") || "/";
}

/** Returns the pages that the member's role may open. */
export function openPages(): readonly PageRoute[] {
  const role = session.value?.role;
  return ROUTES.filter(({ roles }) => roles === undefined || (role !== undefined && roles.includes(role)));
}
