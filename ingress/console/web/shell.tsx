/** Shell: navigation, header with the command palette and the balance, and the page of the URL. */
import type { ComponentType, JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { Link, Route, Switch, useLocation } from "wouter-preact";

import { call } from "./api/client.ts";
import { useCall } from "./api/query.ts";
import { endSession, session } from "./api/session.ts";
import { Boundary } from "./boundary.tsx";
import { Palette } from "./palette.tsx";
import { figureText } from "./parts/format.ts";
import { Icon } from "./parts/icon.tsx";
import { NavList } from "./parts/nav-list.tsx";
import { Page } from "./parts/page.tsx";
import { Skeleton } from "./parts/table.tsx";
import { hrefOf, openPages, type PageRoute, ROUTES } from "./routes.ts";

/** Interval at which the header reads the balance again, in milliseconds. */
const BALANCE_MS = 30_000;
/** The same interval while calls hold credits, so that the charge is shown when they have ended. */
const HELD_MS = 1_000;

const PAGES: ReadonlyMap<PageRoute, ComponentType> = new Map(ROUTES.map((route) => [route, lazy(route.load)]));

export function Shell(): JSX.Element {
  const [location] = useLocation();
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="shell">
        <Navigation />
        <div class="content">
          <Header />
          <Boundary key={location.split("/")[1]}>
            <Suspense fallback={<Loading />}>
              <Switch>
                {openPages().map((route) => {
                  const Body = PAGES.get(route) ?? Missing;
                  return (
                    <Route key={route.path} path={route.path}>
                      <Body />
                    </Route>
                  );
                })}
                <Route>
                  <Missing />
                </Route>
              </Switch>
            </Suspense>
          </Boundary>
        </div>
      </div>
    </>
  );
}

function Loading(): JSX.Element {
  return (
    <main class="page" id="main">
      <Skeleton />
    </main>
  );
}

function Missing(): JSX.Element {
  return (
    <Page title="No such page">
      <p class="soft">
        The address belongs to no page, or your role may not open it. <Link href="/">Open the overview</Link>
      </p>
    </Page>
  );
}

function Navigation(): JSX.Element {
  const [location] = useLocation();
  const first = location.split("/")[1];
  const name = session.value?.workspace.name ?? "";
  return (
    <nav class="nav" id="nav" popover="auto" aria-label="Console">
      <div class="nav-top">
        <span class="switcher" title="Workspace">
          <span class="mark" aria-hidden="true">
            {name.slice(0, 1).toUpperCase()}
          </span>
          <span class="cut">{name}</span>
        </span>
      </div>
      <NavList
        pages={openPages().map((page) => ({ ...page, href: hrefOf(page) }))}
        isCurrent={(href) => href.split("/")[1] === first}
      />
      <div class="nav-foot">
        <a href="/docs">Documentation</a>
      </div>
    </nav>
  );
}

function Header(): JSX.Element {
  const [isJumping, setJumping] = useState(false);
  return (
    <header class="header">
      <button type="button" class="btn quiet only menu-open" popovertarget="nav" aria-label="Open navigation">
        <Icon name="menu" />
      </button>
      <button
        type="button"
        class="palette"
        aria-label="Search or jump to… Ctrl K, pages and objects"
        onClick={() => setJumping(true)}
      >
        <Icon name="search" />
        <span>Search or jump to…</span>
        <kbd class="push">Ctrl K</kbd>
      </button>
      <span class="push" />
      <Balance />
      <Account />
      <Palette isOpen={isJumping} setOpen={setJumping} />
    </header>
  );
}

function Balance(): JSX.Element | null {
  const query = useCall(
    "GET /workspaces/{workspaceId}/credits",
    {},
    { everyMs: ({ data }) => (data === undefined || data.held === 0 ? BALANCE_MS : HELD_MS) },
  );
  const [path] = useLocation();
  useEffect(query.reload, [path]);
  if (query.data === undefined) return null;
  const { available, held } = query.data;
  return (
    <Link
      href="/credits"
      class="balance"
      title={`${available} credits are available, ${held} are held for calls in progress.`}
    >
      <span>{figureText(available)}</span>
      <small class="wide">credits</small>
      <small>available</small>
      <small class="wide">{held > 0 ? `· ${figureText(held)} held` : ""}</small>
    </Link>
  );
}

function Account(): JSX.Element {
  const { member, role, key } = session.value ?? {};
  const signOut = async (): Promise<void> => {
    await call("DELETE /console/session");
    endSession();
  };
  const initials = (member?.name ?? "").split(/\s+/, 2).map((word) => word.slice(0, 1).toUpperCase());
  return (
    <>
      <button type="button" class="avatar" popovertarget="account" aria-label={`Account of ${member?.name}`}>
        {initials.join("")}
      </button>
      <div class="menu account" id="account" popover="auto">
        <p class="soft">
          {member?.name}, {role}
          <br />
          Key “{key?.name}”
        </p>
        <a href="/console/operator">Operator pages</a>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </>
  );
}
