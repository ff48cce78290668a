/** Dialog that changes the name, description and visibility of a workflow. */
import type { JSX } from "preact";

import type { Workflow } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { choicesOf, SelectField, TextField } from "../../parts/form.tsx";
import { FormDialog } from "../../parts/layers.tsx";
import { type DialogProps, useForm } from "../../parts/use-form.ts";

export function DetailsDialog({ workflow, ...dialog }: DialogProps & { readonly workflow: Workflow }): JSX.Element {
  const { id, name, description, sharingScope, sharePermission } = workflow;
  const form = useForm(
    { name, description, sharingScope, sharePermission },
    ({ sharingScope: scope, sharePermission: permission, ...body }) => {
      // Only the creator, owners and admins may send the visibility.
      const isShared = scope !== sharingScope || permission !== sharePermission;
      const visibility = isShared ? { sharingScope: scope, sharePermission: permission } : {};
      return call("PUT /v1/workflows/{id}", { path: { id }, body: { ...body, ...visibility } });
    },
    dialog,
  );
  return (
    <FormDialog title={`Change “${name}”`} onClose={dialog.onClose} action="Save workflow" submit={form}>
      <TextField label="Name" {...form.bind("name")} />
      <TextField label="Description" rows={2} {...form.bind("description")} isOptional />
      <div class="grid2">
        <SelectField
          label="Visibility"
          {...form.bind("sharingScope")}
          choices={choicesOf({ private: "Creator, owners and admins", workspace: "All members" })}
        />
        <SelectField
          label="Members may"
          {...form.bind("sharePermission")}
          choices={choicesOf({ read: "Read", run: "Read and run", edit: "Read, run and edit" })}
          hint="Applies when all members see the workflow."
        />
      </div>
    </FormDialog>
  );
}
