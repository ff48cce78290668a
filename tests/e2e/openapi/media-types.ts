/** Bodies of a media type that an operation does not declare, for every operation of /openapi.json that reads a body. */
import { beforeAll, expect, test } from "bun:test";

import type { ErrorEnvelope } from "#shared/base/errors.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import type { Document } from "./checked-api.ts";
import { OPERATOR_TOKEN, sharedStack } from "./shared-stack.ts";

const TYPES = [
  "application/json",
  "text/plain",
  "multipart/form-data",
  "multipart/mixed",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
];
/** A body that no length or parser refuses earlier. */
const BODY = "--b\r\nContent-Disposition: form-data; name=x\r\n\r\nx\r\n--b--\r\n";

let stack: Tenant;
let document: Document;
beforeAll(async () => {
  stack = await asNewWorkspace(await sharedStack());
  document = (await (await fetch(`${stack.baseUrls[0]}/openapi.json`)).json()) as Document;
}, 240_000);

test("a body of another media type is answered with 415 by every operation that reads one", async () => {
  const id = "00000000-0000-7000-8000-000000000001";
  const answers: string[] = [];
  const asked = new Set<string>();
  const unread = new Set<string>();
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const declared = Object.keys(requestBody?.content ?? {});
      if (declared.length === 0) continue;
      const name = `${method.toUpperCase()} ${template}`;
      asked.add(name);
      const path = template.replaceAll(/\{(\w+)\}/g, (_whole, param: string) =>
        param === "workspaceId" ? stack.workspace.id : template.startsWith("/v1/capabilities/") ? "image.resize" : id,
      );
      const ask = async (type: string, body: string): Promise<string> => {
        const response = await fetch(stack.baseUrls[0] + path, {
          method: method.toUpperCase(),
          headers: {
            authorization: `Bearer ${path.startsWith("/operator/") ? OPERATOR_TOKEN : stack.key}`,
            "content-type": type.startsWith("multipart/") ? `${type}; boundary=b` : type,
          },
          body,
        });
        const { error } = (await response.json()) as Partial<ErrorEnvelope>;
        return `${response.status} ${error?.code}`;
      };
      for (const type of TYPES.filter((one) => !declared.includes(one))) {
        const answer = await ask(type, BODY);
        if (answer === "415 unsupported_media_type") continue;
        // The id is unknown or the caller has no access, so the body was not read, whatever its type.
        if (/^40[34] /.test(answer) && answer === (await ask(declared[0] ?? "", "{}"))) unread.add(name);
        else answers.push(`${name} ${type}: ${answer}`);
      }
    }
  }
  expect(asked.size).toBeGreaterThan(40);
  expect(answers).toEqual([]);
  expect(unread.size).toBeLessThan(asked.size / 2);
});
