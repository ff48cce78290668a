/** Dialog that shows the signing secret of a webhook. */
import type { ComponentChildren, JSX } from "preact";

import { Code } from "../../parts/code.tsx";
import { Button } from "../../parts/form.tsx";
import { Dialog } from "../../parts/layers.tsx";

export function SecretDialog({
  title,
  secret,
  note,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly note: ComponentChildren;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      }
    >
      <Code title="Signing secret" isWrapped variants={{ "Signing secret": secret }} />
      <p class="soft">{note}</p>
    </Dialog>
  );
}
