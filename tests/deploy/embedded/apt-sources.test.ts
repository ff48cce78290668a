import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";

import { temporaryDirectory } from "../../support/infrastructure.ts";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ directory: root, remove } = temporaryDirectory());
  put("etc/os-release", 'PRETTY_NAME="Debian GNU/Linux 12"\nVERSION_CODENAME=bookworm\nID=debian\n');
  put(KEYRING, "");
});
afterEach(() => remove());

function put(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("the Debian mirror of this machine", () => {
  test("is read from a stanza of a .sources file, past other archives", () => {
    put(
      "etc/apt/sources.list.d/a.sources",
      "Types: deb\nURIs: http://other.example/x\nSuites: nodistro\nComponents: main\n",
    );
    put(
      "etc/apt/sources.list.d/debian.sources",
      `Types: deb\n# a remark\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main contrib\nSigned-By: ${KEYRING}\n`,
    );
    expect(debianArchive(root)).toEqual({ uri: "http://mirror.example/debian", keyring: KEYRING });
  });

  test("is read from a line with and without options", () => {
    put(
      "etc/apt/sources.list",
      "# deb http://old.example/debian bookworm main\ndeb http://mirror.example/debian bookworm main\n",
    );
    expect(debianArchive(root)?.uri).toBe("http://mirror.example/debian");
    put("keys/own.gpg", "");
    put(
      "etc/apt/sources.list",
      "deb [arch=amd64 signed-by=/keys/own.gpg] http://signed.example/debian bookworm main\n",
    );
    expect(debianArchive(root)).toEqual({ uri: "http://signed.example/debian", keyring: "/keys/own.gpg" });
  });

  test("is not taken from source packages or from a disabled stanza", () => {
    put("etc/apt/sources.list", "deb-src http://mirror.example/debian bookworm main\n");
    put(
      "etc/apt/sources.list.d/debian.sources",
      "Enabled: no\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n",
    );
    expect(debianArchive(root)).toBeNull();
  });

  test("does not exist on another system", () => {
    put("etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n");
    put("etc/apt/sources.list", "deb http://mirror.example/ubuntu noble main\n");
    expect(debianArchive(root)).toBeNull();
  });
});
