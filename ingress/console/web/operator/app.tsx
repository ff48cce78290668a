/** Operator's view of the console: sign-in with an operator token, or the shell with the operator's pages. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, Route, Switch, useLocation } from "wouter-preact";

import { call } from "../api/client.ts";
import { useAction, useCall } from "../api/query.ts";
import { Boundary } from "../boundary.tsx";
import { Button } from "../parts/form.tsx";
import { operatorText } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { FaultCallout } from "../parts/layers.tsx";
import { NavList } from "../parts/nav-list.tsx";
import { Page } from "../parts/page.tsx";
import { SignInForm } from "../parts/sign-in-form.tsx";
import AuditLog from "./audit.tsx";
import Catalogue from "./catalogue.tsx";
import DeadLetters from "./dead-letters.tsx";
import Holds from "./holds.tsx";
import LedgerAudit from "./ledger-audit.tsx";
import Pools from "./pools.tsx";
import { operatorSession } from "./session.ts";
import SettleFaults from "./settle-faults.tsx";
import Sources from "./sources.tsx";
import Status from "./status.tsx";
import Tokens from "./tokens.tsx";
import Workspaces from "./workspaces.tsx";

/** Interval at which the session is read again, in milliseconds. */
const SESSION_MS = 30_000;
/** Interval at which the counts of the navigation are read again, in milliseconds. */
const COUNTS_MS = 10_000;
/** Time without an action of the person after which the page signs out, in minutes. The pages read data by themselves meanwhile. */
const IDLE_MINUTES = 15;

interface OperatorPage {
  readonly href: string;
  readonly name: string;
  readonly group: "" | "Repair" | "Service";
  readonly icon: IconName;
  readonly page: ComponentType;
  /** True for a page whose data only tokens with the scope money may read. */
  readonly needsMoney?: true;
  /** Count of the status that the navigation shows. */
  readonly counted?: "dead_letters" | "settle_faults";
}

const HOME = "/operator";

const PAGES: readonly OperatorPage[] = [
  { href: HOME, name: "Status", group: "", icon: "home", page: Status },
  { href: "/operator/pools", name: "Pools", group: "", icon: "server", page: Pools },
  { href: "/operator/sources", name: "Providers", group: "", icon: "cube", page: Sources },
  { href: "/operator/workspaces", name: "Workspaces", group: "", icon: "people", page: Workspaces },
  {
    href: "/operator/dead-letters",
    name: "Dead letters",
    group: "Repair",
    icon: "tray",
    page: DeadLetters,
    counted: "dead_letters",
  },
  { href: "/operator/holds", name: "Holds", group: "Repair", icon: "coin", page: Holds },
  {
    href: "/operator/settle-faults",
    name: "Settle faults",
    group: "Repair",
    icon: "warn",
    page: SettleFaults,
    counted: "settle_faults",
  },
  { href: "/operator/ledger-audit", name: "Ledger audit", group: "Repair", icon: "check", page: LedgerAudit },
  { href: "/operator/catalogue", name: "Catalogue", group: "Service", icon: "list", page: Catalogue },
  { href: "/operator/tokens", name: "Operator tokens", group: "Service", icon: "key", page: Tokens, needsMoney: true },
  { href: "/operator/audit", name: "Audit log", group: "Service", icon: "log", page: AuditLog },
];

export default function Operator(): JSX.Element | null {
  const { data, fault, reload } = useCall("GET /console/operator-session", {}, { everyMs: SESSION_MS });
  useEffect(() => {
    operatorSession.value = data;
  }, [data]);
  if (fault?.status === 401 || fault?.status === 404)
    return <SignIn hasTokens={fault.status === 401} onSignedIn={reload} />;
  if (data !== undefined) return <Shell onSignedOut={reload} />;
  if (fault === undefined) return null;
  return (
    <main class="signin" id="main">
      <FaultCallout fault={fault} retry={reload} />
    </main>
  );
}

function SignIn({
  hasTokens,
  onSignedIn,
}: {
  readonly hasTokens: boolean;
  readonly onSignedIn: () => void;
}): JSX.Element {
  return (
    <SignInForm
      title="Sign in as operator"
      label="Operator token"
      param="token"
      hint={
        hasTokens ? (
          <>
            <code>npm run admin -- operator add</code> creates one. <code>npm start</code> keeps one in the file{" "}
            <code>operator-token</code> of its data folder.
          </>
        ) : (
          "No operator token exists, or this address may not use one."
        )
      }
      signIn={async (token) => {
        await call("POST /console/operator-session", { body: { token } });
        onSignedIn();
      }}
    >
      <Link href="/">Open the console of a workspace</Link>
    </SignInForm>
  );
}

/** Returns the minutes until the page signs out, counted from the last action of the person. */
function useIdleMinutes(signOut: () => void): number {
  const [left, setLeft] = useState(IDLE_MINUTES);
  useEffect(() => {
    let last = Date.now();
    const note = (): void => {
      last = Date.now();
    };
    const timer = setInterval(() => {
      const minutes = IDLE_MINUTES - Math.floor((Date.now() - last) / 60_000);
      setLeft(minutes);
      if (minutes <= 0) signOut();
    }, 10_000);
    const events = ["pointerdown", "keydown", "wheel"] as const;
    for (const name of events) addEventListener(name, note, { passive: true });
    return () => {
      clearInterval(timer);
      for (const name of events) removeEventListener(name, note);
    };
  }, []);
  return left;
}

function Shell({ onSignedOut }: { readonly onSignedOut: () => void }): JSX.Element {
  const [location] = useLocation();
  const signOut = useAction(async () => {
    await call("DELETE /console/operator-session");
    onSignedOut();
  });
  const left = useIdleMinutes(() => void signOut.run());
  const { name, scope } = operatorSession.value ?? {};
  const pages = PAGES.filter(({ needsMoney }) => needsMoney !== true || scope === "money");
  const { data } = useCall("GET /operator/status", {}, { everyMs: COUNTS_MS });
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="shell">
        <nav class="nav" id="nav" popover="auto" aria-label="Operator">
          <div class="nav-top">
            <span class="switcher">
              <span class="mark" aria-hidden="true">
                O
              </span>
              <span class="cut">Operator</span>
            </span>
          </div>
          <NavList
            pages={pages.map((page) => ({ ...page, count: page.counted && data?.counts?.[page.counted] }))}
            isCurrent={(href) => (href === HOME ? location === HOME : location.startsWith(href))}
          />
          <div class="nav-foot">
            <Link href="/">Workspace console</Link>
            <a href="/docs">Documentation</a>
          </div>
        </nav>
        <div class="content">
          <header class="header operator">
            <button type="button" class="btn quiet only menu-open" popovertarget="nav" aria-label="Open navigation">
              <Icon name="menu" />
            </button>
            <span class="push" />
            <span class="badge warn" title={`Scope ${scope}. An action resets the time.`}>
              <Icon name="warn" />
              <span class="wide-only">{operatorText(name ?? "")} ·</span> signs out in {left} min
            </span>
            <Button small isRunning={signOut.isRunning} onClick={() => signOut.run()}>
              Sign out
            </Button>
          </header>
          <Boundary key={location.split("/")[2]}>
            <Switch>
              {pages.map(({ href, page: Body }) => (
                <Route key={href} path={href === HOME ? HOME : `${href}/:id?`}>
                  <Body />
                </Route>
              ))}
              <Route>
                <Page title="No such page">
                  <p class="soft">
                    <Link href={HOME}>Open the status</Link>
                  </p>
                </Page>
              </Route>
            </Switch>
          </Boundary>
        </div>
      </div>
    </>
  );
}
