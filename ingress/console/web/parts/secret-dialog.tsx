/** Dialog that shows a secret. A secret that is shown once stays until the person has confirmed that it is stored. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { Code } from "./code.tsx";
import { Button, CheckField } from "./form.tsx";
import { Dialog } from "./layers.tsx";

export function SecretDialog({
  title,
  hint,
  noun,
  variants,
  onClose,
}: {
  readonly title: string;
  readonly hint: string;
  /** Noun of a secret that is shown once, such as `key`. Absent: the secret can be shown again. */
  readonly noun?: string;
  /** Forms of the secret by name, of which one is visible. */
  readonly variants: Readonly<Record<string, string>>;
  readonly onClose: () => void;
}): JSX.Element {
  const [isStored, setStored] = useState(noun === undefined);
  const kept = isStored ? undefined : `Confirm first that you have stored the ${noun}.`;
  const close = (): void => {
    if (isStored) onClose();
  };
  return (
    <Dialog
      title={title}
      hint={hint}
      kept={kept}
      onClose={close}
      footer={
        <Button kind="primary" blocked={kept} onClick={close}>
          Close
        </Button>
      }
    >
      <Code isWrapped variants={variants} />
      {noun === undefined ? null : (
        <CheckField label={`I have stored the ${noun}`} isChecked={isStored} onInput={setStored} />
      )}
    </Dialog>
  );
}
