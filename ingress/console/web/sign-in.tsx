/** Sign-in page: an API key, or the identity provider of the operator if there is one. */
import type { JSX } from "preact";

import { call } from "./api/client.ts";
import { useCall } from "./api/query.ts";
import { SignInForm } from "./parts/sign-in-form.tsx";

export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): JSX.Element {
  const service = useCall("GET /");
  return (
    <SignInForm
      title="Sign in to Sluice"
      label="API key"
      param="api_key"
      hint={
        <>
          On the machine of the service, <code>npm start</code> and <code>npm run admin -- console link</code> print a
          link that signs you in without a key.
        </>
      }
      signIn={async (key) => {
        await call("POST /console/session", { body: { api_key: key } });
        onSignedIn();
      }}
    >
      {service.data?.has_issuer === true ? (
        <a href="/console/oidc?return_to=/console">Sign in with your organization</a>
      ) : undefined}
    </SignInForm>
  );
}
