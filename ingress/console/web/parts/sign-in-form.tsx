/** Sign-in form for a secret, such as an API key or an operator token. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { useAction } from "../api/query.ts";
import { Button, FaultText, TextField } from "./form.tsx";

export function SignInForm({
  title,
  label,
  param,
  hint,
  signIn,
  children,
}: {
  readonly title: string;
  readonly label: string;
  /** Parameter of the API that contains the secret. */
  readonly param: string;
  readonly hint: ComponentChildren;
  readonly signIn: (secret: string) => Promise<void>;
  /** Other ways in. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const [secret, setSecret] = useState("");
  const submit = useAction(async (typed: string) => {
    await signIn(typed.trim());
    setSecret("");
  });
  return (
    <main class="signin" id="main">
      <div class="panel">
        <div class="pad">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              // The field may be newer than the drawn form, for example after a password manager filled it in.
              void submit.run(event.currentTarget.querySelector("input")?.value ?? "");
            }}
          >
            <h1>{title}</h1>
            <TextField
              label={label}
              type="password"
              value={secret}
              onInput={setSecret}
              isRequired
              param={param}
              fault={submit.fault}
              hint={hint}
            />
            <FaultText fault={submit.fault} />
            <Button kind="primary" submit isRunning={submit.isRunning}>
              Sign in
            </Button>
            {children === undefined ? null : <p class="hint">{children}</p>}
          </form>
        </div>
      </div>
    </main>
  );
}
