/** Statements that read a file by its id: another workspace's file is as none. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { findFile, findFiles, findReadable, listFiles } from "#shared/database/files.ts";
import { newId } from "#shared/base/ids.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";

import { type FileBench, openFileBench, storeFile } from "./bench.ts";

let bench: FileBench;
beforeAll(async () => {
  bench = await openFileBench();
});
afterAll(() => bench.close());

test("a file exists for its own workspace, and for no other in any statement", async () => {
  const { database } = bench.db;
  const [own, other] = [await createWorkspace(database), await createWorkspace(database)];
  const id = await storeFile(bench.uploads, own);
  const page = { after: undefined, limit: 10, isDescending: true, purpose: undefined };
  const found = async (workspaceId: string): Promise<readonly boolean[]> => {
    // Whoever sees all of a workspace sees nothing of another.
    const viewer = { workspaceId, memberId: newId(), seesAll: true };
    return [
      (await findFile(database, viewer, id)) !== undefined,
      (await findReadable(database, viewer, id)) !== undefined,
      (await findFiles(database, viewer, [id])).length > 0,
      (await listFiles(database, viewer, page)).length > 0,
    ];
  };
  expect(await found(own)).toEqual([true, true, true, true]);
  expect(await found(other)).toEqual([false, false, false, false]);
});
