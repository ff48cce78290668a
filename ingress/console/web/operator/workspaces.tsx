/** Workspaces of the installation: list, creation, top-ups and corrections, and suspension. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { OperatorWorkspace, OperatorWorkspaceCreated } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { FilterBar, useUrlQuery } from "../parts/filters.tsx";
import { Button, creditsIn, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { figureText, timeText } from "../parts/format.ts";
import { ConfirmDialog, FaultCallout, FormDialog, Sheet, type SheetControls } from "../parts/layers.tsx";
import { Page } from "../parts/page.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import { Empty, ListPanel, Skeleton, useCursor, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Amount, ENTRY_KINDS, Id, KeyValues, Status, Time } from "../parts/values.tsx";
import { moneyBlocked, writeBlocked } from "./session.ts";

export default function Workspaces(): JSX.Element {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<OperatorWorkspaceCreated>();
  const query = useUrlQuery();
  const cursor = useCursor(query.text);
  const list = useQuery(`operator workspaces ${query.text} ${cursor.after ?? ""}`, (signal) =>
    call("GET /operator/workspaces", { query: { limit: 50, after: cursor.after, name: query.get("name") }, signal }),
  );
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
        cursor={cursor}
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
          { head: "Held", place: "mid", isNumber: true, cell: ({ held }) => <Amount credits={held} /> },
          { head: "Created", place: "low", cell: ({ created_at }) => <Time at={created_at} style="day" /> },
          { head: "Balance", place: "key", isNumber: true, cell: ({ balance }) => <Amount credits={balance} /> },
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
          onCreated={(answer) => {
            setCreating(false);
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
  const query = useQuery(`operator workspace ${id}`, (signal) =>
    call("GET /operator/workspaces/{id}", { path: { id }, signal }),
  );
  const [open, setOpen] = useState<"move" | "suspend">();
  const { data: row } = query;
  const changed = (): void => {
    setOpen(undefined);
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
    <Sheet title={row?.name ?? "Workspace"} {...controls}>
      {query.fault === undefined ? null : <FaultCallout fault={query.fault} retry={query.reload} />}
      {row === undefined ? (
        query.fault === undefined ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          <section>
            <div class="row wrap">
              <Status of={row.is_active ? "active" : "disabled"} />
              <span class="push row">
                <Button small kind="primary" blocked={moneyBlocked.value} onClick={() => setOpen("move")}>
                  Top up
                </Button>
                {row.is_active ? (
                  <Button small kind="danger" blocked={writeBlocked.value} onClick={() => setOpen("suspend")}>
                    Disable workspace
                  </Button>
                ) : (
                  <Button small blocked={writeBlocked.value} isRunning={enable.isRunning} onClick={() => enable.run()}>
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
          <Ledger id={id} round={row.balance} />
          <Members id={id} />
        </>
      )}
      {row !== undefined && open === "move" ? (
        <MoveCredits row={row} onClose={() => setOpen(undefined)} onMoved={changed} />
      ) : null}
      {row !== undefined && open === "suspend" ? (
        <ConfirmDialog
          title={`Disable “${row.name}”?`}
          effect="All keys of the workspace are refused within a second, and its open streams end. It can be enabled again."
          action={`Disable “${row.name}”`}
          onClose={() => setOpen(undefined)}
          run={() => setActive(false)}
        />
      ) : null}
    </Sheet>
  );
}

/** Newest entries of the ledger. `round` changes when the list must be read again. */
function Ledger({ id, round }: { readonly id: string; readonly round: number }): JSX.Element {
  const list = useQuery(`operator ledger ${id} ${round}`, (signal) =>
    call("GET /operator/workspaces/{id}/ledger", { path: { id }, query: { limit: 10 }, signal }),
  );
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
            cell: ({ kind, note }) => (
              <>
                {ENTRY_KINDS[kind]}
                {note === null ? null : <span class="sub">{note}</span>}
              </>
            ),
          },
          { head: "Credits", place: "key", isNumber: true, cell: ({ credits }) => <Amount credits={credits} /> },
        ]}
        empty={<Empty title="No entries" />}
      />
    </section>
  );
}

function Members({ id }: { readonly id: string }): JSX.Element {
  const list = useQuery(`operator members ${id}`, (signal) =>
    call("GET /operator/workspaces/{id}/members", { path: { id }, query: { limit: 25 }, signal }),
  );
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

function MoveCredits({
  row,
  onClose,
  onMoved,
}: {
  readonly row: OperatorWorkspace;
  readonly onClose: () => void;
  readonly onMoved: () => void;
}): JSX.Element {
  // One id for the dialog, so that a repeated request moves the credits once.
  const [id] = useState(() => crypto.randomUUID());
  const [kind, setKind] = useState<"top_up" | "correction">("top_up");
  const [amount, setAmount] = useState("");
  const [note, setNote] = useState("");
  const move = useAction(async () => {
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
    onMoved();
  });
  const { fault } = move;
  return (
    <FormDialog
      title={`Top up or correct “${row.name}”`}
      hint="The movement is an entry of the ledger, which cannot be changed later."
      onClose={onClose}
      action={kind === "top_up" ? "Top up" : "Correct balance"}
      submit={move}
    >
      <SelectField
        label="Kind"
        value={kind}
        onInput={(value) => setKind(value as typeof kind)}
        choices={[
          { value: "top_up", text: "Top-up: credits that were bought" },
          { value: "correction", text: "Correction: adds, or removes with a minus" },
        ]}
      />
      <TextField
        label="Amount"
        unit="credits"
        value={amount}
        onInput={setAmount}
        param="credits"
        fault={fault}
        hint="1 credit is 0.01 USD."
      />
      <TextField
        label="Note"
        value={note}
        onInput={setNote}
        isOptional
        param="note"
        fault={fault}
        hint="Members see the note in their ledger."
      />
      <FaultText fault={fault} except={["credits", "note"]} />
    </FormDialog>
  );
}

function CreateWorkspace({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (created: OperatorWorkspaceCreated) => void;
}): JSX.Element {
  const [name, setName] = useState("");
  const [owner, setOwner] = useState("");
  const [email, setEmail] = useState("");
  const create = useAction(async () =>
    onCreated(
      await call("POST /operator/workspaces", {
        body: {
          name: name.trim(),
          owner: { name: owner.trim(), ...(email.trim() === "" ? {} : { email: email.trim() }) },
        },
      }),
    ),
  );
  const { fault } = create;
  return (
    <FormDialog
      title="Create workspace"
      hint="The owner receives a key, which is shown once."
      onClose={onClose}
      action="Create workspace"
      submit={create}
      blocked={
        name.trim() === "" || owner.trim() === "" ? "Enter the name of the workspace and of its owner." : undefined
      }
    >
      <TextField label="Name" value={name} onInput={setName} param="name" fault={fault} isRequired />
      <TextField label="Owner" value={owner} onInput={setOwner} param="owner.name" fault={fault} isRequired />
      <TextField
        label="Owner’s email"
        type="email"
        value={email}
        onInput={setEmail}
        isOptional
        param="owner.email"
        fault={fault}
      />
      <FaultText fault={fault} except={["name", "owner.name", "owner.email"]} />
    </FormDialog>
  );
}
