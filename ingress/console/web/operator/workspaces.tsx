/** Workspaces of the installation: list, creation, top-ups and corrections, and suspension. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorWorkspace, OperatorWorkspaceCreated } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useCall } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, choicesOf, creditsIn, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { figureText, timeText } from "../parts/format.ts";
import { ConfirmButton, FormDialog, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import { Empty, ListPanel, Loaded, useList, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Amount, ENTRY_KINDS, Id, KeyValues, Status, Time } from "../parts/values.tsx";
import { moneyBlocked, writeBlocked } from "./session.ts";

export default function Workspaces(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<OperatorWorkspaceCreated>();
  const query = useUrlQuery();
  const list = useList("GET /operator/workspaces", { query: { name: query.get("name") } });
  const open = useOpenRow("/operator/workspaces", list, ({ id }) => id);
  return (
    <Page
      title="Workspaces"
      isWide
      actions={
        <Button kind="primary" icon="plus" blocked={writeBlocked.value} onClick={() => setCreating(true)}>
          Create workspace
        </Button>
      }
      sheet={open.id && <WorkspaceSheet key={open.id} id={open.id} {...open.sheet} onChange={list.reload} />}
    >
      <FilterBar query={query} filters={[{ name: "name", label: "Name" }]} />
      <ListPanel
        query={list}
        idOf={(row) => row.id}
        open={open}
        columns={[
          {
            head: "Name",
            place: "main",
            cut: "34%",
            title: ({ name, id }) => `${name} (${id})`,
            cell: ({ name }) => name,
          },
          { head: "Status", cell: ({ is_active }) => <Status of={is_active ? "active" : "disabled"} /> },
          { head: "Created", place: "low", cell: ({ created_at }) => <Time at={created_at} style="day" /> },
          { head: "Held, credits", place: "mid", isNumber: true, cell: ({ held }) => <Amount credits={held} /> },
          {
            head: "Balance, credits",
            place: "key",
            isNumber: true,
            cell: ({ balance }) => <Amount credits={balance} />,
          },
        ]}
        empty={
          <Empty title="No workspaces match">
            <p>A workspace has members, keys and a balance of its own.</p>
          </Empty>
        }
      />
      {isCreating ? (
        <CreateWorkspace
          onClose={() => setCreating(false)}
          onSaved={(answer) => {
            setCreated(answer);
            list.reload();
          }}
        />
      ) : null}
      {created === undefined ? null : (
        <SecretDialog
          title={`Workspace “${created.workspace.name}”`}
          hint="Give the key to the owner. It cannot be shown again."
          noun="key"
          variants={{ Key: created.api_key.key ?? "" }}
          onClose={() => setCreated(undefined)}
        />
      )}
    </Page>
  );
}

function WorkspaceSheet({
  id,
  onChange,
  ...controls
}: SheetControls & { readonly id: string; readonly onChange: () => void }): JSX.Element {
  const query = useCall("GET /operator/workspaces/{id}", { path: { id } });
  const [isMoving, setMoving] = useState(false);
  const changed = (): void => {
    query.reload();
    onChange();
  };
  const setActive = async (isActive: boolean): Promise<void> => {
    await call("PATCH /operator/workspaces/{id}", { path: { id }, body: { is_active: isActive } });
    toast(isActive ? "The workspace is enabled" : "The workspace is disabled");
    changed();
  };
  const enable = useAction(() => setActive(true));
  return (
    <Sheet title={query.data?.name ?? "Workspace"} {...controls}>
      <Loaded query={query}>
        {(row) => (
          <>
            <section>
              <div class="row wrap">
                <Status of={row.is_active ? "active" : "disabled"} />
                <span class="push row">
                  <Button small kind="primary" blocked={moneyBlocked.value} onClick={() => setMoving(true)}>
                    Top up
                  </Button>
                  {row.is_active ? (
                    <ConfirmButton
                      small
                      kind="danger"
                      blocked={writeBlocked.value}
                      title={`Disable “${row.name}”?`}
                      effect="All keys of the workspace are refused within a second, and its open streams end. It can be enabled again."
                      action={`Disable “${row.name}”`}
                      run={() => setActive(false)}
                    >
                      Disable workspace
                    </ConfirmButton>
                  ) : (
                    <Button
                      small
                      blocked={writeBlocked.value}
                      isRunning={enable.isRunning}
                      onClick={() => enable.run()}
                    >
                      Enable workspace
                    </Button>
                  )}
                </span>
              </div>
              <FaultText fault={enable.fault} />
              <KeyValues
                of={[
                  ["Balance", <Amount credits={row.balance} />],
                  ["Held", <Amount credits={row.held} />],
                  ["Available", <Amount credits={row.available} />],
                  ["Id", <Id value={row.id} label="workspace id" />],
                  ["Created", timeText(row.created_at, "minute")],
                ]}
              />
            </section>
            {/* A changed balance has a new entry. */}
            <Ledger key={row.balance} id={id} />
            <Members id={id} />
            {isMoving ? <MoveCredits row={row} onClose={() => setMoving(false)} onSaved={changed} /> : null}
          </>
        )}
      </Loaded>
    </Sheet>
  );
}

