/** The console: sign-in, or the shell with the page of the URL. */
import type { JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { Router, useLocation } from "wouter-preact";

import { ApiFault, call } from "./api/client.ts";
import { useQuery } from "./api/query.ts";
import { session } from "./api/session.ts";
import { FaultCallout, LeaveDialog } from "./parts/layers.tsx";
import { Toasts } from "./parts/toast.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

const Operator = lazy(() => import("./operator/app.tsx"));

export function App(): JSX.Element {
  // The operator's pages have a session of their own.
  const query = useQuery(location.pathname.startsWith("/console/operator") ? "" : "session", loadSession);
  useEffect(() => {
    if (query.data !== undefined) session.value = query.data;
  }, [query.data]);
  return (
    <Router base="/console">
      <Content fault={query.fault} retry={query.reload} />
      <Toasts />
      <LeaveDialog />
    </Router>
  );
}

function Content({
  fault,
  retry,
}: {
  readonly fault: ApiFault | undefined;
  readonly retry: () => void;
}): JSX.Element | null {
  const [location] = useLocation();
  if (location.split("/")[1] === "operator") {
    return (
      <Suspense fallback={null}>
        <Operator />
      </Suspense>
    );
  }
  if (session.value === undefined) {
    if (fault === undefined) return null;
    return (
      <main class="signin" id="main">
        <FaultCallout fault={fault} retry={retry} />
      </main>
    );
  }
  return session.value === null ? <SignIn onSignedIn={retry} /> : <Shell />;
}

/** Uses the one-time code in the URL, if any, and returns the session. Returns null without a session. */
async function loadSession(signal: AbortSignal): Promise<NonNullable<typeof session.value> | null> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  let refusal: unknown;
  if (code !== undefined) {
    // Removed before it is used, so that it stays in neither the history nor a copied address.
    history.replaceState(null, "", location.pathname + location.search);
    // A second click on the link of a signed-in member sends a used code, whose refusal is ignored.
    await call("POST /console/session", { body: { code }, signal }).catch((error: unknown) => (refusal = error));
  }
  try {
    return await call("GET /console/session", { signal });
  } catch (error) {
    if (refusal !== undefined) throw refusal;
    if (error instanceof ApiFault && error.status === 401) return null;
    throw error;
  }
}
