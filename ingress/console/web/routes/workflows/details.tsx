/** Dialog that changes the name, description and visibility of a workflow. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Workflow } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useAction } from "../../api/query.ts";
import { FaultText, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";

type Scope = Workflow["sharingScope"];
type Permission = Workflow["sharePermission"];

export function DetailsDialog({
  workflow,
  onClose,
  onSaved,
}: {
  readonly workflow: Workflow;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const [name, setName] = useState(workflow.name);
  const [description, setDescription] = useState(workflow.description);
  const [sharingScope, setScope] = useState<Scope>(workflow.sharingScope);
  const [sharePermission, setPermission] = useState<Permission>(workflow.sharePermission);
  const isShared = sharingScope !== workflow.sharingScope || sharePermission !== workflow.sharePermission;
  const save = useAction(async () => {
    // Only the creator, owners and admins may send the visibility.
    const body = { name, description, ...(isShared ? { sharingScope, sharePermission } : {}) };
    await call("PUT /v1/workflows/{id}", { path: { id: workflow.id }, body });
    onSaved();
  });
  const { fault } = save;
  return (
    <FormDialog title={`Change “${workflow.name}”`} onClose={onClose} action="Save workflow" submit={save}>
      <TextField label="Name" value={name} onInput={setName} param="name" fault={fault} />
      <TextField
        label="Description"
        rows={2}
        value={description}
        onInput={setDescription}
        isOptional
        param="description"
        fault={fault}
      />
      <div class="grid2">
        <SelectField
          label="Visibility"
          value={sharingScope}
          onInput={(value) => setScope(value as Scope)}
          choices={[
            { value: "private", text: "Creator, owners and admins" },
            { value: "workspace", text: "All members" },
          ]}
          param="sharingScope"
          fault={fault}
        />
        <SelectField
          label="Members may"
          value={sharePermission}
          onInput={(value) => setPermission(value as Permission)}
          choices={[
            { value: "read", text: "Read" },
            { value: "run", text: "Read and run" },
            { value: "edit", text: "Read, run and edit" },
          ]}
          hint="Applies when all members see the workflow."
          param="sharePermission"
          fault={fault}
        />
      </div>
      <FaultText fault={fault} except={["name", "description", "sharingScope", "sharePermission"]} />
    </FormDialog>
  );
}
