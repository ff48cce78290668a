/** Sign-in page: an API key, or the identity provider of the operator. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { call } from "./api/client.ts";
import { useAction } from "./api/query.ts";
import { Button, FaultText, TextField } from "./parts/form.tsx";

export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const [key, setKey] = useState("");
  const signIn = useAction(async () => {
    await call("POST /console/session", { body: { api_key: key.trim() } });
    setKey("");
    onSignedIn();
  });
  return (
    <main class="signin" id="main">
      <div class="panel">
        <div class="pad">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void signIn.run();
            }}
          >
            <h1>Sign in to Sluice</h1>
            <TextField
              label="API key"
              type="password"
              value={key}
              onInput={setKey}
              isRequired
              param="api_key"
              hint={
                <>
                  On the machine of the service, <code>npm start</code> and <code>npm run admin -- console link</code>{" "}
                  print a link that signs you in without a key.
                </>
              }
            />
            <FaultText fault={signIn.fault} />
            <Button kind="primary" submit isRunning={signIn.isRunning}>
              Sign in
            </Button>
            <p class="hint">
              <a href="/console/oidc?return_to=/console">Sign in with your organization</a>
            </p>
          </form>
        </div>
      </div>
    </main>
  );
}
