/** Operator's view of the console: sign-in with an operator token, or the shell with the operator's pages. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link, Route, Switch, useLocation } from "wouter-preact";

import type { OperatorSession } from "../../../../schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { Boundary } from "../boundary.tsx";
import { Button, FaultText, TextField } from "../parts/form.tsx";
import { relativeText } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { FaultCallout } from "../parts/layers.tsx";
import { Pools } from "./pools.tsx";

/** Interval at which the session is read again, in milliseconds. */
const SESSION_MS = 30_000;

export default function Operator(): JSX.Element | null {
  const query = useQuery("operator session", (signal) => call("GET /console/operator-session", { signal }), {
    everyMs: SESSION_MS,
  });
  if (query.fault?.status === 401) return <SignIn onSignedIn={query.reload} />;
  if (query.data !== undefined) return <Shell session={query.data} onSignedOut={query.reload} />;
  if (query.fault === undefined) return null;
  return (
    <main class="signin" id="main">
      <FaultCallout fault={query.fault} retry={query.reload} />
    </main>
  );
}

function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [token, setToken] = useState("");
  const signIn = useAction(async () => {
    await call("POST /console/operator-session", { body: { token: token.trim() } });
    setToken("");
    onSignedIn();
  });
  return (
    <main class="signin" id="main">
      <div class="panel">
        <form
          class="pad"
          onSubmit={(event) => {
            event.preventDefault();
            void signIn.run();
          }}
        >
          <h1>Sign in as operator</h1>
          <TextField label="Operator token" type="password" value={token} onInput={setToken} isRequired param="token" />
          <FaultText fault={signIn.fault} />
          <Button kind="primary" submit isRunning={signIn.isRunning}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}

function Shell({
  session,
  onSignedOut,
}: {
  readonly session: OperatorSession;
  readonly onSignedOut: () => void;
}): JSX.Element {
  const [location] = useLocation();
  const signOut = useAction(async () => {
    await call("DELETE /console/operator-session");
    onSignedOut();
  });
  return (
    <div class="shell">
      <nav class="nav" id="nav" popover="auto" aria-label="Operator">
        <div class="nav-list">
          <ul>
            <li>
              <Link href="/operator" aria-current={location === "/operator" ? "page" : undefined}>
                <Icon name="list" />
                Pools
              </Link>
            </li>
          </ul>
        </div>
      </nav>
      <div class="content">
        <header class="header operator">
          <button type="button" class="btn quiet only menu-open" popovertarget="nav" aria-label="Open navigation">
            <Icon name="menu" />
          </button>
          <span class="push" />
          <span class="badge warn" title={`Token “${session.name}”, scope ${session.scope}`}>
            <Icon name="warn" />
            Operator · signs out {relativeText(session.ends_at)}
          </span>
          <Button small isRunning={signOut.isRunning} onClick={() => signOut.run()}>
            Sign out
          </Button>
        </header>
        <Boundary key={location}>
          <Switch>
            <Route path="/operator">
              <Pools onSignedOut={onSignedOut} />
            </Route>
          </Switch>
        </Boundary>
      </div>
    </div>
  );
}