/** Newest entries of the ledger. */
function Ledger({ id }: { readonly id: string }): JSX.Element {
  const list = useCall("GET /operator/workspaces/{id}/ledger", { path: { id }, query: { limit: 10 } });
  return (
    <section>
      <h3>Newest ledger entries</h3>
      <ListPanel
        query={list}
        idOf={(entry) => entry.id}
        columns={[
          { head: "Time", place: "brk", cell: ({ at }) => timeText(at, "minute") },
          {
            head: "Entry",
            place: "main",
            cell: ({ kind }) => ENTRY_KINDS[kind],
            sub: ({ note }) => note,
          },
          {
            head: "Credits",
            place: "key",
            isNumber: true,
            cell: ({ credits }) => <Amount credits={credits} isMovement />,
          },
        ]}
        empty={<Empty title="No entries" />}
      />
    </section>
  );
}

function Members({ id }: { readonly id: string }): JSX.Element {
  const list = useCall("GET /operator/workspaces/{id}/members", { path: { id }, query: { limit: 25 } });
  return (
    <section>
      <h3>Members</h3>
      <ListPanel
        query={list}
        idOf={(member) => member.id}
        columns={[
          { head: "Name", place: "main", cell: ({ name }) => name },
          { head: "Role", place: "key", cell: ({ role }) => role },
        ]}
        empty={<Empty title="No members" />}
      />
    </section>
  );
}

function MoveCredits({ row, ...dialog }: DialogProps & { readonly row: OperatorWorkspace }): JSX.Element {
  // One id for the dialog, so that a repeated request moves the credits once.
  const [id] = useState(() => crypto.randomUUID());
  const form = useForm(
    { kind: "top_up", amount: "", note: "" },
    async ({ kind, amount, note }: Move) => {
      const isNegative = kind === "correction" && amount.trim().startsWith("-");
      const credits = creditsIn(amount.trim().replace(/^-/, ""));
      if (credits === undefined || Number.isNaN(credits))
        throw new Error(`Expected a number of credits, got “${amount}”.`);
      const body = {
        id,
        kind,
        credits: isNegative ? -credits : credits,
        ...(note.trim() === "" ? {} : { note: note.trim() }),
      };
      const { balance } = await call("POST /operator/workspaces/{id}/credits", { path: { id: row.id }, body });
      toast(`The balance of ${row.name} is ${figureText(balance.credits)} credits`);
    },
    dialog,
  );
  return (
    <FormDialog
      title={`Top up or correct “${row.name}”`}
      hint="The movement is an entry of the ledger, which cannot be changed later."
      onClose={dialog.onClose}
      action={form.values.kind === "top_up" ? "Top up" : "Correct balance"}
      submit={form}
    >
      <SelectField label="Kind" {...form.bind("kind")} choices={choicesOf(MOVES)} />
      <TextField label="Amount" unit="credits" {...form.bind("amount", "credits")} hint="1 credit is 0.01 USD." />
      <TextField label="Note" {...form.bind("note")} isOptional hint="Members see the note in their ledger." />
    </FormDialog>
  );
}

const MOVES = {
  top_up: "Top-up: credits that were bought",
  correction: "Correction: adds, or removes with a minus",
} as const;

/** Texts of the fields of a movement. */
interface Move {
  readonly kind: keyof typeof MOVES;
  readonly amount: string;
  readonly note: string;
}

function CreateWorkspace(dialog: DialogProps<OperatorWorkspaceCreated>): JSX.Element {
  const form = useForm(
    { name: "", owner: "", email: "" },
    ({ name, owner, email }) =>
      call("POST /operator/workspaces", {
        body: {
          name: name.trim(),
          owner: { name: owner.trim(), ...(email.trim() === "" ? {} : { email: email.trim() }) },
        },
      }),
    dialog,
  );
  const { name, owner } = form.values;
  return (
    <FormDialog
      title="Create workspace"
      hint="The owner receives a key, which is shown once."
      onClose={dialog.onClose}
      action="Create workspace"
      submit={form}
      blocked={
        name.trim() === "" || owner.trim() === "" ? "Enter the name of the workspace and of its owner." : undefined
      }
    >
      <TextField label="Name" {...form.bind("name")} isRequired />
      <TextField label="Owner" {...form.bind("owner", "owner.name")} isRequired />
      <TextField label="Owner’s email" type="email" {...form.bind("email", "owner.email")} isOptional />
    </FormDialog>
  );
}
