/** Checks the permission to read stored files, which all roles except billing have. */
import { ApiError } from "#shared/base/errors.ts";

import type { Role } from "./authenticate.ts";

/** Checks that the caller may read stored files. @throws ApiError `permission_denied` */
export function checkMayReadFiles(caller: { readonly role: Role }, param: string): void {
  if (caller.role !== "billing") return;
  throw new ApiError(
    "permission_denied",
    "Expected a key with the role owner, admin or developer to read files, got billing.",
    { param },
  );
}
